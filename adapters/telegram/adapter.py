"""One bot on Telegram: updates in, operations out."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from adapters.telegram import login, press
from adapters.telegram.decode import decode, edited
from adapters.telegram.merge import Group
from adapters.telegram.outcome import THREAD_GONE, Answer, NoAnswer, outcome
from adapters.telegram.prose import fits
from adapters.telegram.render import Rendered, render
from adapters.telegram.update import chat_of, number
from gateway.adapter import Budget, Capabilities, Receive, Surface, UnknownOutcome
from gateway.error import DragomanError
from gateway.operation import (
    AppendText,
    DeleteMessage,
    EditMessage,
    EditRefused,
    FinishStream,
    Forbidden,
    MarkupRejected,
    MarkWaiting,
    MessageGone,
    Operation,
    Outcome,
    PostMessage,
    ReadThread,
    ShowTyping,
    StartStream,
    TellPrivately,
    TooLong,
    UnmarkWaiting,
)
from gateway.payload import mapping
from gateway.secret import SecretName

if TYPE_CHECKING:
    from adapters.telegram.identity import Identity
    from adapters.telegram.ingress import Keep
    from adapters.telegram.web import Web

log = logging.getLogger(__name__)

_PEOPLE, _GROUPS = "[0-9]+", "-.*"

_CHATS = (
    Budget(name="private chat", scope="channel", rate=1.0, burst=2, channels=_PEOPLE),
    Budget(name="group", scope="channel", rate=18 / 60, burst=2, channels=_GROUPS),
)
_GAPS = (
    Budget(name="edit", scope="message", rate=1 / 1.1, burst=1, channels=_PEOPLE),
    Budget(name="edit in a group", scope="message", rate=1 / 3.1, burst=1, channels=_GROUPS),
)
_ACCOUNT = Budget(name="bot", scope="account", rate=25.0, burst=5)

POST = (*_CHATS, _ACCOUNT)
EDIT = (*_CHATS, *_GAPS, _ACCOUNT)
DELETE = (Budget(name="deleteMessage", scope="channel", rate=1.0, burst=3), _ACCOUNT)
TYPING = (Budget(name="sendChatAction", scope="channel", rate=1 / 2.0, burst=3),)
PRIVATE = (Budget(name="answerCallbackQuery", scope="account", rate=25.0, burst=5),)
"""A little under what https://core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this names, and with
the gaps between edits that others found to work. Sends and edits of a chat draw on one budget, for Telegram counts them
together; it stands first, as what a refusal is about."""

NOTHING = "…"
"""Stands for words of which nothing can be seen: Telegram takes no message without."""

TYPING_EVERY = 4.5
"""Seconds; it shows for five."""


class TelegramAdapter:
    """A ``gateway.adapter.Adapter``. Looks for its token when it first needs it.

    Args:
        bot_token: where the bot's token is kept.
        base_url: of the Bot API, up to the token.
        surface: how an answer is shown.
        bubble: UTF-16 units in a message of ours.
        unknown_outcome: what to do about a post of which nobody can tell whether it arrived.
        webhook: where Telegram sends updates to; none where it is asked for them. Its ``secret`` is where that is kept.
    """

    def __init__(
        self,
        *,
        bot_token: SecretName,
        base_url: str,
        surface: Surface,
        bubble: int,
        unknown_outcome: UnknownOutcome,
        webhook: Mapping[str, str | int] | None = None,
    ) -> None:
        self._bot_token = bot_token
        self._base_url = base_url
        self._webhook = webhook
        self._client: Web | None = None
        self._moved: dict[str, str] = {}
        self._lost_topics: set[tuple[str, str]] = set()
        self.capabilities = Capabilities(
            surface=surface,
            unit="utf16",
            bubble=bubble,
            post=POST,
            edit=EDIT,
            delete=DELETE,
            typing=TYPING,
            private=PRIVATE,
            buttons=True,
            fits=partial(fits, limit=bubble),
            reconciliation="none",
            typing_every=TYPING_EVERY,
            slash=True,
            unknown_outcome=unknown_outcome,
        )

    async def run(self, receive: Receive, ready: Callable[[], None]) -> None:
        """See ``gateway.adapter.Adapter``.

        Raises:
            AdapterError: Telegram does not take the token or the webhook, or is not there.
            ConfigurationError: the token is missing.
        """
        from adapters.telegram import ingress, menu  # noqa: PLC0415 - the SDK takes half a second that --help must not pay

        web = self._web()
        async with web.connections():
            me = login.identity(await web.ask("get_me"), self._bot_token, self._base_url)
            await menu.offer(web)

            async def keep(group: Group) -> None:
                await self._keep(group, me, receive)

            if self._webhook is None:
                refusal = await ingress.listen(web, keep, ready)
            else:
                refusal = await self._listen(web, self._webhook, keep, ready)
        raise login.failure(refusal, self._bot_token, self._base_url)

    async def perform(self, operation: Operation) -> Outcome:
        """See ``gateway.adapter.Adapter``. Works without ``run``, too."""
        try:
            match operation:
                case PostMessage() | EditMessage() | DeleteMessage() | ShowTyping():
                    return await self._do(operation)
                case TellPrivately():
                    return await self._tell(operation)
                case MarkWaiting() | UnmarkWaiting():
                    return Forbidden(reason="messages are not marked on Telegram")
                case ReadThread():
                    return Forbidden(reason="a bot cannot read a chat back on Telegram")
                case StartStream() | AppendText() | FinishStream():
                    return Forbidden(reason="Telegram has no streams; messages are posted and edited")
        except DragomanError as error:  # there is no token, or none of a bot's
            return Forbidden(reason=str(error))

    async def _do(self, operation: Rendered) -> Outcome:
        """Once; a second time only where the first did nothing but tell that the chat or the topic is not there."""
        channel, topic = operation.address.channel, operation.address.thread
        answer = await self._try(operation)
        if not isinstance(answer, Answer):
            return answer
        if answer.moved_to is not None and channel not in self._moved:
            self._learn(channel, str(answer.moved_to))
            answer = await self._try(operation)
        elif answer.says(THREAD_GONE) and topic is not None and (channel, topic) not in self._lost_topics:
            log.warning("topic %s of chat %s is gone; what is for it is shown outside of it", topic, channel)
            self._lost_topics.add((channel, topic))
            answer = await self._try(operation)
        return outcome(answer, operation, self._moved.get(channel)) if isinstance(answer, Answer) else answer

    async def _try(self, operation: Rendered) -> Answer | Outcome:
        channel, topic = operation.address.channel, operation.address.thread
        moved = self._moved.get(channel)
        chat, answers = channel, operation.answers if isinstance(operation, PostMessage) else None
        if moved is not None:
            if isinstance(operation, EditMessage | DeleteMessage) and "/" not in operation.message_id:
                return EditRefused(reason=f"the message stayed behind when the group became the supergroup {moved}")
            chat, answers = moved, None  # the ids of the group's messages are others' there
        if topic is not None and (channel, topic) in self._lost_topics:
            topic = None
        call = render(operation, chat=chat, topic=topic, answers=answers)
        if call is None:
            gone = isinstance(operation, EditMessage | DeleteMessage)
            return MessageGone() if gone else Forbidden(reason=f"{channel} is no chat of Telegram's")
        if not call.fits:
            return TooLong()
        if call.blank and isinstance(operation, PostMessage | EditMessage):
            if operation.markup:
                return MarkupRejected(reason="nothing is left of the text")
            call = render(replace(operation, text=NOTHING), chat=chat, topic=topic, answers=answers) or call
        answer = await self._web().ask(call.method, **call.arguments)
        return outcome(answer, operation) if isinstance(answer, NoAnswer) else answer

    async def _tell(self, operation: TellPrivately) -> Outcome:
        if operation.press is None:
            return Forbidden(reason="Telegram says nothing to one person alone but the answer to a press")
        answered = await self._web().ask("answer_callback_query", **press.answer(operation.press, operation.text))
        return outcome(answered, operation)

    async def _keep(self, group: Group, me: "Identity", receive: Receive) -> None:
        """Store a message, and what its parts are."""
        message = mapping(group.updates[0].get("message"))
        if (to := number(message.get("migrate_to_chat_id"))) is not None:
            self._learn(str(chat_of(message)), str(to))
        found = (edited(group.updates[0], group.parts, me),) if group.parts else decode(group.updates, me)
        for inbound in found:
            await receive(inbound)

    def _learn(self, channel: str, moved: str) -> None:
        if self._moved.get(channel) != moved:
            log.warning("group %s became supergroup %s: allow_groups needs the new id", channel, moved)
            self._moved[channel] = moved

    async def _listen(
        self, web: "Web", webhook: Mapping[str, str | int], keep: "Keep", ready: Callable[[], None]
    ) -> Answer | NoAnswer:
        from adapters.telegram.webhook import Hook, listen  # noqa: PLC0415 - as above

        hook = Hook(
            url=str(webhook["url"]),
            secret=login.webhook_secret(str(webhook["secret"])),
            host=str(webhook["host"]),
            port=int(webhook["port"]),
        )
        return await listen(web, hook, keep, ready)

    def _web(self) -> "Web":
        from adapters.telegram.web import Web  # noqa: PLC0415 - as above

        if self._client is None:
            self._client = Web(login.token(self._bot_token), self._base_url)
        return self._client
