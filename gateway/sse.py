"""Server-Sent Events: bytes in, events out.

Rule 1: only LF, CR and CRLF end a line. U+2028, U+2029 and U+0085 are text.
Rule 2: what comes out does not depend on how the bytes were cut, be it inside a character or inside CRLF.
Rule 3: an event is dispatched by the blank line behind it; one that the stream leaves unfinished never is.
Rule 4: memory is bounded by one event and one read.

The format is that of the HTML standard, section 9.2 "Server-sent events"
(https://html.spec.whatwg.org/multipage/server-sent-events.html), without what serves reconnecting (``id``, ``retry``):
no model's stream can be resumed.
"""

from dataclasses import dataclass

from gateway.error import DragomanError

MAX_EVENT_BYTES = 16 * 1024 * 1024
"""Far above any event of a known protocol (a server tool's whole result), far below what hurts a process."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class EventTooLargeError(DragomanError):
    """One event of the stream is larger than the reader's limit."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"an event of the stream is larger than {limit:,} bytes: this is not a model's answer")
        self.limit = limit


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSentEvent:
    """One event. ``name`` is ``message`` where the stream gave none; ``data`` is never empty."""

    name: str
    data: str


class EventReader:
    """Reads one stream.

    Args:
        limit: the largest event to be accepted, in bytes between two blank lines.
    """

    def __init__(self, limit: int = MAX_EVENT_BYTES) -> None:
        self._limit = limit
        self._held = bytearray()  # behind the last blank line; its line ends are LF
        self._after_cr = False
        self._at_start = True
        self._too_large = False

    def feed(self, data: bytes) -> list[ServerSentEvent]:
        """The events that these bytes complete, in order.

        Raises:
            EventTooLargeError: at the first call that has no event to give from before the one that is too large.
        """
        if self._too_large:
            raise EventTooLargeError(self._limit)
        seam = max(len(self._held) - 1, 0)
        self._held += self._with_lf(data)
        end = self._held.rfind(b"\n\n", seam)
        events: list[ServerSentEvent] = []
        if end >= 0:
            blocks = bytes(self._held[:end])
            del self._held[: end + 2]
            self._read(blocks, events)
        self._too_large = self._too_large or self._is_too_large(self._held)
        if self._too_large:
            self._held.clear()
            if not events:
                raise EventTooLargeError(self._limit)
        return events

    def close(self) -> None:
        """The stream is over; an unfinished event is forgotten.

        Raises:
            EventTooLargeError: if that had not been said yet.
        """
        self._held.clear()
        if self._too_large:
            raise EventTooLargeError(self._limit)

    def _with_lf(self, data: bytes) -> bytes:
        """The bytes with LF for every line end. The LF of a CRLF may come a call later than its CR."""
        if not data:
            return data
        behind_cr, self._after_cr = self._after_cr, data.endswith(b"\r")
        if behind_cr and data.startswith(b"\n"):
            data = data[1:]
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        return data

    def _read(self, blocks: bytes, events: list[ServerSentEvent]) -> None:
        for block in blocks.split(b"\n\n"):
            if self._is_too_large(block):
                self._too_large = True
                return
            if self._at_start:
                self._at_start = False
                block = block.removeprefix(_BYTE_ORDER_MARK)  # noqa: PLW2901 - the same block, less its mark
            if event := _parse(block):
                events.append(event)

    def _is_too_large(self, block: bytes | bytearray) -> bool:
        # The line ends around it depend on how the bytes were cut; they must not decide.
        return len(block) > self._limit and len(block.strip(b"\n")) > self._limit


def _parse(block: bytes) -> ServerSentEvent | None:
    """The event of the lines between two blank ones, if they hold one.

    Data of nothing but an empty ``data:`` line is no event here, though it is one in the standard: no protocol says
    anything by it, and every reader of JSON would have to know of it.
    """
    name = b""
    lines: list[bytes] = []
    for line in block.split(b"\n"):
        field, _, value = line.partition(b":")  # a comment is a line whose field has no name
        if field == b"data":
            lines.append(value.removeprefix(b" "))
        elif field == b"event":
            name = value.removeprefix(b" ")
    data = b"\n".join(lines)
    if not data:
        return None
    return ServerSentEvent(name=name.decode("utf-8", "replace") or "message", data=data.decode("utf-8", "replace"))
