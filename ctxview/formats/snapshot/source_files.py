"""Chooses the files of a snapshot source and names their revisions.

`formats.kit.file_source` reads them, `order` sorts them.
"""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

from ctxview.core import revision_signs as signs
from ctxview.formats.interface import OpenError, Revision
from ctxview.formats.kit import file_source
from ctxview.formats.peek import Peek
from ctxview.formats.snapshot.format import (
    STORE_FILES,
    SUFFIXES,
    agent_folder,
    belongs_to_source,
    is_store,
    log_folder,
)
from ctxview.formats.snapshot.model import Snapshot, text
from ctxview.formats.snapshot.parser import SnapshotFile, SnapshotFileKind, parse_file

Loaded: TypeAlias = file_source.LoadedFiles[SnapshotFile]
LoadedFile: TypeAlias = file_source.LoadedFile[SnapshotFile]

READER = file_source.FileReader[SnapshotFile](
    lambda file, data, _whole: parse_file(file, data),
    is_broken=lambda found: found.error is not None,
    belongs=belongs_to_source,
)


def load_files(peek: Peek, earlier: Loaded | None = None) -> tuple[Loaded, Path | None]:
    """Load the files of the source at `peek`, and find the folder of its store; raises `OpenError`.

    With the files of an `earlier` load, only changed files are read, and half-written ones are held back.
    """
    files = file_source.FileLoader(READER, earlier)
    path = peek.path
    if not path.is_dir():
        if path.name in STORE_FILES and is_store(peek.parent):
            return files.loaded(), path.parent
        files.add_named(peek)
        return files.loaded(), None
    store = agent_folder(peek)
    folder = log_folder(path, store)
    rounds = peek if folder == path else Peek(folder)
    for name in rounds.names:
        if not name.startswith(".") and Path(name).suffix in SUFFIXES and not (folder / name).is_dir():
            files.add(rounds.below(name), by_content=store is None)
    if not files.files and store is None:
        raise OpenError(f"{path}: no snapshot, reply or log in this folder")
    return files.loaded(), store


_SIGNS = {
    SnapshotFileKind.REPLY.value: signs.REPLY,
    SnapshotFileKind.FULL_LOG.value: signs.LOG,
    SnapshotFileKind.LITE_LOG.value: signs.LOG,
    "unreadable": signs.UNREADABLE,
}


def file_revision(
    file: LoadedFile, found: SnapshotFile, received: Snapshot | None, *, by_round: bool
) -> Revision:
    # The clock that a reply states is not evidence.
    snapshot = received if received is not None and found.snapshot is not None else found.snapshot
    current = snapshot.round if snapshot is not None else None
    time = text(snapshot.runtime.get("datetime")) if snapshot is not None else None
    kind = "unreadable" if file.problem is not None else found.kind.value
    word = {SnapshotFileKind.SNAPSHOT: "", SnapshotFileKind.FULL_LOG: " log"}.get(
        found.kind, f" {found.kind.value}"
    )
    label = f"round {current}{word}" if by_round and current is not None else file.path.name
    return Revision(label, kind, file.path, current, time, sign=_SIGNS.get(kind, signs.WHOLE_STATE))
