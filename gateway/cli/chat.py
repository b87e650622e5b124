"""``dragoman chat``: the agent in the terminal, with its tools and approvals; nothing is kept.

Rule 1: one question at a time; an interrupt ends the answer that is being given, and the program where there is none.
Rule 2: a call that needs approval runs only behind a yes to just that call, or to its tool for the conversation; end of
        input is a no, and so is, of who does not type, whatever is not understood.
Rule 3: what a run came to is in the history before the next question, also where it was stopped.
"""

import logging
import re
import signal
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio

from gateway import app, approval, notice
from gateway.agent import Agent, Answer, Case, Stop, answer
from gateway.cli import ending
from gateway.cli.keyboard import Keyboard
from gateway.cli.log import begin
from gateway.cli.terminal import View, open_view, written
from gateway.error import DragomanError
from gateway.history import Answered, Asked, Entry
from gateway.provider import Call
from gateway.store import Approval
from gateway.stream import EventStream
from gateway.terms import Terms
from gateway.tool import Context, Report, User

PLATFORM, WHO = "terminal", "you"
"""How the person is named to tools and to the model."""

GREETING = "{model} listens. /help lists the words; Ctrl-C stops an answer, Ctrl-D ends."
HELP = "/new begins a new conversation. /exit ends. Ctrl-C stops the answer that is being given."
NEW = "(A new conversation.)"
UNKNOWN = "(There is no word {word}. {help})"
WANTS = "The model wants to use {tool}:\n{given}"
MAY = "Allow it? y (yes), n (no), a (always in this conversation): "
MAY_ONCE = "Allow it? y (yes), n (no): "
NO_YES = "(Not understood, so: no.)"

_WORD = re.compile(r"/[a-z]+")


def main(config: Path | None, model: str | None) -> int:
    """Talk; 0 at the end of input or at ``/exit``, 130 after an interrupt.

    Where nobody types, 1 if an answer failed.
    """
    view, keyboard = open_view(), Keyboard.open()
    begin(logging.WARNING, "%(levelname)s: %(message)s", view.handler())
    agent, roles = app.agent(app.configure(config))
    if model is not None:
        agent = replace(agent, model=replace(agent.model, name=model))
    try:
        place = TemporaryDirectory(prefix="dragoman-chat-")
    except OSError as error:
        msg = f"there is no place for temporary files: {error.strerror}; name a folder in TMPDIR"
        raise DragomanError(msg) from error
    with place as folder:
        return anyio.run(_talk, Chat(agent, view, keyboard, Terms(files=Path(folder), roles=roles)))


async def _talk(chat: "Chat") -> int:
    status: int | None = None
    with anyio.open_signal_receiver(signal.SIGINT, *ending.signals()) as signals:
        async with anyio.create_task_group() as tasks:

            async def heed() -> None:
                nonlocal status
                async for number in signals:
                    if number != signal.SIGINT or not chat.interrupt():
                        status = 128 + number
                        tasks.cancel_scope.cancel()

            tasks.start_soon(heed)
            await chat.run()
            tasks.cancel_scope.cancel()
    if status is not None:
        chat.leave()
        return status
    return 1 if chat.failed else 0


@dataclass(slots=True)
class _Memory:
    """What tools keep as long as the program runs."""

    kept: dict[str, str] = field(default_factory=dict[str, str])

    async def texts(self) -> dict[str, str]:
        """See ``gateway.tool.Memory``."""
        return dict(self.kept)

    async def keep(self, name: str, text: str | None) -> None:
        """See ``gateway.tool.Memory``."""
        if text is None:
            self.kept.pop(name, None)
        else:
            self.kept[name] = text


@dataclass(slots=True, kw_only=True)
class _Minutes:
    """The ``Recorder`` of one run, in memory."""

    run_id: str
    user: User
    memory: _Memory
    folder: Path
    entries: list[Entry]
    allowed: Collection[str]
    approvals: dict[str, Approval] = field(default_factory=dict[str, Approval])
    calls: dict[str, Call] = field(default_factory=dict[str, Call])

    @property
    def open(self) -> Approval | None:
        """What waits for a decision."""
        return next((each for each in self.approvals.values() if each.state == "open"), None)

    async def keep(self, entries: Sequence[Entry]) -> None:
        """See ``gateway.agent.Recorder``."""
        self.entries.extend(entries)

    async def ask(self, call: Call, *, may_stand: bool) -> str:
        """See ``gateway.agent.Recorder``."""
        asked = Approval(
            id=approval.identifier(self.run_id, call.tool_use_id),
            conversation=PLATFORM,
            tool_use_id=call.tool_use_id,
            tool_name=call.name,
            asker=self.user.id,
            may_stand=may_stand,
        )
        self.calls[asked.id] = call
        self.approvals.setdefault(asked.id, asked)
        return asked.id

    async def withdraw(self, approval_id: str) -> None:
        """See ``gateway.agent.Recorder``."""
        if self.approvals[approval_id].state == "open":
            self.approvals[approval_id] = replace(self.approvals[approval_id], state="withdrawn")

    async def grants(self) -> Collection[str]:
        """See ``gateway.agent.Recorder``."""
        return self.allowed

    def decide(self, decided: Approval, *, granted: bool, standing: bool) -> None:
        """A person has decided."""
        self.approvals[decided.id] = replace(
            decided, state="approved" if granted else "denied", by=self.user.id, standing=standing
        )

    def context(self, call: Call, report: Report) -> Context:
        """See ``gateway.agent.Recorder``."""
        return Context(
            user=self.user,
            conversation=PLATFORM,
            run_id=self.run_id,
            tool_use_id=call.tool_use_id,
            memory=self.memory,
            folder=self.folder,
            report=report,
        )


class Chat:
    """A conversation of one person with the agent.

    Args:
        agent: answers.
        view: where it is shown.
        keyboard: where questions and decisions come from.
        terms: on which tools are used.
    """

    def __init__(self, agent: Agent, view: View, keyboard: Keyboard, terms: Terms) -> None:
        self.failed = False
        """An answer failed that was asked for by nobody who types."""
        self._agent = agent
        self._view = view
        self._keyboard = keyboard
        self._user = User(platform=PLATFORM, id=WHO, roles=frozenset(terms.roles.members))  # whose files these are
        self._folder = terms.folder(PLATFORM)
        self._memory = _Memory()
        self._before: list[Entry] = []
        self._grants: set[str] = set()
        self._count = 0
        self._stop: Stop | None = None
        self._asking: anyio.CancelScope | None = None
        self._interrupted = False

    async def run(self) -> None:
        """Answer until there is no further question."""
        if self._keyboard.typed:
            self._view.tell(GREETING.format(model=self._agent.model.name))
        while (line := await self._line("> ")) is not None:
            match line.strip():
                case "":
                    pass
                case "/exit":
                    return
                case "/new":
                    self._before.clear()
                    self._grants.clear()
                    self._view.tell(NEW)
                case "/help":
                    self._view.tell(HELP)
                case word if _WORD.fullmatch(word):
                    self._view.tell(UNKNOWN.format(word=word, help=HELP))
                case question:
                    await self._answer(question)
        self.leave()

    def interrupt(self) -> bool:
        """End the answer that is being given; false where there is none, or it was told so already."""
        if self._stop is None or self._interrupted:
            return False
        self._interrupted = True
        self._stop("stopped")
        if self._asking is not None:
            self._asking.cancel()
        return True

    def leave(self) -> None:
        """Leave the line in which a person was asked."""
        if self._keyboard.typed:
            self._view.prompt("\n")

    async def _line(self, prompt: str) -> str | None:
        if self._keyboard.typed:
            self._view.prompt(prompt)
        return await self._keyboard.line()

    async def _answer(self, question: str) -> None:
        """One run, from the question to its end."""
        self._count += 1
        self._interrupted = False
        minutes = _Minutes(
            run_id=f"r{self._count}",
            user=self._user,
            memory=self._memory,
            folder=self._folder,
            entries=[Asked(speaker=WHO, text=question)],
            allowed=self._grants,
        )
        self._view.begin(None if self._keyboard.typed else question)
        answered, told = await self._go_on(minutes, 0)
        while answered.reason is None:
            if not self._interrupted and (asked := minutes.open) is not None:
                await self._decide(minutes, asked)
            answered, told = await self._go_on(minutes, told)
        self._stop = None
        self._before += minutes.entries
        self.failed = self.failed or (answered.reason == "error" and not self._keyboard.typed)
        words = any(isinstance(each, Answered) and each.text.strip() for each in minutes.entries)
        sentence = notice.ending(answered.reason, answered.error, minutes.run_id)
        self._view.end(sentence or ("" if words else notice.NO_ANSWER))

    async def _go_on(self, minutes: _Minutes, told: int) -> tuple[Answer, int]:
        """What follows until the run ends or waits; and how many events have been told of it."""
        self._stop = stop = Stop()
        if self._interrupted:
            stop("stopped")
        stream = EventStream(minutes.run_id, first=told)
        case = Case(
            before=tuple(self._before),
            said=tuple(minutes.entries),
            user=self._user,
            approvals=tuple(minutes.approvals.values()),
            overwritable=self._view.overwritable,
            goes_on=told > 0,
        )
        answered = Answer(reason=None)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._view.follow, stream)
            answered = await answer(self._agent, case, stream, minutes, stop=stop)
        return answered, stream.taken

    async def _decide(self, minutes: _Minutes, asked: Approval) -> None:
        """Have a person decide; nothing is decided where they interrupt."""
        given = written(minutes.calls[asked.id].input)
        self._view.tell(WANTS.format(tool=asked.tool_name, given=given))
        with anyio.CancelScope() as self._asking:
            said = await self._decision(may_stand=asked.may_stand)
            if said == "a":
                self._grants.add(asked.tool_name)
            minutes.decide(asked, granted=said != "n", standing=said == "a")
        self._asking = None

    async def _decision(self, *, may_stand: bool) -> str:
        """``y``, ``n`` or, where that may be, ``a``."""
        self._keyboard.forget()
        while True:
            line = await self._line(MAY if may_stand else MAY_ONCE)
            match "" if line is None else line.strip().lower():
                case "y" | "yes":
                    return "y"
                case "a" | "always" if may_stand:
                    return "a"
                case "n" | "no":
                    return "n"
                case _ if line is None:
                    return "n"
                case _ if not self._keyboard.typed:
                    self._view.tell(NO_YES)
                    return "n"
                case _:
                    pass
