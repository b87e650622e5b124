"""One workspace on Slack: events in, operations out."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from adapters.slack import login
from adapters.slack.decode import decode
from adapters.slack.outcome import TABLE, astray, outcome
from adapters.slack.render import render
from gateway.adapter import Budget, Capabilities, Receive, Surface
from gateway.error import DragomanError
from gateway.operation import Forbidden, Operation, Outcome, TooLong
from gateway.secret import SecretName

if TYPE_CHECKING:
    from slack_sdk.web.async_client import AsyncWebClient

LIMIT = 11_500
"""Code points a message may have before rendering; Slack takes 12,000 after."""

POST = (
    Budget(name="chat.postMessage", scope="channel", rate=1.0, burst=2),
    Budget(name="chat.postMessage", scope="account", rate=240 / 60, burst=20),
)
EDIT = (
    Budget(name="chat.update", scope="account", rate=45 / 60, burst=5),
    Budget(name="chat.update", scope="message", rate=1 / 1.2, burst=1),
)
"""A little under what https://docs.slack.dev/apis/web-api/rate-limits grants."""


class SlackAdapter:
    """A ``gateway.adapter.Adapter``. Looks for its tokens when it first needs them.

    Args:
        bot_token: where the bot token is kept.
        app_token: where the app-level token is kept.
        base_url: of the Web API.
        surface: how an answer is shown.
        bubble: code points in a message of ours.
    """

    def __init__(
        self, *, bot_token: SecretName, app_token: SecretName, base_url: str, surface: Surface, bubble: int
    ) -> None:
        self._bot_token = bot_token
        self._app_token = app_token
        self._base_url = base_url
        self._client: AsyncWebClient | None = None
        self.capabilities = Capabilities(surface=surface, unit="cp", bubble=bubble, limit=LIMIT, post=POST, edit=EDIT)

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
            me = login.identity(await web.ask(client, "auth.test"), self._bot_token, self._base_url)
            opened = await web.ask(client, "apps.connections.open", token=app_token)
            url = login.socket_url(opened, self._app_token, self._base_url)

            async def keep(body: object) -> None:
                await receive(decode(body, me))

            refusal = await ingress.listen(client, app_token, url, keep, ready)
        raise login.refused(login.APP, self._app_token, refusal)

    async def perform(self, operation: Operation) -> Outcome:
        """See ``gateway.adapter.Adapter``. Works without ``run``, too."""
        from adapters.slack import web  # noqa: PLC0415 - as above

        call = render(operation)
        if not call.fits:
            return TooLong()
        if not operation.text.strip():
            return TABLE["no_text"] if operation.markup else Forbidden(reason="there is no text to show")
        try:
            client = self._web()
        except DragomanError as error:
            return Forbidden(reason=str(error))
        answer = await web.ask(client, call.method, call.arguments)
        if (ts := astray(operation, answer)) is not None:
            await web.ask(client, "chat.delete", {"channel": operation.address.channel, "ts": ts})
            return Forbidden(reason="the thread is gone: the message that began it was deleted")
        return outcome(answer, markup=operation.markup)

    def _web(self) -> "AsyncWebClient":
        from adapters.slack import web  # noqa: PLC0415 - as above

        if self._client is None:
            self._client = web.web_client(login.secret(login.BOT, self._bot_token), self._base_url)
        return self._client
