"""What a script may hold, and what is said of one that cannot be played."""

from pathlib import Path

import pytest

from gateway.error import ConfigurationError
from gateway.script import Script, ScriptedCall, ScriptedTool, ScriptedUser, Turn, parse, read

TOML = Path("s.toml")


def test_a_markdown_file_is_one_answer_kept_to_the_letter() -> None:
    text = "# Tides\r\n\n```\n\u2028é👩\u200d💻\n```\n"
    assert parse(text.encode(), Path("answer.MD")) == Script(turns=(Turn(text=text),))
    assert parse(b"\xef\xbb\xbfa", Path("a.md")) == Script(turns=(Turn(text="a"),))


def test_a_toml_file_is_a_row_of_turns() -> None:
    script = b"""
        [[turn]]
        text = "one"
        pace = 40
        [[turn]]
        text = "two"
        cut = "max_tokens"
        [[turn]]
        error = "overloaded"
        pace = inf
    """
    assert parse(script, TOML).turns == (
        Turn(text="one", pace=40),
        Turn(text="two", cut="max_tokens"),
        Turn(error="overloaded", pace=float("inf")),
    )


def test_tools_calls_and_people_are_read_in_their_order() -> None:
    script = b"""
        [[tool]]
        name = "look"
        safe = true
        seconds = 0.3
        result = "Low."
        [[tool]]
        name = "deploy"
        approval = true
        cascades = true
        fails = "The pier is closed."
        [[turn]]
        text = "I look."
        calls = [{ name = "look", input = { at = ["pier", 1, true] }, at = 2 }, { name = "deploy", input = "{" }]
        [[user]]
        who = "stranger"
        press = "approve"
        [[user]]
        press = "always"
        after = 2
        times = 2
        [[user]]
        say = "And now?"
        [[user]]
        say = "Stop!"
        after = "approval"
    """
    assert parse(script, TOML) == Script(
        tools=(
            ScriptedTool(name="look", safe=True, seconds=0.3, result="Low."),
            ScriptedTool(name="deploy", approval=True, cascades=True, fails="The pier is closed."),
        ),
        turns=(
            Turn(
                text="I look.",
                calls=(
                    ScriptedCall(name="look", input={"at": ["pier", 1, True]}, at=2),
                    ScriptedCall(name="deploy", input="{"),
                ),
            ),
        ),
        users=(
            ScriptedUser(who="stranger", press="approve"),
            ScriptedUser(press="always", after=2, times=2),
            ScriptedUser(say="And now?"),
            ScriptedUser(say="Stop!", after="approval"),
        ),
    )
    assert [user.moment for user in parse(script, TOML).users] == ["approval", 2, "end", "approval"]


@pytest.mark.parametrize(
    ("content", "name", "why"),
    [
        (b"", "s.toml", r"s\.toml: there is no \[\[turn\]\]"),
        (b"turn = []", "s.toml", r"s\.toml: there is no \[\[turn\]\]"),
        (b"turn = 1", "s.toml", r"s\.toml: turn: .*array"),
        (b"[[turn]]\n[[tols]]\nname = 'x'", "s.toml", r"s\.toml: `tols` is not known here; .*\[\[user\]\]"),
        (b"[[turn]]\n[[user]]\nsya = 'x'", "s.toml", r"s\.toml: user 1: `sya` is not known here; known are who, say"),
        (b"[[turn]]\n[[turn]]\ncall = []", "s.toml", r"s\.toml: turn 2: `call` is not known here; known are text, c"),
        (b"[[turn]]\ncalls = [{nam = 'x'}]", "s.toml", r"s\.toml: turn 1, call 1, name: this key is needed"),
        (b"[[turn]]\ncalls = [{name = 'x', in = 1}]", "s.toml", r"s\.toml: turn 1, call 1: `in` is not known here"),
        (b"[[turn]]\ncalls = [{name = 'x'}, {name = 'y', at = 'a'}]", "s.toml", r"turn 1, call 2, at: .*integer"),
        (b"[[turn]]\ncalls = [{name = 'x', input = 1}]", "s.toml", r"turn 1, call 1, input: .*object; or: .*string"),
        (b"[[turn]]\ncalls = [{name = 'x', input = {a = nan}}]", "s.toml", r"turn 1, call 1, input: JSON has no nan"),
        (b"[[turn]]\ntext = 'abc'\ncalls = [{name = 'x', at = 4}]", "s.toml", r"call 1, at: .*only 3 characters"),
        (b"[[turn]]\ntext = 'abc'\ncalls = [{name = 'x'}, {name = 'y', at = 2}]", "s.toml", r"call 2, at: .* call 1;"),
        (b"[[turn]]\ntext = 1", "s.toml", r"s\.toml: turn 1, text: .*string"),
        (b"[[turn]]\npace = -1", "s.toml", r"s\.toml: turn 1, pace: .*greater"),
        (b"[[turn]]\npace = nan", "s.toml", r"s\.toml: turn 1, pace: "),
        (b"[[turn]]\ncut = 'pause'", "s.toml", r"s\.toml: turn 1, cut: .*'max_tokens', 'refusal' or 'silent'"),
        (b"[[turn]]\nerror = 'oops'", "s.toml", r"s\.toml: turn 1, error: .*'overloaded'"),
        (b"[[turn]]\n[[turn]]\ncut = 'silent'\nerror = 'server'", "s.toml", r"s\.toml: turn 2: .*not by both"),
        (b"[[turn]]\n[[tool]]\nname = 'a b'", "s.toml", r"s\.toml: tool 1, name: .*pattern"),
        (b"[[turn]]\n[[tool]]\nname = 'a'\n[[tool]]\nname = 'a'", "s.toml", r"s\.toml: tool 2, name: .*'a' already"),
        (b"[[turn]]\n[[tool]]\nname = 'a'\nseconds = inf", "s.toml", r"s\.toml: tool 1, seconds: .*finite"),
        (b"[[turn]]\n[[tool]]\nname = 'a'\nsafe = 'yes'", "s.toml", r"s\.toml: tool 1, safe: .*boolean"),
        (b"[[turn]]\n[[user]]\nwho = 'asker'", "s.toml", r"s\.toml: user 1: they `say` .* one of the two"),
        (b"[[turn]]\n[[user]]\nsay = 'a'\npress = 'deny'", "s.toml", r"s\.toml: user 1: they `say`"),
        (b"[[turn]]\n[[user]]\nsay = 'a'\nafter = 'lunch'", "s.toml", r"user 1, after: .*number; or: .*'approval'"),
        (b"[[turn]]\n[[user]]\nsay = 'a'\ntimes = 0", "s.toml", r"s\.toml: user 1, times: .*greater"),
        (b"[[turn]", "s.toml", r"s\.toml: not TOML: .*line 1"),
        (b"\xff", "s.toml", r"s\.toml: not UTF-8 .*byte 0"),
        (b"hi", "s.txt", r"s\.txt: a script is a \.md file"),
    ],
)
def test_a_script_that_cannot_be_played_is_named_with_its_table_and_key(content: bytes, name: str, why: str) -> None:
    with pytest.raises(ConfigurationError, match=why):
        parse(content, Path(name))


def test_a_script_is_read_from_its_file_and_missed_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "s.md").write_text("Low water.", encoding="utf-8")
    assert read(tmp_path / "s.md") == Script(turns=(Turn(text="Low water."),))
    with pytest.raises(ConfigurationError, match=r"nothing\.md: the script cannot be read \(No such file"):
        read(tmp_path / "nothing.md")
