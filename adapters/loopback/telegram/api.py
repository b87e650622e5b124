"""The Bot API's methods. Each takes arguments and returns the result of a good answer, or refuses."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from adapters.loopback.clock import PlatformClock
from adapters.loopback.telegram import outbound
from adapters.loopback.telegram.answer import RefusedError
from adapters.loopback.telegram.argument import Arguments
from adapters.loopback.telegram.button import Buttons
from adapters.loopback.telegram.change import Change, ChatAction, CommandsSet
from adapters.loopback.telegram.command import CommandMenu
from adapters.loopback.telegram.content import read_content
from adapters.loopback.telegram.history import History
from adapters.loopback.telegram.keyboard import read_keyboard
from adapters.loopback.telegram.message import Content, Draft, Message
from adapters.loopback.telegram.roster import Roster, checked_thread
from adapters.loopback.telegram.rule import Rule
from adapters.loopback.telegram.wire import Payload, Wire, user_of
from adapters.loopback.telegram.world import Chat, World

ACTIONS = frozenset(
    {"typing", "upload_photo", "record_video", "upload_video", "record_voice", "upload_voice", "upload_document"}
    | {"choose_sticker", "find_location", "record_video_note", "upload_video_note"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BotApi:
    """What the methods do once a call was let in.

    Attributes:
        world: who and what there is.
        roster: which chats there are now.
        history: where messages go.
        wire: how they are written.
        commands: the bot's list of commands.
        buttons: what was pressed.
        clock: of the platform.
        tell: hears what the history does not tell.
    """

    world: World
    roster: Roster
    history: History
    wire: Wire
    commands: CommandMenu
    buttons: Buttons
    clock: PlatformClock
    tell: Callable[[Change], None]

    @property
    def methods(self) -> Mapping[str, Callable[[Arguments], object]]:
        """The methods by their documented names."""
        return {
            "answerCallbackQuery": self._answer_callback_query,
            "deleteMessage": self._delete_message,
            "deleteMyCommands": self._delete_my_commands,
            "editMessageReplyMarkup": self._edit_message_reply_markup,
            "editMessageText": self._edit_message_text,
            "getChat": self._get_chat,
            "getMe": self._get_me,
            "getMyCommands": self._get_my_commands,
            "sendChatAction": self._send_chat_action,
            "sendMessage": self._send_message,
            "setMyCommands": self._set_my_commands,
        }

    def _get_me(self, _: Arguments) -> Payload:
        bot = self.world.bot
        return user_of(self.world.me) | {
            "can_join_groups": True,
            "can_read_all_group_messages": bot.can_read_all_group_messages,
            "supports_inline_queries": False,
            "can_connect_to_business": False,
            "has_main_web_app": False,
            "has_topics_enabled": bot.has_topics_enabled,
        }

    def _get_chat(self, arguments: Arguments) -> Payload:
        chat = self._chat(arguments)
        gifts = ("unlimited_gifts", "limited_gifts", "unique_gifts", "premium_subscription", "gifts_from_channels")
        return self.wire.chat(chat.id) | {
            "accent_color_id": 0,
            "max_reaction_count": 11,
            "accepted_gift_types": dict.fromkeys(gifts, False),
        }

    def _send_message(self, arguments: Arguments) -> Payload:
        if not arguments.text("text"):
            raise RefusedError(outbound.TEXT_EMPTY)
        chat = self._chat(arguments)
        if chat.standing == "restricted":
            raise RefusedError(outbound.NO_RIGHT)
        content = read_content(arguments, self._known())
        thread = checked_thread(chat, arguments.number("message_thread_id"))
        draft = Draft(
            content=content,
            thread=thread,
            reply_to=self._replied(arguments, chat),
            reply_parameters=arguments.mapping("reply_parameters") or None,
        )
        return self.wire.message(self.history.post(chat, self.world.me, draft))

    def _replied(self, arguments: Arguments, chat: Chat) -> int | None:
        """The message that is replied to; none if the call says so, or lets it be missing."""
        parameters = arguments.mapping("reply_parameters")
        if parameters is None:
            raise RefusedError(outbound.REPLY_FORMAT)
        old = arguments.number("reply_to_message_id")
        if not parameters and not old:
            return None
        wanted = parameters.get("message_id", old)
        if not isinstance(wanted, int) or not wanted:
            raise RefusedError(outbound.REPLY_FORMAT)
        if self.history.standing(chat.id, wanted) is not None:
            return wanted
        if parameters.get("allow_sending_without_reply") is True or arguments.flag("allow_sending_without_reply"):
            return None
        raise RefusedError(outbound.REPLY_GONE)

    def _edit_message_text(self, arguments: Arguments) -> Payload:
        if not arguments.text("text"):
            raise RefusedError(outbound.TEXT_EMPTY)
        before = self._own(arguments)
        return self._edit(before, read_content(arguments, self._known()))

    def _edit_message_reply_markup(self, arguments: Arguments) -> Payload:
        before = self._own(arguments)
        return self._edit(before, replace(before.content, reply_markup=read_keyboard(arguments)))

    def _edit(self, before: Message, content: Content) -> Payload:
        if content.look == before.content.look:
            raise RefusedError(outbound.EDIT_SAME)
        return self.wire.message(self.history.edit(before, content))

    def _delete_message(self, arguments: Arguments) -> bool:
        chat = self._chat(arguments)
        message = self._message(arguments, chat, outbound.DELETE_GONE)
        foreign = message.author != "bot" and chat.type != "private"
        if foreign and not (chat.standing == "administrator" and chat.can_delete):
            raise RefusedError(outbound.DELETE_FORBIDDEN)
        if self.clock.now() - message.t > outbound.DELETE_LATE.limit:
            raise RefusedError(outbound.DELETE_LATE)
        self.history.delete(message)
        return True

    def _send_chat_action(self, arguments: Arguments) -> bool:
        chat = self._chat(arguments)
        action = arguments.text("action")
        if action not in ACTIONS:
            raise RefusedError(outbound.ACTION_UNKNOWN)
        if chat.standing == "restricted":
            raise RefusedError(outbound.NO_RIGHT)
        thread = checked_thread(chat, arguments.number("message_thread_id"), general=True)
        self.tell(ChatAction(t=self.clock.now(), chat=chat.id, thread=thread, action=action))
        return True

    def _answer_callback_query(self, arguments: Arguments) -> bool:
        self.buttons.answer(arguments.text("callback_query_id"), arguments.text("text"))
        return True

    def _set_my_commands(self, arguments: Arguments) -> bool:
        self.commands.set(arguments)
        return self._commands_set(arguments)

    def _delete_my_commands(self, arguments: Arguments) -> bool:
        self.commands.delete(arguments)
        return self._commands_set(arguments)

    def _commands_set(self, arguments: Arguments) -> bool:
        scope, language = self.commands.key(arguments)
        self.tell(CommandsSet(scope=scope, language=language))
        return True

    def _get_my_commands(self, arguments: Arguments) -> list[Payload]:
        return [{"command": name, "description": description} for name, description in self.commands.listed(arguments)]

    def _chat(self, arguments: Arguments) -> Chat:
        return self.roster.reachable(arguments.text("chat_id"))

    def _known(self) -> frozenset[int]:
        return frozenset({self.world.bot.id, *(user.id for user in self.world.users)})

    def _message(self, arguments: Arguments, chat: Chat, otherwise: Rule) -> Message:
        wanted = arguments.number("message_id")
        if not wanted:
            raise RefusedError(outbound.MESSAGE_UNNAMED)
        message = self.history.standing(chat.id, wanted)
        if message is None:
            raise RefusedError(otherwise)
        return message

    def _own(self, arguments: Arguments) -> Message:
        chat = self._chat(arguments)
        message = self._message(arguments, chat, outbound.EDIT_GONE)
        if message.author != "bot":
            raise RefusedError(outbound.EDIT_FOREIGN)
        if chat.standing == "restricted":
            raise RefusedError(outbound.NO_RIGHT)
        return message
