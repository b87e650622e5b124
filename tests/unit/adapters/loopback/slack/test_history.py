import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.loopback.clock import PlatformClock
from adapters.loopback.slack.change import (
    Change,
    MessageDeleted,
    MessageEdited,
    MessagePosted,
    ReactionAdded,
    ReactionRemoved,
)
from adapters.loopback.slack.history import History
from adapters.loopback.slack.message import Content, Message, Reaction, to_wire
from adapters.loopback.slack.workspace import User

ADA, BOT = User(id="U1", name="ada"), User(id="UBOT", name="dragoman", bot_id="B1")


class Room:
    """A history under a clock that is moved by hand."""

    def __init__(self) -> None:
        self.real = 0.0
        self.changes: list[Change] = []
        clock = PlatformClock(10, source=lambda: self.real, epoch=1_000_000_000.0)
        self.history = History(clock, self.changes.append, "UBOT")

    def post(self, text: str = "a", user: User = ADA, thread: str | None = None, channel: str = "C1") -> Message:
        return self.history.post(channel=channel, user=user, content=Content(text=text), thread=thread)

    def now(self, message: Message) -> Message:
        found = self.history.find(message.channel, message.ts)
        assert found is not None
        return found


@pytest.fixture
def room() -> Room:
    return Room()


@given(st.lists(st.floats(0, 1e-6) | st.floats(0, 1e3)))
def test_ids_are_unique_increasing_and_have_six_decimals(pauses: list[float]) -> None:
    room, ids = Room(), list[str]()
    for pause in pauses:
        room.real += pause
        ids.append(room.history.next_ts())
    assert sorted(set(ids), key=float) == ids
    assert all(len(ts.partition(".")[2]) == 6 for ts in ids)


def test_an_id_is_platform_time(room: Room) -> None:
    room.real = 1.5
    message = room.post()
    assert (message.ts, message.t) == ("1000000015.000000", 15.0)


def test_a_message_knows_its_author(room: Room) -> None:
    ours, theirs = room.post(user=BOT), room.post(user=ADA)
    assert (ours.author, ours.user, ours.bot_id, ours.client_msg_id) == ("bot", "UBOT", "B1", None)
    assert (theirs.author, theirs.user, theirs.bot_id) == ("user", "U1", None)
    assert theirs.client_msg_id
    other = room.post(user=User(id="U9", name="other", bot_id="B9"))
    assert (other.author, other.bot_id, other.client_msg_id) == ("user", "B9", None)


def test_a_reply_stands_in_the_thread_of_its_first_message(room: Room) -> None:
    root, other = room.post(), room.post()
    reply = room.post(user=BOT, thread=root.ts)
    assert (reply.thread_ts, reply.is_reply, reply.unthreaded) == (root.ts, True, False)
    assert (room.now(root).thread_ts, room.now(root).is_reply) == (root.ts, False)
    assert room.now(other).thread_ts is None
    assert [message.ts for message in room.history.messages("C1", root.ts)] == [root.ts, reply.ts]


def test_a_reply_to_what_is_not_there_lands_at_top_level(room: Room) -> None:
    gone = room.post()
    room.history.delete(gone)
    elsewhere = room.post(channel="D1")
    root = room.post()
    reply = room.post(thread=root.ts)
    for thread in (gone.ts, elsewhere.ts, reply.ts, "1.000001"):
        message = room.post(user=BOT, thread=thread)
        assert (message.thread_ts, message.asked_thread, message.unthreaded) == (None, thread, True)


def test_a_deleted_message_with_replies_keeps_its_thread(room: Room) -> None:
    root = room.post()
    first = room.post(user=BOT, thread=root.ts)
    room.history.delete(room.now(root))
    second = room.post(user=BOT, thread=root.ts)
    assert second.thread_ts == root.ts
    assert [message.ts for message in room.history.messages("C1", root.ts)] == [first.ts, second.ts]


def test_edits_are_all_kept_also_those_that_change_nothing(room: Room) -> None:
    message = room.post("a")
    room.real = 2.0
    message = room.history.edit(message, Content(text="b"))
    message = room.history.edit(message, Content(text="b"))
    assert (message.text, message.edited, message.original.text) == ("b", True, "a")
    assert [(edit.t, edit.content.text, edit.changed) for edit in message.edits] == [(20, "b", True), (20, "b", False)]
    assert room.now(message) == message


def test_a_preview_is_no_edit(room: Room) -> None:
    message = room.history.unfurl(room.post("a"), ({"from_url": "u"},))
    assert (message.text, message.edited, message.content.attachments) == ("a", False, ({"from_url": "u"},))


def test_every_change_is_told(room: Room) -> None:
    message = room.post("a")
    edited = room.history.edit(message, Content(text="b"))
    deleted = room.history.delete(edited)
    assert room.changes == [
        MessagePosted(message=message),
        MessageEdited(message=edited, before=message),
        MessageDeleted(message=deleted),
    ]
    assert list(room.history.messages()) == []
    assert room.now(message).deleted


def test_a_reader_sees_escapes_undone_once(room: Room) -> None:
    assert room.post("a &lt; b &amp;amp; c").display == "a < b &amp; c"


def test_a_reaction_comes_and_goes_and_is_no_edit(room: Room) -> None:
    eyes, tada = Reaction(name="eyes", user="UBOT"), Reaction(name="tada", user="UBOT")
    message = room.history.react(room.history.react(room.post("a"), eyes), tada)
    assert (message.reactions, message.edited) == ((eyes, tada), False)
    assert to_wire(message, "T1", "A1")["reactions"] == [
        {"name": "eyes", "users": ["UBOT"], "count": 1},
        {"name": "tada", "users": ["UBOT"], "count": 1},
    ]
    message = room.history.unreact(message, eyes)
    assert (room.now(message).reactions, room.now(message).text) == ((tada,), "a")
    assert [type(change) for change in room.changes[1:]] == [ReactionAdded, ReactionAdded, ReactionRemoved]


def test_what_is_gone_can_be_listed_and_what_keeps_a_thread_is_a_tombstone(room: Room) -> None:
    alone, root = room.post(), room.post()
    reply = room.post(user=BOT, thread=root.ts)
    for message in (alone, root):
        room.history.delete(room.now(message))
    assert [message.ts for message in room.history.messages()] == [reply.ts]
    listed = {message.ts: message.is_tombstone for message in room.history.messages(deleted=True)}
    assert listed == {alone.ts: False, root.ts: True, reply.ts: False}
    wire = to_wire(room.now(root), "T1", "A1")
    assert (wire["subtype"], wire["user"], wire["thread_ts"]) == ("tombstone", "USLACKBOT", root.ts)


@pytest.mark.parametrize(
    ("metadata", "nonce"),
    [
        ({"event_type": "x", "event_payload": {"nonce": "n1"}}, "n1"),
        ({"event_type": "x", "event_payload": {"nonce": 1}}, None),
        ({"event_type": "x", "event_payload": {}}, None),
        (None, None),
    ],
)
def test_a_message_knows_the_nonce_in_its_metadata(
    room: Room, metadata: dict[str, object] | None, nonce: str | None
) -> None:
    message = room.history.post(channel="C1", user=BOT, content=Content(text="a", metadata=metadata))
    assert message.nonce == nonce
