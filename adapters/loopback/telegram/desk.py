"""Where calls are answered: planned faults first, then the gate, then the method; all of it logged."""

from collections.abc import Callable, Mapping

import anyio

from adapters.loopback.clock import PlatformClock
from adapters.loopback.fault import Failure, Fate
from adapters.loopback.log import Call, CallLog
from adapters.loopback.telegram import outbound
from adapters.loopback.telegram.answer import CUT, Answer, RefusedError, bad, good, refused
from adapters.loopback.telegram.argument import Arguments
from adapters.loopback.telegram.change import CallAnswered, Change
from adapters.loopback.telegram.delivery import Delivery
from adapters.loopback.telegram.gate import Gate, waiting

POLL = "getUpdates"

Method = Callable[[Arguments], object]


class Desk:
    """Answers calls and keeps their log; polls have one of their own.

    Args:
        clock: of the platform.
        tell: hears of every call that was answered.
        gate: who may call what, and how often.
        methods: what each method does, by name, but for getUpdates.
        delivery: answers getUpdates.
        fate_of: what is in store for a call of a method that has just arrived; asked once for each call.
    """

    def __init__(
        self,
        *,
        clock: PlatformClock,
        tell: Callable[[Change], None],
        gate: Gate,
        methods: Mapping[str, Method],
        delivery: Delivery,
        fate_of: Callable[[str], Fate],
    ) -> None:
        self.calls = CallLog()
        self.polls = CallLog()
        self._closed = anyio.Event()
        self._clock = clock
        self._tell = tell
        self._gate = gate
        self._methods = methods
        self._names = {name.lower(): name for name in (*methods, POLL)}
        self._delivery = delivery
        self._fate_of = fate_of

    def name_of(self, method: str) -> str:
        """A method's name as it is documented; in a call its case does not matter."""
        return self._names.get(method.lower(), method)

    async def call(self, method: str, token: str, arguments: Arguments) -> Answer:
        """Answer one call. A planned failure costs no tokens unless it is performed.

        A call is logged when it is decided, so that one whose answer is held back for ever is in the log, too.

        Args:
            method: by its documented name.
            token: out of the address.
            arguments: the call's.
        """
        arrival = self._clock.now()
        fate = self._fate_of(method)
        if fate.delay and not await self._waited(fate.delay):
            return CUT
        if fate.failure is not None:
            answer = self._fail(fate.failure, method, token, arguments)
        elif method == POLL:
            answer = await self._poll(token, arguments)
        else:
            answer = self._perform(method, token, arguments)
        self._record(method, arguments, arrival, answer)
        if fate.hold and not await self._waited(fate.hold):
            return CUT
        return answer

    def close(self) -> None:
        """Cut what waits. What was not taken yet is never done."""
        self._closed.set()

    async def _waited(self, seconds: float) -> bool:
        """Wait for real seconds, and say whether the desk was open all the while."""
        with anyio.move_on_after(seconds):
            await self._closed.wait()
        return not self._closed.is_set()

    async def _poll(self, token: str, arguments: Arguments) -> Answer:
        try:
            self._admit(POLL, token, arguments)
        except RefusedError as refusal:
            return refused(refusal)
        return await self._delivery.poll(arguments)

    def _perform(self, method: str, token: str, arguments: Arguments) -> Answer:
        try:
            self._admit(method, token, arguments)
            return good(self._methods[method](arguments))
        except RefusedError as refusal:
            return refused(refusal)

    def _admit(self, method: str, token: str, arguments: Arguments) -> None:
        self._gate.authenticate(token)
        if method != POLL and method not in self._methods:
            raise RefusedError(outbound.UNKNOWN_METHOD)
        self._gate.admit(method, arguments, self._clock.now())

    def _fail(self, failure: Failure, method: str, token: str, arguments: Arguments) -> Answer:
        if failure.performed and method == POLL:
            self._delivery.confirm(arguments)
        elif failure.performed:
            self._perform(method, token, arguments)
        if not failure.status:
            return CUT
        if failure.retry_after is not None:
            self._gate.hold(method, arguments, self._clock.now() + failure.retry_after)
            return refused(waiting(failure.retry_after, outbound.FLOOD))
        return bad(failure.status, failure.error)

    def _record(self, method: str, arguments: Arguments, arrival: float, answer: Answer) -> None:
        call = Call(
            t=arrival,
            method=method,
            target=_target(arguments),
            status=answer.status,
            error=answer.error,
            retry_after=answer.retry_after,
            arguments=arguments.values,
        )
        (self.polls if method == POLL else self.calls).append(call)
        self._tell(CallAnswered(call=call))


def _target(arguments: Arguments) -> str:
    chat, message = arguments.text("chat_id"), arguments.text("message_id")
    return f"{chat}/{message}" if message else chat
