"""What stands in a message's blocks, and what Slack refuses of them. Pure."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from adapters.loopback.slack import block_rule
from adapters.loopback.slack.answer import RefusedError
from adapters.loopback.slack.markup import unescape
from adapters.loopback.slack.rule import Rule

Part = Mapping[str, object]

_STYLES = frozenset({None, "primary", "danger"})
_UNREAD_BLOCKS = frozenset({"context", "divider", "header", "image", "rich_text", "table"})
_UNREAD_ELEMENTS = frozenset({"checkboxes", "datepicker", "overflow", "radio_buttons", "static_select", "users_select"})
"""Types that Slack has, and whose parts are not looked into here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Button:
    """A button of a message: what is on it, what it is called, and what comes with a press."""

    label: str
    action_id: str
    block_id: str
    value: str
    wire: Part


def check_blocks(blocks: Sequence[object]) -> None:
    """Refuse blocks that Slack refuses.

    Raises:
        RefusedError: it names the first rule that is broken.
    """
    parts = [_object(block) for block in blocks]
    for part in parts:
        _CHECKS.get(str(part.get("type")), _check_unread)(part)
    _check_ids([part.get("block_id") for part in parts], block_rule.BLOCK_ID)
    markdown = [_text(part.get("text")) for part in parts if part.get("type") == "markdown"]
    if sum(map(len, markdown)) > block_rule.MARKDOWN_BLOCKS.limit:
        raise RefusedError(block_rule.MARKDOWN_BLOCKS)


def buttons_of(blocks: Sequence[object]) -> Iterator[Button]:
    """The buttons of a message, in their order. What has no name gets one, as Slack gives it one."""
    for place, block in enumerate(blocks):
        part = _object(block)
        if part.get("type") != "actions":
            continue
        for number, element in enumerate(map(_object, cast("list[object]", part["elements"]))):
            if element.get("type") == "button":
                yield Button(
                    label=_text(_object(element["text"]).get("text")),
                    action_id=str(element.get("action_id") or f"a{number}"),
                    block_id=str(part.get("block_id") or f"b{place}"),
                    value=_text(element.get("value")),
                    wire=element,
                )


def text_of(blocks: Sequence[object]) -> str:
    """What a reader sees of the text in the blocks; Markdown as it was sent."""
    return "\n".join(_read(_object(block)) for block in blocks if _object(block).get("type") in ("markdown", "section"))


def _read(part: Part) -> str:
    if part.get("type") == "markdown":
        return _text(part.get("text"))
    text = _object(part.get("text") or {})
    words = _text(text.get("text"))
    return words if text.get("type") == "plain_text" else unescape(words)


def _check_section(part: Part) -> None:
    if "text" not in part and "fields" in part:
        return
    text = _object(part.get("text"))
    if text.get("type") not in ("plain_text", "mrkdwn"):
        raise RefusedError(block_rule.BLOCK_SHAPE)
    if not 1 <= len(_text(text.get("text"))) <= block_rule.SECTION_LENGTH.limit:
        raise RefusedError(block_rule.SECTION_LENGTH)


def _check_markdown(part: Part) -> None:
    if not _text(part.get("text")):
        raise RefusedError(block_rule.BLOCK_SHAPE)


def _check_actions(part: Part) -> None:
    elements = part.get("elements")
    if not isinstance(elements, list):
        raise RefusedError(block_rule.BLOCK_SHAPE)
    parts = [_object(element) for element in cast("list[object]", elements)]
    if not 1 <= len(parts) <= block_rule.ACTIONS.limit:
        raise RefusedError(block_rule.ACTIONS)
    for element in parts:
        if element.get("type") == "button":
            _check_button(element)
        elif element.get("type") not in _UNREAD_ELEMENTS:
            raise RefusedError(block_rule.BLOCK_SHAPE)
    _check_ids([element.get("action_id") for element in parts], block_rule.ACTION_ID)


def _check_button(element: Part) -> None:
    text = _object(element.get("text"))
    if text.get("type") != "plain_text" or not 1 <= len(_text(text.get("text"))) <= block_rule.BUTTON_TEXT.limit:
        raise RefusedError(block_rule.BUTTON_TEXT)
    value = element.get("value", "")
    if not isinstance(value, str) or len(value) > block_rule.BUTTON_VALUE.limit:
        raise RefusedError(block_rule.BUTTON_VALUE)
    if element.get("style") not in _STYLES:
        raise RefusedError(block_rule.BUTTON_STYLE)


def _check_unread(part: Part) -> None:
    if part.get("type") not in _UNREAD_BLOCKS:
        raise RefusedError(block_rule.BLOCK_SHAPE)


def _check_ids(ids: Sequence[object], broken: Rule) -> None:
    """Refuse names that are too long, and two that are the same; what has none gets one of Slack's."""
    given = [each for each in ids if each is not None]
    if len(set(map(str, given))) < len(given):
        raise RefusedError(broken)
    if any(not isinstance(each, str) or len(each) > broken.limit for each in given):
        raise RefusedError(broken)


def _object(value: object) -> Part:
    if not isinstance(value, dict):
        raise RefusedError(block_rule.BLOCK_SHAPE)
    return cast("Part", value)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


_CHECKS: Mapping[str, Callable[[Part], None]] = {
    "actions": _check_actions,
    "markdown": _check_markdown,
    "section": _check_section,
}
