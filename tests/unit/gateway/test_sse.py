import pytest

from gateway.sse import EventReader, EventTooLargeError, ServerSentEvent


def read(*pieces: bytes, limit: int = 1000) -> list[tuple[str, str]]:
    reader = EventReader(limit)
    events = [event for piece in pieces for event in reader.feed(piece)]
    reader.close()
    return [(event.name, event.data) for event in events]


@pytest.mark.parametrize(
    ("stream", "events"),
    [
        (b"event: ping\ndata: {}\n\n", [("ping", "{}")]),
        (b"data: a\n\ndata: b\n\n", [("message", "a"), ("message", "b")]),
        (b"data:a\n\n", [("message", "a")]),
        (b"data:  a\n\n", [("message", " a")]),
        (b"data: a\ndata: b\n\n", [("message", "a\nb")]),
        (b"data: a\ndata\ndata:\n\n", [("message", "a\n\n")]),
        (b"data: a: b\n\n", [("message", "a: b")]),
        (b"data: a\r\rdata: b\r\n\r\n", [("message", "a"), ("message", "b")]),
        (b"data: a\r\n\ndata: b\n\r\n", [("message", "a"), ("message", "b")]),
        (b": comment\n\n:\n\ndata: a\n: in between\n\n", [("message", "a")]),
        (b"id: 7\nretry: 100\n\ndata: a\nid: 8\n\n", [("message", "a")]),
        (b"event: x\n\ndata: a\n\n", [("message", "a")]),
        (b"event: x\nevent:\ndata: a\n\n", [("message", "a")]),
        (b"event: x\nevent: y\ndata: a\n\n", [("y", "a")]),
        (b"data: a\n\n\n\n\ndata: b\n\n", [("message", "a"), ("message", "b")]),
        (b"\n\ndata: a\n\n", [("message", "a")]),
        (b"\xef\xbb\xbfdata: a\n\n", [("message", "a")]),
        (b"\xef\xbb\xbf\n\ndata: a\n\n", [("message", "a")]),
        (b"data: a\n\n\xef\xbb\xbfdata: b\n\n", [("message", "a")]),
        (b" data: a\n\n", []),
        (b"data:\n\n", []),
        (b"data\n\n", []),
        (b"event: x\n\n", []),
        (b"Data: a\n\n", []),
        (b"data: a", []),
        (b"data: a\n", []),
        (b"", []),
        ("data: a\u2028b\x85c\u2029d\x0be\n\n".encode(), [("message", "a\u2028b\x85c\u2029d\x0be")]),
        (b"data: \xff\xe2\x80\n\n", [("message", "\ufffd\ufffd")]),
    ],
)
def test_a_stream_is_read_by_the_standard_whole_and_byte_by_byte(stream: bytes, events: list[tuple[str, str]]) -> None:
    assert read(stream) == events
    assert read(*(stream[i : i + 1] for i in range(len(stream)))) == events


def test_an_event_is_given_out_as_soon_as_its_blank_line_is_there() -> None:
    reader = EventReader()
    assert reader.feed(b"data: a\r") == []
    assert reader.feed(b"\n\r") == [ServerSentEvent(name="message", data="a")]
    assert reader.feed(b"\ndata: b\n\n") == [ServerSentEvent(name="message", data="b")]


def test_an_unfinished_event_is_not_given_out_at_the_end() -> None:
    reader = EventReader()
    reader.feed(b"data: a\n")
    reader.close()
    assert reader.feed(b"\n") == []


def test_an_event_as_large_as_the_limit_is_read() -> None:
    assert read(b"data: 1234\n\n", b"data: 5678\n", b"\n", limit=10) == [("message", "1234"), ("message", "5678")]


def test_the_line_ends_around_an_event_do_not_count_for_its_size() -> None:
    assert read(b"\n\n\ndata: 1234\n", b"\n\n\n", limit=10) == [("message", "1234")]


@pytest.mark.parametrize(
    "stream", [b"data: 12345\n\n", b"data: 12345", b": 3456789ab\n\n", b"\xef\xbb\xbfdata: 123\n\n"]
)
def test_a_larger_event_is_an_error(stream: bytes) -> None:
    with pytest.raises(EventTooLargeError, match="larger than 10 bytes"):
        read(stream, limit=10)


def test_events_before_a_too_large_one_are_given_out_first() -> None:
    reader = EventReader(10)
    assert len(reader.feed(b"data: 1\n\ndata: 12345\n\ndata: 2\n\n")) == 1
    for more in (b"", b"data: 3\n\n"):
        with pytest.raises(EventTooLargeError):
            reader.feed(more)
    with pytest.raises(EventTooLargeError):
        reader.close()


def test_an_endless_event_does_not_fill_the_memory() -> None:
    reader = EventReader(100)
    for _ in range(10):
        reader.feed(b"x" * 10)
    for _ in range(3):
        with pytest.raises(EventTooLargeError):
            reader.feed(b"x")
