"""Snapshots that change on disk: new content is read, half-written files are not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ctxview.analysis.tokens import ESTIMATES
from ctxview.core.findings import Finding
from ctxview.files.reading import read_beneath
from ctxview.formats import Lens, OpenError, Source, open_source, peek
from ctxview.formats.snapshot import rules as snapshot_rules
from ctxview.formats.snapshot.parser import SnapshotFile
from ctxview.formats.snapshot.profile import Profile
from ctxview.formats.snapshot.rules import check_file
from tests.formats.snapshot.builders import at, block, labels, memory_db, reply_bytes, to_bytes
from tests.formats.watching import Time, replace, write

LENS = Lens(ESTIMATES["bytes/4"])


def texts(source: Source, revision: int = -1) -> list[str]:
    found = source.reading(revision % len(source.revisions), LENS)
    return [each.text for each in found.state.blocks()]


def with_content(text: str, round: int = 1) -> bytes:  # noqa: A002
    return to_bytes(at(round, working=[block("w-1", content=text)]))


def held_back(source: Source) -> list[str]:
    partial_writes = source.abilities.partial_writes
    assert partial_writes is not None
    return [path.name for path in partial_writes.held_back]


@pytest.mark.parametrize("change", [write, replace])
def test_a_changed_file_is_read_and_the_old_source_keeps_its_state(
    tmp_path: Path, time: Time, change: object
) -> None:
    file = tmp_path / "work.json"
    file.write_bytes(with_content("old"))
    first = open_source(file)
    assert callable(change)
    change(file, with_content("new"))
    second = first.again()
    assert (texts(first), texts(second)) == (["old"], ["new"])
    assert file in second.watched


def test_a_change_within_one_clock_tick_is_detected(tmp_path: Path) -> None:
    file = tmp_path / "work.json"
    file.write_bytes(with_content("old"))
    source = open_source(file)
    file.write_bytes(with_content("new"))
    assert texts(source.again()) == ["new"]


def test_a_half_written_file_keeps_the_last_good_state(tmp_path: Path, time: Time) -> None:
    file = tmp_path / "work.json"
    file.write_bytes(with_content("old"))
    source = open_source(file)
    time.stands_still()
    write(file, with_content("new")[:-40])
    source = source.again()
    assert (texts(source), held_back(source)) == (["old"], ["work.json"])
    write(file, with_content("new"))
    source = source.again()
    assert (texts(source), held_back(source)) == (["new"], [])


def test_a_file_that_stays_broken_is_shown_as_broken(tmp_path: Path, time: Time) -> None:
    file = tmp_path / "work.json"
    file.write_bytes(with_content("old"))
    source = open_source(file)
    time.stands_still()
    write(file, with_content("new")[:-40])
    source = source.again()
    time.passes()
    source = source.again()
    assert (texts(source), held_back(source)) == ([], [])
    assert source.reading(0, LENS).findings


def test_a_new_round_appears_in_order_and_the_others_are_neither_read_nor_checked_again(
    tmp_path: Path, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in (1, 3):
        (tmp_path / f"r{number}.json").write_bytes(with_content("x", number))
    source = open_source(tmp_path)
    source.findings(LENS)
    (tmp_path / "r2.json").write_bytes(with_content("y", 2))
    calls: list[str] = []
    check, load = check_file, read_beneath

    def checked(file: SnapshotFile, profile: Profile) -> Iterator[Finding]:
        calls.append(f"check {Path(file.file).name}")
        return check(file, profile)

    def read(root: Path, name: str, limit: int) -> bytes:
        calls.append(f"read {name}")
        return load(root, name, limit)

    monkeypatch.setattr(snapshot_rules, "check_file", checked)
    monkeypatch.setattr(peek, "read_beneath", read)
    later = source.again()
    later.findings(LENS)
    assert labels(later) == ["round 1", "round 2", "round 3"]
    assert calls == ["read r2.json", "check r2.json"]
    # The third round has another predecessor now, so they are compared again.
    assert later.findings(LENS) == open_source(tmp_path).findings(LENS)


def test_a_checked_draft_is_not_checked_again_after_saving(
    tmp_path: Path, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, draft = tmp_path / "work.json", with_content("new")
    file.write_bytes(with_content("old"))
    source = open_source(file)
    before = source.reading(0, LENS, {str(file): draft}).findings
    write(file, draft)
    monkeypatch.delattr(snapshot_rules, "check_file")
    assert source.again().reading(0, LENS).findings == before


def test_a_half_written_new_round_appears_when_it_is_complete(tmp_path: Path, time: Time) -> None:
    (tmp_path / "r1.json").write_bytes(with_content("x"))
    source = open_source(tmp_path)
    time.stands_still()
    (tmp_path / "r2.json").write_bytes(b"{")
    (tmp_path / "reply-2.txt").write_bytes(b"")
    source = source.again()
    assert labels(source) == ["round 1"]
    assert held_back(source) == ["r2.json", "reply-2.txt"]
    write(tmp_path / "r2.json", with_content("y", 2))
    write(tmp_path / "reply-2.txt", reply_bytes(at(2)))
    source = source.again()
    assert labels(source) == ["round 1", "round 2", "round 2 reply"]
    assert held_back(source) == []


def test_a_removed_round_is_gone(tmp_path: Path, time: Time) -> None:
    for number in (1, 2):
        (tmp_path / f"r{number}.json").write_bytes(with_content("x", number))
    source = open_source(tmp_path)
    (tmp_path / "r1.json").unlink()
    assert labels(source.again()) == ["round 2"]


def test_the_store_is_read_again_only_when_it_changed(tmp_path: Path, time: Time) -> None:
    agent = tmp_path / ".agent"
    (agent / "log").mkdir(parents=True)
    memory_db(agent / "memory.db")
    source = open_source(agent)
    source.reading(0, LENS)
    same = source.again()
    assert same is source
    (agent / "memory.db").touch()
    assert same.again()._stored.store is not source._stored.store  # type: ignore[attr-defined]
    assert {agent / "memory.db", agent / "log"} <= set(source.watched)


def test_a_deleted_file_cannot_be_read_until_it_is_back(tmp_path: Path, time: Time) -> None:
    file = tmp_path / "work.json"
    file.write_bytes(with_content("old"))
    source = open_source(file)
    file.unlink()
    with pytest.raises(OpenError, match="there is no such file"):
        source.again()
    assert texts(source) == ["old"]
    file.write_bytes(with_content("new"))
    assert texts(source.again()) == ["new"]
