"""What chunker/README.md shows is what happens."""

import re
from pathlib import Path

import pytest

import chunker
from chunker import split

README = (Path(chunker.__file__).parent / "README.md").read_text("utf-8")


def test_the_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    code = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len(code) == 1
    exec(code[0], {})  # noqa: S102  # our own README
    assert capsys.readouterr().out == "['Two steps: first ...\\n\\nthen ...']\n"


def test_the_picture_is_true() -> None:
    picture = README.split("## An answer, cut at 70")[1].split("## The laws")[0]
    rows = [line[4:].split("|")[0].rstrip() for line in picture.splitlines() if line.startswith("    ")]
    source = "\n".join(row for row in rows if not row.startswith("-----"))
    cuts = [chunk.reason for chunk in split(source, 70)]
    assert cuts == re.findall(r"reason (\w+)", picture)
    assert len(cuts) == sum(row.startswith("-----") for row in rows) + 1
