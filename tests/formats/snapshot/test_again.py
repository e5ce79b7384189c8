"""Another look at snapshots that change on disk: what is new is seen, what is half-written is not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ctxview.analysis.tokens import ESTIMATES
from ctxview.findings import Finding
from ctxview.formats import CannotOpen, Lens, Source, loading, open_source
from ctxview.formats.interface import HoldsBack
from ctxview.formats.snapshot import source as sources
from ctxview.formats.snapshot.profile import Profile
from ctxview.formats.snapshot.read import SnapshotFile
from tests.formats.snapshot.builders import block, reply_bytes, to_bytes
from tests.formats.snapshot.test_agent_store import memory_db
from tests.formats.snapshot.test_source import at, labels
from tests.formats.watching import Time, replace, write

LENS = Lens(ESTIMATES["bytes/4"])


def texts(source: Source, revision: int = -1) -> list[str]:
    found = source.reading(revision % len(source.revisions), LENS)
    return [each.text for each in found.state.blocks()]


def says(text: str, round: int = 1) -> bytes:  # noqa: A002
    return to_bytes(at(round, working=[block("w-1", content=text)]))


def held_back(source: Source) -> list[str]:
    assert isinstance(source, HoldsBack)
    return [path.name for path in source.held_back]


@pytest.mark.parametrize("change", [write, replace])
def test_a_file_that_changed_is_read_and_the_look_before_stays_what_it_was(
    tmp_path: Path, time: Time, change: object
) -> None:
    file = tmp_path / "work.json"
    file.write_bytes(says("old"))
    first = open_source(file)
    assert callable(change)
    change(file, says("new"))
    second = first.again()
    assert (texts(first), texts(second)) == (["old"], ["new"])
    assert file in second.watched


def test_a_change_within_one_tick_of_the_clock_is_seen(tmp_path: Path) -> None:
    file = tmp_path / "work.json"
    file.write_bytes(says("old"))
    source = open_source(file)
    file.write_bytes(says("new"))
    assert texts(source.again()) == ["new"]


def test_a_half_written_file_keeps_the_last_good_state_until_it_is_whole(tmp_path: Path, time: Time) -> None:
    file = tmp_path / "work.json"
    file.write_bytes(says("old"))
    source = open_source(file)
    time.stands_still()
    write(file, says("new")[:-40])
    source = source.again()
    assert (texts(source), held_back(source)) == (["old"], ["work.json"])
    write(file, says("new"))
    source = source.again()
    assert (texts(source), held_back(source)) == (["new"], [])


def test_a_file_that_stays_broken_is_shown_as_broken(tmp_path: Path, time: Time) -> None:
    file = tmp_path / "work.json"
    file.write_bytes(says("old"))
    source = open_source(file)
    time.stands_still()
    write(file, says("new")[:-40])
    source = source.again()
    time.passes()
    source = source.again()
    assert (texts(source), held_back(source)) == ([], [])
    assert source.reading(0, LENS).findings


def test_a_new_round_appears_in_its_place_and_others_are_neither_read_nor_judged_again(
    tmp_path: Path, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in (1, 3):
        (tmp_path / f"r{number}.json").write_bytes(says("x", number))
    source = open_source(tmp_path)
    source.findings(LENS)
    (tmp_path / "r2.json").write_bytes(says("y", 2))
    asked: list[str] = []
    check, load = sources.check_file, loading.read_beneath

    def checked(file: SnapshotFile, profile: Profile) -> Iterator[Finding]:
        asked.append(f"judge {Path(file.file).name}")
        return check(file, profile)

    def read(root: Path, name: str, limit: int) -> bytes:
        asked.append(f"read {name}")
        return load(root, name, limit)

    monkeypatch.setattr(sources, "check_file", checked)
    monkeypatch.setattr(loading, "read_beneath", read)
    later = source.again()
    later.findings(LENS)
    assert labels(later) == ["round 1", "round 2", "round 3"]
    assert asked == ["read r2.json", "judge r2.json"]
    # The third goes on from another round now, which is judged anew although its content is not.
    assert later.findings(LENS) == open_source(tmp_path).findings(LENS)


def test_a_draft_that_was_judged_is_not_judged_again_once_it_is_saved(
    tmp_path: Path, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, draft = tmp_path / "work.json", says("new")
    file.write_bytes(says("old"))
    source = open_source(file)
    before = source.reading(0, LENS, {str(file): draft}).findings
    write(file, draft)
    monkeypatch.delattr(sources, "check_file")
    assert source.again().reading(0, LENS).findings == before


def test_a_new_round_that_is_half_written_comes_when_it_is_whole(tmp_path: Path, time: Time) -> None:
    (tmp_path / "r1.json").write_bytes(says("x"))
    source = open_source(tmp_path)
    time.stands_still()
    (tmp_path / "r2.json").write_bytes(b"{")
    (tmp_path / "reply-2.txt").write_bytes(b"")
    source = source.again()
    assert labels(source) == ["round 1"]
    assert held_back(source) == ["r2.json", "reply-2.txt"]
    write(tmp_path / "r2.json", says("y", 2))
    write(tmp_path / "reply-2.txt", reply_bytes(at(2)))
    source = source.again()
    assert labels(source) == ["round 1", "round 2", "round 2 reply"]
    assert held_back(source) == []


def test_a_removed_round_is_gone(tmp_path: Path, time: Time) -> None:
    for number in (1, 2):
        (tmp_path / f"r{number}.json").write_bytes(says("x", number))
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
    assert same.again()._store is not source._store  # type: ignore[attr-defined]
    assert {agent / "memory.db", agent / "log"} <= set(source.watched)


def test_what_is_gone_cannot_be_looked_at_until_it_is_back(tmp_path: Path, time: Time) -> None:
    file = tmp_path / "work.json"
    file.write_bytes(says("old"))
    source = open_source(file)
    file.unlink()
    with pytest.raises(CannotOpen, match="there is no such file"):
        source.again()
    assert texts(source) == ["old"]
    file.write_bytes(says("new"))
    assert texts(source.again()) == ["new"]
