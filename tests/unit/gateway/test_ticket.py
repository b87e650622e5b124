"""A reply to what came with a ticket: the platform has put a message there that waits for the first words."""

from dataclasses import replace

import pytest

from gateway.adapter import Capabilities
from gateway.address import Address
from gateway.event import AgentEnd, EndReason, MessageDiscarded, TextDelta, TurnStart, Usage
from gateway.inbound import Ticket
from gateway.notice import ENDINGS, FOR, LEFT_OUT, MAY_BE_A_REPEAT
from gateway.operation import (
    DeleteMessage,
    EditMessage,
    EditRefused,
    Expired,
    MessageGone,
    Operation,
    Outcome,
    Performed,
    PostMessage,
    Unknown,
)
from gateway.place import Place
from gateway.reply import Reply

ADDRESS = Address(platform="p", account="a", channel="c")
MEMBER = Ticket(secret="s", lifetime=900.0, opening="@1", guest=False)
GUEST = replace(MEMBER, guest=True)
EDIT = Capabilities(surface="edit", unit="cp", bubble=100, post=(), edit=(), mention="<@{}>")
CAPABILITIES = replace(EDIT, guest=replace(EDIT, messages=3))


def reply_to(ticket: Ticket, capabilities: Capabilities = CAPABILITIES) -> Reply:
    place = Place(address=ADDRESS, capabilities=capabilities.by(ticket), user="42", ticket=ticket)
    return Reply(place=place, run_id="r1")


def say(reply: Reply, text: str) -> None:
    reply.feed(TextDelta(block_id="b0", text=text))


def end(reply: Reply, reason: EndReason = "complete") -> None:
    reply.feed(AgentEnd(reason=reason, final_response="", turn_count=1, message_count=1, usage=Usage()))


def short(operation: Operation | None) -> str:
    match operation:
        case PostMessage(text=text):
            return f"post {text}"
        case EditMessage(message_id=message_id, text=text):
            return f"edit {message_id} {text}"
        case DeleteMessage(message_id=message_id):
            return f"delete {message_id}"
        case _:
            return str(operation)


def rest_of(reply: Reply, *outcomes: Outcome) -> list[str]:
    """What is still done, in short; the first operations meet those outcomes, the others go well."""
    fates, done = [*outcomes], list[str]()
    while reply.need() is not None and (operation := reply.next_operation()) is not None:
        done.append(short(operation))
        assert getattr(operation, "ticket", None) is not None
        default = Performed(message_id=getattr(operation, "message_id", f"m{len(done)}"))
        reply.settle(fates.pop(0) if fates else default)
    return done


def test_the_first_words_go_into_the_message_that_waits_for_them_and_the_others_into_new_ones() -> None:
    reply = reply_to(MEMBER)
    say(reply, "Hello. ")
    assert rest_of(reply) == ["edit @1 Hello."]
    say(reply, "word " * 25)
    end(reply)
    first, *others = rest_of(reply)
    assert first.startswith("edit @1 Hello. word")
    assert [each.partition(" ")[0] for each in others] == ["post"]
    assert reply.bubbles[0].message_id == "@1"
    assert reply.done


def test_where_nothing_is_said_the_message_that_waits_is_taken_away() -> None:
    reply = reply_to(MEMBER)
    reply.tell("")
    assert rest_of(reply) == ["delete @1"]
    assert reply.done


def test_a_stop_before_the_first_word_is_told_there() -> None:
    reply = reply_to(MEMBER)
    say(reply, "Hello.")
    reply.stop()
    assert rest_of(reply) == [f"edit @1 {ENDINGS['stopped']}"]


def test_where_the_ticket_has_expired_the_answer_is_a_message_of_its_own_that_says_whose_it_is() -> None:
    reply = reply_to(MEMBER)
    say(reply, "Hello.")
    end(reply)
    assert rest_of(reply, Expired()) == [
        "edit @1 Hello.",
        "delete @1",
        f"post {FOR.format('<@42>')}",
        "post Hello.",
    ]


def test_a_waiting_message_that_cannot_be_taken_away_is_no_repeat() -> None:
    reply = reply_to(MEMBER, replace(EDIT, mention=None))
    say(reply, "Hello.")
    end(reply)
    assert rest_of(reply, Expired(), EditRefused(reason="no")) == ["edit @1 Hello.", "delete @1", "post Hello."]


def test_a_half_answer_that_cannot_be_taken_away_announces_the_repeat() -> None:
    reply = reply_to(MEMBER, replace(EDIT, mention=None))
    say(reply, "Hello. ")
    assert rest_of(reply) == ["edit @1 Hello."]
    say(reply, "World.")
    end(reply)
    assert rest_of(reply, Expired(), EditRefused(reason="no")) == [
        "edit @1 Hello. World.",
        "delete @1",
        f"post {MAY_BE_A_REPEAT}",
        "post Hello. World.",
    ]


def test_a_waiting_message_that_a_reader_deleted_is_replaced() -> None:
    reply = reply_to(MEMBER)
    say(reply, "Hello.")
    end(reply)
    assert rest_of(reply, MessageGone()) == ["edit @1 Hello.", "post Hello."]


def test_a_reply_that_goes_on_behind_a_crash_goes_on_in_the_same_message() -> None:
    before = reply_to(MEMBER)
    say(before, "Hel")
    lines = before.lines()
    place = Place(address=ADDRESS, capabilities=CAPABILITIES, user="42", ticket=MEMBER)
    reply = Reply(place=place, run_id="r1", lines=list(lines.values()))
    say(reply, "Hello.")
    end(reply)
    assert rest_of(reply) == ["edit @1 Hello."]


def test_a_guest_says_in_the_last_message_that_the_rest_is_left_out() -> None:
    reply = reply_to(GUEST)
    say(reply, "word " * 200)
    end(reply)
    shown = rest_of(reply)
    assert [each.partition(" ")[0] for each in shown] == ["edit", "post", "post"]
    assert shown[-1].endswith(LEFT_OUT)
    assert shown[-1].startswith("post word ")
    assert reply.done


def test_what_a_guest_has_room_for_says_nothing_of_the_kind() -> None:
    reply = reply_to(GUEST)
    say(reply, "word " * 55)
    end(reply)
    shown = rest_of(reply)
    assert [each.partition(" ")[0] for each in shown] == ["edit", "post", "post"]
    assert LEFT_OUT not in "".join(shown)


def test_a_guest_whose_time_is_up_shows_what_there_is_and_says_so_and_the_run_goes_on() -> None:
    reply = reply_to(GUEST)
    say(reply, "Hello. ")
    reply.expire()
    assert rest_of(reply) == ["edit @1 Hello.", f"post {LEFT_OUT}"]
    assert reply.done
    say(reply, "More.")
    end(reply)
    assert rest_of(reply) == []
    assert reply.done
    assert reply.failure is None


def test_a_guest_whose_time_is_up_before_the_first_word_says_so_there() -> None:
    reply = reply_to(GUEST)
    reply.expire()
    assert rest_of(reply) == [f"edit @1 {LEFT_OUT}"]


def test_a_guest_shows_the_second_try_in_the_room_of_the_first() -> None:
    reply = reply_to(GUEST)
    reply.feed(TurnStart(turn_number=1))
    say(reply, "word " * 55)
    rest_of(reply)
    reply.feed(MessageDiscarded(reason="overloaded"))
    say(reply, "other " * 40)
    end(reply)
    rest_of(reply)
    assert " ".join(bubble.text for bubble in reply.bubbles).split() == ["other"] * 40
    assert len(reply.bubbles) == 3


@pytest.mark.parametrize("lost", range(1, 8))
@pytest.mark.parametrize("words", [10, 35, 55, 200])
def test_a_guest_never_has_more_messages_than_there_is_room_for_whatever_is_unheard(lost: int, words: int) -> None:
    """Every message that may be there counts; where the answer is cut for that, the last of it says so."""
    reply = reply_to(GUEST)
    say(reply, "word " * words)
    end(reply)
    posts = 1  # the one that waited for the first words
    shown: dict[str, str] = {}
    while reply.need() is not None and (operation := reply.next_operation()) is not None:
        if isinstance(operation, PostMessage):
            posts += 1
            if posts - 1 <= lost and posts < 4:
                reply.settle(Unknown(reason="no answer"))
                continue
        name = getattr(operation, "message_id", f"m{posts}")
        shown[name] = getattr(operation, "text", "")
        reply.settle(Performed(message_id=name))
    assert posts <= 3
    said = " ".join(shown.values())
    assert said.count("word") == words or said.endswith(LEFT_OUT) or posts - 1 <= lost
    assert reply.done
    assert reply.failure is None


def test_a_guest_whose_ticket_is_void_ends_and_does_not_try_for_ever() -> None:
    reply = reply_to(GUEST)
    say(reply, "Hello.")
    end(reply)
    assert rest_of(reply, Expired(), EditRefused(reason="void"), Expired()) == [
        "edit @1 Hello.",
        "delete @1",
        "post Hello.",
    ]
    assert reply.done
    assert reply.failure is not None
