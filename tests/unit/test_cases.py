"""Every recorded case of these files is the name of a test, or waits for something that does not exist yet.

A case that names one platform is played there, or in the centre, which is the same for all. One that names several is
played through on each of them, with its SDK.
"""

import ast
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.cases import load, waiting

TESTS = Path(__file__).parents[1]
FILES = ("access", "approval", "attachments", "ordering", "platform", "render", "session")
NAME = re.compile(r"test_([a-z]\d\d)_")


PLATFORMS = ("slack", "discord", "telegram")
CENTRE = "unit/gateway/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Play:
    """A test that is named by a case; ``told`` is where it stands, its name and its parameters."""

    case: str
    told: str

    def on(self, platform: str) -> bool:
        """Whether it says that it is of that platform."""
        return platform in self.told


@cache
def plays() -> frozenset[Play]:
    """The tests that are named by cases."""
    found: set[Play] = set()
    for path in TESTS.rglob("test_*.py"):
        source = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(source):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (named := NAME.match(node.name)):
                where, parameters = path.relative_to(TESTS).as_posix(), map(ast.unparse, node.decorator_list)
                found.add(Play(case=named[1].upper(), told=" ".join([where, node.name, *parameters])))
    return frozenset(found)


def played() -> set[str]:
    """The ids that tests are named by."""
    return {each.case for each in plays()}


def named(case: dict[str, Any]) -> list[str]:
    """The platforms that a case names."""
    told = str(case["input"].get("platform"))
    return [platform for platform in PLATFORMS if platform in told]


def is_played_on(platform: str, case: dict[str, Any]) -> bool:
    tests = [each for each in plays() if each.case == case["id"]]
    if len(named(case)) == 1:
        return any(each.on(platform) or each.told.startswith(CENTRE) for each in tests)
    return any(each.on(platform) and each.told.startswith("e2e/") for each in tests)


def recorded() -> set[str]:
    return {case["id"] for name in FILES for case in load(name)}


def test_every_case_is_tested_or_waits() -> None:
    assert recorded() - played() - waiting().keys() == set()


@pytest.mark.parametrize("platform", PLATFORMS)
def test_every_case_is_played_on_the_platforms_that_it_names(platform: str) -> None:
    cases = [case for name in FILES for case in load(name) if platform in named(case) and case["id"] not in waiting()]
    assert {case["id"] for case in cases}
    assert [case["id"] for case in cases if not is_played_on(platform, case)] == []


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
