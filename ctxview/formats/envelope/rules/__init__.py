"""Run all rules on a source: those of this format and those on files, strict JSON, paths, text and secrets.

Files and envelopes are checked separately, so that each revision gets only its own findings. The caller masks
the messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from ctxview.analysis.json_rules import check_document, check_json_texts
from ctxview.analysis.path_rules import check_path
from ctxview.analysis.text_rules import check_strings
from ctxview.core.findings import REGISTRY, Finding, group_rules, run
from ctxview.core.origin import Origin
from ctxview.files.strict_json.document import JsonDocument
from ctxview.formats.envelope.bundle import LoadedFile
from ctxview.formats.envelope.caps import left_out
from ctxview.formats.envelope.model import EnvelopeRecords, Record, StrayValue
from ctxview.formats.envelope.parser import RecordFile, RecordLayout
from ctxview.formats.envelope.profile import Profile
from ctxview.formats.envelope.references import SiblingFile, SiblingFiles
from ctxview.formats.envelope.rules import sources
from ctxview.formats.envelope.vocabulary import RecordKind
from ctxview.formats.kit.file_rules import report_partly_read, report_unreadable


def check_loaded(file: LoadedFile, profile: Profile) -> Iterator[Finding]:
    """Check one loaded file of a source and each record in it."""
    if file.problem is not None:
        yield from report_unreadable(str(file.path), file.problem)
        return
    if (why := file.left_out or file.found.left_out) is not None:
        yield from report_partly_read(str(file.path), why)
    yield from check_records(file.found, profile)


def check_records(file: RecordFile, profile: Profile) -> Iterator[Finding]:
    """Check the JSON, the records and the texts of one file."""
    if file.layout is RecordLayout.LINES or file.problems:
        documents = (document for _, document in file.documents)
        errors = [problem.error for problem in file.problems]
        yield from check_json_texts(file.file, file.data, documents, errors)
    else:
        for _, document in file.documents:
            yield from check_document(file.file, document)
    for stray in file.strays:
        yield from check_stray(stray, profile)
    for record in file.records:
        yield from check_record(record, profile)
        yield from _check_paths(record)
    for prefix, document in file.documents:
        yield from check_strings(document.value, _Origins(file.file, prefix, document).origin)


def check_envelope(records: EnvelopeRecords, siblings: SiblingFiles, profile: Profile) -> Iterator[Finding]:
    """Check the records of one envelope together, and the files that its sources lead to."""
    yield from check_record_group(records, profile)
    for origin, why in left_out(records):
        yield from report_partly_read(origin.file, why)
    for source in records.of(RecordKind.SOURCE):
        if (file := siblings.find(source.text("uri"))) is not None:
            yield from check_file_beside(source, file)


class _Origins:
    """The origins in one JSON text of a file, with the line as pointer prefix in JSON lines."""

    def __init__(self, file: str, prefix: str, document: JsonDocument) -> None:
        self._file, self._prefix, self._document = file, prefix, document

    def origin(self, pointer: str) -> Origin:
        found = self._document.origin(self._file, pointer)
        return replace(found, pointer=f"{self._prefix}{found.pointer or ''}")


def _check_paths(record: Record) -> Iterator[Finding]:
    """Check for paths that leave the folder; they are shown and never followed."""
    paths: list[tuple[str | None, tuple[str | int, ...]]] = []
    if record.kind is RecordKind.SOURCE:
        paths.append((record.text("uri"), ("uri",)))
    paths += [(each.id, each.path) for each in record.references if each.name == "content_ref"]
    for value, path in paths:
        written = (value or "").removeprefix("file://").removeprefix("file:")
        if written and "://" not in written:
            yield from check_path(record.kind.value, written, record.origin(*path))


def check_stray(stray: StrayValue, profile: Profile) -> Iterator[Finding]:
    """Check a value that is not a record."""
    yield from run(STRAY_RULES, stray, profile)


def check_record(record: Record, profile: Profile) -> Iterator[Finding]:
    """Check one record by itself."""
    yield from run(RECORD_RULES, record, profile)


def check_file_beside(source: Record, file: SiblingFile) -> Iterator[Finding]:
    """Check the digest of a source against its sibling file: the second part of ENV030."""
    yield from run((replace(REGISTRY["ENV030"], check=sources.digest_of_file),), source, file)


def check_record_group(records: EnvelopeRecords, profile: Profile) -> Iterator[Finding]:
    """Check the records of one envelope together."""
    yield from run(ENVELOPE_RULES, records, profile)


def check_bundle(groups: Sequence[EnvelopeRecords], profile: Profile) -> Iterator[Finding]:
    """Check the envelopes of one source together."""
    yield from run(BUNDLE_RULES, groups, profile)


STRAY_RULES, RECORD_RULES, ENVELOPE_RULES, BUNDLE_RULES = group_rules(
    __name__, "stray profile", "record profile", "records profile", "groups profile"
)
