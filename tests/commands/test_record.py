"""`ctxview record`, also when it is killed."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import sys
import time
from pathlib import Path

import pytest

from ctxview.analysis.tokens import ESTIMATES
from ctxview.formats import Lens, open_source
from ctxview.recording.reader import open_recording
from tests.formats.session.builders import sound
from tests.formats.snapshot.builders import block, snapshot_value, to_bytes
from tests.recording.builders import files_at
from tests.running import Program, Run

LENS = Lens(ESTIMATES["bytes/4"])


def start(*arguments: str | Path) -> Program:
    return Program([sys.executable, "-m", "ctxview", "record", *arguments, "--interval", "0.02"])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "rounds"
    root.mkdir()
    (root / "round-1.json").write_bytes(to_bytes(snapshot_value(core=[block("a")])))
    return root


def test_it_records_every_change_until_it_is_interrupted(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "x.ctxrec"
    with start(folder, "-o", out) as program:
        program.read_until("round-1.json appeared")
        (folder / "round-2.json").write_bytes(to_bytes(snapshot_value(core=[block("b")], round=2)))
        program.read_until("round-2.json appeared")
        (folder / "round-1.json").unlink()
        program.read_until("round-1.json gone")
        program.process.send_signal(signal.SIGINT)
        ran = program.finish()

    assert (ran.code, ran.err) == (0, "")
    assert re.fullmatch(r"recorded 3 moments; \S+ has [\d.]+ \w+\n", ran.out)
    recording = open_recording(out)
    assert [sorted(files_at(recording, number)) for number in range(3)] == [
        ["round-1.json"],
        ["round-1.json", "round-2.json"],
        ["round-2.json"],
    ]


def test_sigterm_stops_it_without_an_error(folder: Path, tmp_path: Path) -> None:
    with start(folder, "-o", tmp_path / "x.ctxrec") as program:
        program.read_until("appeared")
        program.process.terminate()
        ran = program.finish()

    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("recorded 1 moment; ")


@pytest.mark.parametrize("attempt", range(3))
def test_a_killed_recording_has_every_printed_moment_and_can_be_continued(
    tmp_path: Path, ctxview: Run, attempt: int
) -> None:
    root = sound(tmp_path).write()
    out = tmp_path / "x.ctxrec"
    messages = root / "messages.jsonl"
    content = messages.read_bytes()
    with start(root, "-o", out) as program:
        program.read_until("files appeared")
        for number in range(20 + attempt):
            line = {"role": "user", "content": f"line {number} " + os.urandom(300).hex()}
            content += json.dumps(line).encode() + b"\n"
            messages.write_bytes(content)
            # Any pace will do: the recorder takes what it finds, and is killed at some point of its work.
            time.sleep(0.003 * (attempt + 1))
        output = program.read_until("messages.jsonl")
        program.process.kill()
        output += program.finish().out
    last = max(int(number) for number in re.findall(r"^\S+ +(\d+)  ", output, re.MULTILINE))

    recording = open_recording(out)
    assert len(recording) >= last
    assert recording.verify() == ()
    for number in range(len(recording)):
        assert content.startswith(files_at(recording, number)["messages.jsonl"])
    open_source(out).reading(len(recording) - 1, LENS)

    ran = ctxview("record", root, "-o", out, "--for", "0.01")
    assert ran.code == 0
    assert f"after {len(recording)} moments" in ran.out
    again = open_recording(out)
    assert (len(again), again.torn) == (len(recording) + 1, None)
    assert files_at(again, len(recording))["messages.jsonl"] == content


def test_an_incomplete_end_is_reported_and_removed(folder: Path, tmp_path: Path, ctxview: Run) -> None:
    out = tmp_path / "x.ctxrec"
    ctxview("record", folder, "-o", out, "--for", "0.01")
    with out.open("ab") as file:
        file.write(b"\xf5cx")

    ran = ctxview("record", folder, "-o", out, "--for", "0.01")

    assert ran.code == 0
    assert ran.err == f"ctxview: note: {out}: its last 3 bytes were incomplete and were removed\n"
    assert open_recording(out).torn is None


def test_unchanged_content_is_stored_once(folder: Path, tmp_path: Path, ctxview: Run) -> None:
    out = tmp_path / "x.ctxrec"
    (folder / "noise.txt").write_bytes(os.urandom(100_000))
    ctxview("record", folder, "-o", out, "--for", "0.01")
    size = out.stat().st_size
    ctxview("record", folder, "-o", out, "--for", "0.01")

    assert out.stat().st_size - size < 3000


@pytest.mark.parametrize("where", ["x.ctxrec", "deep/x.ctxrec", "../rounds/x.ctxrec"])
def test_it_does_not_write_into_the_recorded_folder(folder: Path, ctxview: Run, where: str) -> None:
    (folder / "deep").mkdir()
    ran = ctxview("record", folder, "-o", folder / where, "--for", "0.01")

    assert ran.code == 2
    assert "the recording would record itself" in ran.err
    assert not (folder / where).exists()


def test_it_does_not_overwrite_the_recorded_file(folder: Path, ctxview: Run) -> None:
    file = folder / "round-1.json"
    before = file.read_bytes()

    assert ctxview("record", file, "-o", file, "--for", "0.01").code == 2
    assert file.read_bytes() == before


def test_it_does_not_overwrite_other_files(folder: Path, tmp_path: Path, ctxview: Run) -> None:
    other = tmp_path / "notes.txt"
    other.write_bytes(b"mine")
    link = tmp_path / "link"
    link.symlink_to(other)
    os.mkfifo(tmp_path / "pipe")

    for out, words in (
        (other, "this is not a recording and is not overwritten"),
        (link, "this is a symbolic link"),
        (tmp_path / "pipe", "this is not a recording"),
        (tmp_path / "nowhere" / "x", "No such file or directory"),
        (tmp_path, "Is a directory"),
    ):
        ran = ctxview("record", folder, "-o", out, "--for", "0.01")
        assert (ran.code, ran.out) == (2, "")
        assert words in ran.err
    assert other.read_bytes() == b"mine"


def test_it_does_not_mix_recordings_of_different_sources(folder: Path, tmp_path: Path, ctxview: Run) -> None:
    out = tmp_path / "x.ctxrec"
    ctxview("record", folder, "-o", out, "--for", "0.01")
    before = out.read_bytes()

    ran = ctxview("record", folder / "round-1.json", "-o", out, "--for", "0.01")

    assert ran.code == 2
    assert "this is a recording of " in ran.err
    assert out.read_bytes() == before


def test_two_processes_do_not_write_into_one_recording(folder: Path, tmp_path: Path, ctxview: Run) -> None:
    out = tmp_path / "x.ctxrec"
    with start(folder, "-o", out) as program:
        program.read_until("appeared")
        ran = ctxview("record", folder, "-o", out, "--for", "0.01")

    assert ran.code == 2
    assert "another ctxview is recording into this file" in ran.err


def test_an_empty_file_becomes_a_recording(folder: Path, tmp_path: Path, ctxview: Run) -> None:
    out = tmp_path / "x.ctxrec"
    out.touch()

    assert ctxview("record", folder, "-o", out, "--for", "0.01").code == 0
    assert len(open_recording(out)) == 1


def test_links_pipes_and_sockets_are_reported_and_not_followed(tmp_path: Path, ctxview: Run) -> None:
    root = sound(tmp_path).write()
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_bytes(b"secret")
    (root / "away").symlink_to(outside)
    (root / "file-away").symlink_to(outside / "secret.txt")
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        here = os.getcwd()  # noqa: PTH109 - a socket's name must be short
        os.chdir(root)
        server.bind("sock")
        os.chdir(here)
        ran = ctxview("record", root, "-o", tmp_path / "x.ctxrec", "--for", "0.01")

    assert ran.code == 0
    assert "away is not recorded: a symbolic link, which is not followed" in ran.out
    assert "pipe is not recorded: neither a file nor a folder" in ran.out
    assert "sock is not recorded" in ran.out
    assert b"secret" not in (tmp_path / "x.ctxrec").read_bytes()
    assert not any("secret" in name for name in open_recording(tmp_path / "x.ctxrec").at(0).manifest)


def test_of_a_workspace_only_the_files_of_the_agent_are_recorded(tmp_path: Path, ctxview: Run) -> None:
    root = tmp_path / "workspace"
    (root / ".agent" / "log").mkdir(parents=True)
    (root / ".agent" / "log" / "round-1.json").write_bytes(to_bytes(snapshot_value(core=[block("a")])))
    (root / "source.py").write_text("print()")

    assert ctxview("record", root, "-o", root / "x.ctxrec", "--for", "0.01").code == 0

    assert list(files_at(open_recording(root / "x.ctxrec"), 0)) == [".agent/log/round-1.json"]
    assert [each.id for each in open_source(root / "x.ctxrec").reading(0, LENS).state.blocks()] == ["a"]


def test_an_empty_folder_can_be_recorded(tmp_path: Path) -> None:
    root = tmp_path / "soon"
    root.mkdir()
    out = tmp_path / "x.ctxrec"
    with start(root, "-o", out) as program:
        program.read_until("nothing to record")
        (root / "round-1.json").write_bytes(to_bytes(snapshot_value(core=[block("a")])))
        program.read_until("round-1.json appeared")
        program.process.send_signal(signal.SIGINT)
        errors = program.finish().err

    assert "no format is recognised here yet; all files are recorded" in errors
    assert [each.id for each in open_source(out).reading(1, LENS).state.blocks()] == ["a"]


def test_a_folder_with_many_sources_is_an_error(tmp_path: Path, ctxview: Run) -> None:
    for name in ("one", "two"):
        sound(tmp_path / name).write()

    ran = ctxview("record", tmp_path, "-o", tmp_path.parent / "x.ctxrec", "--for", "0.01")

    assert ran.code == 2
    assert "this folder has 4 sources; name one of them, such as" in ran.err


def test_a_continued_recording_may_have_many_sources(tmp_path: Path, ctxview: Run) -> None:
    root, out = tmp_path / "work", tmp_path / "x.ctxrec"
    root.mkdir()
    assert ctxview("record", root, "-o", out, "--for", "0.01").code == 0
    for name in ("one", "two"):
        sound(root / name).write()

    ran = ctxview("record", root, "-o", out, "--for", "0.01")

    assert (ran.code, "after 1 moment" in ran.out) == (0, True)


@pytest.mark.parametrize("seconds", ["0", "-1", "x", "nan", "inf"])
def test_a_wrong_number_of_seconds_is_an_error(
    folder: Path, tmp_path: Path, ctxview: Run, seconds: str
) -> None:
    ran = ctxview("record", folder, "-o", tmp_path / "x", "--for", seconds)

    assert ran.code == 2
    assert f"--for: expected seconds from 0.01 on, such as 0.5 or 600, found '{seconds}'" in ran.err
    assert not (tmp_path / "x").exists()


def test_recording_changes_nothing_in_the_recorded_session(tmp_path: Path, ctxview: Run) -> None:
    root = sound(tmp_path).write()

    def times() -> dict[Path, tuple[int, int]]:
        """The time of the last change of each path, and of the last reading of each file."""
        found = ((path, path.lstat(), path.is_file()) for path in root.rglob("*"))
        return {path: (status.st_mtime_ns, status.st_atime_ns * file) for path, status, file in found}

    before = times()
    ctxview("record", root, "-o", tmp_path / "x.ctxrec", "--for", "0.05")

    assert times() == before


def test_a_recording_is_shown_checked_and_compared_by_its_moments(
    folder: Path, tmp_path: Path, ctxview
) -> None:
    out = tmp_path / "x.ctxrec"
    ctxview("record", folder, "-o", out, "--for", "0.01")
    (folder / "round-1.json").write_bytes(to_bytes(snapshot_value(core=[block("a"), block("b")])))
    ctxview("record", folder, "-o", out, "--for", "0.01")

    first = json.loads(ctxview("show", out, "--json", "--at", "moment 1").out)
    last = json.loads(ctxview("show", out, "--json", "--at", "2").out)

    assert [len(state["tiers"][0]["blocks"]) for state in (first, last)] == [1, 2]
    assert last["source"] == str(out)
    assert ctxview("check", out).code in (0, 1)


def test_names_are_safe_to_print(folder: Path, tmp_path: Path, ctxview: Run) -> None:
    (folder / "\x1b[2Jevil\n.json").write_bytes(b"{}")

    ran = ctxview("record", folder, "-o", tmp_path / "x.ctxrec", "--for", "0.01")

    assert "\x1b" not in ran.out
    assert "^[[2Jevil^J.json" in ran.out
