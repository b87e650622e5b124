"""Presses of our buttons, and what is said to who pressed. Pure.

Rule 1: whose press it is says the query, never the message.
Rule 2: the data is what the presser's client sends, and a changed client sends what it likes: it is taken as it is, and
    proves nothing.
Rule 3: only a press below a message of ours is one for us. Of one that is too old for Telegram the author is not told;
    its topic is not, either.
Rule 4: a query is answered once, whether or not there is something to say: until then the client shows that it waits.

Sources: https://core.telegram.org/bots/api#callbackquery , #answercallbackquery and #inlinekeyboardbutton
"""

import re
from collections.abc import Mapping, Sequence

from adapters.telegram.identity import Identity
from adapters.telegram.prose import rendered
from adapters.telegram.update import PLACES, chat_of, number, sender, topic, units
from gateway.address import Address
from gateway.inbound import Ignored, PressReceived
from gateway.operation import Button
from gateway.payload import Json, mapping, words

ANSWER_LIMIT = 200
"""How much is said to who pressed, in UTF-16 units: Telegram counts characters, and does not say which."""

DATA_LIMIT = 64
"""Bytes."""

STYLES = {"go": "success", "stop": "danger"}

_QUERY = re.compile(r"[A-Za-z0-9_-]{1,64}")


def query_of(update: Json) -> str | None:
    """Telegram's name for the press that an update tells of; none where it tells of none."""
    identifier = mapping(update.get("callback_query")).get("id")
    return identifier if isinstance(identifier, str) and _QUERY.fullmatch(identifier) else None


def pressed(update: Json, me: Identity, event_id: str) -> PressReceived | Ignored:
    """The press that an update tells of; ignored where it is malformed, or not for us."""
    query = mapping(update.get("callback_query"))
    message = mapping(query.get("message"))
    name, chat, message_id = query_of(update), chat_of(message), number(message.get("message_id"))
    if name is None:
        return Ignored(event_id=event_id, reason="malformed: no usable query id")
    if reason := _foreign(query, message, me):
        return Ignored(event_id=event_id, reason=reason)
    if chat is None or message_id is None:
        return Ignored(event_id=event_id, reason="a press below a message that is not ours to see")
    thread = topic(message)
    return PressReceived(
        event_id=event_id,
        press=name,
        message_id=f"telegram:{me.account}:{chat}:{message_id}",
        address=Address(
            platform="telegram", account=me.account, channel=str(chat), thread=None if thread is None else str(thread)
        ),
        user=str(sender(query)),
        data=words(query.get("data")),
        direct=_kind(message) == "private",
    )


def _foreign(query: Json, message: Json, me: Identity) -> str | None:
    """Why it is not a person's press of a button of ours."""
    if sender(query) is None:
        return "malformed: no usable sender"
    if mapping(query.get("from")).get("is_bot"):
        return "another bot's press"
    if message and _kind(message) not in PLACES:
        return "a press below a channel's post"
    if "from" in message and sender(message) != me.id:
        return "a press below another's message"
    data = words(query.get("data"))
    return None if 0 < len(data.encode()) <= DATA_LIMIT else "a press without data of ours"


def _kind(message: Json) -> object:
    return mapping(message.get("chat")).get("type")


def keyboard(buttons: Sequence[Button]) -> dict[str, object]:
    """The arguments that show buttons in one row; none where there are none, which takes those away that are shown."""
    row = [_button(button) for button in buttons]
    return {"reply_markup": {"inline_keyboard": [row]}} if row else {}


def _button(button: Button) -> dict[str, str]:
    styled = {"style": STYLES[button.style]} if button.style in STYLES else {}
    return {"text": button.label, "callback_data": button.data} | styled


def answer(query: str, text: str) -> Mapping[str, object]:
    """The arguments that answer a press: with a text it is shown until the person closes it."""
    said = _short(rendered(text).text) if text.strip() else ""
    return {"callback_query_id": query} | ({"text": said, "show_alert": True} if said else {})


def _short(text: str) -> str:
    """The text, or as much of its beginning as is shown."""
    if units(text) <= ANSWER_LIMIT:
        return text
    while units(text) >= ANSWER_LIMIT:
        text = text[:-1]
    return f"{text}…"
