"""Plays with tools on every platform: the real command, a platform that enforces its rules, people who press."""

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from gateway import grammar
from gateway.event import Envelope, from_json
from tests.e2e.command import dragoman, play

PLAYS = Path(__file__).parent / "plays"
PLATFORMS = ("slack", "discord", "telegram")

WHISPERS = {
    "slack": "chat.postEphemeral",
    "discord": "POST /webhooks/{application}/{token}",
    "telegram": "answerCallbackQuery",
}
"""The call by which somebody is told something alone. Telegram's also ends the wait of who is told nothing."""

SPOKEN = (
    "I look at the tide first, then I note it down, and in the end I deploy what you asked me for. This takes a moment."
)


def played(platform: str, script: str, folder: Path) -> Any:
    return play(folder, "--on", platform, "--script", PLAYS / f"{script}.toml", "--time-scale", "60")


def envelopes(report: dict[str, Any]) -> list[Envelope]:
    """The events of the one run, in the order in which they were told."""
    found = [from_json(json.dumps(each)) for each in report["events"]]
    assert [each.seq for each in found] == list(range(len(found)))
    assert all(before.timestamp <= behind.timestamp for before, behind in pairwise(found))
    grammar.check_run(each.event for each in found)
    return found


def the(events: Sequence[Envelope], kind: str, call: str = "") -> Envelope:
    """The one event of a kind: of a call, where one is named."""
    (found,) = (each for each in events if each.event.type == kind and call == getattr(each.event, "tool_use_id", ""))
    return found


def of(events: Sequence[Envelope], kind: str) -> list[Any]:
    return [each.event for each in events if each.event.type == kind]


def texts(report: dict[str, Any]) -> list[str]:
    return [message["text"] for message in report["messages"] if message["author"] == "bot"]


def assert_words_once_and_in_order(report: dict[str, Any], *answers: str) -> None:
    """What the model said stands there whole; chunks may be cut where a call came."""
    shown = [text for text in texts(report) if not text.startswith(("_Used", "Used", "I asked to run"))]
    assert "".join("".join(shown).split()) == "".join("".join(answers).split())
    assert [call for call in report["calls"] if call["status"] == 429 or call["retry_after"] is not None] == []


def assert_approval_was_played(report: dict[str, Any]) -> None:
    events = envelopes(report)
    look, note, deploy = "call-1-1", "call-1-2", "call-1-3"
    (end, _) = (each for each in events if each.event.type == "message_end")

    read = the(events, "tool_start", look)
    assert read.seq < end.seq
    assert read.timestamp < end.timestamp

    write = the(events, "tool_start", note)
    assert write.seq > the(events, "tool_use_confirmed", note).seq
    assert (write.timestamp - read.timestamp).total_seconds() >= 0.1

    asked, decided = the(events, "approval_requested", deploy), the(events, "approval_resolved", deploy)
    run = the(events, "tool_start", deploy)
    assert end.seq < asked.seq < decided.seq < run.seq
    assert (decided.event.decision, run.event.input) == ("approved", {"to": "the pier"})  # type: ignore[union-attr]

    results = [(each.tool_use_id, each.content, each.is_error) for each in of(events, "tool_result")]
    assert results == [
        (look, "Low water at six.", False),
        (note, "Noted.", False),
        (deploy, "Deployed.", False),
    ]
    assert len(of(events, "tool_start")) == 3
    assert (report["end"], events[-1].event.reason) == ("complete", "complete")  # type: ignore[union-attr]

    assert_words_once_and_in_order(report, SPOKEN, "All is done: low water is at six, and it is deployed.")
    (question,) = (text for text in texts(report) if text.startswith("I asked to run"))
    assert '"to": "the pier"' in question
    assert "Approved by" in question
    assert "/approve" not in question
    told = [call for call in report["calls"] if call["method"] == WHISPERS[report["platform"]]]
    assert len(told) == (3 if report["platform"] == "telegram" else 2)
    assert all((call["status"], call["error"]) == (200, None) for call in told)


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_read_starts_early_a_write_waits_and_what_asks_runs_once_when_the_asker_allows_it(
    platform: str, tmp_path: Path
) -> None:
    assert_approval_was_played(played(platform, "approval", tmp_path))


def test_on_all_platforms_at_once_each_asks_its_own_people(tmp_path: Path) -> None:
    reports = played("all", "approval", tmp_path)
    assert [each["platform"] for each in reports] == [*PLATFORMS]
    for report in reports:
        assert_approval_was_played(report)
    names = [the(envelopes(report), "approval_requested", "call-1-3").event for report in reports]
    assert len({each.approval_id for each in names if each.type == "approval_requested"}) == len(PLATFORMS)


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_failure_of_what_cascades_ends_the_later_one_of_the_kind_and_no_other(platform: str, tmp_path: Path) -> None:
    report = played(platform, "cascade", tmp_path)
    events = envelopes(report)
    assert {each.tool_use_id for each in of(events, "tool_start")} == {"call-1-1", "call-1-3"}
    shell, build, look = of(events, "tool_result")
    assert (shell.tool_use_id, shell.is_error, shell.error_type) == ("call-1-1", True, "failed")
    assert (build.tool_use_id, build.is_error, build.error_type) == ("call-1-2", True, "cancelled")
    assert "an earlier call" in build.content
    assert "failed" in build.content
    assert (look.tool_use_id, look.content, look.is_error) == ("call-1-3", "A cat.", False)
    assert report["end"] == "complete"
    assert_words_once_and_in_order(report, "I run both, and look.", "The first one failed, so the second was not run.")


@pytest.mark.parametrize("platform", PLATFORMS)
def test_of_a_message_that_is_cut_in_a_call_nothing_runs_and_the_model_is_told(platform: str, tmp_path: Path) -> None:
    report = played(platform, "cut", tmp_path)
    events = envelopes(report)
    assert of(events, "tool_start") == []
    (told,) = of(events, "tool_result")
    assert (told.is_error, told.error_type) == (True, "cut")
    assert "cut" in told.content
    assert [each.stop_reason for each in of(events, "message_end")] == ["max_tokens", "end"]
    assert report["end"] == "complete"
    assert_words_once_and_in_order(report, "I deploy.", "My call was cut, so nothing was deployed.")


ASKS = """
[[tool]]
name = "deploy"
approval = true

[[turn]]
text = "I deploy."
calls = [{ name = "deploy" }]

[[turn]]
text = "It is deployed."
"""


@pytest.mark.parametrize(
    ("users", "said"),
    [
        ("", "nobody in the script decides"),
        ('[[user]]\npress = "approve"\n[[user]]\npress = "deny"\n', "user 2 of the script: there is no button 'deny'"),
    ],
)
def test_a_script_in_which_somebody_would_wait_for_ever_ends_in_a_sentence(
    users: str, said: str, tmp_path: Path
) -> None:
    (tmp_path / "play.toml").write_text(ASKS + users, encoding="utf-8")
    done = dragoman("play", "--headless", "--script", tmp_path / "play.toml", cwd=tmp_path)
    assert (done.returncode, said in done.stderr) == (2, True)
