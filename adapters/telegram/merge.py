"""Which updates are one message: the pictures of an album, and a paste that the sender's client cut. Pure.

Telegram sends each part as a message of its own. So a message that may go on is held back for a moment, and is not
confirmed meanwhile: a crash loses nothing.

Rule 1: what belongs together is told by the messages alone (sender, place, album, length, date), never by the clock, so
    that what comes again is put together again. The clock only ends the waiting.
Rule 2: a place is a chat's topic. What comes there behind a held message waits for it; no other place does. Nor does a
    press, for somebody looks at a client that waits.
Rule 3: nothing is held for longer than ``HOLD`` behind its last part, nor ``LONGEST`` behind its first.
Rule 4: an update counts as done when its group is. Until then it comes again, and is known.
"""

from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count

from adapters.telegram.update import MESSAGE_LIMIT, chat_of, number, sender, topic, units
from gateway.payload import Json, mapping, words

HOLD = 1.0
"""Real seconds that a message is held which may go on."""

LONGEST = 5.0
"""Real seconds that it is held in all."""

ALBUM = 10
"""How many pictures an album has at most."""

FULL = MESSAGE_LIMIT - 96
"""Units from which a text may have been cut: clients prefer a line end, and Telegram takes blanks away there."""

GAP = 2
"""Seconds by the server's clock between the parts of one paste."""

REMEMBERED = 256
"""How many messages that came in parts are remembered, so that an edit of a part is an edit of the whole."""

_Place = tuple[int | None, int | None]


@dataclass(slots=True, eq=False)
class Group:
    """The updates of one message.

    ``arrival`` numbers the groups; ``parts`` are the messages of an edited one, as they read now; mostly none.
    """

    updates: list[Json]
    began: float
    last: float
    arrival: int = 0
    parts: tuple[Json, ...] = ()
    whole: bool = False

    def due(self) -> float:
        """When it is held no longer."""
        return self.began if self.whole else min(self.last + HOLD, self.began + LONGEST)

    def message(self) -> Json:
        """Its last part."""
        return mapping(self.updates[-1].get("message"))


@dataclass(slots=True)
class Merge:
    """Put updates in with ``feed``, take groups out with ``take``, say with ``done`` which are stored."""

    _places: dict[_Place, deque[Group]] = field(default_factory=dict[_Place, deque[Group]])
    _seen: set[int] = field(default_factory=set[int])
    _done: set[int] = field(default_factory=set[int])
    _arrivals: Iterator[int] = field(default_factory=count)
    _joined: OrderedDict[tuple[int | None, int], tuple[Json, ...]] = field(
        default_factory=OrderedDict[tuple[int | None, int], tuple[Json, ...]]
    )

    def feed(self, update: Json, now: float) -> None:
        """Take in an update, in the order of their arrival; one that is known already changes nothing."""
        identifier = number(update.get("update_id"))
        if identifier is not None:
            if identifier in self._seen:
                return
            self._seen.add(identifier)
        message = mapping(update.get("message"))
        waiting = self._places.setdefault(_place(update), deque())
        before = next((each for each in reversed(waiting) if each.message() and _same_sender(each, message)), None)
        if before is not None and not before.whole and _continues(before.message(), message):
            before.updates.append(update)
            before.last = now
            before.whole = not _may_go_on(message, len(before.updates))
            return
        if before is not None:
            before.whole = True
        waiting.append(Group([update], now, now, next(self._arrivals), whole=not _may_go_on(message, 1)))

    def take(self, now: float) -> list[Group]:
        """The groups that are whole, or held long enough; each place's in their order."""
        ready = list[Group]()
        for place, waiting in list(self._places.items()):
            while waiting and waiting[0].due() <= now:
                group = waiting.popleft()
                group.parts = self._edited(group.updates[0])  # now that what it edits is known as a whole
                self._remember(group)
                ready.append(group)
            if not waiting:
                del self._places[place]
        return sorted(ready, key=lambda group: group.arrival)

    def due(self) -> float | None:
        """When the next group is held long enough; none where nothing is held."""
        return min((waiting[0].due() for waiting in self._places.values()), default=None)

    def done(self, group: Group) -> None:
        """All of a group is stored."""
        self._done.update(_identifiers(group.updates))

    def forget(self) -> None:
        """Forget all that is not done: it comes again."""
        self._places.clear()
        self._seen = set(self._done)

    @property
    def offset(self) -> int | None:
        """What to ask for next: the first update that is not done; none where there is nothing to confirm."""
        if open_ := self._seen - self._done:
            return min(open_)
        return max(self._seen) + 1 if self._seen else None

    def confirmed(self, offset: int) -> None:
        """Telegram has forgotten what stands before the offset, and so may we."""
        self._seen = {identifier for identifier in self._seen if identifier >= offset}
        self._done = {identifier for identifier in self._done if identifier >= offset}

    def _edited(self, update: Json) -> tuple[Json, ...]:
        """The message that an edited part belongs to, as it reads now."""
        after = mapping(update.get("edited_message"))
        identifier = number(after.get("message_id"))
        if identifier is None or (parts := self._joined.get((chat_of(after), identifier))) is None:
            return ()
        now = tuple(after if number(part.get("message_id")) == identifier else part for part in parts)
        self._joined |= {(chat_of(after), each): now for each in _message_ids(parts)}
        return now

    def _remember(self, group: Group) -> None:
        if len(group.updates) > 1:
            parts = tuple(mapping(update.get("message")) for update in group.updates)
            self._joined |= {(chat_of(part), each): parts for part in parts for each in _message_ids([part])}
            while len(self._joined) > REMEMBERED:
                self._joined.popitem(last=False)


def _place(update: Json) -> _Place:
    message = mapping(update.get("message")) or mapping(update.get("edited_message"))
    message = message or mapping(update.get("my_chat_member"))
    return chat_of(message), topic(message)


def _same_sender(group: Group, message: Json) -> bool:
    return bool(message) and sender(group.message()) == sender(message)


def _continues(before: Json, after: Json) -> bool:
    """Whether a message is the next part of the one before it, of the same sender in the same place."""
    first, second = number(before.get("message_id")), number(after.get("message_id"))
    if sender(after) is None or first is None or second is None or second <= first:
        return False
    album = before.get("media_group_id")
    if album is not None or after.get("media_group_id") is not None:
        return isinstance(album, str) and album == after.get("media_group_id")
    began, ended = number(before.get("date")), number(after.get("date"))
    soon = began is not None and ended is not None and 0 <= ended - began <= GAP
    return soon and _is_full(before) and isinstance(after.get("text"), str)


def _may_go_on(message: Json, parts: int) -> bool:
    """Whether there may be a further part."""
    if isinstance(message.get("media_group_id"), str):
        return parts < ALBUM
    return _is_full(message)


def _is_full(message: Json) -> bool:
    return units(words(message.get("text"))) >= FULL


def _message_ids(parts: Iterable[Json]) -> list[int]:
    return [each for part in parts if (each := number(part.get("message_id"))) is not None]


def _identifiers(updates: Sequence[Json]) -> list[int]:
    return [each for update in updates if (each := number(update.get("update_id"))) is not None]
