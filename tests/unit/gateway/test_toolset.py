"""What the configuration says of tools."""

from dataclasses import dataclass

import pytest

from gateway.event import JsonObject
from gateway.tool import User
from gateway.toolset import Refusal, Toolset
from tests.unit.gateway.model import USER, Fake


@dataclass
class Rude(Fake):
    """A tool that raises where it is only asked about an input."""

    error: BaseException | None = None

    def needs_approval(self, user: User, input: JsonObject) -> bool:  # noqa: A002 - the contract's name
        if self.error is not None:
            raise self.error
        return True


@pytest.mark.parametrize("error", [ValueError("odd"), SystemExit("odd"), KeyError("odd")])
def test_what_a_tool_raises_when_it_is_asked_about_an_input_is_a_refusal(error: BaseException) -> None:
    verdict = Toolset(tools={"rude": Rude("rude", error=error)}).judge("rude", {}, None, USER, ())
    assert isinstance(verdict, Refusal)
    assert verdict.error_type == "failed"
    assert "odd" in verdict.content
