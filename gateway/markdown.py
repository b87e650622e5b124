"""A Markdown parser that gives up on what it would ponder on. Pure.

What a model writes is parsed in the time of its length. Some texts that nobody would write take a parser the square of
that, or more; so its steps are counted, which is the same on every machine, and time is not.
"""

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

_INTERRUPTS = ["paragraph", "reference", "blockquote", "list", "table"]


class PonderedError(Exception):
    """A parser takes too long over a text."""


def counting(parser: MarkdownIt) -> MarkdownIt:
    """The parser, which counts its steps from now on, for ``parse``."""
    parser.block.ruler.before("table", "steps", _step_of_blocks, {"alt": _INTERRUPTS})
    parser.inline.ruler.before("text", "steps", _step_inline)
    skip = parser.inline.skipToken

    def skip_counted(state: StateInline) -> None:
        _use(state, "skips")
        skip(state)

    parser.inline.skipToken = skip_counted
    return parser


def parse(parser: MarkdownIt, markdown: str, *, steps: int, skips: int) -> list[Token]:
    """The tokens of a text, by a parser that counts.

    Args:
        parser: see ``counting``.
        markdown: the text.
        steps: how many rules may be asked.
        skips: how often it may look ahead, for the end of a link.

    Raises:
        PonderedError: that is not enough.
    """
    return parser.parse(markdown, {"steps": steps, "skips": skips})


def _step_of_blocks(state: StateBlock, _start: int, _end: int, _silent: bool) -> bool:
    """A rule that finds nothing and counts how often it was asked."""
    return _use(state, "steps")


def _step_inline(state: StateInline, _silent: bool) -> bool:
    return _use(state, "steps")


def _use(state: StateBlock | StateInline, budget: str) -> bool:
    state.env[budget] -= 1
    if state.env[budget] < 0:
        raise PonderedError
    return False
