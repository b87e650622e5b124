"""Notes of a conversation."""

from typing import Any

import pytest

from gateway.tools.notes import LONGEST, MOST, NoteError, Notes, create
from tests.unit.gateway.tools.conversation import ANN, Texts, context

NOTES = Notes()


async def told(memory: Texts, action: str, **more: Any) -> str:
    given = {"action": action, **more}
    assert NOTES.problem(given) is None
    return await NOTES.call(given, context(memory))


async def test_what_is_kept_is_listed_read_replaced_and_deleted() -> None:
    memory = Texts({"others": "of another tool"})
    assert await told(memory, "list") == "There are no notes."
    assert await told(memory, "keep", name="tides", text="Low at six.") == "The note 'tides' is kept."
    await told(memory, "keep", name="boats", text="Two\nof " + "them " * 30)
    assert await told(memory, "read", name="tides") == "Low at six."
    assert (await told(memory, "list")).splitlines() == [
        "boats: Two of " + "them " * 14 + "the…",
        "tides: Low at six.",
    ]
    assert "in the place of" in await told(memory, "keep", name=" tides\n", text="Low at seven.")
    assert await told(memory, "read", name="tides") == "Low at seven."
    assert await told(memory, "delete", name="tides") == "The note 'tides' is deleted."
    assert memory.kept.keys() == {"others", "note:boats"}


@pytest.mark.parametrize("action", ["read", "delete"])
async def test_a_note_that_is_not_there_is_missed_with_those_that_are(action: str) -> None:
    memory = Texts({"others": "of another tool", "note:tides": "Low."})
    with pytest.raises(NoteError, match=r"no note 'others'\. There are: 'tides'\."):
        await told(memory, action, name="others")
    assert len(memory.kept) == 2


async def test_one_note_too_many_is_refused_but_one_may_still_be_replaced() -> None:
    memory = Texts()
    for number in range(MOST):
        await told(memory, "keep", name=f"n{number}", text="x")
    with pytest.raises(NoteError, match="delete one"):
        await told(memory, "keep", name="another", text="x")
    await told(memory, "keep", name="n0", text="y")
    assert (len(memory.kept), memory.kept["note:n0"]) == (MOST, "y")


async def test_what_no_database_takes_is_replaced() -> None:
    memory = Texts()
    await told(memory, "keep", name="a\0b", text="c\0d")
    assert memory.kept == {"note:a\ufffdb": "c\ufffdd"}


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({}, "action: "),
        ({"action": "burn"}, "action: .*'keep'"),
        ({"action": "read"}, "name: needed to read a note"),
        ({"action": "delete", "name": " \n"}, "name: needed"),
        ({"action": "keep", "name": "a"}, "text: needed to keep"),
        ({"action": "keep", "name": "a", "text": "  "}, "text: needed to keep"),
        ({"action": "keep", "name": "a", "text": "x" * (LONGEST + 1)}, f"text: .*{LONGEST}"),
        ({"action": "keep", "name": "n" * 65, "text": "x"}, "name: .*64"),
        ({"action": "list", "all": True}, "all: "),
    ],
)
def test_an_input_that_cannot_be_meant_is_refused_with_its_key(given: dict[str, Any], why: str) -> None:
    with pytest.raises(AssertionError, match=why):
        raise AssertionError(NOTES.problem(given))


@pytest.mark.parametrize(
    ("action", "safe"),
    [("list", True), ("read", True), ("keep", False), ("delete", False), ("burn", False), (None, False)],
)
def test_to_look_is_safe_and_to_change_is_not(action: object, safe: bool) -> None:
    assert NOTES.concurrency_safe({"action": action}) is safe
    assert not NOTES.needs_approval(ANN, {"action": action})
    assert NOTES.permits(ANN, {"action": action})


def test_it_is_one_tool() -> None:
    assert [tool.name for tool in create()] == ["notes"]
