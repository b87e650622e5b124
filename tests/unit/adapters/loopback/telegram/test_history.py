import pytest

from adapters.loopback.clock import PlatformClock
from adapters.loopback.telegram.change import Change, MessageDeleted, MessageEdited, MessagePosted
from adapters.loopback.telegram.history import History
from adapters.loopback.telegram.message import Draft, Message
from adapters.loopback.telegram.typed import from_pasted, from_typed
from adapters.loopback.telegram.world import ADA, BOB, Chat, Topic

PRIVATE, GROUP = Chat(id=101), Chat(id=-200, type="group")
PLAIN = Chat(id=-1_000_000_000_301, type="supergroup")
FORUM = Chat(id=-1_000_000_000_300, type="supergroup", is_forum=True, topics=(Topic(id=5, name="Spices"),))


class Told:
    """A history with what it told."""

    def __init__(self) -> None:
        self.changes: list[Change] = []
        self.history = History(PlatformClock(source=lambda: 0.0, epoch=1000.0), self.changes.append, bot=1)

    def post(self, chat: Chat, text: str = "a", thread: int | None = None, reply_to: int | None = None) -> Message:
        draft = Draft(content=from_typed(text), thread=thread, reply_to=reply_to)
        return self.history.post(chat, ADA, draft)


def test_private_chats_and_groups_share_their_ids_and_each_supergroup_has_its_own() -> None:
    told = Told()
    first = told.post(PRIVATE).id
    assert [told.post(chat).id - first for chat in (GROUP, PRIVATE, PLAIN, FORUM, PLAIN)] == [1, 2, 0, 0, 1]


def test_an_edit_keeps_all_that_was() -> None:
    told = Told()
    message = told.history.edit(told.post(PRIVATE, "a"), from_typed("b"))
    message = told.history.edit(message, from_typed("c"))
    assert [version.text for version in message.versions] == ["a", "b", "c"]
    assert (message.text, message.original.text, message.edited) == ("c", "a", True)


def test_what_is_deleted_stands_no_more_but_is_found() -> None:
    told = Told()
    message = told.history.delete(told.post(PRIVATE))
    assert told.history.standing(PRIVATE.id, message.id) is None
    assert told.history.find(PRIVATE.id, message.id) == message
    assert list(told.history.messages(PRIVATE.id)) == []
    assert list(told.history.messages(deleted=True)) == [message]
    assert [type(change) for change in told.changes] == [MessagePosted, MessageDeleted]


def test_a_reply_lands_in_the_thread_of_what_it_replies_to() -> None:
    told = Told()
    topic, general, plain, group = (
        told.post(FORUM, thread=5),
        told.post(FORUM),
        told.post(PLAIN),
        told.post(GROUP),
    )
    replies = [
        told.post(chat, reply_to=message.id)
        for chat, message in ((FORUM, topic), (FORUM, general), (PLAIN, plain), (GROUP, group))
    ]
    assert [(reply.thread, reply.is_topic_message) for reply in replies] == [
        (5, True),
        (None, False),
        (plain.id, False),
        (None, False),
    ]
    again = told.post(PLAIN, reply_to=replies[2].id)
    assert again.thread == plain.id


def test_the_bots_messages_are_the_bots() -> None:
    told = Told()
    message = told.history.post(PRIVATE, BOB, Draft(content=from_typed("a")))
    assert message.author == "user"
    assert told.history.serve(PRIVATE, BOB, {"pinned": True}).service == {"pinned": True}
    assert told.history.edit(message, from_typed("b")).date == 1000
    assert isinstance(told.changes[-1], MessageEdited)


def test_a_paste_is_cut_between_characters() -> None:
    pieces = [content.text for content in from_pasted("x" + "\U0001f642" * 4_096)]
    assert [len(piece) for piece in pieces] == [2_048, 2_048, 1]
    assert list(from_pasted("a" * 4_096)) == [from_typed("a" * 4_096)]
    assert len(list(from_pasted("a" * 4_096 + "\n"))) == 1


def test_a_picture_needs_no_caption_but_a_message_needs_text() -> None:
    assert from_typed("", photo="p").photo == "p"
    with pytest.raises(Exception, match="non-empty"):
        from_typed("")
