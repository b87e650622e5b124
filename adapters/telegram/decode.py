"""What an update means.

Rule 1: everything that arrives is an inbound, malformed or not; nothing raises.
Rule 2: a message is for us where it is a private one, where it mentions us or replies to us, or where it is a command
    that names us or nobody. Of several parts of one message it is enough that one of them is.
Rule 3: no bot is answered, least of all ourselves; nor is who writes as a chat, for nobody knows who that is.
Rule 4: a command is what Telegram marked as one, at the beginning. One that we do not know is an ordinary message; so
    is ``/new`` with words behind it, for these must not be lost, and a decision with anything but what is decided. An
    edit never becomes a command.
Rule 5: a thread is a topic. General has no name, and a row of replies is none.

Source: https://core.telegram.org/bots/api#update
"""

import hashlib
import json
import re
from collections.abc import Sequence

from adapters.telegram import content, entity, press
from adapters.telegram.identity import Identity
from adapters.telegram.update import MESSAGE_LIMIT, PLACES, chat_of, number, sender, spoken, topic, units
from gateway import command
from gateway.address import Address
from gateway.inbound import Command, CommandReceived, Ignored, Inbound, MessageEdited, MessageReceived, Quotation
from gateway.payload import Json, mapping, words

ALLOWED_UPDATES = ("message", "edited_message", "my_chat_member", "callback_query")
"""What we ask to be told."""

_WHATEVER: dict[str, Command] = {"start": "help", "help": "help", "stop": "stop", "status": "status"}
"""Commands that are meant whatever stands behind them."""

_ASK, _REVOKE = "ask", "revoke"

_FIRST_WORD = re.compile(r"/([A-Za-z0-9_]+)((?:@[A-Za-z0-9_]+)?)(?:\s+|\Z)")
_WORD = re.compile(r"[a-z_]{1,60}")
_SERVICE = (
    "new_chat_members",
    "left_chat_member",
    "new_chat_title",
    "pinned_message",
    "migrate_to_chat_id",
    "migrate_from_chat_id",
    "forum_topic_created",
    "forum_topic_edited",
    "forum_topic_closed",
    "forum_topic_reopened",
)


def decode(updates: Sequence[Json], me: Identity) -> tuple[Inbound, ...]:
    """The inbounds of one message, as many as it has parts: the whole under the first, the others ignored.

    Args:
        updates: the parts of one message in their order; mostly one.
        me: who we are.
    """
    first, *rest = updates
    event_id = name_of(first, me)
    whole = _decode(first, [mapping(each.get("message")) for each in updates], me, event_id)
    return (whole, *(Ignored(event_id=name_of(each, me), reason=f"part of {event_id}") for each in rest))


def edited(update: Json, parts: Sequence[Json], me: Identity) -> Inbound:
    """The inbound of an edit of a message that came in parts; ``parts`` are its messages, as they read now."""
    return _edited(parts, me, name_of(update, me))


def name_of(update: Json, me: Identity) -> str:
    """The event id: Telegram's name for the press, or for the update; where it has none, what came is its name."""
    if (query := press.query_of(update)) is not None:
        return f"telegram:{me.account}:callback:{query}"
    if (identifier := number(update.get("update_id"))) is not None:
        return f"telegram:{me.account}:{identifier}"
    written = json.dumps(update, sort_keys=True, default=str)
    return f"telegram:{me.account}:{hashlib.sha256(written.encode(errors='replace')).hexdigest()[:32]}"


def _decode(update: Json, messages: Sequence[Json], me: Identity, event_id: str) -> Inbound:
    if "message" in update:
        return _said(messages, me, event_id)
    if "edited_message" in update:
        return _edited([mapping(update.get("edited_message"))], me, event_id)
    if "callback_query" in update:
        return press.pressed(update, me, event_id)
    kind = next((key for key in update if key != "update_id"), "nothing")
    return Ignored(event_id=event_id, reason=f"not a message: {_word(kind)}{_standing(update)}")


def _standing(update: Json) -> str:
    """How we stand in a chat from now on."""
    member = mapping(mapping(update.get("my_chat_member")).get("new_chat_member"))
    return f", {_word(member.get('status'))}" if member else ""


def _said(parts: Sequence[Json], me: Identity, event_id: str) -> Inbound:
    if reason := _foreign(parts, me) or _elsewhere(parts, me):
        return Ignored(event_id=event_id, reason=reason)
    message = _message(parts, me, event_id)
    if (meant := _command(parts, me)) is None:
        return message
    given, argument = meant
    return CommandReceived(
        event_id=event_id,
        message_id=message.message_id,
        address=message.address,
        user=message.user,
        command=given,
        argument=argument,
        direct=message.direct,
    )


def _edited(parts: Sequence[Json], me: Identity, event_id: str) -> Inbound:
    if reason := _foreign(parts, me) or _elsewhere(parts, me):
        return Ignored(event_id=event_id, reason=reason)
    return MessageEdited(event_id=event_id, message=_message(parts, me, event_id))


def _foreign(parts: Sequence[Json], me: Identity) -> str | None:
    """Why it is not what a person says."""
    return next((reason for part in parts if (reason := _strange(part, me))), None)


def _strange(message: Json, me: Identity) -> str | None:
    chat = mapping(message.get("chat"))
    if number(chat.get("id")) is None or number(message.get("message_id")) is None:
        return "malformed: no usable chat or message id"
    if chat.get("type") not in PLACES:
        return "a channel's post"
    return _nobody(message, me) or _unspoken(message)


def _nobody(message: Json, me: Identity) -> str | None:
    """Why nobody is known who said it."""
    who = sender(message)
    if who == me.id:
        return "our own message"
    if mapping(message.get("sender_chat")):
        return "said as a chat, so nobody knows by whom"
    if mapping(message.get("from")).get("is_bot"):
        return "another bot's message"
    return "malformed: no usable sender" if who is None else None


def _unspoken(message: Json) -> str | None:
    """Why it is not something that was said."""
    if (service := next((key for key in _SERVICE if key in message), None)) is not None:
        return f"not a message: {service}"
    return None if content.has_content(message) else "not a message: nothing that was said"


def _elsewhere(parts: Sequence[Json], me: Identity) -> str | None:
    """Why it is not meant for us."""
    if _direct(parts[0]) or any(entity.mentions(part, me) or _replied(part, me) for part in parts):
        return None
    given = [(at, bot) for part in parts for at, _, bot in entity.commands(part)]
    if any(entity.is_ours(bot, me) and (bot or at == 0) for at, bot in given):
        return None
    return "a command for another bot" if any(at == 0 for at, _ in given) else "not addressed to the bot"


def _replied(message: Json, me: Identity) -> bool:
    return sender(_answered(message)) == me.id


def _answered(message: Json) -> Json:
    """The message that it answers. What stands in a topic seems to answer the message that opened it."""
    replied = mapping(message.get("reply_to_message"))
    opener = "forum_topic_created" in replied
    if message.get("is_topic_message") is True:
        opener = opener or number(replied.get("message_id")) == number(message.get("message_thread_id"))
    return {} if opener else replied


def _message(parts: Sequence[Json], me: Identity, event_id: str) -> MessageReceived:
    first = parts[0]
    chat, thread = str(chat_of(first)), topic(first)
    return MessageReceived(
        event_id=event_id,
        message_id=f"telegram:{me.account}:{chat}:{number(first.get('message_id'))}",
        address=Address(
            platform="telegram", account=me.account, channel=chat, thread=None if thread is None else str(thread)
        ),
        user=str(sender(first)),
        text=_asked(parts, me),
        direct=_direct(first),
        quotation=next((quoted for part in parts if (quoted := _quotation(part, me)) is not None), None),
    )


def _text(parts: Sequence[Json], me: Identity) -> str:
    """All that was said. A text that was cut for its length is whole again."""
    if len(parts) > 1 and all(isinstance(part.get("text"), str) for part in parts):
        said = _joined(parts, me)
    else:
        said = "\n".join(_noted(part, me, place if len(parts) > 1 else None) for place, part in enumerate(parts, 1))
    origin = content.origin(parts[0])
    return f"[forwarded from {origin}]\n{said}" if origin else said


def _noted(part: Json, me: Identity, place: int | None) -> str:
    """A message with notes for what is in it beside words."""
    return "\n".join([*content.notes(part, place), *filter(None, [entity.heard(part, me)])])


def _joined(parts: Sequence[Json], me: Identity) -> str:
    """Where clients find a line end to cut at, it is gone; a part that is full to the brim was cut anywhere."""
    text = ""
    for part in parts:
        text += entity.heard(part, me) + ("" if units(spoken(part)[0]) >= MESSAGE_LIMIT else "\n")
    return text.removesuffix("\n")


def _asked(parts: Sequence[Json], me: Identity) -> str:
    """The text behind ``/ask``; any other command without our name, as if it had been given to us alone."""
    text = _text(parts, me)
    if (given := _given(parts, text, me)) is None:
        return text
    return (
        text[given.end() :] if given[1].lower() == _ASK else f"/{given[1]}{text[given.end(1) :].removeprefix(given[2])}"
    )


def _given(parts: Sequence[Json], text: str, me: Identity) -> re.Match[str] | None:
    """The command that a text begins with, if Telegram marked it and it is for us."""
    if (found := _FIRST_WORD.match(text)) is None:
        return None
    marked = any(name == found[1] and entity.is_ours(bot, me) for _, name, bot in entity.commands(parts[0]))
    return found if marked else None


def _command(parts: Sequence[Json], me: Identity) -> tuple[Command, str] | None:
    """The command that a message is, if it is nothing else, and what it is about."""
    text = _text(parts, me)
    if (given := _given(parts, text, me)) is None:
        return None
    word, more = given[1].lower(), text[given.end() :].strip()
    if word in _WHATEVER:
        return _WHATEVER[word], ""
    return (_REVOKE, "") if word == _REVOKE and not more else command.parse(f"{word} {more}")


def _quotation(message: Json, me: Identity) -> Quotation | None:
    """What it answers; only the words that were picked out, where the person did so."""
    answered, outside = _answered(message), mapping(message.get("external_reply"))
    picked = words(mapping(message.get("quote")).get("text"))
    if answered:
        said = "\n".join([*content.notes(answered), *filter(None, [spoken(answered)[0]])])
        chat = mapping(answered.get("sender_chat"))
        user = me.account if sender(answered) == me.id else str(sender(answered) or "")
        return Quotation(user=content.name(chat) or user, text=picked or said)
    if outside:
        said = "\n".join(content.notes(outside))
        return Quotation(user=content.origin({"forward_origin": outside.get("origin")}), text=picked or said)
    return None


def _direct(message: Json) -> bool:
    """Whether two talk alone."""
    return mapping(message.get("chat")).get("type") == "private"


def _word(value: object) -> str:
    """A name of Telegram's, for a reason; never what people wrote."""
    return value if isinstance(value, str) and _WORD.fullmatch(value) else "unknown"
