"""Reads reply_markup, and refuses what Telegram refuses of it. Pure."""

from collections.abc import Iterator, Mapping
from typing import cast

from adapters.loopback.telegram import outbound
from adapters.loopback.telegram.answer import RefusedError
from adapters.loopback.telegram.argument import Arguments

_ACTIONS = frozenset(
    {"url", "callback_data", "web_app", "login_url", "switch_inline_query", "switch_inline_query_current_chat"}
    | {"switch_inline_query_chosen_chat", "copy_text", "callback_game", "pay"}
)
_STYLES = (None, "danger", "success", "primary")


def read_keyboard(arguments: Arguments) -> Mapping[str, object] | None:
    """The keyboard that a call brings; none where it brings none.

    Raises:
        RefusedError: it is malformed.
    """
    markup = arguments.mapping("reply_markup")
    if markup is None:
        raise RefusedError(outbound.KEYBOARD_FORMAT, "Object expected")
    if not markup:
        return None
    if "inline_keyboard" not in markup:
        return markup
    if not isinstance(markup["inline_keyboard"], list):
        raise RefusedError(outbound.KEYBOARD_FORMAT, 'Field "inline_keyboard" must be of type Array')
    for button in buttons_of(markup):
        _check(button)
    return markup if any(True for _ in buttons_of(markup)) else None


def buttons_of(markup: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    """The buttons of an inline keyboard."""
    for row in cast("list[object]", markup.get("inline_keyboard", [])):
        if not isinstance(row, list):
            raise RefusedError(outbound.KEYBOARD_FORMAT, "Expected an Array of buttons")
        for button in cast("list[object]", row):
            if not isinstance(button, dict):
                raise RefusedError(outbound.KEYBOARD_FORMAT, "Expected an Object")
            yield cast("Mapping[str, object]", button)


def _check(button: Mapping[str, object]) -> None:
    if not isinstance(button.get("text"), str):
        raise RefusedError(outbound.KEYBOARD_FORMAT, 'Can\'t find field "text"')
    if not str(button["text"]).strip():
        raise RefusedError(outbound.BUTTON_TEXT)
    if button.get("style") not in _STYLES:
        raise RefusedError(outbound.BUTTON_STYLE)
    if not any(button.get(action) not in (None, "") for action in _ACTIONS):
        raise RefusedError(outbound.KEYBOARD_FORMAT, "Text buttons are unallowed in the inline keyboard")
    data = button.get("callback_data")
    if data is not None and not 1 <= len(str(data).encode()) <= outbound.CALLBACK_DATA.limit:
        raise RefusedError(outbound.CALLBACK_DATA)
