"""The common part of sources that are a folder of files: bytes, files to watch, files being written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ctxview.files.reading import ReadError, read_beneath
from ctxview.formats.interface import Abilities
from ctxview.formats.kit.folder import SourceFolder

if TYPE_CHECKING:
    from ctxview.core.edits import WritePolicy


class FolderSource:
    """A source that reads its files through a `SourceFolder`. Read-only unless the format says otherwise.

    A format adds `revisions`, `reading`, `findings` and `again`. In `again`, `folder.seen.still_true()` says
    whether anything changed, and `folder.again()` reads only the files that did. To read drafts, read a
    `SourceFolder(path, overlay, FolderReading(before=folder.seen.parts))`.
    """

    profiles: Sequence[str] = ()

    def __init__(self, path: Path) -> None:
        self._path = path
        self._watched: tuple[Path, ...] = ()
        self._stamps_watched = -1

    @property
    def folder(self) -> SourceFolder:
        """The folder with everything that was read from it."""
        raise NotImplementedError

    @property
    def path(self) -> Path:
        return self._path

    @property
    def title(self) -> str:
        return self._path.absolute().name

    @property
    def abilities(self) -> Abilities:
        return Abilities(partial_writes=self)

    def bytes_of(self, file: str) -> bytes:
        """Return the bytes of a file as it was read; any other file of the folder is read now.

        Raises `ReadError`, also for a file that is too large.
        """
        name = self.folder.name_of(file)
        if name is None:
            raise ReadError(Path(file), "this file is not part of the folder")
        part = self.folder.seen.parts.get(name)
        if part is not None and part.data is not None:
            return part.data
        return read_beneath(self.folder.root, name)

    def policy(self, file: str) -> WritePolicy | None:  # noqa: ARG002 - some formats are read-only
        return None

    @property
    def watched(self) -> Sequence[Path]:
        """The folder, every file that was read, and every folder that was listed."""
        stamps = tuple(self.folder.seen.stamps)
        # Every drawing of the header asks for them, and making paths of hundreds of names takes long.
        if len(stamps) != self._stamps_watched:
            self._watched = tuple(dict.fromkeys((self._path, *map(Path, stamps))))
            self._stamps_watched = len(stamps)
        return self._watched

    @property
    def held_back(self) -> Sequence[Path]:
        return tuple(self.folder.root / name for name in self.folder.seen.held_back)
