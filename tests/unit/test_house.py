"""The rules of the repository, each one a test."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
SOURCE = ("adapters", "chunker", "gateway")

# Hosts of package registries, and folders of somebody's machine; in pieces, so that they do not stand here themselves.
HOSTS = [("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org"), ("npmjs", "com"), ("debian", "org")]
FOLDERS = ["work/", "root/", "home/[a-z]", "Users/[A-Za-z]", "opt/[a-z]"]
FORBIDDEN = re.compile(
    "|".join([*(rf"\b{name}\.{top}\b" for name, top in HOSTS), *(rf"(?<![\w.])/{folder}" for folder in FOLDERS)])
)

# "path::function" or "path" of what is longer than allowed, with the reason.
LONG: dict[str, str] = {}


def repository_files() -> list[Path]:
    """Every file that is, or would be, committed; without git, every file outside .venv."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        return [path for path in ROOT.rglob("*") if path.is_file() and path.relative_to(ROOT).parts[0] != ".venv"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [ROOT / name for name in listed.split("\0") if (ROOT / name).is_file()]


def modules() -> list[Path]:
    return sorted(chain.from_iterable((ROOT / folder).rglob("*.py") for folder in SOURCE))


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def lines_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines from ``def`` to the end; those of the docstring are not counted, for rules are welcome there."""
    total = (function.end_lineno or 0) - function.lineno + 1
    if ast.get_docstring(function) is not None:
        docstring = function.body[0]
        total -= (docstring.end_lineno or 0) - docstring.lineno + 1
    return total


def locked() -> dict[str, str]:
    """Each entry of requirements.lock: its name, and the rest of it."""
    text = (ROOT / "requirements.lock").read_text()
    entries = re.sub(r"\\\n", " ", re.sub(r"(?m)^#.*\n", "", text)).splitlines()
    return {
        canonicalize_name(name): rest for name, _, rest in (entry.partition("==") for entry in entries if entry.strip())
    }


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def contracts() -> dict[tuple[str, str], dict[str, Any]]:
    """The contracts of the import rule, by type and by the first module that each one is about."""
    listed: list[dict[str, Any]] = project()["tool"]["importlinter"]["contracts"]
    subjects = ("containers", "source_modules", "layers", "ancestors", "protected_modules", "modules")
    return {(each["type"], next(each[subject][0] for subject in subjects if subject in each)): each for each in listed}


def in_gateway(layer: str) -> set[str]:
    return {f"gateway.{name.strip()}" for name in layer.split(":")}


def test_no_file_names_a_registry_or_a_folder_of_somebodys_machine() -> None:
    found = [
        f"{name_of(path)}:{number}: {hit.group()}"
        for path in repository_files()
        for number, line in enumerate(path.read_bytes().decode(errors="replace").splitlines(), 1)
        if (hit := FORBIDDEN.search(line))
    ]
    assert found == []


def test_no_module_is_over_500_lines_and_no_function_over_40() -> None:
    long: set[str] = set()
    for path in modules():
        text = path.read_text()
        if len(text.splitlines()) > 500:
            long.add(name_of(path))
        long.update(f"{name_of(path)}::{each.name}" for each in functions(ast.parse(text)) if lines_of(each) > 40)
    assert long == LONG.keys()


def test_no_module_is_named_for_a_drawer() -> None:
    drawers = {"utils", "util", "helpers", "helper", "common", "base", "core", "manager", "misc"}
    assert [name_of(path) for path in modules() if {path.stem, path.parent.name} & drawers] == []


def test_every_folder_of_source_has_a_readme() -> None:
    folders = {path.parent for path in modules()} | {ROOT, ROOT / "config", ROOT / "tests"}
    assert sorted(name_of(folder) for folder in folders if not (folder / "README.md").is_file()) == []


def test_every_folder_of_tests_is_a_package() -> None:
    # One without __init__.py would stand in front of the source folder of the same name.
    folders = {path.parent for path in (ROOT / "tests").rglob("*.py")}
    assert sorted(name_of(folder) for folder in folders if not (folder / "__init__.py").is_file()) == []


def test_every_package_at_the_top_is_under_the_import_rule() -> None:
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests"}
    assert packages == set(SOURCE) == set(project()["tool"]["importlinter"]["root_packages"])


def test_the_import_rule_names_only_modules_that_exist() -> None:
    layers = chain.from_iterable(contract.get("layers", []) for contract in contracts().values())
    assert [layer for layer in layers if "(" in layer] == []


def test_every_machine_is_held_to_purity_and_every_runner_to_anyio() -> None:
    *_, runners, machines, _ = contracts()["layers", "gateway"]["layers"]
    assert set(contracts()["forbidden", "chunker"]["source_modules"]) == {"chunker", *in_gateway(machines)}
    assert set(contracts()["forbidden", "gateway.stream"]["source_modules"]) == in_gateway(runners)


def test_every_entry_of_the_lock_is_pinned_and_hashed() -> None:
    for name, rest in locked().items():
        assert re.fullmatch(r"[\w.]+( ; [\w .<>=\"]+)?(\s+--hash=sha256:[0-9a-f]{64})+\s*", rest), name


def test_the_lock_has_no_address_in_it() -> None:
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    assert [line for line in lines if line.startswith("-") or "://" in line] == []


def test_the_lock_satisfies_every_requirement_of_the_project() -> None:
    data = project()
    required = [*data["build-system"]["requires"], *data["project"]["dependencies"], *data["dependency-groups"]["dev"]]
    lock = locked()
    for requirement in map(Requirement, required):
        pinned = lock[canonicalize_name(requirement.name)].split()[0]
        assert requirement.specifier.contains(pinned, prereleases=True), requirement


def test_the_environment_is_the_one_of_the_lock() -> None:
    meant = {name: rest.split()[0] for name, rest in locked().items() if _is_for_here(rest)}
    assert {name: version(name) for name in meant} == meant


def _is_for_here(rest: str) -> bool:
    """Whether an entry of the lock is for this Python."""
    marker = re.search(r" ; (.*?)\s+--hash", rest)
    return marker is None or Marker(marker[1]).evaluate()


def test_help_loads_nothing_heavy() -> None:
    command = [sys.executable, "-X", "importtime", str(Path(sys.executable).with_name("dragoman")), "--help"]
    run = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in run.stderr.splitlines()}
    assert "gateway" in loaded
    heavy = ("aiohttp", "anthropic", "asyncio", "discord", "httpx", "pydantic", "slack_bolt", "slack_sdk", "telegram")
    assert not loaded & {*heavy}


def test_pre_commit_runs_the_check_of_this_environment_and_fetches_nothing() -> None:
    lines = [line.strip() for line in (ROOT / ".pre-commit-config.yaml").read_text().splitlines()]
    assert [line for line in lines if "repo:" in line] == ["- repo: local"]
    assert [line for line in lines if line.startswith("entry:")] == ["entry: make check"]
    assert [line for line in lines if line.startswith("language:")] == ["language: system"]


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git here")
def test_make_hooks_lets_git_check_before_a_commit_and_spares_a_hook_that_is_there(tmp_path: Path) -> None:
    outside = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, cwd=tmp_path, env=outside, check=False, capture_output=True, text=True)

    run("git", "init", "--quiet")
    hook = tmp_path / ".git" / "hooks" / "pre-commit"
    for _ in range(2):
        assert run("make", "-f", str(ROOT / "Makefile"), "hooks").returncode == 0
        assert hook.read_text().splitlines()[-1] == "exec make check"
        assert os.access(hook, os.X_OK)
    hook.write_text("#!/bin/sh\nexec somebodys tool\n")
    refused = run("make", "-f", str(ROOT / "Makefile"), "hooks")
    assert refused.returncode != 0
    assert "There is a hook already" in refused.stderr
    assert "somebodys tool" in hook.read_text()


def test_every_exception_from_a_rule_is_explained_where_it_stands() -> None:
    exception = re.compile(r"#\s*(?:noqa: [A-Z0-9, ]+|pyright: ignore\[\w+(?:, \w+)*\])(?P<reason>.*)$")
    bare = [
        f"{name_of(path)}:{number}"
        for path in repository_files()
        if path.suffix == ".py"
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if (found := exception.search(line)) and not re.search(r"[a-z]{3}", found["reason"])
    ]
    assert bare == []
