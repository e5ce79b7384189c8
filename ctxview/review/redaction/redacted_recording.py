"""Redact a recording: every file at every moment, its names and notes, written as a new recording."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from msgspec.structs import replace

from ctxview.recording import MAGIC
from ctxview.recording.chunks import ChunkRefs, ContentCutter, cut_sizes
from ctxview.recording.manifest import Entry, Manifest, RecordedFile, SkippedFile
from ctxview.recording.reader import Recording, open_recording
from ctxview.recording.writer import RecordingWriter, open_to_write
from ctxview.review.redaction.redacted_files import RedactedTree
from ctxview.review.redaction.redacted_text import TextRedactor


def is_recording(data: bytes) -> bool:
    return data.startswith(MAGIC)


def recorded_trees(path: Path) -> tuple[Recording, list[dict[str, bytes]]]:
    """Return a recording and its files at each moment; raises `DamagedRecordingError` or `ReadError`."""
    recording = open_recording(path)
    contents: dict[tuple[bytes, ...], bytes] = {}
    trees = []
    for number in range(len(recording)):
        files: dict[str, bytes] = {}
        for name, entry in recording.at(number).manifest.items():
            if isinstance(entry, RecordedFile):
                key = tuple(ref.hash for ref in entry.refs)
                if key not in contents:
                    contents[key] = b"".join(map(recording.content, entry.refs))
                files[name] = contents[key]
        trees.append(files)
    return recording, trees


def redacted_recording(recording: Recording, trees: Sequence[RedactedTree], redactor: TextRedactor) -> bytes:
    """Return the bytes of a new recording with the redacted files of each moment, at the same times."""
    place = PurePosixPath(redactor.redacted(str(recording.info.place)))
    with TemporaryDirectory(prefix="ctxview-") as folder:
        file = Path(folder) / "copy.ctxrec"
        writer = open_to_write(file, replace(recording.info, place=place)).writer
        before: Manifest = {}
        for number, tree in enumerate(trees):
            manifest = dict(_entries(recording.at(number).manifest, tree, redactor, writer))
            changes: dict[str, Entry | None] = {
                name: entry for name, entry in manifest.items() if before.get(name) != entry
            }
            changes |= {name: None for name in before if name not in manifest}
            writer.moment(recording.time(number), changes, redactor.redacted(recording.note(number)))
            before = manifest
        writer.close()
        return file.read_bytes()


def _entries(
    manifest: Manifest, tree: RedactedTree, redactor: TextRedactor, writer: RecordingWriter
) -> Iterator[tuple[str, Entry]]:
    for name, entry in manifest.items():
        if isinstance(entry, RecordedFile):
            if name in tree.names:
                data = tree.files[tree.names[name]]
                yield tree.names[name], replace(entry, size=len(data), refs=_chunks(data, writer))
            elif name in tree.left_out:
                yield redactor.redacted(name), SkippedFile(tree.left_out[name])
        elif isinstance(entry, SkippedFile):
            yield redactor.redacted(name), SkippedFile(redactor.redacted(entry.reason))
        else:
            yield redactor.redacted(name), entry


def _chunks(data: bytes, writer: RecordingWriter) -> ChunkRefs:
    cutter = ContentCutter(cut_sizes(len(data)))
    pieces = [*cutter.add(data), *cutter.rest()]
    return ChunkRefs.of([writer.put(piece, {}) for piece in pieces])
