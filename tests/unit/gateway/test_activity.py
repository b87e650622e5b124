"""The line about the tools."""

from gateway.activity import Activity
from gateway.event import ToolProgress, ToolResult, ToolStart, ToolUseStart


def begin(activity: Activity, *names: str) -> None:
    for name in names:
        activity.feed(ToolUseStart(block_id="b", tool_use_id=name, tool_name=name))
        activity.feed(ToolStart(tool_use_id=name, input={"secret": "x"}))


def finish(activity: Activity, name: str, *, is_error: bool = False) -> None:
    activity.feed(ToolResult(tool_use_id=name, content="secret", content_length=6, is_error=is_error, error_type=None))


def test_there_is_no_line_before_a_tool_begins() -> None:
    activity = Activity()
    activity.feed(ToolUseStart(block_id="b", tool_use_id="u", tool_name="search"))
    assert activity.text(800) == ""


def test_it_names_what_works_and_how_far_that_is() -> None:
    activity = Activity()
    begin(activity, "search", "read")
    activity.feed(ToolProgress(tool_use_id="read", message="page *2*\nof `three`", done=1, total=2))
    assert activity.text(800) == "_Working: `search`, `read` (page 2 of three, 50%)_"


def test_it_is_left_as_a_summary() -> None:
    activity = Activity()
    begin(activity, "search", "read")
    finish(activity, "search")
    finish(activity, "read", is_error=True)
    assert activity.text(800) == "_Used `search`, `read`; 1 failed_"


def test_nothing_goes_on_once_the_run_is_over() -> None:
    activity = Activity()
    begin(activity, "search")
    activity.end()
    assert activity.text(800) == "_Used `search`_"


def test_it_names_as_many_as_there_is_room_for() -> None:
    activity = Activity()
    begin(activity, *(f"tool{number}" for number in range(8)))
    assert activity.text(800).endswith("`tool5` and 2 more_")
    assert activity.text(40) == "_Working: `tool0`, `tool1` and 6 more_"
    assert activity.text(20) == "_Working: 8 tools_"
    assert activity.text(10) == ""


def test_a_call_that_began_before_a_restart_has_no_name() -> None:
    activity = Activity()
    activity.feed(ToolStart(tool_use_id="u", input={}))
    assert activity.text(800) == "_Working: a tool_"
