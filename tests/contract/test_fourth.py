"""A fourth platform is one file, and its judge another: nothing else has to know of it."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOURTH = Path(__file__).parent / "fourth"
REQUIREMENTS = Path(__file__).parent / "requirements"
SUITES = {"adapter": "test_adapter.py", "press": "test_press.py"}

ASSEMBLE = """
import sys
from pathlib import Path
from gateway import app

(platform,) = app.assemble(app.configure(Path("dragoman.toml"))).platforms
print(platform.name, Path(sys.modules[type(platform.adapter).__module__].__file__).as_posix(), *platform.allow.users)
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with our adapters and one more."""
    folder = tmp_path_factory.mktemp("site")
    ours = folder / "adapters"
    shutil.copytree(ROOT / "adapters", ours, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(FOURTH / "console.py", ours / "console.py")
    shutil.copy(FOURTH / "judge.py", ours / "loopback" / "console.py")
    return folder


def python(site: Path, *arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run Python with that folder in front, then this checkout; -P keeps the working folder from standing before it."""
    path = os.pathsep.join([str(site), str(ROOT)])
    return subprocess.run(
        [sys.executable, "-P", *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )


def test_it_meets_every_requirement_without_another_edit(site: Path) -> None:
    done = python(
        site,
        "-m",
        "pytest",
        *(f"tests/contract/{suite}" for suite in SUITES.values()),
        "-k",
        "console",
        "-q",
        "-rA",
        "-p",
        "no:cacheprovider",
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    passed = {line.split("::")[1].split("[")[0] for line in done.stdout.splitlines() if line.startswith("PASSED")}
    required = [
        name
        for manifest in SUITES
        for name in tomllib.loads((REQUIREMENTS / f"{manifest}.toml").read_text(encoding="utf-8"))
    ]
    assert len(passed) == len(required), sorted(passed)
    assert "skipped" not in done.stdout


def test_its_table_in_a_configuration_is_enough(site: Path, tmp_path: Path) -> None:
    (tmp_path / "script.md").write_text("Yes.", encoding="utf-8")
    (tmp_path / "dragoman.toml").write_text(
        f"""
[model]
provider = "scripted"
name = "scripted"
max_tokens = 1000
script = "{tmp_path / "script.md"}"

[console]
allow_users = ["ada"]
""",
        encoding="utf-8",
    )
    done = python(site, "-c", ASSEMBLE, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["console", (site / "adapters" / "console.py").as_posix(), "ada"]
