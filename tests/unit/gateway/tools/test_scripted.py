"""Tools that do as a script says."""

import anyio
import pytest

from gateway.script import Script, ScriptedTool, Turn
from gateway.tool import Tool
from gateway.tools.scripted import ScriptedError, tools
from tests.unit.gateway.tools.conversation import ANN, context


def played(tool: ScriptedTool) -> Tool:
    (made,) = tools(Script(turns=(Turn(),), tools=(tool,)))
    return made


@pytest.mark.virtual_time
async def test_it_returns_its_result_after_its_seconds() -> None:
    begun = anyio.current_time()
    assert await played(ScriptedTool(name="look", seconds=90, result="Low.")).call({"a": 1}, context()) == "Low."
    assert anyio.current_time() - begun == 90


@pytest.mark.virtual_time
async def test_it_can_be_cancelled_meanwhile() -> None:
    begun = anyio.current_time()
    with anyio.move_on_after(1):
        await played(ScriptedTool(name="look", seconds=90)).call({}, context())
    assert anyio.current_time() - begun == 1


@pytest.mark.virtual_time
@pytest.mark.parametrize(
    ("fails", "result", "said"),
    [(True, "", "look failed, says the script."), (True, "It rains.", "It rains."), ("No.", "It rains.", "No.")],
)
async def test_it_fails_with_the_words_of_the_script(fails: bool | str, result: str, said: str) -> None:
    with pytest.raises(ScriptedError, match=said):
        await played(ScriptedTool(name="look", fails=fails, result=result)).call({}, context())


@pytest.mark.parametrize("flag", [True, False])
def test_it_is_safe_asks_and_cascades_as_the_script_says(flag: bool) -> None:
    made = played(ScriptedTool(name="look", safe=flag, approval=flag, cascades=flag))
    assert (made.concurrency_safe({}), made.needs_approval(ANN, {}), made.cascades) == (flag, flag, flag)
    assert made.permits(ANN, {})
    assert made.problem({"any": "thing"}) is None
    assert (made.name, made.input_schema, made.time_limit) == ("look", {"type": "object"}, None)
