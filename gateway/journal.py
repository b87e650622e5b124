"""What must survive of a reply: a line for each of its messages, written before the message is, and again when it is.

Rule 1: before a message is posted, its line says that it may be there; what came of it is written behind.
Rule 2: a piece of text that is whole has a line that holds all of it before any of its message is shown as such, and
        keeps one in whatever message it ends up, so that whoever comes after shows just that.
Rule 3: what a live bubble shows in between is never written. The next words overwrite it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2s
from itertools import groupby
from typing import Literal

from pydantic import TypeAdapter

from gateway import codec

Kind = Literal["text", "notice", "ending", "activity", "approval"]
"""``text`` is the model's, a ``notice`` ours, and so is the ``ending``. A board stays, and its text changes:
``activity`` is a line about tools, ``approval`` a call that waits for a person, or what came of that."""

State = Literal["open", "due", "sealing", "sealed", "deleted"]
"""``open``: the message shows what will be overwritten. ``due``: its text is fixed, and it is not on the screen.
``sealing``: its text is fixed, and it is on the screen with that or an earlier one. ``sealed``: it shows its text.
``deleted``: it is not on the screen, and its number is used no more; of a board, somebody took it away. Where an
``open`` or ``sealing`` message has no ``message_id``, nothing was heard of its post: it may be there or not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One message of a reply, as far as is known.

    ``draft`` is the message of the model's that it belongs to. ``tries`` is how often it was posted, each time
    with a nonce of its own. ``[start, end)`` is the stretch of the draft that it stands for, and ``source`` that
    stretch; of a piece that was cut again, or left out, the last line has it all. ``breaks``: where in
    it the row broke. ``late``: an edit of the message that nobody heard of may be on its way. ``ordinary``: it is no
    stream, where others are. ``board``: what a board is about: the calls of an activity line, the id of an approval;
    also of the notice that tells of its decision.
    """

    number: int
    draft: int
    state: State
    kind: Kind
    tries: int = 0
    message_id: str | None = None
    markup: bool = True
    late: bool = False
    ordinary: bool = False
    text: str = ""
    source: str = ""
    start: int = 0
    end: int = 0
    breaks: tuple[int, ...] = ()
    board: tuple[str, ...] = ()

    @property
    def fixed(self) -> bool:
        """Whether its text will not change any more."""
        return self.state in ("due", "sealing", "sealed")


@cache
def _adapter() -> TypeAdapter[Line]:
    return TypeAdapter(Line)


def to_json(line: Line) -> str:
    """One line of JSON."""
    return _adapter().dump_json(line).decode()


def from_json(text: str | bytes) -> Line:
    """The line that ``to_json`` wrote.

    Raises:
        ValueError: where it is something else.
    """
    return codec.read(_adapter(), text)


def changes(written: Mapping[int, Line], lines: Iterable[Line]) -> dict[int, Line]:
    """What has to be written over what was, so that it says what ``lines`` say: a line that is gone says so."""
    now = {line.number: line for line in lines}
    gone = {
        number: Line(number=number, draft=line.draft, state="deleted", kind=line.kind, tries=line.tries)
        for number, line in written.items()
        if number not in now
    }
    return {number: line for number, line in (now | gone).items() if written.get(number) != line}


def nonce(seed: str, number: int, tries: int) -> str:
    """Our name for a message: the same after a restart, and no other's. 24 characters, as Discord takes 25."""
    return blake2s(f"{seed}\0{number}\0{tries}".encode(), digest_size=12).hexdigest()


def drafts(lines: Iterable[Line]) -> dict[int, str]:
    """The words that are fixed of each draft of which some are."""
    sealed = sorted((line for line in lines if line.fixed), key=_place)
    texts = {
        draft: "".join(line.source for line in mine) for draft, mine in groupby(sealed, key=lambda line: line.draft)
    }
    return {draft: text for draft, text in texts.items() if text.strip()}


def next_draft(lines: Sequence[Line]) -> int:
    """The draft that a model writes which is asked anew: a further one where words of the last are fixed."""
    written = drafts(lines)
    return max(written) + 1 if written else max((line.draft for line in lines), default=0)


def _place(line: Line) -> tuple[int, int]:
    return line.draft, line.number
