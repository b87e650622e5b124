"""What ``play`` asks: read from the command line, put to the platforms, and seen to be a question there.

Only an adapter knows what is a command on its platform, and a command starts no run for which ``play`` could wait. So
what arrives is looked at, and not what is sent.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass

from gateway.adapter import Adapter, Capabilities, Receive
from gateway.cli.stage import Stage
from gateway.error import UsageError
from gateway.inbound import CommandReceived, Inbound
from gateway.operation import Operation, Outcome

SHOWN = 40
"""Characters of a question that a complaint repeats."""


def read(say: str) -> str:
    """The question as it was typed, whatever the locale makes of it.

    Raises:
        UsageError: nothing of it can be seen; not every platform's client sends that.
    """
    question = os.fsencode(say).decode("utf-8", errors="replace")
    if not any(character.isprintable() and not character.isspace() for character in question):
        msg = "--say: the question is empty; write what the user asks"
        raise UsageError(msg)
    return question


def ask(stage: Stage, question: str, *, shared: bool = False) -> None:
    """Let somebody ask it; where others see it, too, if it is ``shared``.

    Raises:
        UsageError: the platform's client does not send that.
    """
    try:
        stage.ask(question, shared=shared)
    except ValueError as error:
        msg = f"--say: {stage.name.title()}'s client does not send this: {error}"
        raise UsageError(msg) from error


def refusal(platform: str, question: str) -> UsageError:
    """What to say where the question was taken for a command."""
    shown = question if len(question) <= SHOWN else f"{question[:SHOWN]}…"
    return UsageError(
        f"--say {shown!r}: on {platform.title()} this is a command, and a command starts no answer; ask a question"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Listening:
    """An adapter as it is, but that a command goes no further of which ``refuses`` says so."""

    adapter: Adapter
    refuses: Callable[[], bool]

    @property
    def capabilities(self) -> Capabilities:
        """See ``Adapter``."""
        return self.adapter.capabilities

    async def run(self, receive: Receive, ready: Callable[[], None]) -> None:
        """See ``Adapter``."""

        async def heard(inbound: Inbound) -> bool:
            if isinstance(inbound, CommandReceived) and self.refuses():
                return False
            return await receive(inbound)

        await self.adapter.run(heard, ready)

    async def perform(self, operation: Operation) -> Outcome:
        """See ``Adapter``."""
        return await self.adapter.perform(operation)
