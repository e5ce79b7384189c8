"""Redacted copies of a source: made in memory, proved, and only then written. The source is only read."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from ctxview.analysis.text_copies import redaction_mark
from ctxview.files.create import create
from ctxview.files.reading import REVIEW_SUFFIX, ReadError, read_beneath
from ctxview.formats import Lens, Source
from ctxview.formats.recording.observed_source import scope_of
from ctxview.formats.registry import redacted_copy_repairs
from ctxview.recording.frames import DamagedRecordingError
from ctxview.recording.reader import Recording
from ctxview.recording.recorder import FileStatus, RecordingScope, read_tree
from ctxview.review.redaction.redacted_database import is_database, with_log
from ctxview.review.redaction.redacted_files import Files, RedactedTree, redact_trees
from ctxview.review.redaction.redacted_recording import is_recording, recorded_trees, redacted_recording
from ctxview.review.redaction.redacted_text import RedactedValue, TextRedactor, without_spans
from ctxview.review.redaction.redaction_choice import RedactionChoice, RedactionError, chosen_texts

LARGEST: Final = 512 * 1024 * 1024
"""Bytes of all files of a source together, of which a redacted copy can be made."""


class RedactedCopy(Struct, frozen=True):
    """A copy that is not written yet: the files, what was removed, and what is left out."""

    tree: RedactedTree
    values: Mapping[str, int]
    """How many different texts were removed, by where they were chosen."""
    statuses: Mapping[str, FileStatus]
    """Mode and time of the files and folders of the source, by their old names."""
    name: str
    """The redacted name of the source."""
    is_file: bool


def make_copy(source: Source, choice: RedactionChoice, lens: Lens) -> RedactedCopy:
    """Return the redacted copy of a source; raises `RedactionError`."""
    statuses, files, unread = _read(source)
    if not files:
        if source.path.parent.is_file():
            store = source.path.parent.name
            raise RedactionError(
                f"a session of a store is not copied: {store} may hold others; redact an export of it"
            )
        raise RedactionError("it has no files of its own; export the file or folder that holds it")
    recording: Recording | None = None
    trees: Sequence[Files] = [files]
    if source.path.is_file() and is_recording(files.get(source.path.resolve().name, b"")):
        try:
            recording, trees = recorded_trees(source.path)
        except (DamagedRecordingError, ReadError) as error:
            raise RedactionError(f"the recording cannot be read: {error}") from None
    chosen = dict(chosen_texts(source, trees, choice, lens))
    withheld = dict(_withheld(source, trees, recording))
    if not chosen and not withheld:
        raise RedactionError("nothing was found to redact")
    values = [
        RedactedValue(text, redaction_mark(number), where == "texts")
        for number, (text, where) in enumerate(chosen.items(), 1)
    ]
    redactor = TextRedactor(values)
    repairs = redacted_copy_repairs(source.format if recording is None else None)
    copies = redact_trees(trees, redactor, repairs, withheld)
    if not any(copy.changed or copy.left_out for copy in copies):
        raise RedactionError("what was chosen is in none of its files, so there is nothing to remove")
    tree = copies[-1]
    if recording is not None:
        name = source.path.resolve().name
        data = redacted_recording(recording, copies, redactor)
        lost = {name: why for copy in copies for name, why in copy.left_out.items()}
        tree = RedactedTree({name: data}, {name: name}, (name,), lost)
    folders = {
        name: redactor.redacted(name)
        for name, status in statuses.items()
        # A folder with files is made for them.
        if status.is_folder and not any(file.startswith(f"{name}/") for file in files)
    }
    left_out = {redactor.redacted(name): why for name, why in {**unread, **tree.left_out}.items()}
    whole = RedactedTree(tree.files, {**folders, **tree.names}, tree.changed, left_out)
    path = source.path.resolve()
    removed = Counter(chosen.values()) + Counter({"withheld content": len(withheld)})
    return RedactedCopy(whole, removed, statuses, redactor.redacted(path.name), path.is_file())


def write_copy(copy: RedactedCopy, target: Path) -> None:
    """Write the copy to new files; raises `RedactionError`, `CreateRefused` or `OSError`."""
    # What belongs to a single file lies beside it, in a folder of the same name without its suffix.
    beside = target.with_suffix("")
    for place in (target, beside) if copy.is_file else (target,):
        if os.path.lexists(place):
            raise RedactionError(f"{place}: it exists and is not replaced; choose another name")
    if copy.is_file and beside == target and len(copy.tree.names) > 1:
        better = f"{target}.copy"
        raise RedactionError(f"{target}: a folder comes with the file, so its name needs an ending: {better}")
    if copy.is_file and not copy.tree.files:
        raise RedactionError("; ".join(copy.tree.left_out.values()))
    if not copy.is_file:
        target.mkdir(mode=0o700)
    for old, new in copy.tree.names.items():
        status = copy.statuses[old]
        place = target / new
        if copy.is_file:
            _, inside, rest = new.partition("/")
            place = beside / rest if inside else target
        if status.is_folder:
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            continue
        modified = status.stamp.modified if status.stamp is not None else None
        name = place.relative_to(target.parent).as_posix()
        create(target.parent, name, copy.tree.files[new], mode=status.mode & 0o777, modified=modified)


def _withheld(
    source: Source, trees: Sequence[Files], recording: Recording | None
) -> Iterator[tuple[tuple[str, bytes], bytes]]:
    """Yield name and bytes of each file that holds content which its records withhold, and it without."""
    redactor = source.abilities.redactor
    if redactor is None:
        return
    folder = source.path if source.path.is_dir() or recording is not None else source.path.parent
    for name, data in {each for tree in trees for each in tree.items()}:
        found = without_spans(data, redactor.withheld(str(folder / name), data))
        if found != data:
            yield (name, data), found


def _read(source: Source) -> tuple[Mapping[str, FileStatus], Files, dict[str, str]]:
    """Return all that a source is made of, the files by name, and why some cannot be read."""
    scope, path = scope_of(source), source.path.resolve()
    if path.is_file() and path.suffix and path.with_suffix("").is_dir():
        scope = RecordingScope(scope.root, (*scope.parts, path.stem))
    files: dict[str, bytes] = {}
    unread: dict[str, str] = {}
    room = LARGEST
    statuses = read_tree(scope).statuses
    for name, status in statuses.items():
        if status.problem is not None:
            unread[name] = status.problem
        elif name.endswith((REVIEW_SUFFIX, f"{REVIEW_SUFFIX}.sig")):
            # With its digests replaced it would approve what was never reviewed.
            unread[name] = "a sign-off of the original says nothing about a copy"
        elif not status.is_folder:
            if status.stamp is not None and status.stamp.size > room:
                raise RedactionError(f"it has more than {LARGEST >> 20} MB of files")
            try:
                files[name] = read_beneath(scope.root, name, room)
            except ReadError as error:
                unread[name] = error.reason
                continue
            room -= len(files[name])
    return statuses, _without_logs(files), unread


def _without_logs(files: dict[str, bytes]) -> Files:
    """Return the files with the write-ahead log of each database written into it."""
    for name in [name for name, data in files.items() if is_database(data)]:
        log = files.pop(f"{name}-wal", b"")
        files.pop(f"{name}-shm", None)
        if log:
            files[name] = with_log(files[name], log)
    return files
