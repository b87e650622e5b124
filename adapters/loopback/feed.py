"""Tells observers of every change, so that a view can draw it live and a test can wait for it."""

from collections.abc import Callable
from typing import Generic, TypeVar

import anyio

ChangeT = TypeVar("ChangeT")
ValueT = TypeVar("ValueT")


class Feed(Generic[ChangeT]):
    """Calls every observer with every change, in order, before the change's author goes on."""

    def __init__(self) -> None:
        self._observers: list[Callable[[ChangeT], None]] = []
        self._changed = anyio.Event()

    def subscribe(self, observer: Callable[[ChangeT], None]) -> Callable[[], None]:
        """Call the observer from now on; the returned function ends that."""
        self._observers.append(observer)
        return lambda: self._observers.remove(observer)

    def publish(self, change: ChangeT) -> None:
        """Tell all observers; what one of them raises reaches the change's author."""
        for observer in tuple(self._observers):
            observer(change)
        changed, self._changed = self._changed, anyio.Event()
        changed.set()

    async def until(self, condition: Callable[[], ValueT]) -> ValueT:
        """Wait until the condition is true, asking it after every change; give back its value.

        Waits for ever if it never is: put a time limit round it.
        """
        while not (value := condition()):
            await self._changed.wait()
        return value
