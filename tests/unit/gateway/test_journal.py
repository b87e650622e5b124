"""What is written down of a reply."""

from dataclasses import replace

import pytest

from gateway import journal
from gateway.journal import Line

LINE = Line(number=0, draft=0, state="sealed", kind="text", text="One.", source="One. ", end=5, breaks=(5,))


def test_a_line_is_read_as_it_was_written() -> None:
    for line in (LINE, replace(LINE, late=True), replace(LINE, kind="activity", board=("u1", "u2"), ordinary=True)):
        assert journal.from_json(journal.to_json(line)) == line


def test_what_is_no_line_is_refused() -> None:
    with pytest.raises(ValueError, match="state"):
        journal.from_json('{"number": 0, "draft": 0, "state": "lost", "kind": "text"}')


def test_nonces_are_short_and_differ_by_run_message_and_try() -> None:
    nonces = {journal.nonce(seed, number, tries) for seed in "ab" for number in range(3) for tries in range(3)}
    assert len(nonces) == 18
    assert all(len(nonce) == 24 for nonce in nonces)
    assert journal.nonce("a", 1, 2) == journal.nonce("a", 1, 2)


def test_what_is_fixed_of_each_draft_is_joined_in_order() -> None:
    lines = [
        replace(LINE, number=2, draft=1, state="due", source="Three. "),
        replace(LINE, number=1, state="sealing", source="Two. "),
        LINE,
        replace(LINE, number=3, draft=1, state="open", source=""),
        replace(LINE, number=4, draft=1, state="deleted", source=""),
    ]
    assert journal.drafts(lines) == {0: "One. Two. ", 1: "Three. "}
    assert journal.next_draft(lines) == 2


def test_a_part_that_was_left_out_was_said() -> None:
    assert journal.drafts([replace(LINE, kind="notice", text="(A part may be missing here.)")]) == {0: "One. "}


def test_a_draft_of_which_nothing_is_fixed_is_written_anew() -> None:
    assert journal.next_draft([]) == 0
    assert journal.next_draft([replace(LINE, draft=1, state="open", source="")]) == 1
