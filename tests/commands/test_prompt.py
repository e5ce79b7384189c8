"""`ctxview prompt` prints the text and nothing else; everything about the text goes to stderr."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from ctxview.samples import samples_folder
from tests.formats.snapshot.builders import block, snapshot_value, to_bytes
from tests.formats.snapshot.test_prompt import FIRST, FIRST_TEXT
from tests.pty_session import PtySession
from tests.running import LIMIT, Run

PROGRAM = [sys.executable, "-m", "ctxview", "prompt"]
LIGHTHOUSE = samples_folder() / "snapshot" / "lighthouse"
HANDOFF = samples_folder() / "envelope" / "handoff"
SECRET = "AKIAIOSFODNN7EXAMPLQ"


@pytest.fixture
def first(tmp_path: Path) -> Path:
    path = tmp_path / "first.json"
    path.write_text(FIRST)
    return path


def piped(*arguments: str | Path) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*PROGRAM, *map(str, arguments)], capture_output=True, check=False, timeout=LIMIT)


def test_a_pipe_gets_the_bytes_of_the_text_and_no_newline(first: Path) -> None:
    done = piped(first)
    assert done.stdout == FIRST_TEXT.encode()
    assert done.returncode == 0
    assert done.stderr.decode().splitlines() == [
        "ctxview: note: As it would be made now. The next user turn has round 10 and another datetime.",
        "ctxview: note: not in the text: base prompt: not in this file",
    ]


def test_control_characters_and_secrets_are_exact_in_a_pipe(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_bytes(to_bytes(snapshot_value(core=[block("a", content=f"\x1b[31m\u202e {SECRET}")])))
    assert f'content: "\x1b[31m\u202e {SECRET}"\n'.encode() in piped(path).stdout


def test_a_terminal_gets_neither_control_characters_nor_secrets(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_bytes(to_bytes(snapshot_value(core=[block("a", content=f"\x1b[31m\u202e {SECRET}")])))
    with PtySession([*PROGRAM, path]) as terminal:
        assert terminal.finish() == 0
    shown = terminal.output.decode()
    assert 'content: "^[[31m<U+202E> ' in shown
    assert SECRET not in shown
    assert "\x1b[31m" not in shown
    assert shown.endswith("</context>\r\n")


def test_half_of_a_surrogate_pair_becomes_a_replacement_character(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_bytes(to_bytes(snapshot_value(core=[block("a", content="x" * 511 + "😀")])))
    assert f"{'x' * 511}\ufffd\n".encode() in piped(path).stdout
    done = piped(path, "--as", "messages")
    assert rb"x\ud83d\n" in done.stdout
    assert json.loads(done.stdout)[0]["content"].count("\ud83d") == 1


@pytest.mark.parametrize("form", ["text", "messages", "json"])
def test_sha256_is_that_of_the_output(first: Path, form: str) -> None:
    output = piped(first, "--as", form).stdout
    assert piped(first, "--as", form, "--sha256").stdout.decode() == f"{hashlib.sha256(output).hexdigest()}\n"


def test_messages(first: Path, ctxview: Run) -> None:
    assert ctxview("prompt", first, "--as", "messages").json == [
        {"role": "system", "content": FIRST_TEXT},
        {
            "role": "system",
            "content": None,
            "missing": {"what": "base prompt", "tokens": None, "bytes": None, "by": None},
        },
        {"role": "user", "content": "fix: the clock"},
    ]


def test_parts_are_the_text_and_their_tokens_add_up(first: Path, ctxview: Run) -> None:
    ran = ctxview("prompt", first, "--as", "json")
    found = ran.json
    assert ran.err == ""
    parts = found["messages"][0]["parts"]
    assert "".join(part["text"] for part in parts) == FIRST_TEXT
    assert found["sha256"] == hashlib.sha256(FIRST_TEXT.encode()).hexdigest()
    assert sum(part["tokens"] or 0 for part in parts) == found["tokens"]
    (content,) = [part for part in parts if "Deploys" in part["text"]]
    assert (content["block"], content["tier"], content["field"]) == ("c1", "core", None)
    assert content["origin"]["pointer"] == "/memory/core/0/content"
    assert [part["cut"]["what"] for part in parts if part["cut"]] == ["c2", "w2"]


def test_a_revision_of_a_folder(ctxview: Run) -> None:
    assert "\n  round: 9\n" in ctxview("prompt", LIGHTHOUSE, "--at", "9").out
    assert ctxview("prompt", LIGHTHOUSE, "--at", "99").code == 2


def test_another_target(ctxview: Run) -> None:
    ran = ctxview("prompt", HANDOFF, "--to", "tool")
    assert ran.out.startswith("pytest tests/dunning/")
    assert not ran.out.endswith("\n")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((HANDOFF, "--to", "reviewer"), "nothing was assembled for reviewer, only for model, tool"),
        ((samples_folder() / "README.md",), "no prompt is known for the format raw"),
        ((LIGHTHOUSE, "--to", "tool"), "a snapshot is given to the model only, not to tool"),
    ],
)
def test_without_a_prompt_nothing_is_printed(
    arguments: tuple[str | Path, ...], reason: str, ctxview: Run
) -> None:
    ran = ctxview("prompt", *arguments)
    assert (ran.code, ran.out) == (1, "")
    assert ran.complaint.endswith(reason)


def test_the_runtime_would_fail_without_runtime(tmp_path: Path, ctxview: Run) -> None:
    path = tmp_path / "s.json"
    path.write_bytes(to_bytes(snapshot_value(runtime=...)))
    ran = ctxview("prompt", path)
    assert (ran.code, ran.out) == (1, "")
    assert "no `runtime`" in ran.complaint


def test_notes_cannot_act_on_a_terminal(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_bytes(to_bytes(snapshot_value(active_task_meta={"status": "done"}, version="\x1b[2J")))
    done = piped(path)
    assert b"\x1b" not in done.stderr


def test_all_samples_give_a_prompt_or_a_reason(ctxview: Run) -> None:
    for path in (samples_folder() / "snapshot" / "broken").iterdir():
        ran = ctxview("prompt", path)
        assert ran.code in (0, 1), path
        assert bool(ran.out) == (ran.code == 0), path
        assert "Traceback" not in ran.err
