"""The guard that every other test runs under would notice."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxview.files.create import create
from ctxview.files.reading import read_bytes
from tests import history_guard


@pytest.fixture
def noticed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    found: list[str] = []
    monkeypatch.setattr(history_guard, "breaches", found)
    return found


def test_code_of_ctxview_that_makes_a_history_is_noticed(tmp_path: Path, noticed: list[str]) -> None:
    create(tmp_path, "messages.jsonl", b"{}\n")
    assert any("messages.jsonl" in breach and "create.py" in breach for breach in noticed)


def test_reading_a_history_and_writing_other_files_is_not(tmp_path: Path, noticed: list[str]) -> None:
    (tmp_path / "events.jsonl").write_bytes(b"{}\n")
    read_bytes(tmp_path / "events.jsonl")
    create(tmp_path, "summary.md", b"all well\n")
    assert noticed == []
