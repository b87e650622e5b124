import re
from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from gateway.sse import EventReader, EventTooLargeError

TOKENS = [b"data:", b"data: ", b"data", b"event: ", b"id: 1", b":", b" ", b"\r", b"\n", b"\r\n", b"\n\n", b"\r\n\r\n"]
LETTERS = [b"x", b"\0", b"\xff", b"\xef\xbb\xbf", b"\xe2\x80\xa8", b"\xc2\x85", b"\xf0\x9f\x98\x80", b'{"a":1}']

streams = st.lists(st.sampled_from(TOKENS + LETTERS) | st.binary(max_size=4), max_size=40).map(b"".join)
cuts = st.lists(st.integers(0, 200), max_size=12)


def slices(stream: bytes, at: list[int]) -> list[bytes]:
    bounds = [0, *sorted(at), len(stream)]
    return [stream[start:end] for start, end in pairwise(bounds)]


def read(pieces: list[bytes], limit: int) -> tuple[list[tuple[str, str]], bool]:
    reader = EventReader(limit)
    events: list[tuple[str, str]] = []
    try:
        for piece in pieces:
            events += [(event.name, event.data) for event in reader.feed(piece)]
        reader.close()
    except EventTooLargeError:
        return events, True
    return events, False


def by_the_standard(stream: bytes) -> list[tuple[str, str]]:
    """The standard's algorithm word for word, on the whole text; but for an event whose data is empty."""
    events: list[tuple[str, str]] = []
    name, data = "", ""
    text = stream.decode("utf-8", "replace").removeprefix("\ufeff")
    for line in re.split(r"\r\n|\r|\n", text)[:-1]:
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if not line:
            if data.removesuffix("\n"):
                events.append((name or "message", data.removesuffix("\n")))
            name, data = "", ""
        elif field == "event":
            name = value
        elif field == "data":
            data += value + "\n"
    return events


@given(streams)
def test_a_stream_is_read_as_the_standard_says(stream: bytes) -> None:
    assert read([stream], 10_000) == (by_the_standard(stream), False)


@given(streams, cuts, st.integers(0, 40))
@example(b"data: a\n\n\ndata: b\n\n", [9], 7)
@example(b"\xef\xbb\xbfdata: a\n\n", [1, 2], 8)
def test_what_is_read_does_not_depend_on_the_slices(stream: bytes, at: list[int], limit: int) -> None:
    whole = read([stream], limit)
    assert read(slices(stream, at), limit) == whole
    assert read([stream[i : i + 1] for i in range(len(stream))], limit) == whole
