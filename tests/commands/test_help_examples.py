"""Every example of `--help` runs in a folder with the files that it names."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from anyio.lowlevel import checkpoint

from ctxview import samples
from ctxview.cli import main
from ctxview.commands.parser import INSPECTOR, all_commands
from ctxview.serve.server import InspectorServer

RECORD_TIMES = "ctxview.commands.record._check_times"
ON_SCREEN = {"demo", "replay"}
SERVER = "ctxview.formats.memory.server.mcp_server"

EXAMPLES = [typed for command in (*all_commands().values(), INSPECTOR) for typed, _ in command.examples]


@pytest.fixture(scope="module")
def examples_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files of the examples."""
    here, given = tmp_path_factory.mktemp("examples"), samples.samples_folder()
    story = given / "snapshot" / "lighthouse"
    shutil.copytree(story, here / ".agent")
    shutil.copytree(given / "snapshot" / "broken", here / "logs")
    coder = given / "session" / "coder" / "home" / "1000" / "agent" / "coder" / "session" / "default"
    shutil.copytree(coder, here / "session" / "default")
    shutil.copytree(given / "workspace" / "workspace-after", here / "workspace")
    (here / "answer.md").write_text("## Task\nRead the logs.\n")
    shutil.copytree(given / "memory" / "exhibition-faults", here / "memory" / "exhibition")
    shutil.copytree(given / "envelope" / "handoff", here / "handoff")
    decided = ["--accept", "ENV075=asked Bram", "--looked-at", "all", "--approve"]
    assert main(["review", str(here / "handoff"), *decided]) == 0
    copies = {
        **{f"round-{number}.json": f"round-{number}.received.json" for number in (11, 12)},
        "before.json": "round-11.received.json",
        "after.json": "round-12.received.json",
        "received.json": "round-12.received.json",
        "reply.txt": "round-12.reply.txt",
    }
    for name, source in copies.items():
        shutil.copy(story / source, here / name)
    with pytest.MonkeyPatch.context() as patch:
        # Other examples open the recording, and may run in another process than the one that makes it.
        patch.setattr(RECORD_TIMES, lambda interval, duration: iter([1]))
        assert main(["record", str(here / "session" / "default"), "-o", str(here / "night.ctxrec")]) == 0
    # Of the samples, this session lost an open todo.
    read = [str(here / "logs"), str(given / "transcript" / "refund-day")]
    assert main(["fleet", "read", *read, "--workers", "1", "--into", str(here / "fleet")]) == 0
    return here


@pytest.mark.parametrize("typed", EXAMPLES)
def test_the_example_runs(
    typed: str, examples_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(examples_folder)
    program, *arguments = shlex.split(typed)
    assert program == "ctxview"
    for transport in ("serve_stdio", "serve_http"):
        monkeypatch.setattr(f"{SERVER}.{transport}", lambda *_: checkpoint())
    if arguments[:1] == ["serve"]:
        # The server says where it is, and ends at once; no browser is opened.
        monkeypatch.setattr("ctxview.serve.server.InspectorServer.serve", _end_when_ready)
        monkeypatch.setattr("webbrowser.open", lambda _address: True)
    if arguments[:1] == ["record"]:
        monkeypatch.setattr(RECORD_TIMES, lambda interval, duration: iter([1]))
        (examples_folder / arguments[arguments.index("-o") + 1]).unlink(missing_ok=True)
    code = main(arguments)
    output = capsys.readouterr()
    if not arguments or arguments[0] in ON_SCREEN or arguments[0] not in all_commands():
        assert output.err == "ctxview: the inspector needs a terminal; ctxview show PATH prints the state\n"
    else:
        assert code in (0, 1)
        assert output.out or arguments[0] == "memory" or arguments[:2] == ["fleet", "read"]
        assert "ctxview: note" in output.err or "ctxview: " not in output.err


def _end_when_ready(server: InspectorServer, ready: Callable[[], object]) -> None:
    ready()
    server._socket.close()
