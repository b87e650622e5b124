"""Where Web API calls are answered: planned faults first, then the gate, then the method; all of it logged."""

import asyncio
from collections.abc import Callable

from adapters.loopback.clock import PlatformClock
from adapters.loopback.fault import Failure, FaultPlan
from adapters.loopback.log import Call, CallLog
from adapters.loopback.slack.answer import Answer, RefusedError, good, refused
from adapters.loopback.slack.api import WebApi
from adapters.loopback.slack.argument import Arguments
from adapters.loopback.slack.change import CallAnswered, Change
from adapters.loopback.slack.gate import Gate


class Desk:
    """Answers calls and keeps their log."""

    def __init__(
        self,
        *,
        clock: PlatformClock,
        tell: Callable[[Change], None],
        gate: Gate,
        api: WebApi,
        faults: FaultPlan,
    ) -> None:
        self.calls = CallLog()
        self._clock = clock
        self._tell = tell
        self._gate = gate
        self._api = api
        self._faults = faults

    async def call(self, method: str, token: str, arguments: Arguments) -> Answer:
        """Answer one call. A planned failure costs no tokens unless it is performed."""
        arrival = self._clock.now()
        if delay := self._faults.next_delay(method):
            await asyncio.sleep(delay)
        failure = self._faults.next_failure(method)
        if failure is None:
            answer = self._perform(method, token, arguments)
        else:
            answer = self._fail(failure, method, token, arguments)
        self._record(method, arguments, arrival, answer)
        return answer

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
