from adapters.loopback.clock import PlatformClock
from adapters.loopback.telegram.action import Actions
from adapters.loopback.telegram.change import ChatAction
from adapters.loopback.telegram.history import History
from adapters.loopback.telegram.message import Draft
from adapters.loopback.telegram.typed import from_typed
from adapters.loopback.telegram.world import ADA, BOB, Chat


def typing(t: float = 0.0, thread: int | None = None, action: str = "typing") -> ChatAction:
    return ChatAction(t=t, chat=101, thread=thread, action=action)


def test_an_action_shows_for_five_seconds_in_its_topic() -> None:
    actions = Actions()
    actions.hear(typing(t=10.0, thread=5))
    assert [actions.is_typing(101, 5, now) for now in (10.0, 14.9, 15.0)] == [True, True, False]
    assert not actions.is_typing(101, None, 10.0)
    assert not actions.is_typing(102, 5, 10.0)


def test_general_is_meant_by_its_id_and_by_none() -> None:
    actions = Actions()
    actions.hear(typing())
    assert actions.is_typing(101, 1, 0.0)
    assert actions.is_typing(101, None, 0.0)


def test_the_bots_next_message_ends_it_and_nobody_elses() -> None:
    actions = Actions()
    history = History(PlatformClock(), actions.hear, bot=BOB.id)
    actions.hear(typing())
    history.post(Chat(id=101), ADA, Draft(content=from_typed("a")))
    assert actions.is_typing(101, None, 0.0)
    history.post(Chat(id=101), BOB, Draft(content=from_typed("b")))
    assert not actions.is_typing(101, None, 0.0)


def test_another_action_takes_its_place() -> None:
    actions = Actions()
    actions.hear(typing())
    actions.hear(typing(action="upload_photo"))
    assert not actions.is_typing(101, None, 0.0)
    assert [each.action for each in actions.sent] == ["typing", "upload_photo"]
