"""What people see of Slack's marked text: mentions, channels, links, dates, and the three entities.

Source: https://docs.slack.dev/messaging/formatting-message-text
"""

import re

from adapters.slack.entity import unescape

_MARKED = re.compile("<([^<>]+)>|&(?:amp|lt|gt);")
_BROADCASTS = frozenset({"here", "channel", "everyone"})


def plain(text: str) -> str:
    """The text as a reader sees it, in one pass, so that nothing is unescaped twice."""
    return _MARKED.sub(_plain, text)


def _plain(marked: re.Match[str]) -> str:
    if marked[1] is None:
        return unescape(marked[0])
    target, _, label = marked[1].partition("|")
    target, label = unescape(target), unescape(label)
    match target[:1]:
        case "@" | "#" as sign:
            return sign + (label or target[1:])
        case "!":
            return _special(target[1:], label)
        case _:
            return _link(target, label)


def _special(command: str, label: str) -> str:
    """``!here``, ``!subteam^S1``, ``!date^...``: what people see of them."""
    name, _, rest = command.partition("^")
    if name in _BROADCASTS:
        return f"@{name}"
    if name == "subteam":
        return "@" + (label.removeprefix("@") or rest)
    return label or name


def _link(url: str, label: str) -> str:
    scheme, _, bare = url.partition(":")
    if label == bare and scheme in ("mailto", "tel"):
        return label
    if label in ("", url) or label == bare.strip("/"):  # Slack made a link of what the person typed
        return url
    return f"{label} ({url})"
