"""A source that is a folder, and the walk through it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxview.files.reading import ReadError
from ctxview.formats.kit.folder import EntryKind, SourceFolder
from ctxview.formats.kit.folder_source import FolderSource


class NotesSource(FolderSource):
    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._read = SourceFolder(path)
        self._read.read("notes.md")

    @property
    def folder(self) -> SourceFolder:
        return self._read


def test_the_bytes_of_a_file_are_those_that_were_read(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_bytes(b"before")
    source = NotesSource(tmp_path)
    (tmp_path / "notes.md").write_bytes(b"after")
    (tmp_path / "other.md").write_bytes(b"other")

    assert source.bytes_of(str(tmp_path / "notes.md")) == b"before"
    assert source.bytes_of(str(tmp_path / "other.md")) == b"other"


def test_a_file_outside_of_the_folder_is_not_read(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "outside").write_bytes(b"x")

    with pytest.raises(ReadError):
        NotesSource(folder).bytes_of(str(folder / ".." / "outside"))
    with pytest.raises(ReadError):
        NotesSource(folder).bytes_of(str(tmp_path / "outside"))


def test_the_folder_and_every_file_that_was_asked_for_are_watched(tmp_path: Path) -> None:
    assert NotesSource(tmp_path).watched == (tmp_path, tmp_path / "notes.md")


def names(folder: SourceFolder, deepest: int = 9, most: int = 99) -> tuple[list[str], tuple[str, ...]]:
    walked = folder.walk("", deepest, most, lambda name: name.endswith("skipped"))
    return sorted(name for name, _ in walked.entries), walked.unsearched


@pytest.fixture
def tree(tmp_path: Path) -> SourceFolder:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "skipped").mkdir()
    (tmp_path / "a" / "skipped" / "inside").touch()
    (tmp_path / "a" / "b" / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path / "a")
    return SourceFolder(tmp_path)


def test_a_walk_lists_everything_but_skipped_folders_and_follows_no_link(tree: SourceFolder) -> None:
    assert names(tree) == (["a", "a/b", "a/b/file", "link"], ())
    assert dict(tree.walk("", 9, 99).entries)["link"].kind is EntryKind.LINK


def test_a_walk_names_the_folders_that_are_too_deep(tree: SourceFolder) -> None:
    assert names(tree, deepest=1) == (["a", "a/b", "link"], ("a/b",))


def test_a_walk_names_the_folders_that_it_did_not_reach(tree: SourceFolder) -> None:
    assert names(tree, most=2) == (["a", "link"], ("a",))
