"""The guard that watches every other test."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxview.files.create import create
from ctxview.files.reading import read_bytes
from tests import history_guard


@pytest.fixture
def breaches(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    found: list[str] = []
    monkeypatch.setattr(history_guard, "breaches", found)
    return found


def test_a_history_written_by_ctxview_is_reported(tmp_path: Path, breaches: list[str]) -> None:
    create(tmp_path, "messages.jsonl", b"{}\n")
    assert any("messages.jsonl" in breach and "create.py" in breach for breach in breaches)


def test_reading_a_history_and_writing_other_files_is_allowed(tmp_path: Path, breaches: list[str]) -> None:
    (tmp_path / "events.jsonl").write_bytes(b"{}\n")
    read_bytes(tmp_path / "events.jsonl")
    create(tmp_path, "summary.md", b"all well\n")
    assert breaches == []
