"""One workspace on Slack: events in, operations out."""

import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import anyio

from adapters.slack import login
from adapters.slack.decode import decode
from adapters.slack.identity import Identity
from adapters.slack.outcome import TABLE, Answer, NoAnswer, astray, outcome, refusal
from adapters.slack.reading import Reading
from adapters.slack.render import Call, render
from gateway.adapter import Budget, Capabilities, Receive, Surface, UnknownOutcome
from gateway.error import DragomanError
from gateway.operation import (
    AppendText,
    DeleteMessage,
    EditMessage,
    FinishStream,
    Forbidden,
    MarkWaiting,
    MessageGone,
    Operation,
    Outcome,
    Performed,
    PostMessage,
    RateLimited,
    ReadThread,
    ShowTyping,
    StartStream,
    TellPrivately,
    ThreadRead,
    TooLong,
    UnmarkWaiting,
)
from gateway.secret import SecretName

if TYPE_CHECKING:
    from slack_sdk.web.async_client import AsyncWebClient

log = logging.getLogger(__name__)

POST = (
    Budget(name="chat.postMessage", scope="channel", rate=1.0, burst=2),
    Budget(name="chat.postMessage", scope="account", rate=240 / 60, burst=20),
)
EDIT = (
    Budget(name="chat.update", scope="account", rate=45 / 60, burst=5),
    Budget(name="chat.update", scope="message", rate=1 / 1.2, burst=1),
)
DELETE = (Budget(name="chat.delete", scope="account", rate=45 / 60, burst=5),)
READ = (Budget(name="conversations", scope="account", rate=45 / 60, burst=5),)
MARK = (Budget(name="reactions", scope="account", rate=18 / 60, burst=5),)
PRIVATE = (Budget(name="chat.postEphemeral", scope="account", rate=90 / 60, burst=15),)
"""A little under what https://docs.slack.dev/apis/web-api/rate-limits grants. To mark and to unmark
is one budget, so it is that of reactions.remove, which is of tier 2; reactions.add would have 50 a minute."""


_NO_STREAM = Forbidden(reason="Slack's own streams are not used yet; messages are posted and edited")
_UNUSED: Mapping[type, Forbidden] = {
    StartStream: _NO_STREAM,
    AppendText: _NO_STREAM,
    FinishStream: _NO_STREAM,
    ShowTyping: Forbidden(reason="Slack shows no typing of an app in a channel"),
}

TAKE_BACK_PAUSES = (1.0, 2.0, 4.0, 8.0, 16.0)
LONGEST_PAUSE = 60.0
"""Real seconds until a message that stands where it does not belong is tried to be deleted again."""


class SlackAdapter:
    """A ``gateway.adapter.Adapter``. Looks for its tokens when it first needs them.

    Args:
        bot_token: where the bot token is kept.
        app_token: where the app-level token is kept.
        base_url: of the Web API.
        surface: how an answer is shown.
        bubble: code points in a message of ours.
        unknown_outcome: what to do about a post of which not even reading tells whether it arrived.
    """

    def __init__(
        self,
        *,
        bot_token: SecretName,
        app_token: SecretName,
        base_url: str,
        surface: Surface,
        bubble: int,
        unknown_outcome: UnknownOutcome,
    ) -> None:
        self._bot_token = bot_token
        self._app_token = app_token
        self._base_url = base_url
        self._client: AsyncWebClient | None = None
        self._me: Identity | None = None
        self.capabilities = Capabilities(
            surface=surface,
            unit="cp",
            bubble=bubble,
            post=POST,
            edit=EDIT,
            delete=DELETE,
            read=READ,
            mark=MARK,
            private=PRIVATE,
            buttons=True,
            whispers=True,
            reconciliation="read",
            unknown_outcome=unknown_outcome,
        )

    async def run(self, receive: Receive, ready: Callable[[], None]) -> None:
        """See ``gateway.adapter.Adapter``.

        Raises:
            AdapterError: Slack does not take a token, or is not there.
            ConfigurationError: a token is missing.
        """
        from adapters.slack import ingress, web  # noqa: PLC0415 - the SDK takes half a second that --help must not pay

        app_token = login.secret(login.APP, self._app_token)
        client = self._web()
        async with web.connections(client):
            me = self._identify(await web.ask(client, "auth.test"))
            opened = await web.ask(client, "apps.connections.open", token=app_token)
            url = login.socket_url(opened, self._app_token, self._base_url)

            async def keep(body: object) -> None:
                await receive(decode(body, me))

            refusal = await ingress.listen(client, app_token, url, keep, ready)
        raise login.refused(login.APP, self._app_token, refusal)

    async def perform(self, operation: Operation) -> Outcome:
        """See ``gateway.adapter.Adapter``. Works without ``run``, too."""
        try:
            match operation:
                case PostMessage() | EditMessage():
                    return await self._show(operation)
                case TellPrivately():
                    return await self._tell(operation)
                case DeleteMessage() | MarkWaiting() | UnmarkWaiting():
                    return outcome(await self._ask(render(operation)), operation)
                case ReadThread():
                    return await self._read(operation)
                case StartStream() | AppendText() | FinishStream() | ShowTyping():
                    return _UNUSED[type(operation)]
        except DragomanError as error:  # there is no token, or none of a bot's
            return Forbidden(reason=str(error))

    async def _show(self, operation: PostMessage | EditMessage) -> Outcome:
        call = render(operation)
        if not call.fits:
            return TooLong()
        if not operation.text.strip():
            return TABLE["no_text"] if operation.markup else Forbidden(reason="there is no text to show")
        answer = await self._ask(call)
        if (ts := astray(operation, answer)) is not None:
            await self._take_back(DeleteMessage(address=operation.address, message_id=ts))
            return Forbidden(reason="the thread is gone: the message that began it was deleted")
        return outcome(answer, operation)

    async def _tell(self, operation: TellPrivately) -> Outcome:
        """Who pressed waits no longer since the press was acknowledged: with nothing to say, there is nothing to do."""
        if not operation.text.strip():
            return Performed(message_id=operation.press or "")
        call = render(operation)
        return outcome(await self._ask(call), operation) if call.fits else TooLong()

    async def _take_back(self, operation: DeleteMessage) -> None:
        """Delete what stands where it does not belong. Its reply is over, so nobody else would try it again."""
        for pause in TAKE_BACK_PAUSES:
            result = outcome(await self._ask(render(operation)), operation)
            if isinstance(result, Performed | MessageGone):
                return
            await anyio.sleep(min(result.retry_after, LONGEST_PAUSE) if isinstance(result, RateLimited) else pause)
        log.error(
            "a message for a thread stands in channel %s, and cannot be deleted: delete %s by hand",
            operation.address.channel,
            operation.message_id,
        )

    async def _read(self, operation: ReadThread) -> Outcome:
        from adapters.slack import web  # noqa: PLC0415 - as above

        if (me := self._me) is None:
            known = await web.ask(self._web(), "auth.test")
            if isinstance(known, NoAnswer) or not known.ok:
                return refusal(known, operation)
            me = self._identify(known)
        reading = Reading(operation, me)
        while (call := reading.next_call()) is not None:
            answer = await self._ask(call)
            if isinstance(answer, NoAnswer) or not answer.ok:
                return refusal(answer, operation)
            reading.feed(answer.body)
        return ThreadRead(messages=reading.messages)

    async def _ask(self, call: Call) -> Answer | NoAnswer:
        from adapters.slack import web  # noqa: PLC0415 - as above

        return await web.ask(self._web(), call.method, call.arguments, query=call.query)

    def _identify(self, answer: Answer | NoAnswer) -> Identity:
        self._me = login.identity(answer, self._bot_token, self._base_url)
        return self._me

    def _web(self) -> "AsyncWebClient":
        from adapters.slack import web  # noqa: PLC0415 - as above

        if self._client is None:
            self._client = web.web_client(login.secret(login.BOT, self._bot_token), self._base_url)
        return self._client
