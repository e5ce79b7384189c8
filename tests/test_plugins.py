"""The plug-in of docs/plugins.md is written, installed into a virtual environment, and used."""

from __future__ import annotations

import json
import re
import shlex
import site
import subprocess
import tomllib
import venv
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.running import LIMIT

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "plugins.md").read_text("utf-8")
FILES = dict(re.findall(r"^`([\w./]+)`:\n\n```\w+\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL))
DIARY = "Dear diary\n2031-04-01: The lamp was lit.\n2031-04-02:\n"


def wheel(folder: Path, files: dict[str, str]) -> Path:
    """Build the wheel that a build backend makes of the package."""
    about = tomllib.loads(files["pyproject.toml"])["project"]
    name = about["name"].replace("-", "_")
    info = f"{name}-{about['version']}.dist-info"
    points = "\n".join(
        f"[{group}]\n" + "\n".join(f"{point} = {value}" for point, value in entries.items())
        for group, entries in about["entry-points"].items()
    )
    made = folder / f"{name}-{about['version']}-py3-none-any.whl"
    contents = {file: text for file, text in files.items() if file.endswith(".py")}
    contents |= {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {about['name']}\nVersion: {about['version']}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": f"{points}\n",
    }
    contents[f"{info}/RECORD"] = "".join(f"{file},,\n" for file in (*contents, f"{info}/RECORD"))
    with ZipFile(made, "w") as archive:
        for file, text in contents.items():
            archive.writestr(file, text)
    return made


class Installed:
    """A virtual environment with ctxview and the plug-in."""

    def __init__(self, folder: Path, files: dict[str, str]) -> None:
        self.folder = folder
        venv.create(folder / "env", with_pip=True)
        self.python = folder / "env" / "bin" / "python"
        packages = self._run("-c", "import site; print(site.getsitepackages()[0])").stdout.strip()
        beside = [str(ROOT), *site.getsitepackages()]
        (Path(packages) / "ctxview-of-this-test.pth").write_text("\n".join(beside), "utf-8")
        done = self._run("-m", "pip", "install", "--no-index", "--no-deps", str(wheel(folder, files)))
        assert done.returncode == 0, done.stderr
        (folder / "night.txt").write_text(DIARY)

    def ctxview(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self._run("-m", "ctxview", *arguments)

    def _run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [str(self.python), *arguments]
        return subprocess.run(
            command,
            cwd=self.folder,
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
            timeout=LIMIT,
        )


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return Installed(tmp_path_factory.mktemp("plugin"), FILES)


def test_the_commands_of_the_page_print_what_the_page_shows(installed: Installed) -> None:
    session = PAGE.partition("## Use it")[2].partition("```console\n")[2].partition("```")[0]
    commands = re.findall(r"^\$ ctxview (.*)\n((?:[^$].*\n)*)", session, re.MULTILINE)
    for typed, printed in commands[:-1]:
        done = installed.ctxview(*shlex.split(typed))
        assert done.returncode in (0, 1), done.stderr
        assert done.stdout
        assert printed in done.stdout


def test_the_plug_in_has_everything_that_a_built_in_format_has(installed: Installed) -> None:
    (own,) = [
        each for each in json.loads(installed.ctxview("formats", "--json").stdout) if not each["built_in"]
    ]
    assert own["name"] == "diary"
    explained = installed.ctxview("rules", "DIA001").stdout
    assert "A day has a date and no words." in explained
    assert "Write what happened" in explained
    assert "diaries of agents" in installed.ctxview("rules").stdout
    assert "count the days of a diary" in installed.ctxview("--help").stdout
    assert "--days N" in installed.ctxview("show", "--help").stdout
    completed = installed.ctxview("completions", "bash").stdout
    assert all(word in completed for word in ("diary", "DIA001", "--days"))
    last = json.loads(installed.ctxview("show", "night.txt", "--days", "1", "--json").stdout)
    assert [block["id"] for block in last["tiers"][0]["blocks"]] == ["2031-04-02"]
    assert installed.ctxview("check", "night.txt", "--select", "DIA").returncode == 0
    assert installed.ctxview("check", "night.txt", "--fail-on", "warning").returncode == 1


def test_the_inspector_shows_a_source_of_the_plug_in(installed: Installed) -> None:
    code = """
import asyncio
from pathlib import Path
from ctxview.tui.app import CtxviewApp
from ctxview.tui.model.jobs.load import PathOpener
from ctxview.tui.model.view_state import ReadOptions

async def main():
    app = CtxviewApp(PathOpener([Path("night.txt")]), ReadOptions("bytes/4"), watching=False)
    async with app.run_test(size=(120, 36)) as pilot:
        while app.screen.model.view is None:
            await pilot.pause()
        state = app.screen.model.view.index.reading.state
        print(state.format, [block.id for block in state.blocks()], list(app.screen.model.figures))

asyncio.run(main())
"""
    done = installed._run("-c", code)
    assert done.stdout.strip() == "diary ['2031-04-01', '2031-04-02'] ['words']", done.stderr


def test_a_plug_in_that_fails_is_named_and_skipped(tmp_path: Path) -> None:
    broken = FILES | {"ctxview_diary/__init__.py": "import a_module_that_does_not_exist\n"}
    installed = Installed(tmp_path, broken)
    shown = installed.ctxview("show", "night.txt")
    assert shown.returncode == 0
    assert "raw" in shown.stdout
    assert "ModuleNotFoundError" in installed.ctxview("check", "night.txt").stdout
    assert "diary  cannot be loaded: ModuleNotFoundError" in installed.ctxview("formats").stdout
    recognised = str(ROOT / "sample_sessions" / "snapshot" / "broken" / "bad-blocks.json")
    checked = installed.ctxview("check", recognised, "night.txt")
    assert checked.stderr.count("note: the format diary cannot be used: ModuleNotFoundError") == 1
    assert "diary" not in installed.ctxview("check", recognised, "--as", "snapshot").stderr
    named = installed.ctxview("show", "night.txt", "--as", "diary")
    assert named.returncode == 2
    assert "the format diary cannot be used: ModuleNotFoundError" in named.stderr
