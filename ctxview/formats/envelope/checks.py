"""Runs every rule that concerns a source: its own, files as such, strict JSON, paths, text, secrets.

What is said about one file is asked for apart from what is said about an envelope, so that each moment can be
told what concerns it. Every message goes through the mask.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ctxview.analysis.json_rules import check_document, check_texts
from ctxview.analysis.json_strings import check_strings
from ctxview.analysis.path_rules import check_path
from ctxview.files.json_document import JsonDocument
from ctxview.findings import Finding
from ctxview.formats.envelope.files_beside import FilesBeside
from ctxview.formats.envelope.loading import LoadedFile
from ctxview.formats.envelope.model import Dossier, Record
from ctxview.formats.envelope.profile import Profile
from ctxview.formats.envelope.read import Layout, RecordFile
from ctxview.formats.envelope.vocabulary import Kind
from ctxview.formats.file_rules import report_partly_read, report_unreadable
from ctxview.origin import Origin


def check_loaded(file: LoadedFile, profile: Profile) -> Iterator[Finding]:
    """Everything wrong with one file of a source and the records in it, taken by themselves."""
    if file.problem is not None:
        yield from report_unreadable(str(file.path), file.problem)
        return
    if (left_out := file.left_out or file.found.left_out) is not None:
        yield from report_partly_read(str(file.path), left_out)
    yield from check_records(file.found, profile)


def check_records(file: RecordFile, profile: Profile) -> Iterator[Finding]:
    from ctxview.formats.envelope import rules

    yield from _check_json(file)
    for stray in file.strays:
        yield from rules.check_stray(stray, profile)
    for record in file.records:
        yield from rules.check_record(record, profile)
        yield from _check_paths(record)
    for prefix, document in file.documents:
        yield from check_strings(document.value, _Places(file.file, prefix, document).origin)


def check_envelope(dossier: Dossier, beside: FilesBeside, profile: Profile) -> Iterator[Finding]:
    """What is wrong between the records of one envelope, and with the files that its sources lead to."""
    from ctxview.formats.envelope import rules

    yield from rules.check_dossier(dossier, profile)
    for source in dossier.of(Kind.SOURCE):
        if (file := beside.find(source.text("uri"))) is not None:
            yield from rules.check_file_beside(source, file)


def check_envelopes(dossiers: Sequence[Dossier], profile: Profile) -> Iterator[Finding]:
    """What is wrong between envelopes."""
    from ctxview.formats.envelope import rules

    yield from rules.check_bundle(dossiers, profile)


class _Places:
    """Origins in one JSON text of a file, with the line before the pointer where lines have one."""

    def __init__(self, file: str, prefix: str, document: JsonDocument) -> None:
        self._file, self._prefix, self._document = file, prefix, document

    def origin(self, pointer: str) -> Origin:
        found = self._document.origin(self._file, pointer)
        return replace(found, pointer=f"{self._prefix}{found.pointer or ''}")


def _check_json(file: RecordFile) -> Iterator[Finding]:
    if file.layout is not Layout.LINES and not file.problems:
        for _, document in file.documents:
            yield from check_document(file.file, document)
        return
    errors = [problem.error for problem in file.problems]
    yield from check_texts(file.file, file.data, (document for _, document in file.documents), errors)


def _check_paths(record: Record) -> Iterator[Finding]:
    """Paths that lead out of the folder; they are shown and never followed."""
    told: list[tuple[str | None, tuple[str | int, ...]]] = []
    if record.kind is Kind.SOURCE:
        told.append((record.text("uri"), ("uri",)))
    told += [(each.id, each.path) for each in record.references if each.name == "content_ref"]
    for value, path in told:
        written = (value or "").removeprefix("file://").removeprefix("file:")
        if written and "://" not in written:
            yield from check_path(record.kind.value, written, record.origin(*path))
