"""How many messages an answer may have, where a platform limits that. Pure.

Rule 1: pieces pass in order, each for a message of its own.
Rule 2: the piece for the last message waits until it is known whether more comes. Then it says that more is left out.
Rule 3: a message that may be there counts. Where that leaves too few for what has passed, the last of that has to go.
"""

from collections.abc import Callable, Sequence

from gateway import notice
from gateway.adapter import Capabilities
from gateway.draft import Piece
from gateway.remark import last


class Room:
    """Room for ``capabilities.messages`` messages, of which so many are ``used``."""

    def __init__(self, capabilities: Capabilities, used: int = 0) -> None:
        self._capabilities = capabilities
        messages = capabilities.messages
        self._left = None if messages is None else max(1, messages - used)
        self._held: list[Piece] = []
        self._closed = False

    @property
    def limited(self) -> bool:
        """There is not room for any number."""
        return self._left is not None

    @property
    def full(self) -> bool:
        """Nothing more passes before ``close``."""
        return self._left is not None and (bool(self._held) or self._left <= 0 or self._closed)

    def admit(self, pieces: Sequence[Piece]) -> list[Piece]:
        """Those of the pieces that may be shown now."""
        if self._left is None:
            return [*pieces]
        if self._closed:
            return []
        passing = list(pieces[: max(0, self._left - 1)])
        self._left -= len(passing)
        self._held += pieces[len(passing) :]
        return passing

    def take(self, messages: int) -> bool:
        """Room for so many messages that belong together, and one more behind them; or none of it is taken."""
        if self._left is None:
            return True
        if self._closed or self._held or messages >= self._left:
            return False
        self._left -= messages
        return True

    def spend(self, messages: int) -> int:
        """So many more messages are there, or will be, than pieces have passed; how many pieces have to go for that."""
        if self._left is None:
            return 0
        self._left -= messages
        over, self._left = max(0, -self._left), max(0, self._left)
        return over

    def close(self) -> tuple[list[Piece], bool]:
        """Nothing more comes: what is shown in the last message, if anything, and whether something is left untold."""
        held, self._held, self._closed = self._held, [], True
        if not held or not self._left:
            return [], bool(held)
        self._left -= 1
        return [last(held[0], notice.LEFT_OUT, self._capabilities)] if len(held) > 1 else held, False

    def give_back(self, passed: int, taken_back: Callable[[Piece], bool]) -> None:
        """So many pieces that had passed are not shown after all; of those that wait, some are taken back."""
        self._held = [piece for piece in self._held if not taken_back(piece)]
        self._left = None if self._left is None else self._left + passed
