"""What an operation is on the Bot API.

Rule 1: formatting goes as entities beside the text, never as ``parse_mode``: nothing has to be escaped, and nothing in
    the text can break it.
Rule 2: nothing in the text calls anybody, and no link gets a preview.
Rule 3: General, the topic that every forum has, is not named; no other topic is named where the message has none.
Rule 4: what is replied to may be gone; the message goes all the same.
Rule 5: an edit has the buttons that it names: without ``reply_markup`` Telegram takes those away that are shown.

Sources: https://core.telegram.org/bots/api#sendmessage, #editmessagetext, #deletemessage and #sendchataction
"""

from collections.abc import Mapping
from dataclasses import dataclass

from adapters.telegram.markup import Marked, plain
from adapters.telegram.press import keyboard
from adapters.telegram.prose import rendered
from adapters.telegram.update import GENERAL, MESSAGE_LIMIT
from gateway.operation import DeleteMessage, EditMessage, PostMessage, ShowTyping

Rendered = PostMessage | EditMessage | DeleteMessage | ShowTyping
"""The operations that are one call each."""

NO_PREVIEW = {"is_disabled": True}


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call: a method in the SDK's spelling, its arguments in Telegram's. ``marked`` is the text in them, if any."""

    method: str
    arguments: Mapping[str, object]
    marked: Marked | None = None

    @property
    def fits(self) -> bool:
        """Whether Telegram takes the text whole."""
        return self.marked is None or self.marked.length <= MESSAGE_LIMIT

    @property
    def blank(self) -> bool:
        """Whether there is a text, and nothing of it is shown."""
        return self.marked is not None and self.marked.blank


def render(operation: Rendered, *, chat: str, topic: str | None = None, answers: str | None = None) -> Call | None:
    """The call that does the operation; none where an id in it is none of Telegram's.

    Args:
        operation: what is to be done.
        chat: where; the operation's own channel, unless that is elsewhere now.
        topic: in which topic; none for General and where there are no topics.
        answers: the message that it replies to.
    """
    place = whole(chat)
    if place is None:
        return None
    where: dict[str, object] = {"chat_id": place}
    match operation:
        case PostMessage():
            marked = _marked(operation)
            arguments = where | _topic(topic) | _reply(answers) | _content(marked) | keyboard(operation.buttons)
            return Call(method="send_message", arguments=arguments, marked=marked)
        case EditMessage(message_id=message_id) if (identifier := whole(message_id)) is not None:
            marked = _marked(operation)
            arguments = where | {"message_id": identifier} | _content(marked) | keyboard(operation.buttons)
            return Call(method="edit_message_text", arguments=arguments, marked=marked)
        case DeleteMessage(message_id=message_id) if (identifier := whole(message_id)) is not None:
            return Call(method="delete_message", arguments=where | {"message_id": identifier})
        case ShowTyping():
            return Call(method="send_chat_action", arguments=where | _topic(topic) | {"action": "typing"})
        case _:
            return None


def whole(identifier: str | None) -> int | None:
    """An id as Telegram has it; behind the chat in which it is, where that was named, too."""
    digits = (identifier or "").rpartition("/")[2]
    number = digits.removeprefix("-")
    return int(digits) if number.isascii() and number.isdecimal() and len(number) < 19 else None


def _marked(operation: PostMessage | EditMessage) -> Marked:
    return rendered(operation.text) if operation.markup else plain(operation.text)


def _content(marked: Marked) -> dict[str, object]:
    content: dict[str, object] = {"text": marked.text, "link_preview_options": NO_PREVIEW}
    return content | ({"entities": [entity.json() for entity in marked.entities]} if marked.entities else {})


def _topic(topic: str | None) -> dict[str, object]:
    identifier = whole(topic)
    return {} if identifier in (None, GENERAL) else {"message_thread_id": identifier}


def _reply(answers: str | None) -> dict[str, object]:
    identifier = whole(answers)
    if identifier is None:
        return {}
    return {"reply_parameters": {"message_id": identifier, "allow_sending_without_reply": True}}
