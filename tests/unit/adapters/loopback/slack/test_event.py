import itertools
from dataclasses import replace

from adapters.loopback.slack.change import Change, MessageDeleted, MessageEdited, MessagePosted, StatusSet
from adapters.loopback.slack.event import event_callback, events_of
from adapters.loopback.slack.message import Author, Content, Edit, Message, to_wire
from adapters.loopback.slack.workspace import Channel, Workspace

WORKSPACE = Workspace(
    channels=(
        Channel(id="C1", name="general"),
        Channel(id="C2", name="elsewhere", joined=False),
        Channel(id="G1", name="private", type="group"),
        Channel(id="D1", name="ada", type="im", user="U1"),
    )
)


def message(text: str, *, channel: str = "C1", author: Author = "user", thread: str | None = None) -> Message:
    return Message(
        channel=channel,
        ts="7.000001",
        t=0,
        author=author,
        user="UBOT" if author == "bot" else "U1",
        bot_id="B1" if author == "bot" else None,
        content=Content(text=text),
        original=Content(text=text),
        thread_ts=thread,
    )


def events(change: Change) -> list[dict[str, object]]:
    numbers = itertools.count(8)
    return events_of(change, WORKSPACE, lambda: f"{next(numbers)}.000000")


def posted(text: str, *, channel: str = "C1", author: Author = "user", thread: str | None = None) -> list[object]:
    change = MessagePosted(message=message(text, channel=channel, author=author, thread=thread))
    return [(event["type"], event.get("channel_type")) for event in events(change)]


def test_a_mention_in_a_channel_comes_twice_and_in_a_direct_message_once() -> None:
    assert posted("<@UBOT> hi") == [("app_mention", None), ("message", "channel")]
    assert posted("<@UBOT> hi", channel="G1") == [("app_mention", None), ("message", "group")]
    assert posted("<@UBOT> hi", channel="D1") == [("message", "im")]
    assert posted("<@UBOT|dragoman> hi") == [("app_mention", None), ("message", "channel")]
    assert posted("<@UBOT2> hi") == [("message", "channel")]
    assert posted("hi") == [("message", "channel")]


def test_the_bots_own_messages_come_back_but_are_no_mention() -> None:
    assert posted("<@UBOT> is my name", author="bot") == [("message", "channel")]
    (event,) = events(MessagePosted(message=message("hi", author="bot")))
    assert (event["user"], event["bot_id"], event["app_id"]) == ("UBOT", "B1", "A1")


def test_both_events_of_a_mention_are_about_one_message() -> None:
    mention, plain = events(MessagePosted(message=message("<@UBOT> hi", thread="6.000001")))
    for event in (mention, plain):
        assert (event["ts"], event["event_ts"], event["thread_ts"]) == ("7.000001", "7.000001", "6.000001")
        assert (event["channel"], event["user"], event["text"], event["team"]) == ("C1", "U1", "<@UBOT> hi", "T1")
        assert "bot_id" not in event


def test_a_channel_the_bot_is_not_in_is_silent() -> None:
    assert posted("<@UBOT> hi", channel="C2") == []


def test_an_edit_shows_both_versions_under_an_id_of_its_own() -> None:
    before = message("a")
    content = Content(text="b")
    after = Message(
        channel="C1",
        ts=before.ts,
        t=0,
        author="user",
        user="U1",
        content=content,
        original=before.content,
        edits=(Edit(t=0, ts="7.5", content=content, changed=True),),
    )
    (event,) = events(MessageEdited(message=after, before=before))
    assert (event["type"], event["subtype"], event["hidden"]) == ("message", "message_changed", True)
    assert (event["ts"], event["channel_type"], "text" in event) == ("8.000000", "channel", False)
    shared = {"type": "message", "user": "U1", "ts": "7.000001", "team": "T1"}
    assert event["message"] == shared | {"text": "b", "edited": {"user": "U1", "ts": "7.5"}}
    assert event["previous_message"] == shared | {"text": "a"}


def test_a_deletion_names_what_is_gone() -> None:
    (event,) = events(MessageDeleted(message=message("a")))
    assert (event["subtype"], event["deleted_ts"], event["ts"]) == ("message_deleted", "7.000001", "8.000000")


def test_the_deletion_of_a_message_with_replies_is_its_change_into_a_tombstone() -> None:
    gone = replace(message("a", thread="7.000001"), deleted=True)
    (event,) = events(MessageDeleted(message=gone))
    assert (event["subtype"], event["ts"], "deleted_ts" in event) == ("message_changed", "8.000000", False)
    assert event["message"] == to_wire(gone, "T1", "A1")
    assert event["previous_message"] == to_wire(message("a", thread="7.000001"), "T1", "A1")
    (reply,) = events(MessageDeleted(message=replace(message("a", thread="6.000001"), deleted=True)))
    assert reply["subtype"] == "message_deleted"


def test_what_is_not_about_a_message_has_no_event() -> None:
    assert events(StatusSet(channel="C1", thread_ts="7.000001", text="thinking")) == []


def test_an_event_is_wrapped_with_its_team_app_and_authorisation() -> None:
    wrapped = event_callback({"type": "message", "channel": "C1"}, "Ev1", 7, WORKSPACE)
    assert (wrapped["type"], wrapped["event_id"], wrapped["event_time"]) == ("event_callback", "Ev1", 7)
    assert (wrapped["team_id"], wrapped["api_app_id"]) == ("T1", "A1")
    assert wrapped["authorizations"] == [
        {"enterprise_id": None, "team_id": "T1", "user_id": "UBOT", "is_bot": True, "is_enterprise_install": False}
    ]
