"""What is known of a run from before, to whoever takes it up. Pure."""

from dataclasses import dataclass, replace

from gateway import history, journal
from gateway.draft import closed
from gateway.event import AgentEnd, EndReason, ErrorType, Event, Usage
from gateway.history import Answered, Ended, Entry
from gateway.journal import Line
from gateway.retelling import Turn, retold, turns, unclaimed
from gateway.store import Approval, Work


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """A run's journal, what of it is in the history, and what it asked people to allow."""

    lines: tuple[Line, ...] = ()
    said: tuple[Entry, ...] = ()
    approvals: tuple[Approval, ...] = ()

    @classmethod
    def of(cls, work: Work) -> "Past":
        """Of the run that is to be taken up.

        Raises:
            ValueError: no version that we know wrote it.
        """
        return cls(
            lines=tuple(map(journal.from_json, work.journal)),
            said=tuple(map(history.from_json, work.said)),
            approvals=work.approvals,
        )

    @property
    def turns(self) -> list[Turn]:
        """What the model had said, message by message."""
        return turns(self.said, self.approvals)

    @property
    def end(self) -> AgentEnd | None:
        """How the run ended, where it had: only the rest of it is to be shown then."""
        match self.said[-1:], self.turns[-1:]:
            case [Ended(reason=reason)], _:
                return self._ended(reason)
            case _, [Turn(open=False, answered=Answered(reason=reason))] if reason not in ("continued", "interrupted"):
                return self._ended(reason)
            case _:
                return None

    @property
    def error(self) -> ErrorType | None:
        """What had gone wrong, where it ended by that."""
        last = self.said[-1] if self.said else None
        return last.error if isinstance(last, Ended | Answered) else None

    @property
    def broken(self) -> list[Answered]:
        """The messages that were cut short and are not in the history: what was sealed of each, and what it began."""
        known = sum(isinstance(entry, Answered) for entry in self.said)
        texts = {draft: closed(text) for draft, text in journal.drafts(self.lines).items() if draft >= known}
        calls = tuple(unclaimed(self.said))
        if calls:
            texts.setdefault(known, "")
        found = [Answered(text=text, reason="interrupted") for _, text in sorted(texts.items())]
        if not calls:
            return found
        return [replace(found[0], calls=calls, places=(len(found[0].text),) * len(calls)), *found[1:]]

    def retold(self) -> list[Event]:
        """All that a run did which has ended."""
        end = self.end
        told = [event for turn in self.turns for event in retold(turn)]
        return told if end is None else [*told, end]

    def _ended(self, reason: EndReason) -> AgentEnd:
        said = [turn.answered for turn in self.turns]
        return AgentEnd(
            reason=reason,
            final_response=said[-1].text if said else "",
            turn_count=len(said),
            message_count=len(said),
            usage=sum((each.usage for each in said), Usage()),
        )
