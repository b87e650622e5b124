"""What in a text would have notified somebody, as far as Slack's rules are known.

Rule 1: whoever is judged must produce none; so where nobody has measured, a ping is reported and marked uncertain.
Rule 2: nothing is reported that is escaped (``&lt;!channel&gt;``) or broken by a character after the ``<``.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, cast

PingKind = Literal["channel", "here", "everyone", "subteam", "user", "link"]

_MARKUP = re.compile(
    r"<(?:!(?P<broadcast>channel|here|everyone)|!subteam\^(?P<subteam>\w+)|@(?P<user>[UW]\w*)|#(?P<link>C\w*))"
    r"(?:\|[^<>]*)?>"
)
_PLAIN = re.compile(r"(?<![\w@])@(?P<broadcast>channel|here|everyone)\b")
_CODE = re.compile(r"(?P<tick>`+)(?!`).*?(?<!`)(?P=tick)(?!`)|```.*", re.DOTALL)
_ELEMENTS: dict[str, tuple[PingKind, str]] = {
    "user": ("user", "user_id"),
    "usergroup": ("subteam", "usergroup_id"),
    "channel": ("link", "channel_id"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ping:
    """One thing Slack would resolve. ``kind`` "link" (a channel) notifies nobody but is live all the same.

    Attributes:
        kind: a broadcast, a user group, a user or a channel.
        target: id of the group, user or channel; empty for a broadcast.
        raw: as it was written.
        in_code: it stands in a code span or fence, where nobody has measured what Slack does.
        certain: Slack is known to resolve it.
    """

    kind: PingKind
    target: str
    raw: str
    in_code: bool
    certain: bool


def find_pings(text: str, *, link_names: bool | None = None, parse: str | None = None) -> tuple[Ping, ...]:
    """Find all pings of a text, in order.

    Args:
        text: ``text`` or ``markdown_text`` as sent.
        link_names: the call's argument.
        parse: the call's argument, or the default of its method.
    """
    code = [match.span() for match in _CODE.finditer(text)]
    found = [(match.start(), _markup_ping(match, code)) for match in _MARKUP.finditer(text)]
    if link_names or parse in {"full", "client"}:
        certain = parse == "full"
        found += [(match.start(), _plain_ping(match, code, certain)) for match in _PLAIN.finditer(text)]
    return tuple(ping for _, ping in sorted(found, key=lambda item: item[0]))


def find_block_pings(value: object) -> tuple[Ping, ...]:
    """Find the pings in blocks or attachments, rich text elements included."""
    return tuple(_block_pings(value))


def _block_pings(value: object) -> Iterator[Ping]:
    if isinstance(value, list):
        for item in cast("list[object]", value):
            yield from _block_pings(item)
    elif isinstance(value, dict):
        yield from _element_pings(cast("dict[str, object]", value))


def _element_pings(element: dict[str, object]) -> Iterator[Ping]:
    kind = element.get("type")
    if kind == "broadcast" and (name := element.get("range")) in {"channel", "here", "everyone"}:
        yield Ping(kind=cast("PingKind", name), target="", raw=str(name), in_code=False, certain=True)
    elif isinstance(kind, str) and kind in _ELEMENTS and isinstance(target := element.get(_ELEMENTS[kind][1]), str):
        yield Ping(kind=_ELEMENTS[kind][0], target=target, raw=target, in_code=False, certain=True)
    for key, value in element.items():
        if isinstance(value, str):
            if key in {"text", "pretext", "fallback"} and kind not in {"plain_text", "text"}:
                yield from find_pings(value)
        else:
            yield from _block_pings(value)


def _markup_ping(match: re.Match[str], code: list[tuple[int, int]]) -> Ping:
    in_code = _inside(match.start(), code)
    kind, target = next((name, value) for name, value in match.groupdict().items() if value is not None)
    if kind == "broadcast":
        kind, target = target, ""
    return Ping(kind=cast("PingKind", kind), target=target, raw=match.group(), in_code=in_code, certain=not in_code)


def _plain_ping(match: re.Match[str], code: list[tuple[int, int]], certain: bool) -> Ping:
    in_code = _inside(match.start(), code)
    return Ping(
        kind=cast("PingKind", match["broadcast"]),
        target="",
        raw=match.group(),
        in_code=in_code,
        certain=certain and not in_code,
    )


def _inside(position: int, spans: list[tuple[int, int]]) -> bool:
    return any(start <= position < end for start, end in spans)
