"""An update and the message in it, as Telegram writes them. Nothing here raises, whatever stands in it.

Source: https://core.telegram.org/bots/api#update and #message
"""

from gateway.payload import Json, mapping, objects, words

GENERAL = 1
"""The topic that every forum has. It is written to without naming it."""

MESSAGE_LIMIT = 4_096
"""How many UTF-16 units a person's message holds; the client cuts what is longer."""

PLACES = ("private", "group", "supergroup")
"""The kinds of chat in which people talk."""

_LARGEST = 1 << 53
"""No id of Telegram's is larger."""


def number(value: object) -> int | None:
    """The whole number, if it is one that can be an id, an offset or a time."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if -_LARGEST < value < _LARGEST else None


def units(text: str) -> int:
    """How many UTF-16 units a text has."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def sender(message: Json) -> int | None:
    """The id of whoever wrote it."""
    return number(mapping(message.get("from")).get("id"))


def chat_of(message: Json) -> int | None:
    """The id of where it was written."""
    return number(mapping(message.get("chat")).get("id"))


def topic(message: Json) -> int | None:
    """The topic that it stands in; none for General, and for a row of replies where there are no topics."""
    thread = number(message.get("message_thread_id"))
    return thread if message.get("is_topic_message") is True and thread != GENERAL else None


def spoken(message: Json) -> tuple[str, list[Json]]:
    """What was written, with its entities: the text, or the caption of a file."""
    for text, entities in (("text", "entities"), ("caption", "caption_entities")):
        if isinstance(message.get(text), str):
            return words(message.get(text)), objects(message.get(entities))
    return "", []
