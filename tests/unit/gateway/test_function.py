"""Tools made of functions."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import anyio
import pytest
from pydantic import BaseModel, Field

from gateway import function
from gateway.function import Function, ToolError, tool
from gateway.tool import Context, Tool, User

USER = User(platform="slack", id="U1", roles=frozenset({"admin"}))


class Notes:
    async def texts(self) -> dict[str, str]:
        return {}

    async def keep(self, name: str, text: str | None) -> None:
        raise NotImplementedError


def context(folder: Path) -> Context:
    return Context(
        user=USER,
        conversation="c",
        run_id="r1",
        tool_use_id="t1",
        memory=Notes(),
        folder=folder,
        report=silent,
    )


def silent(message: str, done: float | None, total: float | None) -> None:
    """Nobody is told."""


class Point(BaseModel):
    x: int
    y: int = 0


@tool
async def move(
    point: Point,
    by: Annotated[int, Field(description="how far", ge=0)] = 1,
    direction: Literal["up", "down"] = "up",
) -> Point:
    """Move a point.

    It goes straight.
    """
    return Point(x=point.x, y=point.y + (by if direction == "up" else -by))


async def test_a_function_is_a_tool_with_its_name_its_docstring_and_its_signature(tmp_path: Path) -> None:
    made: Tool = move
    assert made.name == "move"
    assert made.description == "Move a point.\n\nIt goes straight."
    assert made.input_schema["required"] == ["point"]
    assert made.input_schema["additionalProperties"] is False
    assert made.input_schema["properties"]["by"] == {
        "default": 1,
        "description": "how far",
        "minimum": 0,
        "type": "integer",
    }
    assert await made.call({"point": {"x": 1}, "by": 3}, context(tmp_path)) == '{"x":1,"y":3}'


@pytest.mark.parametrize(
    ("given", "place"),
    [
        ({}, "point"),
        ({"point": {"x": "one"}}, "point.x"),
        ({"point": {"x": 1}, "by": -1}, "by"),
        ({"point": {"x": 1}, "direction": "left"}, "direction"),
        ({"point": {"x": 1}, "extra": 1}, "extra"),
        ({"field_0": {"x": 1}}, "field_0"),
    ],
)
def test_an_input_that_does_not_fit_is_a_sentence_that_names_the_place(given: dict[str, Any], place: str) -> None:
    problem = move.problem(given)
    assert problem is not None
    assert f" {place}: " in problem


def test_one_that_fits_is_no_problem() -> None:
    assert move.problem({"point": {"x": 1, "y": 2}, "by": 0}) is None


async def test_a_parameter_for_the_context_is_given_it_and_is_not_in_the_schema(tmp_path: Path) -> None:
    @tool
    async def who(here: Context) -> str:
        """Say who asks."""
        return here.user.id

    assert who.input_schema == {"properties": {}, "type": "object", "additionalProperties": False}
    assert who.problem({"here": "x"}) is not None
    assert await who.call({}, context(tmp_path)) == "U1"


async def test_names_that_pydantic_keeps_for_itself_may_be_parameters(tmp_path: Path) -> None:
    @tool
    def odd(schema: str, model_config: int, json: bool, _hidden: str = "h") -> list[object]:
        """Take odd names."""
        return [schema, model_config, json, _hidden]

    assert set(odd.input_schema["properties"]) == {"schema", "model_config", "json", "_hidden"}
    given = {"schema": "s", "model_config": 1, "json": True}
    assert await odd.call(given, context(tmp_path)) == '["s",1,true,"h"]'


async def test_a_function_that_is_not_async_runs_in_a_thread_and_is_abandoned_there(tmp_path: Path) -> None:
    let_go, began = threading.Event(), threading.Event()

    @tool
    def wait() -> str:
        """Wait."""
        began.set()
        let_go.wait(20)
        return threading.current_thread().name

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: wait.call({}, context(tmp_path)))
            await anyio.to_thread.run_sync(began.wait)
            tasks.cancel_scope.cancel()
    let_go.set()
    assert await wait.call({}, context(tmp_path)) != threading.current_thread().name


async def test_nothing_said_is_done_and_what_is_no_json_becomes_its_words(tmp_path: Path) -> None:
    @tool
    def nothing() -> None:
        """Do nothing."""

    @tool
    def strange() -> dict[str, object]:
        """Return what no JSON holds."""
        return {"it": object}

    assert await nothing.call({}, context(tmp_path)) == function.DONE
    assert "object" in await strange.call({}, context(tmp_path))


async def test_one_that_is_async_below_a_decorator_is_waited_for(tmp_path: Path) -> None:
    async def inner() -> str:
        return "yes"

    @tool
    def outer() -> object:
        """Pass on."""
        return inner()

    assert await outer.call({}, context(tmp_path)) == "yes"


def test_a_tool_of_which_nothing_is_said_is_unsafe_and_asks() -> None:
    given = {"point": {"x": 1}}
    assert not move.concurrency_safe(given)
    assert move.needs_approval(USER, given)
    assert move.permits(USER, given)
    assert not move.cascades
    assert move.time_limit is None


def test_a_safe_tool_asks_nobody_unless_it_is_told_to() -> None:
    def look(path: str) -> str:
        """Look."""
        return path

    assert not tool(safe=True)(look).needs_approval(USER, {"path": "a"})
    assert tool(safe=True, approval=True)(look).needs_approval(USER, {"path": "a"})
    assert not tool(approval=False)(look).needs_approval(USER, {"path": "a"})


def test_what_holds_may_depend_on_the_input_with_its_defaults_and_on_the_user() -> None:
    @tool(
        safe=lambda given: given["mode"] == "r",
        approval=lambda user, given: given["mode"] == "w" and "admin" not in user.roles,
        permits=lambda user, given: given["path"] != "secret",
        cascades=True,
        time_limit=3.0,
    )
    def file(path: str, mode: str = "r") -> str:
        """Use a file."""
        return path + mode

    stranger = User(platform="slack", id="U2")
    assert file.concurrency_safe({"path": "a"})
    assert not file.concurrency_safe({"path": "a", "mode": "w"})
    assert file.needs_approval(stranger, {"path": "a", "mode": "w"})
    assert not file.needs_approval(USER, {"path": "a", "mode": "w"})
    assert not file.permits(USER, {"path": "secret"})
    assert (file.cascades, file.time_limit) == (True, 3.0)


def no_docstring(a: int) -> int:
    return a


def star(*a: int) -> None:
    """Do."""


def stars(**a: int) -> None:
    """Do."""


def positional(a: int, /) -> None:
    """Do."""


def untyped(a) -> None:  # pyright: ignore[reportUnknownParameterType, reportMissingParameterType] - on purpose
    """Do."""


def unknown_type(a: "int") -> None:
    """Do."""


unknown_type.__annotations__["a"] = "Nowhere"


def no_json(a: threading.Thread) -> None:
    """Do."""


def no_schema(a: Callable[[], int]) -> None:
    """Do."""


def two(a: Context, b: Context) -> None:
    """Do."""


def yields() -> Iterator[int]:
    """Do."""
    yield 1


def größe() -> None:  # noqa: PLC2401 - that is what is wrong with it
    """Do."""


WRONG: list[tuple[Callable[..., object], str]] = [
    (no_docstring, "docstring"),
    (star, "name each parameter"),
    (stars, "name each parameter"),
    (positional, "name each parameter"),
    (untyped, "annotate it"),  # pyright: ignore[reportUnknownArgumentType] - on purpose
    (unknown_type, "import their names"),
    (no_json, "use one that pydantic knows"),
    (no_schema, "use a plainer type"),
    (two, "one is enough"),
    (yields, "return the whole"),
    (größe, "use def"),
    (lambda: None, "use def"),
]


@pytest.mark.parametrize(("wrong", "advice"), WRONG)
def test_what_cannot_be_a_tool_says_so_where_it_is_decorated(wrong: Callable[..., object], advice: str) -> None:
    with pytest.raises(ToolError, match=advice):
        tool(wrong)


def test_a_time_limit_is_above_nothing() -> None:
    with pytest.raises(ToolError, match="seconds"):
        tool(time_limit=0)(move.function)


def test_the_function_itself_stays_to_be_had() -> None:
    assert isinstance(move, Function)
    assert move.function.__name__ == "move"


@pytest.mark.parametrize("given", [{"count": "3", "on": True}, {"count": 3, "on": "yes"}, {"count": 3.0, "on": 1}])
def test_what_a_person_saw_is_what_the_function_gets_and_nothing_that_was_made_of_it(given: dict[str, Any]) -> None:
    @tool
    def press(count: int, on: bool) -> str:
        """Press."""
        return f"{count} {on}"

    assert press.problem(given) is not None
    assert press.problem({"count": 3, "on": True}) is None
