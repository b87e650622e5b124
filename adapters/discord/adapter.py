"""One bot on Discord: events in, operations out."""

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import anyio

from adapters.discord import command, login
from adapters.discord.breaker import MOST, Breaker
from adapters.discord.ingress import Ingress, Openings
from adapters.discord.interaction import OPENING
from adapters.discord.outcome import DEAD_TOKENS, TABLE, Answer, NoAnswer, outcome
from adapters.discord.post import Posts
from adapters.discord.render import Call, in_channel, render
from gateway.adapter import Capabilities, Receive
from gateway.error import AdapterError, DragomanError
from gateway.operation import (
    AppendText,
    DeleteMessage,
    EditMessage,
    EditRefused,
    Expired,
    FinishStream,
    Forbidden,
    MarkWaiting,
    NotModified,
    Operation,
    Outcome,
    Performed,
    PostMessage,
    ReadThread,
    ShowTyping,
    StartStream,
    TellPrivately,
    TooLong,
    UnmarkWaiting,
)
from gateway.secret import SecretName

if TYPE_CHECKING:
    from adapters.discord.identity import Identity
    from adapters.discord.web import Web

log = logging.getLogger(__name__)

NO_READING = "Discord shows what others said only to bots with the message-content intent"
NO_STREAMS = "Discord has no streams"

_CANNOT_REPLY = 160002
_EMPTY = 50006


class DiscordAdapter:
    """A ``gateway.adapter.Adapter``. Looks for its token when it first needs it.

    Args:
        bot_token: where the bot's token is kept.
        base_url: of the API.
        gateway_url: of the gateway.
        capabilities: what it can do.
    """

    def __init__(self, *, bot_token: SecretName, base_url: str, gateway_url: str, capabilities: Capabilities) -> None:
        self._bot_token = bot_token
        self._base_url = base_url
        self._gateway_url = gateway_url
        self._client: Web | None = None
        self._openings = Openings()
        self._posts = Posts()
        self._breaker = Breaker()
        self._revoked: anyio.Event | None = None
        self.capabilities = capabilities

    async def run(self, receive: Receive, ready: Callable[[], None]) -> None:
        """See ``gateway.adapter.Adapter``.

        Raises:
            AdapterError: Discord does not take the token (any more), or is not there.
            ConfigurationError: the token is missing.
        """
        from adapters.discord.session import Session  # noqa: PLC0415 - the SDK takes half a second

        web = self._web()
        revoked = self._revoked = anyio.Event()
        async with web.connections() as http:
            me = await self._who()
            wait = await command.register(self._ask, me.application)
            ingress = Ingress(me=me, receive=receive, ask=self._ask, openings=self._openings, posts=self._posts)
            session = Session(http, web.token, self._gateway_url, ingress.told, ready)
            end: list[AdapterError] = []
            async with anyio.create_task_group() as tasks:

                async def listen() -> None:
                    end.append(login.closed(await session.run(), self._bot_token))
                    tasks.cancel_scope.cancel()

                tasks.start_soon(ingress.run)
                tasks.start_soon(listen)
                if wait is not None:
                    tasks.start_soon(command.register_yet, self._ask, me.application, wait)
                await revoked.wait()
                end.append(login.refused(self._bot_token))
                tasks.cancel_scope.cancel()
        raise end[0]

    async def perform(self, operation: Operation) -> Outcome:
        """See ``gateway.adapter.Adapter``. Works without ``run``, too."""
        try:
            match operation:
                case PostMessage() | EditMessage():
                    return await self._show(operation)
                case DeleteMessage():
                    return await self._delete(operation)
                case MarkWaiting() | UnmarkWaiting() | ShowTyping():
                    call = render(operation)
                    return NotModified() if call is None else outcome(await self._ask(call), operation)
                case TellPrivately():
                    return await self._tell(operation)
                case ReadThread() | StartStream() | AppendText() | FinishStream():
                    return Forbidden(reason=NO_READING if isinstance(operation, ReadThread) else NO_STREAMS)
        except DragomanError as error:  # there is no token, or none of a bot's
            return Forbidden(reason=str(error))

    async def _show(self, operation: PostMessage | EditMessage) -> Outcome:
        call = render(operation)
        if call is None:
            return Expired()
        if not call.fits:
            return TooLong()
        if not call.text:
            return TABLE[_EMPTY] if operation.markup else Forbidden(reason="there is no text to show")
        if isinstance(operation, EditMessage):
            await self._openings.settled(operation.message_id)
        elif (posted := self._posts.message(operation.nonce)) is not None:
            return Performed(message_id=posted)
        answer = await self._ask(call)
        if isinstance(operation, PostMessage) and operation.answers is not None and _cannot_reply(answer):
            return await self._show(replace(operation, answers=None))
        return _shared(outcome(answer, operation), operation, call)

    async def _tell(self, operation: TellPrivately) -> Outcome:
        """Say it behind the first answer to what the person did; that one says by itself that we have it."""
        if operation.ticket is None:
            reason = "Discord says nothing to one person alone but in answer to what they pressed or commanded"
            return Forbidden(reason=reason) if operation.press is None else Expired()
        await self._openings.settled(operation.ticket.opening)
        call = render(operation)
        if call is None or not call.text:
            return Performed(message_id="")
        return outcome(await self._ask(call), operation) if call.fits else TooLong()

    async def _delete(self, operation: DeleteMessage) -> Outcome:
        """Where a ticket is void, its first answer is deleted as an ordinary message, if it is known which it is."""
        await self._openings.settled(operation.message_id)
        call = render(operation)
        answer = None if call is None else await self._ask(call)
        void = answer is None or (isinstance(answer, Answer) and answer.code in DEAD_TOKENS)
        if void and operation.message_id.startswith(OPENING):
            known = self._openings.message(operation.message_id)
            if known is None or (operation.ticket is not None and operation.ticket.guest):
                return EditRefused(reason="the interaction's token is void, and nothing else reaches its first answer")
            answer = await self._ask(in_channel(operation.address, known))
        if answer is None:
            return EditRefused(reason="there is no ticket that reaches the message")
        return outcome(answer, operation)

    async def _who(self) -> "Identity":
        user = await self._ask(Call(method="GET", path="/users/@me"))
        application = await self._ask(Call(method="GET", path="/applications/@me"))
        me = login.identity(user, application, self._bot_token, self._base_url)
        if isinstance(application, Answer) and application.fields.get("interactions_endpoint_url"):
            log.warning(
                "the application has an Interactions Endpoint URL, so Discord sends its slash commands there and not "
                "here; clear it at https://discord.com/developers/applications, General Information"
            )
        return me

    async def _ask(self, call: Call) -> Answer | NoAnswer:
        """What Discord says; nothing is sent while it is about to bar us."""
        if wait := self._breaker.wait(anyio.current_time()):
            return Answer(status=429, body={"retry_after": wait, "global": True})
        answer = await self._web().ask(call)
        if isinstance(answer, Answer) and answer.is_invalid and self._breaker.add(anyio.current_time()):
            log.error("Discord refused %s requests in ten minutes; nothing is sent for that long", MOST)
        if isinstance(answer, Answer) and answer.status == 401 and not call.by_token and self._revoked is not None:
            self._revoked.set()
        return answer

    def _web(self) -> "Web":
        from adapters.discord.web import Web  # noqa: PLC0415 - aiohttp takes time that --help must not pay

        if self._client is None:
            self._client = Web(login.secret(self._bot_token), self._base_url)
        return self._client


def _cannot_reply(answer: Answer | NoAnswer) -> bool:
    """Whether a post was refused for what it replies to, and for nothing else."""
    if isinstance(answer, NoAnswer):
        return False
    return answer.code == _CANNOT_REPLY or "message_reference" in str(answer.fields.get("errors", ""))


def _shared(result: Outcome, operation: PostMessage | EditMessage, call: Call) -> Outcome:
    """Without a quota of a budget that is not the first one: a token's, where we are no guest."""
    ticket = operation.ticket
    if isinstance(result, Performed) and call.by_token and not (ticket is not None and ticket.guest):
        return replace(result, quota=None)
    return result
