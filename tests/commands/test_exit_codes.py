"""Exit codes after a closed pipe, an interrupt or a closed terminal, and output on real terminals."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from ctxview.cli import main
from ctxview.samples import samples_folder
from tests.formats.ordinary_user import as_ordinary_user
from tests.pty_session import PATIENCE, PtySession
from tests.running import LIMIT, Program

SAMPLES = samples_folder() / "snapshot"
PROGRAM = [sys.executable, "-m", "ctxview"]


def test_a_closed_pipe_ends_the_program_without_a_message() -> None:
    with Program([*PROGRAM, "check", SAMPLES]) as program:
        assert program.process.stdout is not None
        program.process.stdout.close()
        program.process.stdout = None
        ran = program.finish()

    assert ran.code == 141
    assert "Traceback" not in ran.err
    assert "BrokenPipe" not in ran.err


def test_an_interrupt_exits_with_130_without_a_traceback() -> None:
    interrupted = (
        "import ctxview.commands.rules as rules\n"
        "def interrupt(arguments): raise KeyboardInterrupt\n"
        "rules.run = interrupt\n"
        "from ctxview.cli import main; import sys; sys.exit(main(['rules']))"
    )

    done = subprocess.run(
        [sys.executable, "-c", interrupted], capture_output=True, text=True, check=False, timeout=LIMIT
    )

    assert done.returncode == 130
    assert done.stderr == ""


@pytest.mark.parametrize("variable", ["NO_COLOR", None])
def test_a_terminal_has_colours_unless_no_color_is_set(variable: str | None) -> None:
    env = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    if variable:
        env[variable] = "1"

    with PtySession([*PROGRAM, "rules", "SNP021"], env=env) as terminal:
        assert terminal.finish() == 0

    assert (b"\x1b[" in terminal.output) is (variable is None)


def test_a_difference_has_colours_on_a_terminal() -> None:
    env = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}

    with PtySession([*PROGRAM, "diff", str(SAMPLES / "lighthouse"), "--at", "9"], env=env) as terminal:
        assert terminal.finish() == 1

    assert b"\x1b[1;34mMemory\x1b[0m: " in terminal.output
    assert b"\x1b[32m+\x1b[0m working/work-pr" in terminal.output


def test_output_that_the_locale_cannot_write_is_escaped_and_not_fatal() -> None:
    env = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}

    done = subprocess.run(
        [*PROGRAM, "show", str(SAMPLES / "lighthouse")],
        capture_output=True,
        env=env,
        check=False,
        timeout=LIMIT,
    )

    assert done.returncode == 0
    assert done.stdout.isascii()


def test_q_leads_from_a_story_to_the_list_and_out_of_the_program() -> None:
    with PtySession([*PROGRAM, "demo"]) as inspector:
        inspector.wait_for("lighthouse")
        inspector.press("\r")
        inspector.wait_for("Memory")
        inside = len(inspector.output)
        inspector.press("q")
        inspector.wait_for("play this story", after=inside)
        inspector.press("q")
        assert inspector.finish() == 0, inspector.output[-1000:]


def test_the_inspector_ends_with_its_terminal() -> None:
    with PtySession([*PROGRAM, str(SAMPLES / "lighthouse")]) as inspector:
        inspector.wait_for("Memory")
        inspector.hang_up()
        ended = inspector.process.wait(PATIENCE)

    assert ended in (0, 1, 129, -signal.SIGHUP)


def test_the_inspector_ends_with_a_terminal_that_sends_no_hang_up() -> None:
    with PtySession([*PROGRAM, SAMPLES / "lighthouse"], controlling=False) as inspector:
        inspector.wait_for("o200k, exact")
        children = _children(inspector.process.pid)
        inspector.hang_up()
        ended = inspector.process.wait(PATIENCE)
        deadline = time.monotonic() + PATIENCE
        while alive := [each for each in children if Path(f"/proc/{each}").exists()]:
            assert time.monotonic() < deadline, f"the processes {alive} are left"
            time.sleep(0.01)

    assert ended == 129


def _children(process: int) -> list[int]:
    """The processes that `process` started."""
    found = []
    for each in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = each.read_text().rpartition(")")[2].split()[1]
        except OSError:
            continue  # it has ended
        if int(parent) == process:
            found.append(int(each.parent.name))
    return found


@pytest.mark.parametrize(
    "command",
    [
        *(
            ["check"],
            ["show"],
            ["pack"],
            ["gc"],
            ["prompt"],
            ["review", "--verify"],
            ["export"],
            ["why", "x"],
        ),
        *(["merge", "x"], ["diff", "x"], ["trim"], ["replay"], []),
    ],
)
def test_a_path_in_a_folder_that_may_not_be_searched_is_one_line(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with TemporaryDirectory() as folder:
        (Path(folder) / "closed").mkdir(0)
        path, absent = str(Path(folder) / "closed" / "session"), str(Path(folder) / "absent")
        Path(folder).chmod(0o755)
        # Modules are imported first, because the other user may not read them.
        assert run_on(absent, command) == 2
        capsys.readouterr()
        with as_ordinary_user():
            assert run_on(path, command) == 2
    error = capsys.readouterr().err
    assert error.startswith("ctxview: ")
    assert error.count("\n") == 1


def run_on(path: str, command: list[str]) -> int:
    return main([*command[:1], path, *command[1:]])


def test_a_folder_that_may_be_listed_and_not_searched_ends_no_check(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with TemporaryDirectory() as folder:
        shutil.copytree(SAMPLES / "agent-workspace", Path(folder) / "one")
        shutil.copytree(SAMPLES / "broken", Path(folder) / "two")
        for path in [Path(folder), *Path(folder).rglob("*")]:
            path.chmod(0o755 if path.is_dir() else 0o644)
        main(["check", folder])
        (Path(folder) / "one" / ".agent").chmod(0o744)
        with as_ordinary_user():
            assert main(["check", folder]) == 2
    output = capsys.readouterr()
    assert ".agent" in output.err + output.out
    assert "fenced-json.txt" in output.out


def test_show_and_check_create_no_files(tmp_path: Path) -> None:
    before = sorted(SAMPLES.rglob("*"))

    for command in ("show", "check"):
        subprocess.run(
            [*PROGRAM, command, str(SAMPLES / "agent-workspace")],
            capture_output=True,
            check=False,
            timeout=LIMIT,
        )

    assert sorted(SAMPLES.rglob("*")) == before
