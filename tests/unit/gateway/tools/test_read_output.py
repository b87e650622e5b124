"""The tool that reads on in what was too long."""

from dataclasses import replace
from pathlib import Path

import pytest

from gateway.output import fitted
from gateway.tools.read_output import MOST, OutputError, read_output
from tests.unit.gateway.tools.conversation import context

pytestmark = pytest.mark.anyio

LONG = "".join(f"{number:06d} ä\n" for number in range(20_000))


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def kept(folder: Path) -> str:
    """The name of the file that a long result was kept in."""
    text = await fitted(LONG, folder, "toolu_1")
    return text.split("the whole is in the file ")[1].split(".]")[0]


async def test_a_result_that_was_cut_is_read_on_until_all_of_it_is_known(tmp_path: Path) -> None:
    ours = replace(context(), folder=tmp_path)
    name, read = await kept(tmp_path), list[str]()
    for start in range(0, len(LONG), MOST):
        said = await read_output.call({"file": name, "start": start}, ours)
        first, _, rest = said.partition("\n")
        assert f"of {len(LONG)}]" in first
        read.append(rest)
    assert "".join(read) == LONG


@pytest.mark.parametrize("call", ["toolu_1", "_abc", "-x", "...", "", "a/b", "ä"])
async def test_whatever_a_call_is_named_the_file_of_its_result_can_be_read(call: str, tmp_path: Path) -> None:
    text = await fitted(LONG, tmp_path, call)
    name = text.split("the whole is in the file ")[1].split(".]")[0]
    assert read_output.problem({"file": name}) is None


@pytest.mark.parametrize("name", ["../secret.txt", "/etc/passwd", "a/b", "..", ".hidden", "", "a\0b"])
def test_what_is_no_file_of_the_conversation_is_no_input(name: str) -> None:
    assert read_output.problem({"file": name}) is not None


async def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    with pytest.raises(OutputError, match="no file"):
        await read_output.call({"file": "link.txt"}, replace(context(), folder=folder))


async def test_what_is_behind_the_end_is_said_to_be_nothing(tmp_path: Path) -> None:
    name = await kept(tmp_path)
    with pytest.raises(OutputError, match="nothing behind"):
        await read_output.call({"file": name, "start": len(LONG)}, replace(context(), folder=tmp_path))
