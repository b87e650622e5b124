"""A model in memory, for runners on virtual time: says what it is told to, at its pace, and can be made to fail."""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from gateway import provider
from gateway.agent import Agent
from gateway.event import (
    ContentBlockEnd,
    ContentBlockStart,
    Error,
    JsonObject,
    MessageEnd,
    StopReason,
    TextDelta,
    ToolInputDelta,
    ToolUseConfirmed,
    ToolUseEnd,
    ToolUseStart,
    Usage,
)
from gateway.history import Entry
from gateway.limit import Limits
from gateway.provider import Call, Item, Native, Request
from gateway.store import Approval
from gateway.tool import Context, Report, Tool, User
from gateway.toolset import Policy, Toolset

USAGE = Usage(input_tokens=10, output_tokens=3)


def spoken(text: str) -> list[Item]:
    """One block of text, in deltas of four characters."""
    return [
        ContentBlockStart(block_id="b0", block_type="text"),
        *(TextDelta(block_id="b0", text=text[at : at + 4]) for at in range(0, len(text), 4)),
        ContentBlockEnd(block_id="b0", block_type="text"),
    ]


def native(text: str) -> Native:
    """The answer as its protocol has it."""
    return Native(protocol="model", blocks=({"type": "text", "text": text},))


def whole(text: str, stop_reason: StopReason = "end") -> list[Item]:
    """An answer that came to its end."""
    return [*spoken(text), native(text), MessageEnd(message_id="m1", stop_reason=stop_reason, usage=USAGE)]


def broken(text: str, *, retryable: bool = False) -> list[Item]:
    """An answer that broke off; where it is ``retryable``, the model may be asked again."""
    error = Error(error_type="overloaded", error_message="529 secret detail", retryable=retryable)
    return [*(spoken(text) if text else []), error]


class Bug(Exception):  # noqa: N818 - what it stands for has no name
    """Something that nobody thought of."""


@dataclass
class Model:
    """A provider that gives its answers in turn, the last one again and again; a ``Bug`` among the items is raised.

    Args:
        answers: what it says.
        pace: seconds before each item.
        linger: seconds until the connection ends behind the last item.
    """

    answers: Sequence[Sequence[Item | Bug]]
    pace: float = 0.0
    linger: float = 0.0
    requests: list[Request] = field(default_factory=list[Request])
    open: int = 0
    most_open: int = 0

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncGenerator[AsyncIterator[Item]]:
        answer = self.answers[min(len(self.requests), len(self.answers) - 1)]
        self.requests.append(request)
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        items = self._items(answer)
        try:
            yield items
        finally:
            self.open -= 1
            await items.aclose()

    async def _items(self, answer: Sequence[Item | Bug]) -> AsyncGenerator[Item]:
        for item in answer:
            await anyio.sleep(self.pace)
            if isinstance(item, Bug):
                raise item
            yield item
        await anyio.sleep(self.linger)


def agent(
    model: Model,
    history_characters: int = 100_000,
    *,
    tools: Sequence[Tool] = (),
    policy: Mapping[str, Policy] | None = None,
    limits: Limits | None = None,
) -> Agent:
    """Somebody to ask."""
    return Agent(
        id="agent",
        model=provider.Model(provider=model, name="model-1", max_tokens=100),
        system="Be brief.",
        history_characters=history_characters,
        tools=Toolset(tools={tool.name: tool for tool in tools}, policy=policy or {}),
        limits=limits or Limits(retries=0, deadline=1_000_000.0),
    )


@dataclass
class Scratch:
    """A memory that nobody reads again."""

    kept: dict[str, str] = field(default_factory=dict[str, str])

    async def texts(self) -> dict[str, str]:
        return dict(self.kept)

    async def keep(self, name: str, text: str | None) -> None:
        self.kept.pop(name, None)
        if text is not None:
            self.kept[name] = text


@dataclass
class Minutes:
    """What a run had written down."""

    entries: list[Entry] = field(default_factory=list[Entry])
    approvals: dict[str, Approval] = field(default_factory=dict[str, Approval])
    withdrawn: list[str] = field(default_factory=list[str])

    async def keep(self, entries: Sequence[Entry]) -> None:
        self.entries.extend(entries)
        await anyio.lowlevel.checkpoint()

    async def ask(self, call: Call, *, may_stand: bool) -> str:
        name = f"ask-{call.tool_use_id}"
        self.approvals[name] = Approval(
            id=name,
            conversation="c",
            tool_use_id=call.tool_use_id,
            tool_name=call.name,
            asker="U1",
            may_stand=may_stand,
        )
        await anyio.lowlevel.checkpoint()
        return name

    async def withdraw(self, approval_id: str) -> None:
        self.withdrawn.append(approval_id)
        await anyio.lowlevel.checkpoint()

    async def grants(self) -> Sequence[str]:
        return ()

    def context(self, call: Call, report: Report) -> Context:
        return Context(
            user=USER,
            conversation="c",
            run_id="r1",
            tool_use_id=call.tool_use_id,
            memory=Scratch(),
            folder=Path("nowhere"),
            report=report,
        )


@dataclass
class Fake:
    """A tool that does as it is told: takes so long, and gives that back, or fails.

    ``runs`` are the times at which it began and ended.
    """

    name: str
    seconds: float = 0.0
    result: str = "Done."
    fails: bool = False
    safe: bool = True
    approval: bool = False
    cascades: bool = False
    time_limit: float | None = None
    description: str = "Does something."
    runs: list[tuple[float, float | None]] = field(default_factory=list[tuple[float, float | None]])

    @property
    def input_schema(self) -> JsonObject:
        return {"type": "object"}

    def problem(self, input: JsonObject) -> str | None:  # noqa: A002 - the field\'s word
        return "There is too much of it." if "bad" in input else None

    def permits(self, user: User, input: JsonObject) -> bool:  # noqa: A002 - the field\'s word
        return "forbidden" not in input

    def concurrency_safe(self, input: JsonObject) -> bool:  # noqa: A002 - the field\'s word
        return self.safe

    def needs_approval(self, user: User, input: JsonObject) -> bool:  # noqa: A002 - the field\'s word
        return self.approval

    async def call(self, input: JsonObject, context: Context) -> str:  # noqa: A002 - the field\'s word
        self.runs.append((anyio.current_time(), None))
        at = len(self.runs) - 1
        await anyio.sleep(input.get("seconds", self.seconds))
        self.runs[at] = (self.runs[at][0], anyio.current_time())
        if self.fails:
            raise ValueError(self.result)
        return self.result


USER = User(platform="chat", id="U1")


def called(*calls: tuple[str, str, JsonObject], text: str = "", stop_reason: StopReason = "tool_use") -> list[Item]:
    """A message with calls (id, tool, input) behind its text; each is confirmed by what comes next."""
    items = spoken(text) if text else []
    blocks: list[JsonObject] = [{"type": "text", "text": text}] if text else []
    for number, (name, tool, given) in enumerate(calls, start=1):
        items += [
            ContentBlockStart(block_id=f"c{number}", block_type="tool_use"),
            ToolUseStart(block_id=f"c{number}", tool_use_id=name, tool_name=tool),
            ToolInputDelta(tool_use_id=name, json_delta=json.dumps(given)),
            ToolUseEnd(tool_use_id=name, input=given),
            ContentBlockEnd(block_id=f"c{number}", block_type="tool_use"),
            *([ToolUseConfirmed(tool_use_id=name)] if stop_reason == "tool_use" else []),
        ]
        blocks.append({"type": "tool_use", "id": name, "name": tool, "input": given})
    return [
        *items,
        Native(protocol="model", blocks=tuple(blocks)),
        MessageEnd(message_id="m1", stop_reason=stop_reason, usage=USAGE),
    ]
