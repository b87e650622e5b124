"""A chat platform in miniature: strict about what it is asked, and honest about what it did.

It knows nothing of the reply: it is told operations, deals out what befalls them, and keeps what people see.
"""

from dataclasses import dataclass, field
from typing import Literal

from gateway.adapter import Capabilities
from gateway.operation import (
    AppendText,
    Button,
    DeleteMessage,
    EditMessage,
    EditRefused,
    Expired,
    FinishStream,
    Forbidden,
    MarkupRejected,
    MessageGone,
    NotModified,
    Operation,
    Outcome,
    Performed,
    PostMessage,
    RateLimited,
    ReadThread,
    Said,
    StartStream,
    ThreadRead,
    TooLong,
    Unknown,
    Unreachable,
)
from tests.properties.markdown_judge import JUDGE

Fate = Literal[
    "done",
    "rate limited",
    "unreachable",
    "markup rejected",
    "edit refused",
    "expired",
    "lost",
    "done unheard",
    "late",
    "forbidden",
]
"""What may befall an operation; "lost", "done unheard" and "late" look alike from the outside."""

NO_ANSWER = Unknown(reason="no answer")
UNDONE: dict[Fate, Outcome] = {
    "rate limited": RateLimited(retry_after=1.0),
    "unreachable": Unreachable(reason="no connection"),
    "lost": NO_ANSWER,
    "forbidden": Forbidden(reason="channel_not_found"),
}
"""How it is told of what was not done."""

BUDGETS: dict[type[Operation], str] = {
    PostMessage: "post",
    EditMessage: "edit",
    DeleteMessage: "delete",
    StartStream: "append",
    AppendText: "append",
    FinishStream: "append",
    ReadThread: "read",
}


@dataclass(slots=True)
class Shown:
    """A message as people see it.

    ``heard``: whoever posted it has been told its id. ``given_up``: it was looked for in vain, and may be forgotten.
    ``sure``: they know what it shows. ``fixed``: the platform lets nobody change it. ``stays``: nor take it away.
    ``unheard``: an edit of it may be on its way. ``repeatable``: one was, so that its text may be sent once more for
    nothing, by somebody who cannot know that nothing came. ``overtaken``: what it showed before one came late.
    ``buttons`` stand below it.
    """

    text: str
    markup: bool
    nonce: str
    streams: bool = False
    heard: bool = True
    given_up: bool = False
    sure: bool = True
    deleted: bool = False
    removed: bool = False
    fixed: bool = False
    stays: bool = False
    unheard: bool = False
    repeatable: bool = False
    overtaken: str | None = None
    buttons: tuple[Button, ...] = ()

    @property
    def meant(self) -> str:
        """What was sent to it last."""
        return self.text if self.overtaken is None else self.overtaken

    @property
    def there(self) -> bool:
        """Whether people see it."""
        return not self.deleted and not self.removed


def length(text: str, unit: str) -> int:
    """How long a text is in the platform's own count."""
    match unit:
        case "utf16":
            return len(text.encode("utf-16-le", "surrogatepass")) // 2
        case "utf8":
            return len(text.encode("utf-8", "surrogatepass"))
        case _:
            return len(text)


def leaves_fence_open(text: str) -> bool:
    """Whether what follows a message's text would be read as code of it."""
    return JUDGE.parse(f"{text}\n\nafter")[-1].type != "paragraph_close"


def _face(each: Shown | EditMessage) -> tuple[str, bool, tuple[Button, ...]]:
    """All that people see of a message, or are to see."""
    return each.text, each.markup, each.buttons


@dataclass
class Screen:
    """Messages in the order in which they were posted, by their ids.

    Args:
        capabilities: what the platform claims.
        patience: the longest text that it really takes, in its unit.
    """

    capabilities: Capabilities
    patience: int
    messages: dict[str, Shown] = field(default_factory=dict[str, Shown])
    in_flight: Operation | None = None
    late: list[EditMessage] = field(default_factory=list[EditMessage])
    learned: list[str] = field(default_factory=list[str])
    """What the other side was told, and has not written down."""

    def begin(self, operation: Operation) -> None:
        """An operation is on its way."""
        assert self.in_flight is None, "two operations in flight"
        match operation:
            case PostMessage() | EditMessage() | StartStream():
                assert operation.text.strip(), "an operation without text"
                assert length(operation.text, self.capabilities.unit) <= self.capabilities.bubble, (
                    "longer than a bubble"
                )
                plain = isinstance(operation, StartStream) or not operation.markup
                assert plain or not leaves_fence_open(operation.text), (
                    "an open fence",
                    operation.text,
                )
            case AppendText():
                assert operation.text, "an operation without text"
            case _:
                pass
        self._begin_change(operation)
        self.in_flight = operation

    def _begin_change(self, operation: Operation) -> None:
        match operation:
            case EditMessage():
                shown = self.messages[operation.message_id]
                begins = not shown.text or shown.unheard or not shown.sure  # it was there for us
                assert self.capabilities.surface != "post" or begins, "an edit where nothing is edited"
                assert not shown.streams or shown.deleted, "an edit of a stream that is open"
                same = _face(shown) == _face(operation)
                unsure = shown.deleted or not shown.sure or shown.unheard or shown.repeatable
                assert unsure or not same, "an edit that changes nothing"
                shown.repeatable = shown.repeatable and not same
            case StartStream() | AppendText() | FinishStream():
                assert self.capabilities.surface == "append"
                assert len(operation.text) <= self.capabilities.update, "more than an update takes"
            case _:
                pass

    def end(self, fate: Fate) -> Outcome:
        """The operation meets its fate, as far as an honest platform can deal it out."""
        operation, self.in_flight = self.in_flight, None
        assert operation is not None
        target = self._target(operation)
        if fate in ("lost", "done unheard", "late") and target is not None:
            target.sure, target.unheard = False, target.unheard or isinstance(operation, EditMessage)
            target.repeatable = target.repeatable or target.unheard
        if fate == "late":
            self.late += [operation] if isinstance(operation, EditMessage) else []
            return NO_ANSWER
        if fate == "forbidden" and isinstance(operation, ReadThread):
            for shown in self.messages.values():
                shown.given_up = not shown.heard
        if fate in UNDONE:
            return UNDONE[fate]
        if (refused := self._refuse(operation, target, fate)) is not None:
            return refused
        before = set(self.messages)
        outcome = self._perform(operation, target)
        if fate == "done unheard":
            for new in set(self.messages) - before:
                self.messages[new].heard = self.messages[new].sure = False
                self.learned.remove(new)
            return NO_ANSWER
        self._hear(outcome)
        if target is not None and isinstance(operation, EditMessage) and isinstance(outcome, Performed | NotModified):
            target.sure = True  # a refusal does not tell what it shows
        return outcome

    def land(self) -> None:
        """What is late arrives."""
        for operation in self.late:
            shown = self.messages[operation.message_id]
            if shown.there and not shown.fixed and length(operation.text, self.capabilities.unit) <= self.patience:
                shown.overtaken = shown.overtaken or shown.text
                shown.text, shown.markup, shown.buttons = _face(operation)
        self.late.clear()

    def rest(self) -> None:
        """Time passes, until nothing can be on its way any more."""
        self.land()
        for shown in self.messages.values():
            shown.sure, shown.unheard = shown.sure and not shown.unheard, False

    def drop(self, *, done: bool) -> None:
        """The other side ends; what is on its way arrives or not, and nobody hears of it."""
        self.land()
        if self.in_flight is not None:
            self.end("done unheard" if done else "lost")
        for message_id in self.learned:
            self.messages[message_id].heard = False
        self.learned.clear()
        for shown in self.messages.values():
            shown.sure = False

    def visible(self) -> list[Shown]:
        """What people see. What the platform put there for us and shows nothing yet is not worth a look."""
        return [shown for shown in self.messages.values() if shown.there and shown.text]

    def _target(self, operation: Operation) -> Shown | None:
        return self.messages.get(getattr(operation, "message_id", ""))

    def _hear(self, outcome: Outcome) -> None:
        told = (
            [outcome.message_id]
            if isinstance(outcome, Performed)
            else [said.message_id for said in outcome.messages]
            if isinstance(outcome, ThreadRead)
            else []
        )
        for message_id in told:
            if not self.messages[message_id].heard and not self.messages[message_id].given_up:
                self.messages[message_id].heard = True
                self.learned.append(message_id)

    def _refuse(self, operation: Operation, target: Shown | None, fate: Fate) -> Outcome | None:  # noqa: PLR0911 - one for each kind of no
        if self._known(operation):
            return None  # a nonce that is known is looked at before anything else
        if fate == "markup rejected" and getattr(operation, "markup", True) and getattr(operation, "text", ""):
            return MarkupRejected(reason="invalid_blocks")
        if target is not None and not target.there:
            return MessageGone()
        match operation:
            case EditMessage() if target is not None:
                target.fixed = target.fixed or fate in ("edit refused", "expired")
                if fate == "expired":
                    return Expired()
                return EditRefused(reason="cant_update_message") if target.fixed else None
            case DeleteMessage() if target is not None and fate == "edit refused":
                target.stays = True
                return EditRefused(reason="cant_delete_message")
            case StartStream() if fate == "expired":
                return Expired()
            case AppendText() | FinishStream() if target is not None and (fate == "expired" or not target.streams):
                target.streams = False
                return Expired()
            case _:
                return None

    def _perform(self, operation: Operation, target: Shown | None) -> Outcome:
        match operation:
            case PostMessage() | StartStream():
                return self._create(operation)
            case EditMessage() if target is not None:
                return self._edit(operation, target)
            case DeleteMessage() if target is not None:
                target.removed = True
                return Performed(message_id=operation.message_id)
            case AppendText() | FinishStream() if target is not None:
                return self._append(operation, target)
            case ReadThread():
                return ThreadRead(messages=tuple(self._said()))
            case _:
                raise AssertionError(operation)

    def _known(self, operation: Operation) -> str | None:
        """The message that was posted under the same nonce, where the platform shows that once."""
        if self.capabilities.reconciliation != "nonce" or not isinstance(operation, PostMessage | StartStream):
            return None
        return next((each for each, shown in self.messages.items() if shown.nonce == operation.nonce), None)

    def _create(self, operation: PostMessage | StartStream) -> Outcome:
        if (known := self._known(operation)) is not None:
            return Performed(message_id=known)
        if length(operation.text, self.capabilities.unit) > self.patience:
            return TooLong()
        assert all(shown.nonce != operation.nonce for shown in self.messages.values()), "a nonce twice"
        message_id, streams = f"m{len(self.messages)}", isinstance(operation, StartStream)
        markup = isinstance(operation, StartStream) or operation.markup
        buttons = operation.buttons if isinstance(operation, PostMessage) else ()
        self.messages[message_id] = Shown(operation.text, markup, operation.nonce, streams, buttons=buttons)
        self.learned.append(message_id)
        return Performed(message_id=message_id)

    def _edit(self, operation: EditMessage, shown: Shown) -> Outcome:
        if length(operation.text, self.capabilities.unit) > self.patience:
            return TooLong()
        if _face(shown) == _face(operation):
            shown.overtaken = None  # what came late is what is meant now
            return NotModified()
        (shown.text, shown.markup, shown.buttons), shown.overtaken = _face(operation), None
        return Performed(message_id=operation.message_id)

    def _append(self, operation: AppendText | FinishStream, shown: Shown) -> Outcome:
        text = shown.text + operation.text
        assert not shown.sure or length(text, self.capabilities.unit) <= self.capabilities.bubble, (
            "longer than a bubble"
        )
        if operation.text and length(text, self.capabilities.unit) > self.patience:
            return TooLong()
        shown.text, shown.streams = text, isinstance(operation, AppendText)
        return Performed(message_id=operation.message_id)

    def _said(self) -> list[Said]:
        return [
            Said(message_id=message_id, user="bot", text=shown.text, ours=True, nonce=shown.nonce)
            for message_id, shown in self.messages.items()
            if shown.there
        ]
