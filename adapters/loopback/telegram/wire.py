"""How the Bot API writes what there is. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from adapters.loopback.telegram import autolink
from adapters.loopback.telegram.entity import Entity
from adapters.loopback.telegram.history import History
from adapters.loopback.telegram.message import Message
from adapters.loopback.telegram.roster import Roster
from adapters.loopback.telegram.world import Chat, User, World

Payload = dict[str, object]

_RIGHTS = (
    "can_manage_chat",
    "can_delete_messages",
    "can_manage_video_chats",
    "can_restrict_members",
    "can_promote_members",
    "can_change_info",
    "can_invite_users",
    "can_post_stories",
    "can_edit_stories",
    "can_delete_stories",
    "can_pin_messages",
    "can_manage_topics",
)
_PERMISSIONS = (
    "can_send_messages",
    "can_send_audios",
    "can_send_documents",
    "can_send_photos",
    "can_send_videos",
    "can_send_video_notes",
    "can_send_voice_notes",
    "can_send_polls",
    "can_send_other_messages",
    "can_add_web_page_previews",
    "can_change_info",
    "can_invite_users",
    "can_pin_messages",
    "can_manage_topics",
    "can_edit_tag",
    "can_react_to_messages",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """Writes users, chats and messages, looking up what they refer to."""

    world: World
    roster: Roster
    history: History

    def user(self, user_id: int) -> Payload:
        """A user by id; one who is unknown has no name."""
        return user_of(self.world.user(user_id) or User(id=user_id, name="?"))

    def chat(self, chat_id: int) -> Payload:
        """A chat by id, also one that was upgraded since."""
        moved = self.roster.moved_to(chat_id)
        chat = self.roster.find(chat_id if moved is None else moved)
        if chat.type == "private":
            return {key: value for key, value in self.user(chat_id).items() if key != "is_bot"} | {"type": "private"}
        kind = "group" if moved is not None else chat.type
        wire: Payload = {"id": chat_id, "type": kind, "title": chat.title}
        return wire | ({"is_forum": True} if chat.is_forum else {})

    def message(self, message: Message, *, deep: bool = True) -> Payload:
        """A message.

        Args:
            message: which.
            deep: with what it replies to.
        """
        content = message.content
        place = "caption" if content.photo else "text"
        wire: Payload = {
            "message_id": message.id,
            "from": self.user(message.user),
            "chat": self.chat(message.chat),
            "date": message.date,
        }
        more: Payload = {
            "message_thread_id": message.thread,
            "is_topic_message": message.is_topic_message or None,
            "edit_date": int(message.date + message.edits[-1].t - message.t) if message.edits else None,
            "media_group_id": message.media_group,
            "forward_origin": message.forward_origin,
            "photo": photo_of(content.photo) if content.photo else None,
            place: content.shown.text or None,
            "entities" if place == "text" else "caption_entities": [
                self.entity(each) for each in self.entities_of(message)
            ]
            or None,
            "link_preview_options": content.link_preview_options,
            "reply_markup": content.reply_markup if is_inline(content.reply_markup) else None,
            "reply_to_message": self._replied(message) if deep else None,
            **message.service,
        }
        return wire | {name: value for name, value in more.items() if value is not None}

    def member(self, chat: Chat) -> Payload:
        """The bot as a member of a chat."""
        member: Payload = {"user": self.user(self.world.bot.id)}
        match chat.standing:
            case "member":
                return member | {"status": "member"}
            case "administrator":
                rights = dict.fromkeys(_RIGHTS, False) | {
                    "can_manage_chat": True,
                    "can_delete_messages": chat.can_delete,
                }
                return member | {"status": "administrator", "can_be_edited": False, "is_anonymous": False} | rights
            case "restricted":
                rights = dict.fromkeys(_PERMISSIONS, False)
                return member | {"status": "restricted", "is_member": True, "until_date": 0} | rights
            case "blocked" | "kicked":
                return member | {"status": "kicked", "until_date": 0}
            case "left" | "unstarted":
                return member | {"status": "left"}

    def entities_of(self, message: Message) -> list[Entity]:
        """What was sent and, beside it, what the server found by itself."""
        shown = message.content.shown
        return sorted([*shown.entities, *autolink.find(shown.text, shown.entities)], key=lambda each: each.offset)

    def entity(self, entity: Entity) -> Payload:
        """An entity."""
        wire: Payload = {"type": entity.type, "offset": entity.offset, "length": entity.length}
        more: Payload = {
            "url": entity.url,
            "user": self.user(entity.user) if entity.user is not None else None,
            "language": entity.language,
            "custom_emoji_id": entity.custom_emoji_id,
        }
        return wire | {name: value for name, value in more.items() if value is not None}

    def _replied(self, message: Message) -> Payload | None:
        """What it replies to; in a topic, where it replies to nothing, the message that opened the topic."""
        if message.reply_to is not None:
            replied = self.history.find(message.chat, message.reply_to)
            return self.message(replied, deep=False) if replied and not replied.deleted else None
        if not message.is_topic_message or message.thread is None:
            return None
        topics = self.roster.find(message.chat).topics
        name = next((topic.name for topic in topics if topic.id == message.thread), "?")
        return {
            "message_id": message.thread,
            "message_thread_id": message.thread,
            "is_topic_message": True,
            "from": self.user(self.world.users[0].id),
            "chat": self.chat(message.chat),
            "date": message.date,
            "forum_topic_created": {"name": name, "icon_color": 7_322_096},
        }


def user_of(user: User) -> Payload:
    """A user."""
    wire: Payload = {"id": user.id, "is_bot": user.is_bot, "first_name": user.name}
    return wire | ({"username": user.username} if user.username else {})


def photo_of(photo: str) -> list[Payload]:
    """The sizes of a picture, of which nobody can fetch the bytes."""
    sizes: Sequence[tuple[str, int, int]] = (("s", 90, 60), ("m", 320, 213))
    return [
        {"file_id": f"{photo}-{name}", "file_unique_id": f"u{photo}-{name}", "width": width, "height": height}
        for name, width, height in sizes
    ]


def is_inline(markup: Mapping[str, object] | None) -> bool:
    """Whether a keyboard hangs on its message and stands in the message's JSON."""
    return markup is not None and "inline_keyboard" in markup
