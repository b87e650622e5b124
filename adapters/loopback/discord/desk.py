"""Where calls are answered: planned faults first, then the gate, then the route; all of it logged."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import cast

import anyio

from adapters.loopback.discord.answer import Answer, RefusedError, failed, refused
from adapters.loopback.discord.change import CallAnswered
from adapters.loopback.discord.gate import Gate
from adapters.loopback.discord.route import Call, readable
from adapters.loopback.discord.rule import UNKNOWN_ROUTE
from adapters.loopback.discord.stage import Stage
from adapters.loopback.fault import Failure, FaultPlan
from adapters.loopback.log import Call as Entry
from adapters.loopback.log import CallLog

CUT = Answer(status=0)


class Desk:
    """Answers calls and keeps their log.

    Args:
        stage: whose calls they are.
        gate: who may call what, and how often.
        routes: what the routes do.
        target: what a call is about, as the log names it.
        faults: what goes wrong.
        arrived: told the route of every call before anything is done about it.
    """

    def __init__(
        self,
        *,
        stage: Stage,
        gate: Gate,
        routes: Mapping[str, Callable[[Call], Answer]],
        target: Callable[[Call], str],
        faults: FaultPlan,
        arrived: Callable[[str], None],
    ) -> None:
        self.calls = CallLog()
        self._closed = anyio.Event()
        self._clock = stage.clock
        self._tell = stage.tell
        self._gate = gate
        self._routes = routes
        self._target = target
        self._faults = faults
        self._arrived = arrived

    async def call(self, call: Call) -> Answer:
        """Answer one call. A planned failure costs nothing unless it is performed.

        A call is logged when it is decided, so that one whose answer is held back for ever is in the log, too.
        """
        arrival = self._clock.now()
        self._arrived(call.route.name)
        fate = self._faults.take(call.route.name)
        if fate.delay and not await self._waited(fate.delay):
            return CUT
        answer = self._perform(call) if fate.failure is None else self._fail(fate.failure, call)
        self._record(call, arrival, answer)
        if fate.hold and not await self._waited(fate.hold):
            return CUT
        return answer

    def unknown(self, method: str, path: str) -> Answer:
        """Refuse a call to a route that is not here; of its path the log has the beginning, for the rest is secret."""
        answer = refused(RefusedError(UNKNOWN_ROUTE))
        self._gate.answered(answer, self._clock.now())
        name = f"{method} /{path.lstrip('/').partition('/')[0]}/..."
        self._log(Entry(t=self._clock.now(), method=name, target="", status=answer.status, error=answer.error))
        return answer

    def close(self) -> None:
        """Cut what waits. What was not taken yet is never done."""
        self._closed.set()

    async def _waited(self, seconds: float) -> bool:
        """Wait for real seconds, and say whether the desk was open all the while."""
        with anyio.move_on_after(seconds):
            await self._closed.wait()
        return not self._closed.is_set()

    def _perform(self, call: Call) -> Answer:
        try:
            self._gate.admit(call, self._clock.now())
            answer = self._routes[call.route.name](readable(call))
        except RefusedError as refusal:
            answer = refused(refusal)
        return self._with_headers(call, answer)

    def _fail(self, failure: Failure, call: Call) -> Answer:
        if failure.performed:
            self._perform(call)
        return CUT if failure.status == 0 else self._with_headers(call, failed(failure))

    def _with_headers(self, call: Call, answer: Answer) -> Answer:
        if answer.scope in {"global", "cloudflare"}:
            return answer
        headers = self._gate.headers(call, self._clock.now(), self._clock.unix())
        return replace(answer, headers={**headers, **answer.headers})

    def _record(self, call: Call, arrival: float, answer: Answer) -> None:
        self._gate.answered(answer, self._clock.now())
        body: object = call.body
        entry = Entry(
            t=arrival,
            method=call.route.name,
            target=self._target(call),
            status=answer.status,
            error=answer.error,
            retry_after=answer.retry_after,
            arguments=cast("Mapping[str, object]", body) if isinstance(body, dict) else {"body": body},
        )
        self._log(entry)

    def _log(self, entry: Entry) -> None:
        self.calls.append(entry)
        self._tell(CallAnswered(call=entry))
