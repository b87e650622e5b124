"""What clients and server find in a text by themselves: mentions, commands, links. Pure."""

import re
from collections.abc import Iterator, Sequence

from adapters.loopback.telegram import utf16
from adapters.loopback.telegram.entity import QUOTES, SPLITTABLE, Entity

_DOMAINS = "com|org|net|edu|gov|info|biz|io|ai|dev|app|me|co|de|uk|fr|ru|cn|jp|md|py|sh|rs|xyz|example"
_PATTERNS = {
    "url": re.compile(
        r"(?:https?|ftp|tg|ton)://[^\s<>\"«»“”]*[^\s<>\"«»“”.,;:!?)\]'*_~]"
        rf"|(?<![\w@./-])(?:[\w-]+\.)+(?:{_DOMAINS})\b(?:[/?#][^\s<>\"]*[^\s<>\".,;:!?)\]'*_~]|/)?",
        re.IGNORECASE,
    ),
    # Short names belong to inline bots of Telegram's own; no other user has one.
    "mention": re.compile(
        r"(?<!\w)@(?:\w{4,32}|gif|wiki|vid|bing|pic|bold|imdb|coub|like|vote|ya)(?!\w)", re.ASCII | re.IGNORECASE
    ),
    "bot_command": re.compile(r"(?<![\w/@<>])/[a-zA-Z0-9_]{1,64}(?:@\w{4,32})?(?![\w/])", re.ASCII),
    "hashtag": re.compile(r"(?<![\w#&])#\w*[^\W\d]\w*"),
    "email": re.compile(r"(?<![\w.+-])[\w.+-]+@(?:[\w-]+\.)+[a-z]{2,8}(?![\w.-])", re.IGNORECASE),
}


def find(text: str, given: Sequence[Entity] = ()) -> list[Entity]:
    """The entities that are found in a text beside the given ones, in order.

    Nothing is found that reaches into code, a link or another of the given; bold and quotes hinder nobody.
    """
    taken = [each for each in given if each.type not in SPLITTABLE | QUOTES]
    found = list[Entity]()
    for each in _candidates(text):
        if not any(each.offset < other.end and other.offset < each.end for other in (*taken, *found)):
            found.append(each)
    return sorted(found, key=lambda each: each.offset)


def links(text: str, entities: Sequence[Entity]) -> list[str]:
    """The addresses that lead out of Telegram, in the order of their kinds."""
    marked = [each for each in [*entities, *find(text, entities)] if each.type == "url"]
    every = [each.url for each in entities if each.url] + [utf16.cut(text, each.offset, each.end) for each in marked]
    return [url for url in every if not url.startswith(("tg:", "ton:"))]


def _candidates(text: str) -> Iterator[Entity]:
    offsets = [0]
    for character in text:
        offsets.append(offsets[-1] + utf16.width(character))
    for kind, pattern in _PATTERNS.items():
        for match in pattern.finditer(text):
            start, end = offsets[match.start()], offsets[match.end()]
            yield Entity(type=kind, offset=start, length=end - start)
