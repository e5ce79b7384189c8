"""Rollouts of Codex in other shapes: legacy ones, forks, paginated ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ctxview.formats import open_source
from tests.formats.transcript.builders import LENS, codex_lines, findings_of, packed, state_of, write

LEGACY = (
    {"id": "r0", "timestamp": "2025-06-01T10:00:00Z", "instructions": "Be brief.", "git": None},
    {"record_type": "state"},
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Fix the parser"}]},
    {"type": "function_call", "name": "shell", "call_id": "c1", "arguments": '{"command": ["ls"]}'},
    {"type": "function_call_output", "call_id": "c1", "output": "a.py"},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done"}]},
)


def test_a_legacy_rollout_opens_as_codex(tmp_path: Path) -> None:
    path = tmp_path / "rollout.jsonl"
    path.write_text("\n".join(map(json.dumps, LEGACY)) + "\n")
    source = open_source(path)
    assert source.format == "transcript"
    state = source.reading(len(source.revisions) - 1, LENS).state
    texts = [block.text for tier in state.tiers for block in tier.blocks]
    assert texts == ["Be brief.", "Fix the parser", '{"command": ["ls"]}', "Done", "a.py"]
    assert state.log is not None
    assert (state.log.dialect, state.log.calls_without_result) == ("codex", ())


def test_a_dump_of_items_without_the_first_row_is_not_a_rollout(tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    path.write_text("\n".join(map(json.dumps, LEGACY[2:])) + "\n")
    source = open_source(path)
    state = source.reading(len(source.revisions) - 1, LENS).state
    assert state.log is None or state.log.dialect != "codex"


FORK = """
meta at=60 forked=r0
meta at=0
user at=1: Fix the parser
assistant at=2: Done
tokens at=3 sent=9000 out=30
user at=70: Now the printer
assistant at=71: Done too
tokens at=72 sent=9100 out=40
"""


def test_copied_rows_of_a_fork_are_context_and_not_calls(tmp_path: Path) -> None:
    state = state_of(write(tmp_path, FORK))
    assert state.log is not None
    assert (state.log.calls, state.log.last_sent, state.log.output_tokens) == (1, 9100, 40)
    texts = [block.text for tier in state.tiers for block in tier.blocks]
    assert "Fix the parser" in texts
    assert sum(segment.used for segment in state.budgets[0].segments) == state.budgets[0].used


def test_the_ordinal_decides_where_a_child_begins(tmp_path: Path) -> None:
    lines = [json.loads(line) for line in codex_lines(FORK)]
    for ordinal, line in enumerate(lines):
        line |= {"ordinal": ordinal, "timestamp": "2026-08-01T10:00:00Z"}
    lines[0]["payload"]["subagent_history_start_ordinal"] = 5
    path = tmp_path / "child.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)) + "\n")
    state = state_of(path)
    assert state.log is not None
    assert state.log.calls == 1


def _id(at: int) -> str:
    """An id that was made `at` seconds after 2026-08-01 10:00."""
    moment = f"{1785578400000 + 1000 * at:012x}"
    return f"{moment[:8]}-{moment[8:]}-7222-8333-9a0b1c2d3e4f"


STAMPED = """
meta forked=r0
meta
task_started turn=1
user: Fix the parser
assistant: Done
tokens sent=9000 out=30
task_started turn=70
user: Now the printer
assistant: Done too
tokens sent=9100 out=40
"""


@pytest.mark.parametrize("named", [True, False])
def test_copies_with_new_times_are_told_by_turns_that_began_before_the_session(
    tmp_path: Path, named: bool
) -> None:
    lines = [json.loads(line) for line in codex_lines(STAMPED)]
    for line in lines:
        line["timestamp"] = "2026-08-01T10:01:00.000Z"
    lines[0]["payload"]["id"] = _id(60) if named else "r1"
    lines[2]["payload"]["turn_id"], lines[6]["payload"]["turn_id"] = _id(1), _id(70)
    path = tmp_path / "fork.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)) + "\n")
    state = state_of(path)
    assert state.log is not None
    assert (state.log.calls, state.log.last_sent, state.log.output_tokens) == (1, 9100, 40)
    assert "Fix the parser" in [block.text for block in state.blocks()]
    (found,) = (each for each in findings_of(path) if each.rule == "TRA009")
    assert found.message.startswith("6 rows were copied")


@pytest.mark.parametrize(
    ("name", "is_found"), [("rollout-x-0b5e1a7e.jsonl", False), ("rollout-x-99.jsonl", True)]
)
def test_history_in_another_file_is_looked_for_by_name(tmp_path: Path, name: str, is_found: bool) -> None:
    path = write(tmp_path, "meta base=0b5e1a7e\nuser: Go on", "rollout-y-1.jsonl")
    (tmp_path / name).write_text("")
    assert ("TRA010" in {each.rule for each in findings_of(path)}) is is_found


ROLLOUT = "meta\nuser: Fix it\nassistant: Done\ntokens sent=900 out=5"


@pytest.mark.parametrize("packing", ["zstd", "gzip"])
def test_a_compressed_rollout_reads_like_a_plain_one(tmp_path: Path, packing: str) -> None:
    name = "rollout-2026-08-01T10-00-00-00000001-1111-4222-8333-9a0b1c2d3e4f.jsonl"
    plain = state_of(write(tmp_path / "plain", ROLLOUT, name))
    path = packed(write(tmp_path / "packed", ROLLOUT, name), packing)
    source = open_source(path)
    state = source.reading(len(source.revisions) - 1, LENS).state
    assert [block.text for block in state.blocks()] == [block.text for block in plain.blocks()]
    assert state.log == plain.log
    assert source.bytes_of(str(path)) == (tmp_path / "plain" / name).read_bytes()
    assert source.again() is source
    assert path.parent.joinpath("unpacked.jsonl").exists() is False


def test_without_an_unpacker_a_compressed_rollout_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "rollout-2026-08-01T10-00-00-00000001-1111-4222-8333-9a0b1c2d3e4f.jsonl"
    path = packed(write(tmp_path, ROLLOUT, name), "zstd")
    monkeypatch.setattr("ctxview.formats.transcript.unpacking._zstd", lambda: None)
    (finding,) = (each for each in open_source(path).findings(LENS) if each.rule == "TRF011")
    assert "ctxview[zstd]" in finding.message


def test_a_file_that_is_damaged_inside_is_shown_up_to_there(tmp_path: Path) -> None:
    path = packed(write(tmp_path, ROLLOUT + "\nuser: word*400000"), "gzip")
    path.write_bytes(path.read_bytes()[:-200])
    state = state_of(path)
    assert "Fix it" in [block.text for block in state.blocks()]
