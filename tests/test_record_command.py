"""`ctxview record` as a person or a script meets it, up to being killed in the middle."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ctxview.analysis.tokens import ESTIMATES
from ctxview.formats import Lens, open_source
from ctxview.recording.reader import open_recording
from tests.formats.session.builders import sound
from tests.formats.snapshot.builders import block, snapshot_value, to_bytes
from tests.recording.making import held
from tests.running import Run

LENS = Lens(ESTIMATES["bytes/4"])


def started(*arguments: str | Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "ctxview", "record", *map(str, arguments), "--interval", "0.02"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1)


def until(process: subprocess.Popen[str], words: str) -> str:
    """What is printed up to a line with these words."""
    assert process.stdout is not None
    seen = ""
    while words not in seen:
        line = process.stdout.readline()
        assert line, seen
        seen += line
    return seen


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "rounds"
    root.mkdir()
    (root / "round-1.json").write_bytes(to_bytes(snapshot_value(core=[block("a")])))
    return root


def test_it_keeps_every_change_until_it_is_interrupted(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "x.ctxrec"
    process = started(folder, "-o", out)
    until(process, "round-1.json appeared")
    (folder / "round-2.json").write_bytes(to_bytes(snapshot_value(core=[block("b")], round=2)))
    until(process, "round-2.json appeared")
    (folder / "round-1.json").unlink()
    until(process, "round-1.json gone")
    process.send_signal(signal.SIGINT)
    rest, errors = process.communicate()

    assert (process.returncode, errors) == (0, "")
    assert re.fullmatch(r"kept 3 moments; \S+ has [\d.]+ \w+\n", rest)
    recording = open_recording(out)
    assert [sorted(held(recording, number)) for number in range(3)] == [
        ["round-1.json"],
        ["round-1.json", "round-2.json"],
        ["round-2.json"],
    ]


def test_being_asked_to_end_is_how_it_ends(folder: Path, tmp_path: Path) -> None:
    process = started(folder, "-o", tmp_path / "x.ctxrec")
    until(process, "appeared")
    process.terminate()
    rest, errors = process.communicate()

    assert (process.returncode, errors) == (0, "")
    assert rest.startswith("kept 1 moment; ")


@pytest.mark.parametrize("attempt", range(3))
def test_killed_in_the_middle_it_keeps_what_it_told_and_can_be_gone_on_with(
    tmp_path: Path, ctxview: Run, attempt: int
) -> None:
    root = sound(tmp_path).write()
    out = tmp_path / "x.ctxrec"
    process = started(root, "-o", out)
    messages = root / "messages.jsonl"
    content = messages.read_bytes()
    until(process, "files appeared")
    for number in range(20 + attempt):
        content += json.dumps({"role": "user", "content": f"line {number} " + os.urandom(300).hex()}).encode()
        content += b"\n"
        messages.write_bytes(content)
        time.sleep(0.003 * (attempt + 1))
    told = until(process, "messages.jsonl")
    process.kill()
    told += process.communicate()[0]
    last = max(int(number) for number in re.findall(r"^\S+ +(\d+)  ", told, re.MULTILINE))

    recording = open_recording(out)
    assert len(recording) >= last
    assert recording.verify() == ()
    for number in range(len(recording)):
        assert content.startswith(held(recording, number)["messages.jsonl"])
    open_source(out).reading(len(recording) - 1, LENS)

    ran = ctxview("record", root, "-o", out, "--for", "0.01")
    assert ran.code == 0
    assert f"behind {len(recording)} moments" in ran.out
    again = open_recording(out)
    assert (len(again), again.torn) == (len(recording) + 1, None)
    assert held(again, len(recording))["messages.jsonl"] == content


def test_what_was_torn_is_said_and_cut_off(folder: Path, tmp_path: Path, ctxview: Run) -> None:
    out = tmp_path / "x.ctxrec"
    ctxview("record", folder, "-o", out, "--for", "0.01")
    with out.open("ab") as file:
        file.write(b"\xf5cx")

    ran = ctxview("record", folder, "-o", out, "--for", "0.01")

    assert ran.code == 0
    assert ran.err == f"ctxview: note: {out}: its last 3 bytes were not complete and are gone\n"
    assert open_recording(out).torn is None


def test_the_same_again_stores_no_content_twice(folder: Path, tmp_path: Path, ctxview: Run) -> None:
    out = tmp_path / "x.ctxrec"
    (folder / "noise.txt").write_bytes(os.urandom(100_000))
    ctxview("record", folder, "-o", out, "--for", "0.01")
    size = out.stat().st_size
    ctxview("record", folder, "-o", out, "--for", "0.01")

    assert out.stat().st_size - size < 3000


@pytest.mark.parametrize("where", ["x.ctxrec", "deep/x.ctxrec", "../rounds/x.ctxrec"])
def test_it_does_not_write_into_what_it_records(folder: Path, ctxview: Run, where: str) -> None:
    (folder / "deep").mkdir()
    ran = ctxview("record", folder, "-o", folder / where, "--for", "0.01")

    assert ran.code == 2
    assert "the recording would record itself" in ran.err
    assert not (folder / where).exists()


def test_it_does_not_overwrite_what_it_records(folder: Path, ctxview: Run) -> None:
    file = folder / "round-1.json"
    before = file.read_bytes()

    assert ctxview("record", file, "-o", file, "--for", "0.01").code == 2
    assert file.read_bytes() == before


def test_it_does_not_write_over_something_else(folder: Path, tmp_path: Path, ctxview: Run) -> None:
    other = tmp_path / "notes.txt"
    other.write_bytes(b"mine")
    link = tmp_path / "link"
    link.symlink_to(other)
    os.mkfifo(tmp_path / "pipe")

    for out, words in (
        (other, "this is not a recording, and it is not overwritten"),
        (link, "this is a symbolic link"),
        (tmp_path / "pipe", "this is not a recording"),
        (tmp_path / "nowhere" / "x", "No such file or directory"),
        (tmp_path, "Is a directory"),
    ):
        ran = ctxview("record", folder, "-o", out, "--for", "0.01")
        assert (ran.code, ran.out) == (2, "")
        assert words in ran.err
    assert other.read_bytes() == b"mine"


def test_it_does_not_mix_recordings_of_different_things(folder: Path, tmp_path: Path, ctxview: Run) -> None:
    out = tmp_path / "x.ctxrec"
    ctxview("record", folder, "-o", out, "--for", "0.01")
    before = out.read_bytes()

    ran = ctxview("record", folder / "round-1.json", "-o", out, "--for", "0.01")

    assert ran.code == 2
    assert "this is a recording of " in ran.err
    assert out.read_bytes() == before


def test_two_at_once_do_not_write_into_one_file(folder: Path, tmp_path: Path, ctxview: Run) -> None:
    out = tmp_path / "x.ctxrec"
    process = started(folder, "-o", out)
    until(process, "appeared")
    try:
        ran = ctxview("record", folder, "-o", out, "--for", "0.01")
    finally:
        process.kill()
        process.communicate()

    assert ran.code == 2
    assert "another ctxview is recording into this file" in ran.err


def test_an_empty_file_may_be_recorded_into(folder: Path, tmp_path: Path, ctxview: Run) -> None:
    out = tmp_path / "x.ctxrec"
    out.touch()

    assert ctxview("record", folder, "-o", out, "--for", "0.01").code == 0
    assert len(open_recording(out)) == 1


def test_links_pipes_and_sockets_are_told_and_not_followed(tmp_path: Path, ctxview: Run) -> None:
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
    assert "away is not kept: a symbolic link, which is not followed" in ran.out
    assert "pipe is not kept: neither a file nor a folder" in ran.out
    assert "sock is not kept" in ran.out
    assert b"secret" not in (tmp_path / "x.ctxrec").read_bytes()
    assert not any("secret" in name for name in open_recording(tmp_path / "x.ctxrec").at(0).manifest)


def test_of_a_workspace_only_what_is_the_agents_is_kept(tmp_path: Path, ctxview: Run) -> None:
    root = tmp_path / "workspace"
    (root / ".agent" / "log").mkdir(parents=True)
    (root / ".agent" / "log" / "round-1.json").write_bytes(to_bytes(snapshot_value(core=[block("a")])))
    (root / "source.py").write_text("print()")

    assert ctxview("record", root, "-o", root / "x.ctxrec", "--for", "0.01").code == 0

    assert list(held(open_recording(root / "x.ctxrec"), 0)) == [".agent/log/round-1.json"]
    assert [each.id for each in open_source(root / "x.ctxrec").reading(0, LENS).state.blocks()] == ["a"]


def test_a_folder_in_which_nothing_is_yet_can_be_recorded(tmp_path: Path) -> None:
    root = tmp_path / "soon"
    root.mkdir()
    out = tmp_path / "x.ctxrec"
    process = started(root, "-o", out)
    until(process, "nothing to keep")
    (root / "round-1.json").write_bytes(to_bytes(snapshot_value(core=[block("a")])))
    until(process, "round-1.json appeared")
    process.send_signal(signal.SIGINT)
    errors = process.communicate()[1]

    assert "nothing is recognised here yet; everything in it is kept" in errors
    assert [each.id for each in open_source(out).reading(1, LENS).state.blocks()] == ["a"]


def test_a_folder_of_many_things_is_asked_about(tmp_path: Path, ctxview: Run) -> None:
    for name in ("one", "two"):
        sound(tmp_path / name).write()

    ran = ctxview("record", tmp_path, "-o", tmp_path.parent / "x.ctxrec", "--for", "0.01")

    assert ran.code == 2
    assert "4 things are in this folder; name one of them, such as" in ran.err


def test_a_folder_whose_recording_is_gone_on_with_may_hold_many_things_by_now(
    tmp_path: Path, ctxview: Run
) -> None:
    root, out = tmp_path / "work", tmp_path / "x.ctxrec"
    root.mkdir()
    assert ctxview("record", root, "-o", out, "--for", "0.01").code == 0
    for name in ("one", "two"):
        sound(root / name).write()

    ran = ctxview("record", root, "-o", out, "--for", "0.01")

    assert (ran.code, "behind 1 moment" in ran.out) == (0, True)


@pytest.mark.parametrize("seconds", ["0", "-1", "x", "nan", "inf"])
def test_a_strange_number_of_seconds_is_trouble(
    folder: Path, tmp_path: Path, ctxview: Run, seconds: str
) -> None:
    ran = ctxview("record", folder, "-o", tmp_path / "x", "--for", seconds)

    assert ran.code == 2
    assert "is no number of seconds" in ran.err
    assert not (tmp_path / "x").exists()


def test_recording_changes_nothing_in_what_is_recorded(tmp_path: Path, ctxview: Run) -> None:
    root = sound(tmp_path).write()

    def times() -> dict[Path, tuple[int, int]]:
        """When each was changed, and, of files, when it was read."""
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


def test_names_that_would_act_on_the_terminal_are_only_shown(
    folder: Path, tmp_path: Path, ctxview: Run
) -> None:
    (folder / "\x1b[2Jevil\n.json").write_bytes(b"{}")

    ran = ctxview("record", folder, "-o", tmp_path / "x.ctxrec", "--for", "0.01")

    assert "\x1b" not in ran.out
    assert "^[[2Jevil^J.json" in ran.out
