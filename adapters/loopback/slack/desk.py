"""Where Web API calls are answered: planned faults first, then the gate, then the method; all of it logged."""

from collections.abc import Callable

import anyio

from adapters.loopback.clock import PlatformClock
from adapters.loopback.fault import Failure, FaultPlan
from adapters.loopback.log import Call, CallLog
from adapters.loopback.slack.answer import Answer, RefusedError, good, refused
from adapters.loopback.slack.api import WebApi
from adapters.loopback.slack.argument import Arguments
from adapters.loopback.slack.change import CallAnswered, Change
from adapters.loopback.slack.gate import Gate


class Desk:
    """Answers calls and keeps their log.

    Args:
        clock: of the platform.
        tell: hears of every call that was answered.
        gate: who may call what, and how often.
        api: what the methods do.
        faults: what goes wrong.
        arrived: told the method of every call before anything is done about it.
    """

    def __init__(
        self,
        *,
        clock: PlatformClock,
        tell: Callable[[Change], None],
        gate: Gate,
        api: WebApi,
        faults: FaultPlan,
        arrived: Callable[[str], None],
    ) -> None:
        self.calls = CallLog()
        self._closed = anyio.Event()
        self._clock = clock
        self._tell = tell
        self._gate = gate
        self._api = api
        self._faults = faults
        self._arrived = arrived

    async def call(self, method: str, token: str, arguments: Arguments) -> Answer:
        """Answer one call. A planned failure costs no tokens unless it is performed.

        A call is logged when it is decided, so that one whose answer is held back for ever is in the log, too.
        """
        arrival = self._clock.now()
        self._arrived(method)
        fate = self._faults.take(method)
        if fate.delay and not await self._waited(fate.delay):
            return Answer(body={}, status=0)
        if fate.failure is None:
            answer = self._perform(method, token, arguments)
        else:
            answer = self._fail(fate.failure, method, token, arguments)
        self._record(method, arguments, arrival, answer)
        if fate.hold and not await self._waited(fate.hold):
            return Answer(body={}, status=0)
        return answer

    def close(self) -> None:
        """Cut what waits. What was not taken yet is never done."""
        self._closed.set()

    async def _waited(self, seconds: float) -> bool:
        """Wait for real seconds, and say whether the desk was open all the while."""
        with anyio.move_on_after(seconds):
            await self._closed.wait()
        return not self._closed.is_set()

    def _perform(self, method: str, token: str, arguments: Arguments) -> Answer:
        try:
            self._gate.admit(method, token, arguments, self._clock.now())
            return good(self._api.methods[method](arguments))
        except RefusedError as refusal:
            return refused(refusal)

    def _fail(self, failure: Failure, method: str, token: str, arguments: Arguments) -> Answer:
        if failure.performed:
            self._perform(method, token, arguments)
        body: dict[str, object] = {"ok": False, "error": failure.error}
        return Answer(body=body, status=failure.status, retry_after=failure.retry_after)

    def _record(self, method: str, arguments: Arguments, arrival: float, answer: Answer) -> None:
        call = Call(
            t=arrival,
            method=method,
            target=_target(arguments),
            status=answer.status,
            error=answer.error,
            retry_after=answer.retry_after,
            arguments={name: value for name, value in arguments.values.items() if name != "token"},
        )
        self.calls.append(call)
        self._tell(CallAnswered(call=call))


def _target(arguments: Arguments) -> str:
    channel = arguments.text("channel") or arguments.text("channel_id")
    ts = arguments.text("ts") or arguments.text("timestamp")
    return f"{channel}/{ts}" if ts else channel
