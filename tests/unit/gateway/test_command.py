from typing import get_args

import pytest

from gateway.approval import identifier
from gateway.command import HELP, NEW, NO_TOOL, NOTHING_TO_STOP, SLASH_HELP, Status, duration, parse, text
from gateway.inbound import Command
from gateway.store import Approval, Grant

IDLE = Status(model="m-1", running=None, open=0, held=0.0)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "1 second"),
        (0.4, "1 second"),
        (1, "1 second"),
        (1.9, "1 second"),
        (2, "2 seconds"),
        (59.9, "59 seconds"),
        (60, "1 minute"),
        (119.9, "1 minute"),
        (120, "2 minutes"),
        (3599.9, "59 minutes"),
        (3600, "1 hour"),
        (7200, "2 hours"),
        (200 * 3600, "200 hours"),
    ],
)
def test_a_duration_is_said_in_its_largest_unit_rounded_down(seconds: float, words: str) -> None:
    assert duration(seconds) == words


@pytest.mark.parametrize("behind", [False, True])
def test_help_and_new_are_answered_alike_whatever_goes_on(behind: bool) -> None:
    assert text("help", IDLE, behind=behind) == HELP
    assert text("new", IDLE, behind=behind) == NEW


def test_every_command_is_in_the_help() -> None:
    assert all(f"**{word}**" in HELP for word in get_args(Command))
    assert all(f"**/{word}**" in SLASH_HELP for word in get_args(Command))


def test_help_names_commands_as_they_are_given_there() -> None:
    assert text("help", IDLE, behind=False, slash=True) == SLASH_HELP


def test_a_stop_speaks_for_itself_unless_there_was_nothing_to_stop() -> None:
    assert text("stop", IDLE, behind=True) == ""
    assert text("stop", IDLE, behind=False) == NOTHING_TO_STOP


def test_what_we_say_stands_in_parentheses() -> None:
    said = [text(word, IDLE, behind=False) for word in get_args(Command) if word not in {"approve", "deny"}]
    assert all(words.startswith("(") and words.endswith(")") for words in said)


IDLE_SAID = "I am not answering anything here."


def working(words: str) -> str:
    return f"I have been working on an answer for {words}."


@pytest.mark.parametrize(
    ("running", "messages", "held", "sentences"),
    [
        (None, 0, 0.0, [IDLE_SAID]),
        (None, 1, 0.0, [IDLE_SAID, "1 message waits in line."]),
        (None, 0, 59.9, [IDLE_SAID]),
        (0.0, 1, 0.0, [working("1 second")]),
        (61.0, 1, 0.0, [working("1 minute")]),
        (2.0, 2, 0.0, [working("2 seconds"), "1 message waits in line."]),
        (2.0, 4, 0.0, [working("2 seconds"), "3 messages wait in line."]),
        (3.0, 1, 60.0, [working("3 seconds"), "The chat lets nothing more through for 1 minute."]),
        (5.0, 0, 0.0, [working("5 seconds")]),  # its message is closed already, in a moment its place is free
    ],
    ids=str,
)
def test_status_says_what_runs_what_waits_and_what_is_held_up(
    running: float | None, messages: int, held: float, sentences: list[str]
) -> None:
    status = Status(model="m-1", running=running, open=messages, held=held)
    assert text("status", status, behind=False) == f"({' '.join(sentences)} Model: m-1.)"


ID = "abcd2345"


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("stop", ("stop", "")),
        (" New\n", ("new", "")),
        ("Stop.", ("stop", "")),
        ("HELP!", ("help", "")),
        ("status", ("status", "")),
        ("approvals", ("approvals", "")),
        ("approve", ("approve", "")),
        ("Approve", ("approve", "")),
        ("deny", ("deny", "")),
        (f"approve {ID}", ("approve", ID)),
        (f"APPROVE  {ID.upper()}", ("approve", ID)),
        (f"deny {ID}", ("deny", ID)),
        ("approve always", ("approve", "always")),
        (f"approve always {ID}", ("approve", f"always {ID}")),
        (f"approve {ID} Always", ("approve", f"{ID} always")),
        ("revoke read_url", ("revoke", "read_url")),
        ("Revoke Read-URL", ("revoke", "Read-URL")),
    ],
)
def test_the_very_words_are_a_command(words: str, meant: tuple[Command, str]) -> None:
    assert parse(words) == meant


@pytest.mark.parametrize(
    "words",
    [
        "",
        " ",
        "hello",
        "stop it",
        "new idea",
        "/stop",
        "!stop",
        "stop!!",
        "\u017ftop",
        "approve the plan please",
        "approve the plan",
        "approve it",
        "approve.",
        "approve!",
        "please approve",
        "approved",
        "yes",
        "always",
        "always approve",
        f"always approve {ID}",
        f"{ID} approve",
        f"approve {ID}.",
        f"approve {ID} please",
        f"approve {ID} {ID}",
        f"approve always always {ID}",
        "approve always always",
        "approve abcd1234",
        f"approve {ID}5",
        f"approve `{ID}`",
        "approve a\uff42cd2345",
        "approve \u212aaaaaaaa",
        "deny always",
        f"deny always {ID}",
        "deny the request",
        "revoke",
        "revoke a b",
        "revoke `clock`",
        f"revoke {'x' * 65}",
    ],
)
def test_anything_else_is_an_ordinary_message(words: str) -> None:
    assert parse(words) is None


def test_whatever_an_approval_is_called_can_be_typed() -> None:
    for number in range(1000):
        name = identifier("r1", str(number))
        assert parse(f"approve {name}") == ("approve", name)


ASKED = Approval(id=ID, conversation="c", tool_use_id="t", tool_name="write_file", asker="U1")
PARKED = Status(model="m-1", running=None, open=2, held=0.0, asked=(ASKED,))
WAITS = f"`write_file` waits for approval: `approve {ID}` or `deny {ID}`."


def test_a_decision_speaks_for_itself() -> None:
    assert text("approve", PARKED, behind=True) == text("deny", PARKED, behind=True) == ""


def test_approvals_says_what_waits_and_what_is_allowed_and_how_to_change_that() -> None:
    assert text("approvals", IDLE, behind=False) == (
        "(Nothing waits for approval here. Nothing is allowed here for good.)"
    )
    allowed = tuple(Grant(conversation="c", tool_name=name, by="U2") for name in ("clock", "notes"))
    status = Status(model="m-1", running=None, open=1, held=0.0, asked=(ASKED,), allowed=allowed)
    how = "Allowed here for good: `clock`, `notes`; `revoke` with a name allows it no more."
    assert text("approvals", status, behind=True) == f"({WAITS} {how})"
    slashed = text("approvals", status, behind=True, slash=True)
    assert f"`/approve {ID}`" in slashed
    assert "`/revoke`" in slashed


def test_revoke_says_whether_something_was() -> None:
    assert text("revoke", IDLE, behind=False, argument=" clock ", revoked=True) == (
        "(`clock` is not allowed here for good any more.)"
    )
    assert text("revoke", IDLE, behind=False, argument="clock") == "(`clock` is not allowed here for good.)"


@pytest.mark.parametrize("argument", ["", " ", "`x` @everyone", "a b", "x" * 65])
def test_what_cannot_be_a_tool_is_not_repeated(argument: str) -> None:
    assert text("revoke", IDLE, behind=False, argument=argument) == NO_TOOL


def test_status_says_what_waits_for_approval_and_counts_only_what_is_behind_it() -> None:
    assert text("status", PARKED, behind=True) == f"({WAITS} 1 message waits in line. Model: m-1.)"
