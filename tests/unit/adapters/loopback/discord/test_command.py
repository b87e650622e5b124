from typing import Any

import pytest

from adapters.loopback.discord.answer import RefusedError
from adapters.loopback.discord.command import Commands, check_commands, read_options


def command(name: str = "ask", **more: Any) -> dict[str, Any]:
    return {"name": name, "description": "a", **more}


def option(name: str = "prompt", **more: Any) -> dict[str, Any]:
    return {"name": name, "type": 3, "description": "a", **more}


@pytest.mark.parametrize(
    ("bad", "path"),
    [
        (command("Ask"), "name"),
        (command("a b"), "name"),
        (command(""), "name"),
        (command("x" * 33), "name"),
        ({"name": "X" * 33, "type": 3}, "name"),
        (command(description=""), "description"),
        (command(description="x" * 101), "description"),
        (command(options=[option(str(number)) for number in range(26)]), "options"),
        (command(options=[option("Prompt")]), "options.0.name"),
        (command(options=[option("a"), option("b", required=True)]), "options.1"),
        (command(options=[option(choices=[{"name": "a", "value": "a"}] * 26)]), "options.0.choices"),
        (command(options=[option(choices=[{"name": "a", "value": "x" * 101}])]), "options.0.choices"),
        (command(options=[option("sub", type=1, options=[option("Prompt")])]), "options.0.options.0.name"),
    ],
)
def test_a_command_that_breaks_a_rule_is_refused_and_the_fault_is_named(bad: dict[str, Any], path: str) -> None:
    with pytest.raises(RefusedError) as raised:
        check_commands([command("good"), bad])
    here: Any = raised.value.errors
    for name in ("1", *path.split(".")):
        here = here[name]
    assert here["_errors"][0]["code"]


def test_names_are_unique_by_type() -> None:
    with pytest.raises(RefusedError):
        check_commands([command(), command()])
    check_commands([command(), {"name": "Ask", "type": 3}, {"name": "Ask", "type": 2}])


def test_a_command_is_not_longer_than_eight_thousand_characters() -> None:
    choices = [{"name": "a", "value": "x" * 97 + f"{number:03}"} for number in range(25)]
    long = command(options=[option(f"o{number}", choices=choices) for number in range(4)])
    with pytest.raises(RefusedError):
        check_commands([long])
    check_commands([command(options=long["options"][:3])])


def test_there_are_a_hundred_commands_of_a_type() -> None:
    many = [command(f"c{number}") for number in range(101)]
    with pytest.raises(RefusedError, match="command_count"):
        check_commands(many)
    check_commands(many[:100])


def test_what_is_overwritten_counts_as_new_only_if_it_was_not_there() -> None:
    commands = Commands()
    assert commands.overwrite("", [command("a")], 0.0) == ["a"]
    commands.registered[""] = ({**command("a"), "type": 1},)
    assert commands.overwrite("", [command("a"), command("b")], 0.0) == ["b"]
    assert (commands.puts, commands.names(), commands.names("7")) == (2, ("a",), ())
    offered = commands.offered("a", "7")
    assert offered is not None
    assert commands.offered("b", None) is None


def test_what_a_user_fills_in_is_typed() -> None:
    known = command(
        options=[option(required=True), option("loud", type=5), option("rate", type=10), option("n", type=4)]
    )
    filled = read_options(known, {"prompt": "a", "loud": True, "rate": 0.5, "n": 7})
    assert [(each["name"], each["type"]) for each in filled] == [("prompt", 3), ("loud", 5), ("rate", 10), ("n", 4)]
    for wrong in ({}, {"prompt": 7}, {"prompt": "a", "loud": "yes"}, {"prompt": "a", "other": 1}):
        with pytest.raises(ValueError, match="option"):
            read_options(known, wrong)
