"""Recordings for tests: of trees given as dictionaries, of real folders, and with invalid entries."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path

from ctxview.recording.manifest import Entry, RecordingInfo, pack_moment, recording_info
from ctxview.recording.reader import Recording, open_recording
from ctxview.recording.recorder import Recorder, RecordingScope, WrittenMoment
from ctxview.recording.writer import RecordingWriter, open_to_write

Tree = Mapping[str, bytes]
START = 1_772_000_000_000_000_000
SECOND = 1_000_000_000


def put(root: Path, tree: Tree) -> None:
    """Make the folder hold exactly these files; unchanged files are not touched."""
    root.mkdir(parents=True, exist_ok=True)
    for path in sorted(root.rglob("*"), reverse=True):
        name = str(path.relative_to(root))
        if path.is_dir():
            if not any(each.startswith(f"{name}/") for each in tree):
                path.rmdir()
        elif name not in tree:
            path.unlink()
    for name, content in tree.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_bytes() != content:
            path.write_bytes(content)


def files_at(recording: Recording, number: int) -> dict[str, bytes]:
    """Return every file of a moment, read from its chunks."""
    found = {}
    for name, entry in recording.at(number).manifest.items():
        refs = getattr(entry, "refs", None)
        if refs is not None:
            found[name] = b"".join(recording.content(ref) for ref in refs)
            assert len(found[name]) == entry.size  # type: ignore[union-attr]
    return found


class Recorded:
    """A folder and its recording, which is written until `close`."""

    def __init__(self, base: Path, name: str = "work", out: Path | None = None) -> None:
        self.root = base / name
        self.root.mkdir(parents=True, exist_ok=True)
        self.file = out or base / f"{name}.ctxrec"
        self._clock = count(START, SECOND)
        self.opened = open_to_write(self.file, recording_info(self.root, next(self._clock)))
        self.recorder = Recorder(RecordingScope(self.root), self.opened.writer, first=self.opened.moments)

    def keep(self, tree: Tree | None = None) -> WrittenMoment | None:
        if tree is not None:
            put(self.root, tree)
        return self.recorder.record(next(self._clock))

    def close(self) -> Recording:
        self.opened.writer.close()
        return open_recording(self.file)


def record(base: Path, history: Sequence[Tree]) -> Recording:
    made = Recorded(base)
    for tree in history:
        made.keep(tree)
    return made.close()


def forged(
    file: Path, *moments: Mapping[str, Entry | None], place: str = "work", contents: Sequence[bytes] = ()
) -> RecordingWriter:
    """Write a recording with any entries, each moment complete."""
    from pathlib import PurePosixPath

    file.unlink(missing_ok=True)
    opened = open_to_write(file, RecordingInfo(PurePosixPath(place), True, START))
    for content in contents:
        opened.writer.put(content, {})
    for number, moment in enumerate(moments):
        payload = pack_moment(START + number * SECOND, 0, "", moment, {})
        opened.writer._append(3, payload)  # type: ignore[arg-type]
    os.fsync(opened.writer.descriptor)
    return opened.writer
