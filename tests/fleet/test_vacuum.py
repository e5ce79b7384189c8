"""Vacuum removes older versions and abandoned rows, and changes no answer, whenever it is interrupted."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest

from ctxview.fleet.storage import FolderStorage, StorageError, storage_at
from ctxview.fleet.tables import TABLES
from ctxview.fleet.vacuum import SETTLED, vacuum
from tests.fleet.sources import answer, counts, fleet_tree, read, settled


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A tree, and its tables with two versions of one source."""
    tree, out = fleet_tree(tmp_path_factory.mktemp("tree")), tmp_path_factory.mktemp("out")
    read(tree, out)
    with (tree / "agents" / "s01" / "messages.jsonl").open("a") as file:
        file.write('{"role": "user", "content": "More."}\n')
    settled(tree)
    read(tree, out)
    return tree, out


@pytest.fixture
def fleet(changed: tuple[Path, Path], tmp_path: Path) -> tuple[Path, Path]:
    """The same tree with a copy of the tables."""
    tree, out = changed
    return tree, Path(shutil.copytree(out, tmp_path / "out"))


def files(out: Path, table: str = "*") -> list[Path]:
    return sorted(out.glob(f"{table}/*/*.parquet"))


def abandon(out: Path) -> Path:
    """Remove a commit, as if its run had been killed before it."""
    commit = next(
        file for file in files(out, "sources") if (out / "findings" / file.parent.name / file.name).exists()
    )
    commit.unlink()
    return out / "findings" / commit.parent.name / commit.name


def test_the_answers_stay_and_the_files_become_few(fleet: tuple[Path, Path]) -> None:
    tree, out = fleet
    before = counts(out)

    vacuum(storage_at(str(out)))

    assert counts(out) == before
    assert len(files(out)) == len(TABLES)
    assert answer(out, "SELECT count(*) FROM all_sources") == [(before["sources"],)]
    assert read(tree, out).sources == 0


def test_abandoned_rows_stay_for_an_hour(fleet: tuple[Path, Path]) -> None:
    tree, out = fleet
    rows = abandon(out)

    vacuum(storage_at(str(out)))
    assert rows.exists(), "its run may still be under way"
    os.utime(rows, (0, time.time() - SETTLED - 1))
    vacuum(storage_at(str(out)))

    assert not rows.exists()
    assert read(tree, out).sources > 0


def test_an_interruption_at_any_step_changes_no_answer(
    fleet: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, out = fleet
    before = counts(out)
    steps = len(TABLES) + len(files(out))
    write, remove = FolderStorage.write, FolderStorage.remove
    left = 0

    def step() -> None:
        nonlocal left
        if left == 0:
            raise StorageError("interrupted")
        left -= 1

    monkeypatch.setattr(FolderStorage, "write", lambda *arguments: (step(), write(*arguments)))
    monkeypatch.setattr(FolderStorage, "remove", lambda *arguments: (step(), remove(*arguments)))
    for allowed in range(0, steps, 4):
        copy = shutil.copytree(out, tmp_path / f"interrupted-{allowed}")
        left = allowed
        with pytest.raises(StorageError, match="interrupted"):
            vacuum(storage_at(str(copy)))
        assert counts(copy) == before
        left = 1000
        vacuum(storage_at(str(copy)))
        assert counts(copy) == before
