"""The updates that wait for the bot. Pure: the caller brings the time.

Rule 1: ids go up by one; an update keeps its id however often it is given out.
Rule 2: an update is there until it is confirmed, or a day old.
Rule 3: what is to be delivered again is given out once more, however far the bot has confirmed.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from adapters.loopback.telegram import inbound

Update = Mapping[str, object]

_FIRST = 100_001

NOT_BY_DEFAULT = frozenset({"chat_member", "message_reaction", "message_reaction_count"})
"""Types of update that are made only for those who ask."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Waiting:
    id: int
    t: float
    update: Update


class Mailbox:
    """Keeps updates until the bot confirms them."""

    def __init__(self) -> None:
        self.offset = 0
        self.sent: dict[int, Update] = {}
        self._waiting: list[_Waiting] = []
        self._again: deque[Update] = deque()
        self._next = _FIRST
        self._allowed: frozenset[str] = frozenset()

    def allow(self, types: Sequence[str] | None) -> None:
        """Make only such updates from now on; an empty list is the default, none changes nothing."""
        if types is not None:
            self._allowed = frozenset(types)

    def is_allowed(self, kind: str) -> bool:
        """Whether updates of a type are made."""
        return kind in self._allowed if self._allowed else kind not in NOT_BY_DEFAULT

    def put(self, update: Update, now: float) -> int:
        """Add an update, with an id if it has none; returns the id."""
        given = update.get("update_id")
        update_id = given if isinstance(given, int) else self._next
        self._next = max(self._next, update_id + 1)
        update = {"update_id": update_id, **update}
        self.sent[update_id] = update
        self._waiting.append(_Waiting(id=update_id, t=now, update=update))
        return update_id

    def repeat(self, update_id: int) -> None:
        """Give an update out once more, confirmed or not.

        Raises:
            KeyError: there never was one of that id.
        """
        self._again.append(self.sent[update_id])

    def confirm(self, offset: int) -> None:
        """Forget all updates below ``offset``; below zero, all but that many of the last."""
        if offset < 0:
            kept = self._waiting[offset:]
            offset = kept[0].id if kept else self._next
        if offset > 0:
            self.offset = max(self.offset, offset)
            self._waiting = [each for each in self._waiting if each.id >= offset]

    def forget(self, update_id: int) -> None:
        """Forget one update, which was delivered."""
        self._waiting = [each for each in self._waiting if each.id != update_id]
        self._again = deque(each for each in self._again if each.get("update_id") != update_id)
        self.offset = max(self.offset, min((each.id for each in self._waiting), default=update_id + 1))

    def clear(self) -> None:
        """Forget all."""
        self._again.clear()
        self.confirm(self._next)

    def take(self, limit: int, now: float) -> list[Update]:
        """At most ``limit`` updates, oldest first; they stay until they are confirmed."""
        again = [self._again.popleft() for _ in range(min(limit, len(self._again)))]
        return again + self.pending(now)[: limit - len(again)]

    def pending(self, now: float) -> list[Update]:
        """All that is not confirmed yet."""
        self._waiting = [each for each in self._waiting if now - each.t < inbound.KEPT.limit]
        return [each.update for each in self._waiting]

    def due(self, now: float) -> list[Update]:
        """All that a webhook has to deliver: what comes again first."""
        return [*self._again, *self.pending(now)]

    def __len__(self) -> int:
        """How many are to be given out."""
        return len(self._waiting) + len(self._again)


def kinds(values: Sequence[object] | None) -> list[str] | None:
    """The types of update that a call allows; none where it names none."""
    return None if values is None else [str(value) for value in values]
