"""What a reader must find on a screen, whatever went wrong. Told what stands there, never what the gateway says of it.

A ``Look`` is how a message looks, in whatever form a platform has it: equal looks are equal to a reader.
"""

import re
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from adapters.loopback.log import Call

Look = Hashable


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A message of the bot's; ``deleted`` by a reader."""

    id: str
    look: Look
    text: str = ""
    deleted: bool = False


Judge = Callable[[Sequence[Row], Sequence[Look], Look], None]
"""Compares a conversation with the chunks that it should show, and with the notice that marks what is in doubt."""


def assert_whole_once_in_order(rows: Sequence[Row], chunks: Sequence[Look], notice: Look = None) -> None:
    """Each chunk stands there once, in its place, or was read in whole before its reader deleted it."""
    missing = list(chunks)
    read = {row.look for row in rows if row.deleted}
    for row in rows:
        if not row.deleted:
            assert row.look != notice, "a doubt is marked where there can be none"
            assert row.look in missing, f"shown twice, out of order, or no chunk at all: {row.look!r}"
            at = missing.index(row.look)
            assert not set(missing[:at]) - read, f"never shown whole: {missing[:at]}"
            missing = missing[at + 1 :]
    assert not set(missing) - read, f"never shown whole: {missing}"


def assert_doubts_are_marked(rows: Sequence[Row], chunks: Sequence[Look], notice: Look) -> None:
    """The same, but that in front of a notice there may be what it is about: a first try at what follows."""
    assert_whole_once_in_order(without_first_tries(rows, chunks, notice), chunks)


def without_first_tries(rows: Sequence[Row], chunks: Collection[Look], notice: Look) -> list[Row]:
    """What stands there but for notices, and what each is about."""
    return [row for at, row in enumerate(rows) if not _doubtful(row, rows[at + 1 :], chunks, notice)]


def _doubtful(row: Row, behind: Sequence[Row], chunks: Collection[Look], notice: Look) -> bool:
    """Whether a message is a notice, or one that a notice is about."""
    if row.look == notice:
        return True
    return _marked(behind, notice) and (row.look not in chunks or row.look in {each.look for each in behind})


def assert_gaps_are_marked(rows: Sequence[Row], chunks: Sequence[Look], notice: Look) -> None:
    """Each chunk stands in its place, or a notice does; in front of that there may be what it is about.

    Nobody can tell whether a whole chunk in front of a notice is the one in doubt, so all readings are followed: the
    numbers of the chunks that may come next.
    """
    read = {row.look for row in rows if row.deleted}
    places = _onward({0}, chunks, read, notice)
    for at, row in enumerate(rows):
        if row.deleted:
            continue
        in_doubt = notice == next(
            (each.look for each in rows[at + 1 :] if each.look == notice or not each.deleted), None
        )
        following = {place + 1 for place in places if place < len(chunks) and row.look in (chunks[place], notice)}
        first_try = {
            place for place in places if in_doubt and (row.look in chunks[place : place + 1] or row.look not in chunks)
        }
        places = _onward(following | first_try, chunks, read, notice)
        assert places, f"shown twice, out of order, or no chunk at all: {row.look!r}"
    assert len(chunks) in places, f"never shown, and no notice says so: {chunks[max(places)]!r}"


def _onward(places: set[int], chunks: Sequence[Look], read: Collection[Look], notice: Look) -> set[int]:
    """The places, and those that are reached by passing over what a reader took away."""
    reached = set(places)
    for place in range(min(places, default=len(chunks)), len(chunks)):
        if place in reached and (chunks[place] in read or notice in read):
            reached.add(place + 1)
    return reached


def assert_begun(rows: Sequence[Row], answer: str, notice: Look, word: str) -> int:
    """What may end early stands there in order and once, up to where it ends; what is missing before was read.

    Args:
        rows: what stands there.
        answer: what was said.
        notice: marks a doubt; in front of it there may be what it is about. None where there is no room for notices.
        word: a regular expression; each of the answer's words occurs once.

    Returns:
        How many first tries are there beside that.
    """
    said = re.findall(word, answer)
    kept = [row for at, row in enumerate(rows) if not (row.deleted or _repeated(row, rows[at + 1 :], notice, word))]
    shown = [each for row in kept for each in re.findall(word, row.text)]
    read = {each for row in rows if row.deleted for each in re.findall(word, row.text)}
    assert shown == [each for each in said if each in shown], f"shown twice or out of order: {shown}"
    missing = [each for each in said[: said.index(shown[-1]) if shown else 0] if each not in shown]
    assert set(missing) <= read, f"never shown: {missing}"
    return sum(not row.deleted for row in rows) - len(kept)


def _repeated(row: Row, behind: Sequence[Row], notice: Look, word: str) -> bool:
    """Whether a message's words come once more; where there are notices, one behind it has to say so."""
    again = {each for other in behind for each in re.findall(word, other.text)}
    return (notice is None or _marked(behind, notice)) and not again.isdisjoint(re.findall(word, row.text))


def _marked(behind: Sequence[Row], notice: Look) -> bool:
    """Whether a notice stands behind a message."""
    return notice == next((each.look for each in behind if each.look == notice or not each.deleted), None)


def assert_waits_were_kept(calls: Sequence[Call]) -> None:
    """Who was told to wait called that method again when the time was over, and not before."""
    for method in {call.method for call in calls}:
        for call, following in pairwise(sorted((c for c in calls if c.method == method), key=lambda c: c.t)):
            assert call.retry_after is None or following.t >= call.t + call.retry_after, (call, following)
