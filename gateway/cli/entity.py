"""A text that entities mark up, as the terminal shows it. Pure.

Rule 1: the text stands as it was sent, character by character: it is no Markdown, and what looks like that is meant so.
Rule 2: an entity changes how its piece looks, and nothing else. Offsets and lengths count UTF-16 units.
"""

from collections.abc import Iterable, Mapping

from rich.control import strip_control_codes
from rich.style import Style
from rich.text import Text

_CODE = Style(color="cyan", bold=True)
_LINK = Style(color="bright_blue", underline=True)
_QUOTE = Style(color="magenta")

STYLES: Mapping[str, Style] = {
    "bold": Style(bold=True),
    "italic": Style(italic=True),
    "underline": Style(underline=True),
    "strikethrough": Style(strike=True),
    "spoiler": Style(dim=True),
    "code": _CODE,
    "pre": _CODE,
    "blockquote": _QUOTE,
    "expandable_blockquote": _QUOTE,
    "text_link": _LINK,
    "text_mention": _LINK,
    "url": _LINK,
}
"""How each kind looks; one that is not here changes nothing."""


def marked(text: str, entities: Iterable[Mapping[str, object]]) -> Text:
    """The text, with its entities to be seen."""
    shown = Text(text, tab_size=4)
    places = _places(text)
    last = len(places) - 1
    for entity in entities:
        style = STYLES.get(str(entity.get("type")), Style.null())
        if isinstance(url := entity.get("url"), str):
            style += Style(link=url)
        offset, length = entity.get("offset"), entity.get("length")
        if isinstance(offset, int) and isinstance(length, int):
            shown.stylize(style, places[min(offset, last)], places[min(offset + length, last)])
    return shown


def _places(text: str) -> list[int]:
    """For each offset in UTF-16 units, how many of the characters that the terminal is given stand before it."""
    places, at = list[int](), 0
    for character in text:
        places += [at] * (2 if character > "\uffff" else 1)
        at += len(strip_control_codes(character))
    return [*places, at]
