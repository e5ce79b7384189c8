"""Which files a source of this format is made of, and how they are read; `formats.loading` does the rest."""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

from ctxview.formats import loading
from ctxview.formats.interface import CannotOpen
from ctxview.formats.peek import Peek
from ctxview.formats.snapshot.opening import (
    STORE_FILES,
    SUFFIXES,
    agent_folder,
    belongs,
    is_store,
    log_folder,
)
from ctxview.formats.snapshot.read import SnapshotFile, read

Loaded: TypeAlias = loading.Loaded[SnapshotFile]
LoadedFile: TypeAlias = loading.LoadedFile[SnapshotFile]

READER = loading.Reader[SnapshotFile](
    lambda file, data, _whole: read(file, data),
    is_broken=lambda found: found.error is not None,
    belongs=belongs,
)


def load(path: Path, earlier: Loaded | None = None) -> tuple[Loaded, Path | None]:
    """The files of the source at `path`, and its store; raises `CannotOpen`.

    With what an earlier look loaded, files are read only if they changed, and half-written ones held back.
    """
    files = loading.Loading(READER, earlier)
    if not path.is_dir():
        if path.name in STORE_FILES and is_store(Peek(path.parent)):
            return files.loaded(), path.parent
        files.add_named(path)
        return files.loaded(), None
    store = agent_folder(Peek(path))
    for each in _candidates(path, store):
        files.add(each, by_content=store is None)
    if not files.files and store is None:
        raise CannotOpen(f"{path}: no snapshot, reply or log in this folder")
    return files.loaded(), store


def _candidates(path: Path, store: Path | None) -> list[Path]:
    folder = log_folder(path, store)
    names = [name for name in Peek(folder).names if not name.startswith(".")]
    paths = [folder / name for name in names if Path(name).suffix in SUFFIXES]
    return [each for each in paths if not each.is_dir()]
