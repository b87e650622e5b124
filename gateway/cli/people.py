"""What people do while a script is played: they write, and press the buttons of approvals.

Rule 1: they act one after the other, in the order of the script, each when its moment has come.
Rule 2: a press is of what can be pressed then; once the asker has decided about an approval, the next press is of
        another. Repeated presses are of the same button, also where it is gone: a client may show it still.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import anyio

from gateway.cli.stage import Stage
from gateway.error import UsageError
from gateway.script import ScriptedUser

NAMES: dict[str, Literal["ada", "bob"]] = {"asker": "ada", "stranger": "bob"}
"""Who they are on every platform."""


@dataclass(slots=True)
class People:
    """The people of one platform.

    Args:
        stage: the platform.
        users: what they do.
        ended: how many runs have ended there.
    """

    stage: Stage
    users: tuple[ScriptedUser, ...]
    ended: Callable[[], int]
    _asked: int = 1
    _decided: set[str] = field(default_factory=set[str])
    _changed: anyio.Event = field(default_factory=anyio.Event)

    @property
    def shared(self) -> bool:
        """Whether strangers take part."""
        return any(user.who == "stranger" for user in self.users)

    @property
    def asked(self) -> int:
        """How many messages were sent to the bot that it answers."""
        return self._asked

    def wake(self) -> None:
        """Something has happened that somebody may have waited for."""
        self._changed.set()
        self._changed = anyio.Event()

    async def act(self) -> None:
        """Do all of it; return when the last run has ended."""
        began = anyio.current_time()
        unsubscribe = self.stage.subscribe(self.wake)
        try:
            for number, user in enumerate(self.users, start=1):
                await self._moment(user, began)
                await self._do(user, number)
            await self._until(self._over)
            if self.ended() < self._asked:
                msg = "the run waits for an approval, and nobody in the script decides: add a [[user]] that presses"
                raise UsageError(msg)
        finally:
            unsubscribe()

    async def _moment(self, user: ScriptedUser, began: float) -> None:
        match user.moment:
            case "end":
                await self._until(lambda: self.ended() >= self._asked)
            case "approval":
                await self._until(lambda: self._approval() is not None or self.ended() >= self._asked)
            case seconds:
                await anyio.sleep_until(began + seconds)

    async def _do(self, user: ScriptedUser, number: int) -> None:
        who = NAMES[user.who]
        if user.say is not None:
            for _ in range(user.times):
                self._asked += user.who == "asker"
                self.stage.ask(user.say, who=who, shared=self.shared)
            return
        await self._until(self._over)
        message, buttons = self._approval() or ("", list[str]())
        data = next((data for data in buttons if data.startswith(f"{user.press}:")), None)
        if data is None:
            msg = f"user {number} of the script: there is no button {user.press!r} to press"
            raise UsageError(msg)
        for time in range(user.times):
            self.stage.press(who, message, data, stale=time > 0)
        if user.who == "asker":
            self._decided.add(message)

    def _over(self) -> bool:
        """Whether all is answered, or waits for somebody to press."""
        return self.ended() >= self._asked or self._approval() is not None

    def _approval(self) -> tuple[str, list[str]] | None:
        """The first message that asks, and that the asker has not decided about: its buttons' data."""
        for message in self.stage.messages():
            if message.author == "bot" and message.id not in self._decided:
                buttons = [data for _, data in self.stage.buttons(message.id)]
                if buttons:
                    return message.id, buttons
        return None

    async def _until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            await self._changed.wait()
