"""What the tools of a run do, and the lines about that."""

import pytest

from gateway.activity import Activity
from gateway.event import ToolErrorType, ToolProgress, ToolResult, ToolStart, ToolUseStart


def begin(activity: Activity, *names: str) -> None:
    for name in names:
        activity.feed(ToolUseStart(block_id="b", tool_use_id=name, tool_name=name))
        activity.feed(ToolStart(tool_use_id=name, input={"secret": "x"}))


def finish(activity: Activity, name: str, error_type: ToolErrorType | None = None, *, is_error: bool = False) -> None:
    activity.feed(
        ToolResult(tool_use_id=name, content="secret", content_length=6, is_error=is_error, error_type=error_type)
    )


def test_there_is_no_line_before_a_tool_begins() -> None:
    activity = Activity()
    activity.feed(ToolUseStart(block_id="b", tool_use_id="u", tool_name="search"))
    assert activity.text(800, ["u"]) == ""


def test_it_names_what_works_and_how_far_that_is() -> None:
    activity = Activity()
    begin(activity, "search", "read")
    activity.feed(ToolProgress(tool_use_id="read", message="page *2*\nof `three`", done=1, total=2))
    assert activity.text(800, ["search", "read"]) == "_Working: `search`, `read` (page 2 of three, 50%)_"
    assert activity.works(["read"])


def test_each_line_tells_of_its_own_calls() -> None:
    activity = Activity()
    begin(activity, "search", "read")
    finish(activity, "search")
    assert activity.text(800, ["search"]) == "_Used `search`_"
    assert activity.text(800, ["read"]) == "_Working: `read`_"
    assert not activity.works(["search"])


def test_it_is_left_as_a_summary() -> None:
    activity = Activity()
    begin(activity, "search", "read")
    finish(activity, "search")
    finish(activity, "read", is_error=True)
    assert activity.text(800, ["search", "read"]) == "_Used `search`, `read`; 1 failed_"


def test_nothing_goes_on_once_the_run_is_over() -> None:
    activity = Activity()
    begin(activity, "search")
    activity.end()
    assert activity.text(800, ["search"]) == "_Used `search`_"
    assert activity.ended("search")
    assert activity.outcome("search") == "It was ended before it was done."


def test_it_names_as_many_as_there_is_room_for() -> None:
    activity = Activity()
    names = [f"tool{number}" for number in range(8)]
    begin(activity, *names)
    assert activity.text(800, names).endswith("`tool5` and 2 more_")
    assert activity.text(40, names) == "_Working: `tool0`, `tool1` and 6 more_"
    assert activity.text(20, names) == "_Working: 8 tools_"
    assert activity.text(10, names) == ""


def test_a_call_that_began_before_a_restart_has_no_name() -> None:
    activity = Activity()
    activity.feed(ToolStart(tool_use_id="u", input={}))
    assert activity.text(800, ["u"]) == "_Working: a tool_"


@pytest.mark.parametrize(
    ("error_type", "is_error", "said"),
    [
        (None, False, "Done."),
        (None, True, "It failed."),
        ("failed", True, "It failed."),
        ("timeout", True, "It took too long, and was ended."),
        ("cancelled", True, "It was ended before it was done."),
        ("interrupted", True, "It was interrupted, and may have done what it does."),
    ],
)
def test_what_came_of_a_call_is_a_sentence(error_type: ToolErrorType | None, said: str, *, is_error: bool) -> None:
    activity = Activity()
    assert activity.outcome("u") == ""
    begin(activity, "u")
    assert activity.outcome("u") == "It is running."
    finish(activity, "u", error_type, is_error=is_error)
    assert activity.outcome("u") == said


def test_a_call_that_never_began_was_not_run() -> None:
    activity = Activity()
    finish(activity, "u", "withdrawn", is_error=True)
    assert activity.outcome("u") == "It was not run."
    assert activity.text(800, ["u"]) == ""
