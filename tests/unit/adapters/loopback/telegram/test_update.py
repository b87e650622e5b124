import pytest

from adapters.loopback.clock import PlatformClock
from adapters.loopback.telegram.change import Change, MessageDeleted, MessageEdited, MessagePosted
from adapters.loopback.telegram.history import History
from adapters.loopback.telegram.message import Draft
from adapters.loopback.telegram.roster import Roster
from adapters.loopback.telegram.typed import from_typed
from adapters.loopback.telegram.update import Newsroom
from adapters.loopback.telegram.wire import Wire
from adapters.loopback.telegram.world import ADA, Chat, Standing, User, World

ROBOT = User(id=201, name="Robot", username="robot_bot", is_bot=True)


class Group:
    """A group in which the bot stands somehow, and its news."""

    def __init__(self, standing: Standing = "member") -> None:
        self.chat = Chat(id=-200, type="group", standing=standing)
        self.world = World(users=(ADA, ROBOT), chats=(self.chat,))
        self.changes: list[Change] = []
        roster = Roster(self.world)
        self.history = History(PlatformClock(), self.changes.append, self.world.bot.id)
        wire = Wire(world=self.world, roster=roster, history=self.history)
        self.news = Newsroom(world=self.world, roster=roster, history=self.history, wire=wire)

    def hears(self, text: str, user: User = ADA, reply_to: int | None = None) -> bool:
        self.history.post(self.chat, user, Draft(content=from_typed(text), reply_to=reply_to))
        return self.news.update_of(self.changes[-1], 0) is not None


@pytest.mark.parametrize(
    ("text", "heard"),
    [
        ("hello", False),
        ("/ask", True),
        ("/ask@DRAGOMAN_bot", True),
        ("/ask@robot_bot", False),
        ("I say /ask", False),
        ("\U0001f600 @dragoman_bot", True),
        ("@dragoman_bots", False),
    ],
)
def test_privacy_lets_through_what_is_meant_for_the_bot(text: str, heard: bool) -> None:
    assert Group().hears(text) is heard
    assert Group("administrator").hears(text)
    assert not Group("left").hears(text)


def test_replies_to_the_bot_are_heard_and_to_others_not() -> None:
    group = Group()
    ours = group.history.post(group.chat, group.world.me, Draft(content=from_typed("a")))
    theirs = group.history.post(group.chat, ADA, Draft(content=from_typed("b")))
    assert group.hears("c", reply_to=ours.id)
    assert not group.hears("c", reply_to=theirs.id)
    assert not group.hears("c", reply_to=999)


def test_service_messages_are_heard_by_all() -> None:
    group = Group()
    group.history.serve(group.chat, ADA, {"new_chat_title": "Haven"})
    update = group.news.update_of(group.changes[-1], 0)
    assert update is not None
    assert update[1]["new_chat_title"] == "Haven"


def test_what_the_bot_does_and_what_is_deleted_is_no_news() -> None:
    group = Group("administrator")
    ours = group.history.post(group.chat, group.world.me, Draft(content=from_typed("a")))
    group.history.edit(ours, from_typed("b"))
    group.history.delete(group.history.post(group.chat, ADA, Draft(content=from_typed("c"))))
    news = [group.news.update_of(change, 0) for change in group.changes]
    assert [type(change) for change in group.changes] == [MessagePosted, MessageEdited, MessagePosted, MessageDeleted]
    assert [each is not None for each in news] == [False, False, True, False]


def test_a_bare_command_is_for_the_bot_that_wrote_last() -> None:
    group = Group()
    group.hears("beep", ROBOT)
    assert not group.hears("/ask")
    group.history.post(group.chat, group.world.me, Draft(content=from_typed("a")))
    assert group.hears("/ask")
