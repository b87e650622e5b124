from typing import Any

import pytest

from adapters.slack.reading import PAGE, Reading
from adapters.slack.render import INERT
from gateway.address import Address
from gateway.operation import ReadThread, Said
from tests.unit.adapters.slack.payload import ME, message

CHANNEL = Address(platform="slack", account="T1", channel="C1")
THREAD = Address(platform="slack", account="T1", channel="C1", thread="17.1")


def read(*messages: dict[str, Any], **asked: Any) -> list[Said]:
    reading = Reading(ReadThread(address=THREAD, **asked), ME)
    reading.feed({"messages": list(messages)})
    assert reading.next_call() is None
    return list(reading.messages)


def arguments(operation: ReadThread) -> tuple[str, dict[str, object]]:
    call = Reading(operation, ME).next_call()
    assert call is not None
    assert call.query
    return call.method, dict(call.arguments)


def test_a_thread_is_read_from_its_replies_and_a_channel_from_its_history() -> None:
    shared = {"channel": "C1", "include_all_metadata": True}
    assert arguments(ReadThread(address=THREAD)) == (
        "conversations.replies",
        shared | {"ts": "17.1", "limit": PAGE},
    )
    assert arguments(ReadThread(address=CHANNEL, limit=30)) == ("conversations.history", shared | {"limit": 30})


def test_the_range_is_asked_for_and_a_channels_start_is_not() -> None:
    _, thread = arguments(ReadThread(address=THREAD, after="18.0", before="19.0"))
    assert (thread["oldest"], thread["latest"]) == ("18.0", "19.0")
    _, channel = arguments(ReadThread(address=CHANNEL, after="18.0", before="19.0", limit=5_000))
    assert ("oldest" in channel, channel["latest"], channel["limit"]) == (False, "19.0", PAGE)


def test_a_message_is_told_with_its_author_and_its_words_as_people_see_them() -> None:
    sent = message(text="<@UBOT> see &lt;b&gt; and <@U2>", files=[{"name": "plan.pdf"}])
    assert read(sent) == [
        Said(
            message_id="17.1",
            user="U1",
            text="see <b> and @U2\n[a file was attached: plan.pdf; it cannot be read yet]",
            ours=False,
        )
    ]


@pytest.mark.parametrize("marks", [{"user": "UBOT"}, {"user": None, "bot_id": "B1"}])
def test_our_own_is_known_by_either_id_and_has_its_nonce(marks: dict[str, object]) -> None:
    metadata = {"event_type": "dragoman", "event_payload": {"nonce": "n1"}}
    (said,) = read(message(text=f"&lt;{INERT}!here&gt;", metadata=metadata, **marks))
    assert (said.ours, said.nonce, said.text) == (True, "n1", "<!here>")
    assert said.user in ("UBOT", "B1")


@pytest.mark.parametrize(
    "strange",
    [
        {"user": "UBOT"},
        {"user": "UBOT", "metadata": "?"},
        {"user": "UBOT", "metadata": {"event_type": "other", "event_payload": {"nonce": "n1"}}},
        {"user": "UBOT", "metadata": {"event_type": "dragoman", "event_payload": {"nonce": 7}}},
        {"user": "U1", "metadata": {"event_type": "dragoman", "event_payload": {"nonce": "n1"}}},
    ],
    ids=str,
)
def test_where_there_is_no_nonce_of_ours_there_is_none(strange: dict[str, object]) -> None:
    assert read(message(**strange))[0].nonce is None


def test_what_nobody_said_is_no_message() -> None:
    joined = message(ts="17.2", subtype="channel_join")
    tombstone = message(ts="17.1", user="USLACKBOT", subtype="tombstone", text="This message was deleted.")
    other_bot = message(ts="17.3", subtype="bot_message", bot_id="B9")
    del other_bot["user"]
    assert [(said.message_id, said.user) for said in read(tombstone, joined, other_bot)] == [("17.3", "B9")]


@pytest.mark.parametrize("strange", ["?", None, {"ts": 17.1}, {"ts": "x"}, {"ts": "17.1", "subtype": []}, {}], ids=str)
def test_what_cannot_be_read_is_passed_over(strange: Any) -> None:
    assert read(strange) == []
    reading = Reading(ReadThread(address=THREAD), ME)
    reading.feed({"messages": strange, "response_metadata": strange})
    assert (reading.messages, reading.next_call()) == ((), None)


def test_a_cursor_that_comes_again_is_the_end() -> None:
    reading, more = Reading(ReadThread(address=THREAD), ME), {"response_metadata": {"next_cursor": "again"}}
    reading.feed(more)
    call = reading.next_call()
    assert call is not None
    assert call.arguments["cursor"] == "again"
    reading.feed(more)
    assert reading.next_call() is None


def test_a_channel_is_read_no_further_than_needed() -> None:
    more = {"response_metadata": {"next_cursor": "on"}}
    full = Reading(ReadThread(address=CHANNEL, limit=2), ME)
    full.feed({"messages": [message(ts="17.3"), message(ts="17.2")]} | more)
    assert full.next_call() is None
    behind = Reading(ReadThread(address=CHANNEL, limit=9, after="17.2"), ME)
    behind.feed({"messages": [message(ts="17.3"), message(ts="17.2")]} | more)
    assert behind.next_call() is None
    assert [said.message_id for said in behind.messages] == ["17.3"]


def test_who_asks_for_none_gets_none() -> None:
    assert read(message(), limit=0) == []
