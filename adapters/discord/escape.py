r"""Text that Discord shows as it stands: what it would read as markup gets a backslash. Pure.

Rule 1: what Markdown takes for text is text on Discord, too: no spoiler, no underlining, no mention, no subtext.
Rule 2: no more backslashes than that needs, for whoever copies a message copies them: a mark that cannot pair with
    another, a blank on both sides of it, or letters on both sides of an underscore need none.
Rule 3: an address is left alone: Discord makes a link of it before it looks for anything else.
Rule 4: a person's id, as in ``<@690000000000000001>``, is left alone: it shows as their name, and calls nobody, for
    nothing that is sent pings.

Discord's own parser is a row of regular expressions that look neither at paragraphs nor at what stands around a mark,
unlike Markdown. Sources: https://paradoxv5.github.io/Discord-Markdown and
https://docs.discord.com/developers/reference#message-formatting
"""

import re

_URL = r"""https?://[^\s<]+[^\s<.,:;"')\]]"""
_LIVE = r"<(?=@(?!\d{15,20}>)[!&]?\d|#\d|id:|a?:\w+:\d|t:-?\d|/[^<>\n]*:\d)"
_EATEN = r"\\(?=[^0-9A-Za-z\s])"
_MARKS = re.compile(rf"(?P<url>{_URL})|(?P<run>`+|\|\|+|~~+|\*+|_+)|(?P<live>{_LIVE}|{_EATEN})")
_ADDRESS = re.compile(r"https?://[^\s<]*\Z")
_NEAR = 300
_PLAIN = re.compile(rf"(?P<url>{_URL})|(?P<mark>[\\`|~*_<\[])")
_LINE = re.compile(r"^( *)(?=(?:#{1,3}|-#|>|>>>|[-*+])(?:\s|$))", re.MULTILINE)
_WORD = re.compile(r"[0-9A-Za-z_]")

_PAIRS = {
    "`": r"`+",
    "|": r"\|\|",
    "~": "~~",
    "*": r"\*(?!\s)|(?<!\s)\*",
    "_": r"_(?![0-9A-Za-z])|(?<![0-9A-Za-z])_",
}


def pairing(source: str) -> frozenset[str]:
    """The marks that may pair with another one somewhere in the message; a single one is harmless."""
    return frozenset(mark for mark, form in _PAIRS.items() if len(re.findall(form, source)) > 1)


def escape(text: str, pairs: frozenset[str], before: str = "\n", after: str = "\n") -> str:
    """Text among markup, so that none of it is markup.

    Args:
        text: what Markdown takes for text.
        pairs: of the whole message.
        before: what stands in front of it; its last character counts.
        after: what stands behind it; its first character counts.
    """

    def mark(found: re.Match[str]) -> str:
        run = found[0]
        if found["url"]:
            return run
        if found["live"]:
            return apart(before[-_NEAR:] + text[: found.start()], f"\\{run}")
        left = text[found.start() - 1] if found.start() else before[-1:]
        right = text[found.end()] if found.end() < len(text) else after[:1]
        return run if run[0] not in pairs or _harmless(run, left, right) else _slashed(run)

    marked = _MARKS.sub(mark, text)
    if before.endswith("\n"):
        return _LINE.sub(r"\1\\", marked)
    first, *rest = marked.split("\n", 1)
    return "\n".join([first, *(_LINE.sub(r"\1\\", each) for each in rest)])


def plain(text: str) -> str:
    """Text that is no Markdown at all."""

    def mark(found: re.Match[str]) -> str:
        return found[0] if found["url"] else apart(text[: found.start()], f"\\{found[0]}")

    marked = _PLAIN.sub(mark, text)
    return _LINE.sub(r"\1\\", marked)


def apart(before: str, shown: str) -> str:
    """What is shown behind something; a backslash would be taken for the end of an address there."""
    return f" {shown}" if shown.startswith("\\<") and _ADDRESS.search(before[-_NEAR:]) else shown


def _harmless(run: str, left: str, right: str) -> bool:
    if run == "*":
        return left.isspace() and right.isspace()
    return run == "_" and _WORD.match(left) is not None and _WORD.match(right) is not None


def _slashed(run: str) -> str:
    return "".join(f"\\{character}" for character in run)
