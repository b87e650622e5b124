"""Every recorded case of these files is the name of a test, or waits for something that does not exist yet."""

import ast
import re
from functools import cache
from pathlib import Path

from tests.cases import load, waiting

TESTS = Path(__file__).parents[1]
FILES = ("access", "attachments", "ordering", "platform", "render", "session")
NAME = re.compile(r"test_([a-z]\d\d)_")


@cache
def played() -> set[str]:
    """The ids that tests are named by."""
    names = [
        node.name
        for path in TESTS.rglob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return {found[1].upper() for name in names if (found := NAME.match(name))}


def recorded() -> set[str]:
    return {case["id"] for name in FILES for case in load(name)}


def test_every_case_is_tested_or_waits() -> None:
    assert recorded() - played() - waiting().keys() == set()


def test_no_case_is_tested_and_waits() -> None:
    assert played() & waiting().keys() == set()


def test_only_cases_that_are_recorded_wait() -> None:
    assert waiting().keys() - recorded() == set()


def test_no_test_is_named_by_a_case_that_is_not_recorded() -> None:
    assert played() - recorded() - {case["id"] for case in load("ops")} == set()


def test_no_id_is_recorded_twice() -> None:
    names = [path.stem for path in (TESTS / "cases").glob("*.jsonl")]
    ids = [case["id"] for name in names for case in load(name)]
    assert sorted(ids) == sorted(set(ids))
