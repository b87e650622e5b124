"""Ties tests to the requirements that they prove, and checks it both ways."""

import inspect
import sys
import tomllib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

Test = TypeVar("Test", bound=Callable[..., Awaitable[None]])

FOLDER = Path(__file__).parent / "requirements"


def proves(requirement: str) -> Callable[[Test], Test]:
    """Mark a test."""

    def mark(test: Test) -> Test:
        vars(test)["requirement"] = requirement
        return test

    return mark


def assert_complete(module: str, manifest: str) -> None:
    """Every requirement of a manifest has a test in a module, and every test there a requirement."""
    requirements = tomllib.loads((FOLDER / manifest).read_text(encoding="utf-8"))
    tests = dict(inspect.getmembers(sys.modules[module], inspect.iscoroutinefunction))
    named = {name: vars(test).get("requirement") for name, test in tests.items() if name.startswith("test_")}
    assert set(named.values()) == set(requirements)
    assert all(set(requirement) == {"sentence", "source"} for requirement in requirements.values())
