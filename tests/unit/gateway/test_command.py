from typing import get_args

import pytest

from gateway.command import HELP, NEW, NOTHING_TO_STOP, SLASH_HELP, Status, duration, parse, text
from gateway.inbound import Command

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
    said = [text(word, IDLE, behind=False) for word in get_args(Command)]
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


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("new", ("new", "")),
        ("STOP", ("stop", "")),
        (" approvals ", ("approvals", "")),
        ("approve", ("approve", "")),
        ("Approve ABCDEFG2", ("approve", "abcdefg2")),
        ("approve always", ("approve", "always")),
        ("approve abcdefg2 Always", ("approve", "abcdefg2 always")),
        ("approve always abcdefg2", ("approve", "always abcdefg2")),
        ("deny abcdefg2", ("deny", "abcdefg2")),
        ("revoke Read-url_2", ("revoke", "Read-url_2")),
    ],
)
def test_what_is_typed_as_a_command_is_one(words: str, expected: tuple[str, str]) -> None:
    assert parse(words) == expected


@pytest.mark.parametrize(
    "words",
    [
        "",
        "stop it",
        "approve the plan please",
        "approve abcdefg1",
        "approve abcdefg2 abcdefg3",
        "approve always always",
        "deny always",
        "deny abcdefg2 always",
        "denyabcdefg2",
        "revoke",
        "revoke a b",
        "revoke a.b",
        f"revoke {'x' * 65}",
        "please approve",
    ],
)
def test_anything_else_is_none(words: str) -> None:
    assert parse(words) is None
