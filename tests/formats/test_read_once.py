"""Nothing is read twice: a source takes over what was read to recognise it."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from ctxview.analysis.tokens import ESTIMATES
from ctxview.files import reading
from ctxview.files.strict_json import document
from ctxview.files.strict_json.scanner import JsonNodes
from ctxview.formats import Lens, discover
from ctxview.formats.discovery import MOST_KEPT
from ctxview.samples import samples_folder
from tests.formats.snapshot.builders import block, snapshot_value, to_bytes

LENS = Lens(ESTIMATES["bytes/4"])


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Counter[tuple[int, int]]:
    """How often each file was opened to be read, by its identity."""
    found = Counter[tuple[int, int]]()
    read = reading._read

    def counted(descriptor: int, path: Path, limit: int) -> bytes:
        status = os.fstat(descriptor)
        found[status.st_dev, status.st_ino] += 1
        return read(descriptor, path, limit)

    monkeypatch.setattr(reading, "_read", counted)
    return found


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> Counter[bytes]:
    """How often each JSON text was parsed."""
    found = Counter[bytes]()
    check = document.JsonDocument._check

    def counted(self: document.JsonDocument) -> None:
        found[self.data[self.start : self.end].strip()] += 1
        check(self)

    monkeypatch.setattr(document.JsonDocument, "_check", counted)
    return found


@pytest.mark.parametrize("sample", ["snapshot/lighthouse", "envelope/handoff", "envelope/planted"])
def test_every_file_is_opened_and_parsed_once(
    sample: str, opened: Counter[tuple[int, int]], parsed: Counter[bytes]
) -> None:
    folder = samples_folder() / sample
    (found,) = discover(folder).found
    source = found.open()
    source.reading(len(source.revisions) - 1, LENS)

    own = {(status.st_dev, status.st_ino) for status in map(os.stat, folder.iterdir())}
    texts = {each.read_bytes().strip() for each in folder.glob("*.json")}
    assert {times for file, times in opened.items() if file in own} == {1}
    assert {times for text, times in parsed.items() if text in texts} == {1}
    assert texts <= parsed.keys()


@pytest.mark.parametrize(
    "sample",
    [
        "session/fresh/home/1000/agent/coder/session/default",
        "workspace/workspace-after",
        "workspace/workspace-before",
        "workspace/workspace-home",
    ],
)
def test_no_file_is_read_to_recognise_a_folder_by_its_names(
    sample: str, opened: Counter[tuple[int, int]]
) -> None:
    folder = samples_folder() / sample
    found = discover(folder).found[0]
    assert found.path == folder
    assert opened == {}

    source = found.open()
    source.reading(len(source.revisions) - 1, LENS)
    # A database is opened for each of its queries.
    files = [each for each in folder.iterdir() if each.suffix != ".db"]
    own = {(status.st_dev, status.st_ino) for status in map(os.stat, files)}
    assert {times for file, times in opened.items() if file in own} == {1}


def test_a_repository_takes_over_the_files_that_were_read_to_recognise_it(
    opened: Counter[tuple[int, int]],
) -> None:
    folder = samples_folder() / "workspace" / "webshop"
    found = discover(folder).found[0]
    source = found.open()
    source.reading(0, LENS)

    for name in ("AGENTS.md", "CLAUDE.md"):
        status = (folder / name).stat()
        assert opened[status.st_dev, status.st_ino] == 1


def test_what_was_read_is_forgotten_when_the_source_is_open(opened: Counter[tuple[int, int]]) -> None:
    (found,) = discover(samples_folder() / "snapshot" / "lighthouse").found
    assert 0 < found.peek.held <= MOST_KEPT
    found.open()
    assert found.peek.held == 0
    before = sum(opened.values())
    found.open()
    assert sum(opened.values()) > before


def test_a_search_keeps_no_more_than_there_is_room_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sample = (samples_folder() / "snapshot" / "lighthouse" / "round-02.received.json").read_bytes()
    for number in range(6):
        folder = tmp_path / f"agent-{number}"
        folder.mkdir()
        (folder / "round-1.json").write_bytes(sample)
    monkeypatch.setattr("ctxview.formats.discovery.MOST_KEPT", 3 * len(sample))
    found = discover(tmp_path).found
    assert len(found) == 6
    assert sum(each.peek.held for each in found) <= 3 * len(sample)
    assert all(each.open().revisions for each in found)


def test_a_snapshot_without_findings_is_checked_without_a_scan_for_spans(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scanned: list[bytes] = []
    scan = document.scan

    def noted(data: bytes, start: int, end: int) -> JsonNodes:
        scanned.append(data)
        return scan(data, start, end)

    monkeypatch.setattr(document, "scan", noted)
    file = tmp_path / "snapshot.json"
    file.write_bytes(to_bytes(snapshot_value(core=[block(round=1)], round=1)))
    (found,) = discover(file).found

    assert found.open().findings(LENS) == ()
    assert file.read_bytes() not in scanned
