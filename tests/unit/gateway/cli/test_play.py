"""What ``dragoman play`` configures for a script."""

import tomllib
from pathlib import Path

import pytest

from gateway.cli import play
from gateway.cli.play import Options
from gateway.error import ConfigurationError


def options(script: Path | None) -> Options:
    return Options(
        platforms=("slack",),
        say="Hello?",
        script=script,
        model="scripted",
        limit=800,
        pace=0,
        faults=None,
        time_scale=1,
        headless=True,
        json=True,
        save_svg=None,
    )


def test_the_tools_of_a_script_stand_beside_the_built_in_ones_whose_names_they_leave_free(tmp_path: Path) -> None:
    script = tmp_path / "play.toml"
    script.write_text('[[turn]]\n[[tool]]\nname = "deploy"\n[[tool]]\nname = "clock"\n', encoding="utf-8")
    table = play.tool_table(options(script), tmp_path)
    read = tomllib.loads(table)["tools"]
    assert (read["enable"], read["script"]) == (["read_url", "notes", "read_output"], str(script))


@pytest.mark.parametrize(("name", "content"), [("play.toml", "[[turn]]\n"), ("answer.md", "Hello.")])
def test_a_script_without_tools_leaves_the_tools_as_they_are(tmp_path: Path, name: str, content: str) -> None:
    script = tmp_path / name
    script.write_text(content, encoding="utf-8")
    assert play.tool_table(options(script), tmp_path) == play.tool_table(options(None), tmp_path)
    assert "enable" not in play.tool_table(options(None), tmp_path)


def test_a_script_that_cannot_be_played_is_refused_before_anything_starts(tmp_path: Path) -> None:
    script = tmp_path / "play.toml"
    script.write_text("[[tool]]\nname = 1\n", encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"play\.toml: "):
        play.tool_table(options(script), tmp_path)
