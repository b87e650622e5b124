"""The tools that a configuration names, and what is said of one that names others."""

import sys
from pathlib import Path

import pytest

from gateway import app
from gateway.access import Ids
from gateway.configuration import Configuration, Document
from gateway.error import ConfigurationError
from gateway.role import Roles
from gateway.tool import Tool
from gateway.toolbox import MEMBERS, Toolbox, open_toolbox, shipped
from gateway.toolset import Toolset

IDS = {
    "slack": Ids(name="allow_users", pattern="U[A-Z0-9]+", find="It is in the profile."),
    "telegram": Ids(name="allow_users", pattern="[0-9]+", find="Ask @userinfobot."),
}

OWN = """
from dataclasses import dataclass, replace

from gateway.tools.clock import Clock as SomeClock

CLASS = SomeClock
deploy = replace(SomeClock(), name="deploy")
again = deploy
_hidden = replace(deploy, name="look")
number = 5
"""


def opened(folder: Path, text: str) -> Toolbox:
    defaults = Document.open(app.data_folder() / "defaults.toml")
    return open_toolbox(Configuration(Document(text, folder / "my.toml"), defaults), IDS.get)


def complaints(folder: Path, text: str) -> list[str]:
    with pytest.raises(ConfigurationError) as caught:
        opened(folder, text)
    return [line.removeprefix(f"{folder}/") for line in str(caught.value).splitlines()]


def test_what_is_built_in_are_the_tools_that_ship_for_everybody_who_is_let_in(tmp_path: Path) -> None:
    box = opened(tmp_path, "")
    assert sorted(box.tools.tools) == shipped() == ["clock", "notes", "read_output", "read_url"]
    assert box == Toolbox(tools=Toolset(tools=box.tools.tools), roles=Roles(), approval_timeout=None)
    assert box.tools.time_limit == 60


def test_what_is_not_enabled_is_not_there(tmp_path: Path) -> None:
    assert [*opened(tmp_path, "[tools]\nenable = ['clock']").tools.tools] == ["clock"]
    assert opened(tmp_path, "[tools]\nenable = []").tools == Toolset()


def test_a_module_of_ones_own_gives_each_tool_at_its_top_level_once(tmp_path: Path) -> None:
    (tmp_path / "my_tools.py").write_text(OWN, encoding="utf-8")
    box = opened(tmp_path, "[tools]\nenable = []\nmodules = ['my_tools.py']")
    assert sorted(box.tools.tools) == ["deploy", "look"]
    assert [spec.name for spec in box.tools.specs] == ["deploy", "look"]


def test_a_module_may_be_named_as_python_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tools_for_test_toolbox.py").write_text(OWN, encoding="utf-8")
    monkeypatch.setattr("sys.path", [str(tmp_path), *sys.path])
    box = opened(tmp_path, "[tools]\nenable = []\nmodules = ['tools_for_test_toolbox']")
    assert sorted(box.tools.tools) == ["deploy", "look"]


def test_a_script_gives_its_tools(tmp_path: Path) -> None:
    (tmp_path / "play.toml").write_text("[[turn]]\n[[tool]]\nname = 'deploy'\n", encoding="utf-8")
    assert [*opened(tmp_path, "[tools]\nenable = []\nscript = 'play.toml'").tools.tools] == ["deploy"]


def test_policies_roles_and_approvers_are_as_written(tmp_path: Path) -> None:
    box = opened(
        tmp_path,
        """
        [roles]
        admins = ["slack:U1", "telegram:42"]
        [tools]
        time_limit = 5
        only = { clock = ["admins"] }
        [approvals]
        policy = { read_url = "ask", notes = "never" }
        approvers = ["admins", "slack:U2"]
        timeout = 300
        """,
    )
    assert box.tools == Toolset(
        tools=box.tools.tools,
        policy={"read_url": "ask", "notes": "never"},
        only={"clock": frozenset({"admins"})},
        time_limit=5,
    )
    assert box.roles == Roles(
        members={"admins": frozenset({"slack:U1", "telegram:42"})}, approvers=frozenset({"admins", "slack:U2"})
    )
    assert box.approval_timeout == 300


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "[tools]\nenable = [\n 'clok']",
            "my.toml:2: there is no tool 'clok', did you mean 'clock'?; known are clock,",
        ),
        ("[tools]\nenable = ['scripted']", "my.toml:2: there is no tool 'scripted'"),
        ("[tools]\nenable = ['form']", "my.toml:2: there is no tool 'form'"),
        ("[tools]\nenable = ['clock', 'clock']", "my.toml:2: there are two tools 'clock', of gateway.tools.clock and"),
        ("[tools]\nenabled = []", "my.toml:2: unknown key 'enabled' in [tools], did you mean 'enable'?"),
        ("[tools]\ntime_limit = 0", "my.toml:2: time_limit in [tools]: "),
        ("[tools]\ntime_limit = inf", "my.toml:2: time_limit in [tools]: "),
        ("[tools]\nmodules = ['no.py']", "my.toml:2: there is no file "),
        ("[tools]\nmodules = ['no_such_thing']", "my.toml:2: there is no module 'no_such_thing'; a file beside"),
        ("[tools]\nmodules = ['json']", "my.toml:2: json has no tools; put @tool above a function"),
        ("[tools]\nonly = { clok = ['a'] }\n[roles]\na = []", "my.toml:2: only is about a tool 'clok' that is not"),
        ("[tools.only]\nclock = ['admin']\n[roles]\nadmins = []", "my.toml:2: there is no role 'admin', did you mean"),
        ("[tools]\nonly = { clock = ['a'] }", "my.toml:2: there is no role 'a'; add the table [roles]"),
        ("[tools]\nonly = { clock = [] }", "my.toml:2: nobody may use clock"),
        ("[approvals]\npolicy = { clock = 'yes' }", "my.toml:2: policy.clock in [approvals]: Input should be 'never'"),
        ("[approvals]\npolicy = { clok = 'ask' }", "my.toml:2: policy is about a tool 'clok' that is not there, did"),
        ("[approvals]\napprovers = ['boss']", "my.toml:2: there is no role 'boss'; add the table [roles], nor is it a"),
        (
            "[approvals]\napprovers = ['slack:@ann']",
            "my.toml:2: 'slack:@ann' in approvers is no id: names do not count",
        ),
        ("[approvals]\napprovers = ['slak:U1']", "my.toml:2: 'slak:U1' in approvers is on no platform"),
        ("[approvals]\ntimeout = -1", "my.toml:2: timeout in [approvals]: "),
        ("[roles]\na = ['U1']", "my.toml:2: 'U1' in a is no person: write platform:id"),
        (
            "[roles]\na = [\n'slack:U1',\n'telegram:@b']",
            "my.toml:2: 'telegram:@b' in a is no id: names do not count. Ask",
        ),
        ("[roles]\na = 'slack:U1'", "my.toml:2: a in [roles] is a list of people"),
        ("[roles]\na = [1]", "my.toml:2: a in [roles] is a list of people"),
        ("[roles]\n'a:b' = []", "my.toml:2: 'a:b' is no name of a role"),
        ("roles = 1", "my.toml:1: roles is a table"),
    ],
)
def test_whatever_is_mistyped_is_named_with_its_line_and_the_mend(tmp_path: Path, text: str, said: str) -> None:
    (told, *more) = complaints(tmp_path, text)
    assert told.startswith(said)
    assert more == []


def test_all_mistakes_about_people_and_tools_are_told_at_once(tmp_path: Path) -> None:
    text = "[roles]\na = ['U1', 'slack:u']\n[approvals]\napprovers = ['b']\npolicy = { x = 'ask', y = 'ask' }"
    assert [line.partition(": ")[0] for line in complaints(tmp_path, text)] == [
        *["my.toml:2"] * 2,
        "my.toml:4",
        *["my.toml:5"] * 2,
    ]


def test_a_secret_that_was_pasted_among_people_is_not_repeated(tmp_path: Path) -> None:
    (told,) = complaints(tmp_path, "[roles]\na = ['slack:xoxb-1234-swordfish']")
    assert "swordfish" not in told


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("x = 1\nx = y\n", "cannot be loaded, mend it at {file}:2: NameError: name 'y' is not defined"),
        ("x = (\n", "cannot be loaded, mend it at {file}:1: SyntaxError: "),
        ("import no_such_thing\n", "cannot be loaded, mend it at {file}:1: ModuleNotFoundError: "),
        ("raise SystemExit(3)\n", "cannot be loaded, mend it at {file}:1: SystemExit: 3"),
        ("import json\n\n\njson.loads('{')\n", "cannot be loaded, mend it at {file}:4: JSONDecodeError: "),
        ("x = 1\n", "has no tools; put @tool above a function"),
        (
            "class T:\n    name, input_schema = 't', {}\n    async def call(self): ...\nt = T()\n",
            "t is no tool yet, it lacks description, cascades, time_limit, problem,",
        ),
    ],
)
def test_a_module_that_cannot_be_used_is_named_with_the_line_to_mend(tmp_path: Path, source: str, said: str) -> None:
    file = tmp_path / "my_tools.py"
    file.write_text(source, encoding="utf-8")
    (told,) = complaints(tmp_path, "[tools]\nmodules = ['my_tools.py']")
    assert told.startswith("my.toml:2: my_tools.py")
    assert said.format(file=file) in told


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("name='a b'", "a name is of letters"),
        ("name=''", "a name is of letters"),
        ("name='clock'", "two tools 'clock', of gateway.tools.clock and of my_tools.py; rename one"),
        ("description=' '", "has no description"),
    ],
)
def test_a_tool_that_the_model_could_not_be_told_of_is_refused(tmp_path: Path, change: str, said: str) -> None:
    change = change if "name" in change else f"name='x', {change}"
    source = (
        f"from dataclasses import replace\nfrom gateway.tools.clock import Clock as C\nt = replace(C(), {change})\n"
    )
    (tmp_path / "my_tools.py").write_text(source, encoding="utf-8")
    (told,) = complaints(tmp_path, "[tools]\nmodules = ['my_tools.py']")
    assert told.startswith("my.toml:2: ")
    assert said in told


def test_what_is_asked_of_a_tool_is_what_its_contract_has() -> None:
    assert {*MEMBERS} == {name for name in vars(Tool) if not name.startswith("_")}
