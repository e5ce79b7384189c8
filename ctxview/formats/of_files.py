"""What every source that is loaded from files answers alike. A format adds what the files mean."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from ctxview.files.reading import read_bytes
from ctxview.formats.loading import Loaded

if TYPE_CHECKING:
    from ctxview.edits import WritePolicy

R = TypeVar("R")


class OfFiles(Generic[R]):
    """One look at the files at `path`. Nothing may be written unless the format says so."""

    profiles: Sequence[str] = ()

    def __init__(self, path: Path, loaded: Loaded[R]) -> None:
        self._path = path
        self._loaded = loaded

    @property
    def path(self) -> Path:
        return self._path

    @cached_property
    def title(self) -> str:
        return self._path.resolve().name

    def bytes_of(self, file: str) -> bytes:
        """What was read of one of the files; one that lies beside them is read now. Raises `Unreadable`."""
        known = next((each for each in self._loaded.files if str(each.path) == file), None)
        return known.data if known is not None else read_bytes(Path(file))

    def policy(self, file: str) -> WritePolicy | None:  # noqa: ARG002 - some formats let nobody write
        return None

    @property
    def held_back(self) -> Sequence[Path]:
        return self._loaded.held_back

    @cached_property
    def watched(self) -> Sequence[Path]:
        """The folder, where new files appear, then the files, the latest first: agents write those."""
        folder = self._path if self._path.is_dir() else self._path.parent
        files = (file.path for file in reversed(self._loaded.files))
        return tuple(dict.fromkeys((folder, *files, *self._loaded.strangers)))
