"""Finds what replies answer in another source: in the folder beside theirs, or in files named together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from ctxview.formats.interface import OpenError
from ctxview.formats.peek import Peek
from ctxview.formats.snapshot.model import Snapshot, SnapshotRole, text
from ctxview.formats.snapshot.order import FileTurn, name_stem, natural_key, pair_replies
from ctxview.formats.snapshot.parser import SnapshotFile, SnapshotFileKind
from ctxview.formats.snapshot.source_files import Loaded, LoadedFile, load_files


def load_beside(path: Path, loaded: Loaded, earlier: Loaded | None = None) -> Loaded | None:
    """Load the snapshots beside a folder of replies, such as `received` beside `reply`, if there are any."""
    if not path.is_dir() or {file.found.kind for file in loaded.files} != {SnapshotFileKind.REPLY}:
        return None
    folder = _given_folder(path)
    try:
        return load_files(Peek(folder), earlier)[0] if folder is not None else None
    except OpenError:
        return None


def _given_folder(replies: Path) -> Path | None:
    """Return the only folder beside a folder of replies with the same name apart from `ROLE_WORDS`."""
    stem, own = name_stem(replies.name), replies.resolve()
    beside = Peek(own.parent)
    named = [
        own.parent / name
        for name in beside.names
        if name != own.name and not name.startswith(".") and name_stem(name) == stem
    ]
    folders = [path for path in named if path.is_dir() and not path.is_symlink()]
    return folders[0] if len(folders) == 1 else None


def answered_across(sources: Sequence[Sequence[FileTurn]]) -> list[dict[int, Snapshot]]:
    """Return for each source the snapshots of the others that its files answer, by their index."""
    places = [(number, place) for number, turns in enumerate(sources) for place in range(len(turns))]
    turns = [turn for each in sources for turn in each]
    # The folders of the files differ, and say nothing about their order.
    pairs, _ = pair_replies(turns, [natural_key(turn.path.name) for turn in turns])
    found: list[dict[int, Snapshot]] = [{} for _ in sources]
    for reply, given in pairs.items():
        number, place = places[reply]
        snapshot = stored_in(turns[given].snapshot)
        if number != places[given][0] and snapshot is not None:
            found[number][place] = snapshot
    return found


def stored_in(found: Snapshot | None) -> Snapshot | None:
    """Return a snapshot that a reply may answer or a round continue: stored or injected, not a reply."""
    return found if found is not None and found.role is not SnapshotRole.EMITTED else None


def file_turns(files: Iterable[LoadedFile]) -> list[FileTurn]:
    return [
        FileTurn(
            file.path, file.found.snapshot, file.found.kind is SnapshotFileKind.REPLY, _saved_at(file.found)
        )
        for file in files
    ]


def _saved_at(file: SnapshotFile) -> str:
    return (text(file.log.value.get("saved_at")) if file.log is not None else None) or ""
