"""Runs every rule that concerns one file of this format: its own, strict JSON, deceiving text, secrets.

What spans several files (an exchange, a succession, the store) is asked for by `source`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxview.analysis.json_rules import check_document, check_json
from ctxview.analysis.json_strings import check_strings
from ctxview.analysis.plain_text import check_bytes
from ctxview.files.json_document import JsonDocument, JsonError, parse
from ctxview.findings import Finding
from ctxview.formats.snapshot.profile import Profile
from ctxview.formats.snapshot.read import Kind, SnapshotFile


def check_file(file: SnapshotFile, profile: Profile) -> Iterator[Finding]:
    """Everything wrong with one file taken by itself."""
    from ctxview.formats.snapshot import rules

    if file.reply is not None:
        yield from rules.check_reply(file.reply, profile)
    elif file.kind is not Kind.PROMPT or _whole_json(file) is not None:
        yield from _check_strict_json(file)
    if file.log is not None:
        yield from rules.check_log(file.log, profile)
    for snapshot in file.snapshots():
        yield from rules.check_snapshot(snapshot, profile)
    yield from check_texts(file)


def check_texts(file: SnapshotFile) -> Iterator[Finding]:
    """What may deceive or leak in any string of the file, and in all text around its JSON."""
    document = _whole_json(file) if file.kind is Kind.PROMPT else file.document
    if document is None:
        yield from check_bytes(file.file, file.data)
        return
    yield from _check_strings(file.file, document, _derived_part(file))
    yield from check_bytes(file.file, file.data, 0, document.start)
    yield from check_bytes(file.file, file.data, document.end)


def _whole_json(file: SnapshotFile) -> JsonDocument | None:
    """The JSON a prompt was found in; None when it stands in plain text."""
    try:
        return parse(file.data)
    except JsonError:
        return None


def _check_strict_json(file: SnapshotFile) -> Iterator[Finding]:
    if file.document is not None and file.kind is not Kind.PROMPT:
        yield from check_document(file.file, file.document)
    else:
        yield from check_json(file.file, file.data)


def _derived_part(file: SnapshotFile) -> str | None:
    """Where a log repeats what it already holds: the injected copy of its stored snapshot."""
    if file.log is None or file.log.stored is None or file.log.injected is None:
        return None
    return file.log.injected.pointer


def _check_strings(file: str, document: JsonDocument, derived: str | None) -> Iterator[Finding]:
    told: set[str] = set()

    def told_before(pointer: str, string: str) -> bool:
        if derived is not None and pointer.startswith(f"{derived}/") and string in told:
            return True
        told.add(string)
        return False

    yield from check_strings(document.value, lambda pointer: document.origin(file, pointer), told_before)
