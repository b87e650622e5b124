"""A message with buttons below it, as Slack's blocks.

Rule 1: ``markdown_text`` takes no blocks beside it, so Markdown goes into a ``markdown`` block, which renders alike.
Rule 2: what shall be shown as it stands goes as ``plain_text``, in which nothing is markup and nothing pings.
Rule 3: the text goes along, escaped and as far as it may, for notifications and for who reads the conversation back.

Sources: https://docs.slack.dev/reference/block-kit/blocks/markdown-block , .../blocks/section-block ,
.../blocks/actions-block and .../block-elements/button-element
"""

from collections.abc import Iterator, Sequence

from adapters.slack.entity import escape
from gateway.operation import Button

SECTION_LIMIT = 3_000
"""Code points of the text of a section."""

LABEL_LIMIT = 75
"""Code points on a button."""

ACTION = "dragoman"
"""What the id of each of our buttons begins with; a number follows, for no two of a block may have one id."""

_STYLES = {"go": "primary", "stop": "danger"}

Block = dict[str, object]


def markdown(text: str) -> list[Block]:
    """The block of a Markdown text."""
    return [{"type": "markdown", "text": text}]


def plain(text: str) -> list[Block]:
    """The blocks of a text that is shown as it stands."""
    return [
        {"type": "section", "text": {"type": "plain_text", "text": part, "emoji": False}} for part in _sections(text)
    ]


def actions(buttons: Sequence[Button]) -> Block:
    """The block of the buttons, in one row where there is room."""
    return {"type": "actions", "elements": [_button(number, button) for number, button in enumerate(buttons)]}


def notification(text: str, limit: int) -> str:
    """As much of the text as fits, once it is escaped."""
    kept = text[:limit]
    while len(shown := escape(kept)) > limit:
        kept = kept[: -((len(shown) - limit + 4) // 5)]  # an entity has five characters at most
    return shown


def _button(number: int, button: Button) -> Block:
    label = button.label if len(button.label) <= LABEL_LIMIT else f"{button.label[: LABEL_LIMIT - 1]}…"
    block: Block = {
        "type": "button",
        "text": {"type": "plain_text", "text": label, "emoji": False},
        "action_id": f"{ACTION}:{number}",
        "value": button.data,
    }
    return block if (style := _STYLES.get(button.style)) is None else block | {"style": style}


def _sections(text: str) -> Iterator[str]:
    """The text in pieces that a section takes, cut at a line's end where there is one; blank ones say nothing."""
    while len(text) > SECTION_LIMIT:
        cut = text.rfind("\n", 1, SECTION_LIMIT)
        end = SECTION_LIMIT if cut < 0 else cut
        if text[:end].strip():
            yield text[:end]
        text = text[end:] if cut < 0 else text[end + 1 :]
    if text.strip():
        yield text
