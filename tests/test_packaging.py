"""The wheel works in an empty environment, outside the checkout, with an empty home."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from tests.pty_session import PtySession
from tests.running import LIMIT

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, ROOT)
    return next(folder.glob("ctxview-*.whl"))


class Installed:
    """The program in an environment without other packages."""

    def __init__(self, environment: Path, home: Path) -> None:
        self.program = environment / "bin" / "ctxview"
        self.home = home
        self.env = {
            "HOME": str(home),
            "PATH": "/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def run(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.program, *arguments],
            cwd=self.home,
            env=self.env,
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
            timeout=LIMIT,
        )


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    environment = tmp_path_factory.mktemp("environment")
    venv.create(environment, with_pip=False)
    run(sys.executable, "-m", "pip", "--python", environment / "bin" / "python", "install", "--quiet", wheel)
    return Installed(environment, tmp_path_factory.mktemp("home"))


def test_themes_samples_profiles_and_styles_are_in_the_wheel(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()

    for folder, ending in (
        ("ctxview/themes/", ".toml"),
        ("ctxview/sample_sessions/", ".json"),
        ("ctxview/formats/snapshot/profiles/", ".toml"),
        ("ctxview/tui/", ".tcss"),
    ):
        assert [name for name in names if name.startswith(folder) and name.endswith(ending)], folder
    assert "ctxview/py.typed" in names
    assert not [name for name in names if not name.startswith(("ctxview/", "ctxview-"))]


def test_show_check_and_demo_run_from_the_wheel_alone(installed: Installed) -> None:
    sample = next(iter(sorted(installed.program.parent.parent.rglob("sample_sessions/snapshot/**/*.json"))))

    shown = installed.run("show", sample, "--json")
    assert shown.returncode == 0, shown.stderr
    state = json.loads(shown.stdout)
    assert state["format"] == "snapshot"
    assert state["counts"]["tokens_exact"]

    checked = installed.run("check", sample, "--format", "json")
    assert checked.returncode in (0, 1), checked.stderr
    assert isinstance(json.loads(checked.stdout), list)

    with PtySession([installed.program, "demo"], env=installed.env, cwd=installed.home) as demo:
        demo.wait_for("lighthouse")
        demo.press("\r")
        demo.wait_for("Memory")
        inside = len(demo.output)
        demo.press("q")
        demo.wait_for("play this story", after=inside)
        demo.press("q")
        assert demo.finish() == 0, demo.output[-2000:]


def run(*command: str | Path) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ, timeout=LIMIT)
    assert done.returncode == 0, done.stderr
