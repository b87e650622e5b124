"""What a call of a tool knows of where it runs, in memory."""

from dataclasses import dataclass, field
from pathlib import Path

from gateway.tool import Context, User

ANN = User(platform="slack", id="U1")


@dataclass
class Texts:
    """A memory without a database."""

    kept: dict[str, str] = field(default_factory=dict[str, str])

    async def texts(self) -> dict[str, str]:
        return dict(self.kept)

    async def keep(self, name: str, text: str | None) -> None:
        if text is None:
            del self.kept[name]
        else:
            self.kept[name] = text


def context(memory: Texts | None = None) -> Context:
    """A call that Ann's question led to."""

    def report(message: str, done: float | None, total: float | None) -> None:
        del message, done, total

    return Context(
        user=ANN,
        conversation="slack:T1:C1",
        run_id="1",
        tool_use_id="call-1-1",
        memory=memory or Texts(),
        folder=Path("folder"),
        report=report,
    )
