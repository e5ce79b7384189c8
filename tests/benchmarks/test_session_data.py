"""The generated sessions of the benchmarks have the promised content."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.session_data import FIRST, LAST, NEEDLE, write_session
from ctxview.analysis.tokens import ESTIMATES
from ctxview.core.findings import Severity
from ctxview.formats import Lens, open_source


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "session"
    write_session(folder, 3_000_000)
    return folder


def test_the_same_seed_gives_the_same_bytes(session: Path, tmp_path: Path) -> None:
    for seed, same in ((20260412, True), (7, False)):
        folder = tmp_path / str(seed)
        write_session(folder, 3_000_000, seed)
        for name in ("messages.jsonl", "latest.md"):
            assert ((folder / name).read_bytes() == (session / name).read_bytes()) is same


def test_every_line_is_a_record(session: Path) -> None:
    messages = [json.loads(line) for line in (session / "messages.jsonl").read_bytes().splitlines()]
    events = [json.loads(line) for line in (session / "events.jsonl").read_bytes().splitlines()]

    assert {message["role"] for message in messages} == {"user", "assistant", "tool"}
    assert {event["type"] for event in events} == {"start", "tool_call", "usage", "done"}
    assert messages[-1]["content"][0]["text"] + "\n" == (session / "latest.md").read_text()


def test_the_mix_of_small_and_large_records_is_as_documented(session: Path) -> None:
    lines = (session / "messages.jsonl").read_bytes().splitlines()
    large = [line for line in lines if len(line) > 20_000]
    outputs = [line.split(b'"content":"')[1].rpartition(b'"}]')[0] for line in large]

    assert 2_990_000 < sum(len(line) + 1 for line in lines) < 4_000_000
    assert max(map(len, lines)) < 256 * 1024
    assert sum(map(len, large)) > 1_500_000
    assert len(set(outputs)) < len(outputs)
    assert any("会话".encode() in line for line in lines)


def test_each_mark_occurs_once_in_its_place(session: Path) -> None:
    content = (session / "messages.jsonl").read_text()
    lines = content.splitlines()

    assert [content.count(mark) for mark in (FIRST, NEEDLE, LAST)] == [1, 1, 1]
    assert FIRST in lines[0]
    assert LAST in lines[-1]
    assert content.index(NEEDLE) > len(content) * 0.95


def test_a_generated_session_has_no_errors(session: Path) -> None:
    lens = Lens(ESTIMATES["bytes/4"])

    found = open_source(session).findings(lens)

    assert [str(finding) for finding in found if finding.severity is Severity.ERROR] == []
