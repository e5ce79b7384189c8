"""Which files a source of this format is made of, and how they are read; `formats.loading` does the rest.

A single file brings its later revisions along, and the files beside it that hold what it refers to.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from ctxview.formats import loading
from ctxview.formats.envelope.opening import belongs, files_of, revisions_beside
from ctxview.formats.envelope.read import RecordFile, read_file
from ctxview.formats.envelope.vocabulary import Kind
from ctxview.formats.interface import CannotOpen

Loaded: TypeAlias = loading.Loaded[RecordFile]
LoadedFile: TypeAlias = loading.LoadedFile[RecordFile]

MOST_BESIDE = 100
LARGEST_BESIDE = 4 * 1024 * 1024
"""How much is looked at to find what a single file refers to."""

READER = loading.Reader[RecordFile](
    lambda file, data, whole: read_file(file, data, whole=whole),
    is_broken=lambda found: bool(found.problems),
    belongs=belongs,
    takes_part=True,
)


def load(path: Path, earlier: Loaded | None = None) -> Loaded:
    """The files of the source at `path`; raises `CannotOpen`."""
    files = loading.Loading(READER, earlier)
    if not path.is_dir():
        files.add_named(path)
        for each in revisions_beside(path):
            files.add(each)
        _add_wanted(files, files_of(path.parent))
        return files.loaded()
    for each in files_of(path):
        files.add(each)
    if not files.files and not files.held_back:
        raise CannotOpen(f"{path}: no file in this folder holds records of the Agent Context draft")
    return files.loaded()


def _add_wanted(files: loading.Loading[RecordFile], paths: Sequence[Path]) -> None:
    """Files beside a named one that hold what its records refer to, as long as something is wanted.

    One with an envelope of its own tells of something else.
    """
    taken = {file.path for file in files.files}
    beside: list[LoadedFile] | None = None
    while wanted := _wanted(files.files):
        if beside is None:
            others = [path for path in paths if path not in taken][:MOST_BESIDE]
            looked_at = (files.look_at(path, LARGEST_BESIDE) for path in others)
            beside = [file for file in looked_at if _may_be_meant(file)]
        found = [
            file for file in beside if any((each.kind, each.id) in wanted for each in file.found.records)
        ]
        if not found:
            return
        for file in found:
            beside.remove(file)
            files.take(file)


def _may_be_meant(file: LoadedFile) -> bool:
    readable = file.problem is None and file.whole
    return readable and all(each.kind is not Kind.ENVELOPE for each in file.found.records)


def _wanted(files: Sequence[LoadedFile]) -> set[tuple[Kind, str | None]]:
    """What the records of the files refer to and none of them holds."""
    records = [record for file in files for record in file.found.records]
    there = {(record.kind, record.id) for record in records}
    wanted: set[tuple[Kind, str | None]] = set()
    for reference in (each for record in records for each in record.references):
        names = {(kind, reference.id) for kind in reference.leads_to}
        if reference.id is not None and not names & there:
            wanted |= names
    return wanted
