"""Removal with undo: a file moves only if its identity is the expected one, and is restored unchanged."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from ctxview.files.removal import KEPT, RemovalRefused, begin_batch, identify, latest_batch


@pytest.fixture(params=["same file system", "other file system"])
def root(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with files, and a state folder near or far from it."""
    folder = tmp_path / "session"
    (folder / "context/blob").mkdir(parents=True)
    for name in ("a", "b"):
        (folder / "context/blob" / name).write_bytes(name.encode() * 100)
        os.utime(folder / "context/blob" / name, ns=(1, 1_700_000_000_000_000_001))
        (folder / "context/blob" / name).chmod(0o640)
    if request.param == "same file system":
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
        yield folder
        return
    shared_memory = Path("/dev/shm")
    if not shared_memory.is_dir() or shared_memory.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("there is no second file system to move to")
    with TemporaryDirectory(dir=shared_memory) as far:
        monkeypatch.setenv("XDG_STATE_HOME", far)
        yield folder


def take(root: Path, *names: str) -> None:
    batch = begin_batch(root)
    for name in names:
        before = identify(root, name)
        assert before is not None
        batch.take(name, before)


def test_a_removed_file_is_restored_with_its_content_mode_and_time(root: Path) -> None:
    take(root, "context/blob/a", "context/blob/b")
    assert list((root / "context/blob").iterdir()) == []

    batch = latest_batch(root)
    assert batch is not None
    assert [(each.name, each.problem) for each in batch.restore()] == [
        ("context/blob/a", None),
        ("context/blob/b", None),
    ]

    status = (root / "context/blob/a").stat()
    assert (root / "context/blob/a").read_bytes() == b"a" * 100
    assert (status.st_mode & 0o777, status.st_mtime_ns) == (0o640, 1_700_000_000_000_000_001)
    assert latest_batch(root) is None


def test_batches_are_restored_one_by_one_the_last_one_first(root: Path) -> None:
    take(root, "context/blob/a")
    take(root, "context/blob/b")

    for name in ("context/blob/b", "context/blob/a"):
        batch = latest_batch(root)
        assert batch is not None
        assert [each.name for each in batch.restore()] == [name]


def test_a_deleted_folder_is_created_again_for_its_files(root: Path) -> None:
    take(root, "context/blob/a", "context/blob/b")
    (root / "context/blob").rmdir()

    batch = latest_batch(root)
    assert batch is not None
    assert not any(each.problem for each in batch.restore())
    assert (root / "context/blob/b").read_bytes() == b"b" * 100


def test_a_new_file_of_the_same_name_is_not_overwritten_and_the_old_one_is_kept(root: Path) -> None:
    take(root, "context/blob/a")
    (root / "context/blob/a").write_bytes(b"new")

    batch = latest_batch(root)
    assert batch is not None
    (restored,) = batch.restore()

    assert restored.problem is not None
    assert (root / "context/blob/a").read_bytes() == b"new"
    kept = latest_batch(root)
    assert kept is not None
    assert next(kept.folder.glob("0*")).read_bytes() == b"a" * 100


def test_a_file_that_changed_since_it_was_chosen_stays(root: Path) -> None:
    before = identify(root, "context/blob/a")
    assert before is not None
    (root / "context/blob/a").write_bytes(b"changed")

    with pytest.raises(RemovalRefused):
        begin_batch(root).take("context/blob/a", before)

    assert (root / "context/blob/a").read_bytes() == b"changed"


def test_a_file_that_a_program_writes_into_stays(root: Path) -> None:
    with (root / "context/blob/a").open("ab") as writer:
        with pytest.raises(RemovalRefused, match="open for writing"):
            take(root, "context/blob/a")
        writer.write(b"late")

    assert (root / "context/blob/a").read_bytes().endswith(b"late")
    take(root, "context/blob/a")


def test_a_file_that_was_replaced_by_a_link_stays(root: Path, tmp_path: Path) -> None:
    before = identify(root, "context/blob/a")
    assert before is not None
    (tmp_path / "precious").write_bytes(b"x")
    (root / "context/blob/a").unlink()
    (root / "context/blob/a").symlink_to(tmp_path / "precious")

    with pytest.raises(RemovalRefused):
        begin_batch(root).take("context/blob/a", before)

    assert (tmp_path / "precious").exists()


def test_nothing_is_taken_through_a_linked_folder(root: Path, tmp_path: Path) -> None:
    (root / "linked").symlink_to(root / "context/blob")
    before = identify(root, "context/blob/a")
    assert before is not None

    assert identify(root, "linked/a") is None
    with pytest.raises(RemovalRefused):
        begin_batch(root).take("linked/a", before)


def test_a_broken_journal_line_hides_no_other(root: Path) -> None:
    take(root, "context/blob/a")
    batch = latest_batch(root)
    assert batch is not None
    journal = batch.folder / "journal.jsonl"
    journal.write_text('{"name":\n' + journal.read_text())

    assert [each.name for each in batch.restore()] == ["context/blob/a"]


def test_only_the_newest_batches_are_kept(root: Path) -> None:
    for number in range(KEPT + 3):
        (root / "context/blob/a").write_bytes(b"%d" % number)
        take(root, "context/blob/a")

    batch = latest_batch(root)
    assert batch is not None
    assert len(list(batch.folder.parent.iterdir())) == KEPT
