"""Every complaint about a configuration names the line that is to be mended, whatever else the document holds."""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from gateway.configuration import STRICT, Configuration, Document
from gateway.error import ConfigurationError
from gateway.secret import SecretName

PATH = Path("somewhere/dragoman.toml")
DEFAULTS = Document("[built_in]\nname = 'b'\n", Path("defaults.toml"))

filler_lines = st.lists(
    st.sampled_from(
        ["", "  ", "# note", "# [server]", "# size = 1", "#\u2028 one line", "#\x85", '# """', "# [[", "\t#é😀"]
    ),
    max_size=3,
)
values = st.sampled_from(
    [
        "1",
        '"text"',
        "'[server]'",
        "2026-11-30",
        "[1, 2]",
        "[\n]",
        "[\n  1,  # one\n\n  # size = 2\n  2,\n]",
        '"""\n[server]\nsize = 1\n"""',
        "'''\n# no comment\n\n[[x]]\n'''",
        '"""one line"""',
        '"\\u2028 \u2028 \x85"',
        "{ a = 1, b = { c = [\n 3,\n] } }",
        '[[\n"]"\n]]',
    ]
)


@dataclass
class Writer:
    """Writes a document and remembers on which line each thing begins."""

    lines: list[str] = field(default_factory=list[str])
    places: dict[tuple[str, ...], int] = field(default_factory=dict[tuple[str, ...], int])

    def write(self, text: str, *keys: tuple[str, ...]) -> None:
        for key in keys:
            self.places.setdefault(key, len(self.lines) + 1)
        self.lines += text.split("\n")


names = st.sampled_from(["alpha", "beta", "gamma", "delta", "size", '"a b"', "'#'", "1"])


def bare(name: str) -> str:
    return name.strip("\"'")


@st.composite
def documents(draw: st.DrawFn) -> Writer:
    """Dotted keys at the top, then tables, then their sub-tables; comments and empty lines between all of them."""
    writer = Writer()
    tables = draw(st.lists(names, max_size=4, unique=True))
    dotted = draw(st.integers(0, len(tables)))
    for table in tables[:dotted]:
        for key in draw(st.lists(names, min_size=1, max_size=3, unique=True)):
            writer.lines += draw(filler_lines)
            spaced = draw(st.sampled_from(["", " "]))
            writer.write(f"{table}{spaced}.{spaced}{key} = {draw(values)}", (bare(table),), (bare(table), bare(key)))
    for table in tables[dotted:]:
        writer.lines += draw(filler_lines)
        indent = draw(st.sampled_from(["", "  ", "\t"]))
        writer.write(f"{indent}[{table}]{draw(st.sampled_from(['', '  # [x]']))}", (bare(table),))
        for key in draw(st.lists(names, max_size=3, unique=True)):
            writer.lines += draw(filler_lines)
            writer.write(f"{indent}{key} = {draw(values)}", (bare(table), bare(key)))
        if draw(st.booleans()):
            writer.write(f"[{table}.below]", (bare(table), "below"))
            writer.write(f"deep = {draw(values)}", (bare(table), "below", "deep"))
    writer.lines += draw(filler_lines)
    return writer


@given(writer=documents(), end=st.sampled_from(["\n", "\r\n"]))
def test_every_key_is_found_on_its_line(writer: Writer, end: str) -> None:
    document = Document(end.join(writer.lines), PATH)
    for keys, line in writer.places.items():
        assert document.place(*keys) == f"{PATH}:{line}"


@given(writer=documents(), end=st.sampled_from(["\n", "\r\n"]))
def test_what_is_absent_is_missed_at_the_nearest_table_that_is_there(writer: Writer, end: str) -> None:
    document = Document(end.join(writer.lines), PATH)
    assert document.place("absent", "key") == str(PATH)
    for keys, line in writer.places.items():
        if len(keys) == 1:
            assert document.place(*keys, "absent", 3) == f"{PATH}:{line}"


@dataclass(frozen=True, kw_only=True)
class Server:
    """Settings with something of everything."""

    __pydantic_config__ = STRICT

    name: str
    size: Annotated[int, Field(ge=1)]
    token: SecretName
    colour: str = "red"
    channels: tuple[str, ...] = ()


RIGHT = {"name": '"n"', "size": "3", "token": '"env:TOKEN"', "colour": '"blue"', "channels": '["C1"]'}
REQUIRED = {"name", "size", "token"}
WRONG = {
    "name": "5",
    "size": '"many"',
    "token": '"hunter2"',
    "colour": '[\n  "red",\n]',
    "channels": '"""\nC1\n"""',
}
MISTYPED = {"nmae": "name", "sise": "size", "tokn": "token", "color": "colour", "chanels": "channels"}
SECRETS = ["'hunter2'", "['hunter2']", "{ value = 'hunter2' }", "'''\nenv:A\nhunter2'''", "' hunter2'", "'hunter2:env'"]


@dataclass(frozen=True, kw_only=True)
class Mistakes:
    """A table to write, and the keys that are wrong in it."""

    table: list[tuple[str, str]]
    wrong: set[str]
    missing: set[str]
    mistyped: set[str]


@st.composite
def mistakes(draw: st.DrawFn) -> Mistakes:
    missing = draw(st.sets(st.sampled_from(sorted(REQUIRED))))
    wrong = draw(st.sets(st.sampled_from(sorted(WRONG)))) - missing
    mistyped = draw(st.sets(st.sampled_from(sorted(MISTYPED))))
    table = [(key, WRONG[key] if key in wrong else RIGHT[key]) for key in RIGHT if key not in missing]
    table += [(key, "'hunter2'") for key in sorted(mistyped)]
    return Mistakes(table=draw(st.permutations(table)), wrong=wrong, missing=missing, mistyped=mistyped)


def written(made: Mistakes, fillers: Sequence[list[str]]) -> Writer:
    writer = Writer()
    writer.write("[other]\nserver = '''\n[server]\n'''\n")
    writer.write("[server]", ("server",))
    for (key, value), lines in zip(made.table, fillers, strict=False):
        writer.lines += lines
        writer.write(f"{key} = {value}", ("server", key))
    return writer


def complaints(text: str) -> list[str]:
    """What is complained about, without line breaks in values."""
    with pytest.raises(ConfigurationError) as caught:
        Configuration(Document(text, PATH), DEFAULTS).read("server", Server)
    assert "hunter2" not in "".join(map(str, [caught.value, *caught.value.args]))
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    return str(caught.value).split("\n")


@given(made=mistakes(), fillers=st.lists(filler_lines, min_size=10, max_size=10))
def test_all_mistakes_are_told_at_once_each_with_its_line_and_mend(made: Mistakes, fillers: list[list[str]]) -> None:
    writer = written(made, fillers)
    text = "\n".join(writer.lines)
    if not made.wrong | made.missing | made.mistyped:
        assert Configuration(Document(text, PATH), DEFAULTS).read("server", Server).colour == "blue"
        return
    told = complaints(text)
    assert len(told) == len(made.wrong) + len(made.missing) + len(made.mistyped)
    for key in made.missing:
        at = f"{PATH}:{writer.places['server',]}: "
        assert any(line.startswith(at) and f"needs the key {key!r}" in line for line in told)
    for key in made.wrong:
        at = f"{PATH}:{writer.places['server', key]}: {key} in [server]: "
        assert any(line.startswith(at) for line in told)
    for key in made.mistyped:
        at = f"{PATH}:{writer.places['server', key]}: unknown key {key!r} in [server], did you mean {MISTYPED[key]!r}?"
        assert any(line.startswith(at) for line in told)


@given(secret=st.sampled_from(SECRETS))
def test_what_stands_in_the_place_of_a_secret_is_never_repeated(secret: str) -> None:
    told = complaints(f"[server]\nname = 'n'\nsize = 3\ntoken = {secret}")
    assert told == [f"{PATH}:4: token in [server]: name where the secret is, as env:VARIABLE or file:PATH"]


@given(text=st.one_of(st.text(max_size=30), st.text("[]=\"'{}\n.#a1 ", max_size=30)))
def test_no_text_at_all_breaks_the_reader(text: str) -> None:
    with suppress(ConfigurationError):
        document = Document(text, PATH)
        for name in document.tables:
            assert re.fullmatch(rf"{PATH}:\d+", document.place(name))
