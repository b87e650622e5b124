"""What a README shows is run.

A ``python`` block is run as a program of its own, or as a doctest where it has prompts. In a ``sh`` block each line is
a command: ``dragoman`` is run, ``make`` must have the target, what fetches and enters a checkout is taken on trust. A
block that says ``sh account`` needs an account or a key: of it only the existence of the subcommand is tested. ``toml``
and ``json`` must parse, ``text`` is for people. No other kind of block is allowed, so that none goes untested.
"""

import json
import os
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import pytest
from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[2]
FOLDERS = ("adapters", "chunker", "config", "gateway", "tests")
PAPERS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("README.md")),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A fenced code block, and where it stands."""

    place: str
    info: str
    text: str


def blocks_of(path: Path) -> list[Block]:
    return [
        Block(place=f"{path.relative_to(ROOT)}:{token.map[0] + 1}", info=token.info.strip(), text=token.content)
        for token in MarkdownIt().parse(path.read_text())
        if token.type == "fence" and token.map
    ]


def links_of(path: Path) -> list[str]:
    """Where the page's links and pictures point, those to other hosts left out."""
    spans = [span for token in MarkdownIt().parse(path.read_text()) for span in token.children or []]
    targets = [
        str(span.attrs.get("href") or span.attrs.get("src")) for span in spans if {"href", "src"} & span.attrs.keys()
    ]
    return [target.partition("#")[0] for target in targets if "://" not in target and not target.startswith("#")]


def run(command: list[str], folder: Path) -> None:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | {"PATH": path},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, f"{shlex.join(command)}\n{done.stdout}{done.stderr}"


def run_python(text: str, folder: Path) -> None:
    program = folder / "example.txt"
    program.write_text(text)
    doctest = ["-m", "doctest"] if ">>> " in text else []
    run([sys.executable, "-W", "error", *doctest, str(program)], folder)


def commands(text: str) -> list[list[str]]:
    lines = text.replace("\\\n", " ").splitlines()
    return [words for words in (shlex.split(line, comments=True) for line in lines) if words]


def run_shell(text: str, folder: Path) -> None:
    for words in commands(text):
        match words:
            case ["dragoman", *_]:
                run(words, folder)
            case _:
                assert_exists(words, folder)


def look_at_shell(text: str, folder: Path) -> None:
    for words in commands(text):
        assert_exists(words, folder)


def assert_exists(words: list[str], folder: Path) -> None:
    match words:
        case ["dragoman", subcommand, *_]:
            run(["dragoman", subcommand, "--help"], folder)
        case ["make", *targets]:
            run(["make", "-C", str(ROOT), "--dry-run", *targets], folder)
        case ["git", "clone", *_] | ["cd", _] | ["export", *_]:
            pass
        case _:
            pytest.fail(f"no way to test {shlex.join(words)}")


def parse_toml(text: str, folder: Path) -> None:
    tomllib.loads(text)


def parse_json(text: str, folder: Path) -> None:
    for line in text.splitlines() if text.count("\n{") else [text]:
        json.loads(line)


def leave(text: str, folder: Path) -> None:
    pass


KINDS: Mapping[str, Callable[[str, Path], None]] = MappingProxyType(
    {
        "python": run_python,
        "sh": run_shell,
        "sh account": look_at_shell,
        "toml": parse_toml,
        "json": parse_json,
        "text": leave,
    }
)


@pytest.mark.parametrize("path", PAPERS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_block_is_of_a_kind_that_is_tested(path: Path) -> None:
    assert [f"{block.place}: {block.info!r}" for block in blocks_of(path) if block.info not in KINDS] == []


@pytest.mark.parametrize(
    "block", [block for path in PAPERS for block in blocks_of(path)], ids=lambda block: block.place
)
def test_what_a_block_shows_works(block: Block, tmp_path: Path) -> None:
    KINDS.get(block.info, leave)(block.text, tmp_path)


@pytest.mark.parametrize("path", PAPERS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_link_leads_to_a_file(path: Path) -> None:
    assert [target for target in links_of(path) if not (path.parent / target).exists()] == []


def test_the_readme_shows_how_to_start() -> None:
    shown = [words for block in blocks_of(ROOT / "README.md") if block.info == "sh" for words in commands(block.text)]
    assert ["make", "demo"] in shown
    assert ["make", "test"] in shown
