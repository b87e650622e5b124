import pytest

from adapters.loopback.telegram import outbound
from adapters.loopback.telegram.answer import RefusedError
from adapters.loopback.telegram.roster import Roster, checked_thread
from adapters.loopback.telegram.rule import Rule
from adapters.loopback.telegram.world import Chat, Topic, User, World

FORUM = Chat(id=-1_000_000_000_300, type="supergroup", is_forum=True, topics=(Topic(id=5, name="Spices"),))
WORLD = World(
    users=(*World().users, User(id=103, name="Eve")),
    chats=(Chat(id=101), Chat(id=102, standing="blocked"), Chat(id=-200, type="group"), FORUM),
)


@pytest.mark.parametrize(
    ("key", "rule"),
    [
        ("", outbound.CHAT_EMPTY),
        ("404", outbound.CHAT_UNKNOWN),
        ("@nobody", outbound.CHAT_UNKNOWN),
        ("102", outbound.BLOCKED),
        ("103", outbound.NEVER_STARTED),
    ],
)
def test_a_chat_that_cannot_be_reached_says_why(key: str, rule: Rule) -> None:
    with pytest.raises(RefusedError) as raised:
        Roster(WORLD).reachable(key)
    assert raised.value.rule is rule


def test_how_the_bot_stands_can_change() -> None:
    roster = Roster(WORLD)
    assert roster.stand(-200, "kicked").standing == "member"
    with pytest.raises(RefusedError, match="bot was kicked from the group chat"):
        roster.reachable("-200")
    roster.stand(-200, "administrator")
    assert roster.reachable("-200").standing == "administrator"


def test_a_group_that_went_says_where() -> None:
    roster = Roster(WORLD)
    after = roster.migrate(-200)
    assert (after.type, roster.moved_to(-200)) == ("supergroup", after.id)
    assert str(after.id).startswith("-100")
    with pytest.raises(RefusedError) as raised:
        roster.reachable("-200")
    assert raised.value.parameters == {"migrate_to_chat_id": after.id}
    assert roster.reachable(str(after.id)) == after


def test_topics_come_and_go() -> None:
    roster = Roster(WORLD)
    roster.open_topic(FORUM.id, Topic(id=9, name="Tea"))
    roster.delete_topic(FORUM.id, 5)
    assert [topic.id for topic in roster.find(FORUM.id).topics] == [9]
    for absent in (1, 5):
        with pytest.raises(ValueError, match="no topic"):
            roster.delete_topic(FORUM.id, absent)


@pytest.mark.parametrize(
    ("thread", "general", "found"), [(None, False, None), (0, False, None), (5, False, 5), (1, True, None)]
)
def test_a_topic_that_stands_is_found(thread: int | None, general: bool, found: int | None) -> None:
    assert checked_thread(FORUM, thread, general=general) == found


@pytest.mark.parametrize(
    ("chat", "thread", "rule"),
    [
        (FORUM, 1, outbound.GENERAL_TOPIC),
        (FORUM, 6, outbound.THREAD_UNKNOWN),
        (Chat(id=101), 1, outbound.THREAD_UNKNOWN),
    ],
)
def test_no_other_can_be_written_to(chat: Chat, thread: int, rule: Rule) -> None:
    with pytest.raises(RefusedError) as raised:
        checked_thread(chat, thread)
    assert raised.value.rule is rule
