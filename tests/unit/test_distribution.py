"""What is built and installed is ours, whole, and nothing else."""

import json
import subprocess
import sys
import sysconfig
from importlib.metadata import distributions
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[2]
NAMES = {"adapters", "chunker", "gateway"}

# Run with an installed copy in front, the locked packages behind, and the checkout nowhere.
LOOK = """
import adapters, chunker, gateway, json
from importlib.metadata import files, packages_distributions
owners = packages_distributions()
print(json.dumps({
    module.__name__: {
        "file": module.__file__,
        "owners": owners[module.__name__],
        "recorded": f"{module.__name__}/__init__.py" in map(str, files("dragoman") or []),
    }
    for module in (adapters, chunker, gateway)
}))
"""


def pip(*arguments: str | Path) -> None:
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments]
    subprocess.run(command, check=True)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, ROOT)
    (built,) = folder.iterdir()
    return built


@pytest.fixture(scope="module")
def content(wheel: Path) -> set[str]:
    with ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if not name.endswith("/")}


def test_the_wheel_holds_our_three_packages_and_nothing_else_at_its_top(content: set[str]) -> None:
    tops = {name.partition("/")[0] for name in content}
    (metadata,) = (top for top in tops if top.endswith(".dist-info"))
    assert metadata.startswith("dragoman-")
    assert tops == NAMES | {metadata}


def test_every_module_of_the_checkout_is_in_the_wheel(content: set[str]) -> None:
    modules = {path.relative_to(ROOT).as_posix() for name in NAMES for path in (ROOT / name).rglob("*.py")}
    assert {name for name in content if name.endswith(".py")} == modules


def test_the_configuration_data_are_in_the_wheel(content: set[str]) -> None:
    config = ROOT / "config"
    data = {path.relative_to(config).as_posix() for path in config.rglob("*") if path.is_file()}
    assert data
    assert {name.removeprefix("gateway/config/") for name in content if name.startswith("gateway/config/")} == data


def test_the_wheel_tells_type_checkers_that_it_is_typed(content: set[str]) -> None:
    assert {f"{name}/py.typed" for name in NAMES} <= content


def test_an_installed_copy_is_imported_from_where_it_was_installed(wheel: Path, tmp_path: Path) -> None:
    target = tmp_path / "site"
    pip("install", "--no-deps", "--target", target, wheel)

    paths = [str(target), sysconfig.get_path("purelib")]
    command = [sys.executable, "-I", "-S", "-c", f"import sys; sys.path[:0] = {paths!r}\n{LOOK}"]
    seen = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout

    assert json.loads(seen) == {
        name: {"file": str(target / name / "__init__.py"), "owners": ["dragoman"], "recorded": True} for name in NAMES
    }


def test_no_other_distribution_claims_our_names() -> None:
    claims = {
        (file.parts[0], distribution.name)
        for distribution in distributions()
        for file in distribution.files or []
        if file.parts[0].removesuffix(".py") in NAMES
    }
    assert {owner for _, owner in claims} <= {"dragoman"}
