"""Updates as Telegram sends them, for tests."""

from typing import Any

from adapters.telegram.identity import Identity

ME = Identity(id=7, username="helm_bot")
ADA = {"id": 101, "is_bot": False, "first_name": "Ada"}
GROUP, FORUM = -200, -1_000_000_000_300


def entity(kind: str, text: str, part: str, **more: object) -> dict[str, Any]:
    """An entity of that part of the text."""
    before = text[: text.index(part)]
    return {"type": kind, "offset": size(before), "length": size(part)} | more


def size(text: str) -> int:
    """Its length in UTF-16 units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def direct(text: str | None = "hello", **changes: object) -> dict[str, Any]:
    """A message of Ada's in her private chat; a command in front of it is marked as Telegram's client does."""
    message: dict[str, Any] = {
        "message_id": 9,
        "date": 1_000,
        "from": ADA,
        "chat": {"id": 101, "type": "private", "first_name": "Ada"},
    }
    if text is not None:
        message["text"] = text
        if text.startswith("/"):
            message["entities"] = [entity("bot_command", text, text.split()[0])]
    return message | changes


def group(text: str | None = "@helm_bot hello", **changes: object) -> dict[str, Any]:
    """A message of Ada's in a group; our name in it is marked."""
    message = direct(text, chat={"id": GROUP, "type": "group", "title": "Harbour"})
    if text is not None and "@helm_bot" in text and not text.startswith("/"):
        message["entities"] = [entity("mention", text, "@helm_bot")]
    return message | changes


def topic(text: str = "@helm_bot hello", thread: int = 5, **changes: object) -> dict[str, Any]:
    """A message of Ada's in a topic of a forum."""
    place = {"id": FORUM, "type": "supergroup", "title": "Bazaar", "is_forum": True}
    return group(text, chat=place, message_thread_id=thread, is_topic_message=True) | changes


def photo(place: int, **changes: object) -> dict[str, Any]:
    """A picture, perhaps with a caption."""
    sizes = [{"file_id": f"photo-{place}-s", "width": 90}, {"file_id": f"photo-{place}", "width": 900}]
    return direct(None, message_id=9 + place, photo=sizes) | changes


def press(
    message: dict[str, Any] | None = None, data: object = "approve:abcdefg2", **changes: object
) -> dict[str, Any]:
    """A press of Ada's below a message of ours."""
    ours = {"from": {"id": 7, "is_bot": True, "first_name": "Helm"}}
    query: dict[str, Any] = {"id": "4001", "from": ADA, "data": data, "message": (message or direct()) | ours}
    return query | changes


def update(message: object, identifier: object = 1, kind: str = "message") -> dict[str, Any]:
    """What getUpdates gives."""
    return {"update_id": identifier, kind: message}
