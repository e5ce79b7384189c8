"""Run all rules on a source: those of this format and those on files, strict JSON, paths, text and secrets.

Files and envelopes are checked separately, so that each revision gets only its own findings. The caller masks
the messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from ctxview.core.findings import REGISTRY, Finding, group_rules, run
from ctxview.formats.envelope.bundle import LoadedFile
from ctxview.formats.envelope.caps import left_out
from ctxview.formats.envelope.model import EnvelopeRecords, Record, StrayValue
from ctxview.formats.envelope.parser import RecordFile, RecordLayout
from ctxview.formats.envelope.profile import Profile
from ctxview.formats.envelope.references import SiblingFile, SiblingFiles
from ctxview.formats.envelope.rules import sources
from ctxview.formats.envelope.vocabulary import RecordKind
from ctxview.formats.kit.file_rules import report_partly_read, report_unreadable
from ctxview.formats.kit.general_checks import CheckedFile, PathInFile, general_findings


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
    for stray in file.strays:
        yield from check_stray(stray, profile)
    for record in file.records:
        yield from check_record(record, profile)
    yield from general_findings(
        CheckedFile(
            file.file,
            file.data,
            documents=file.documents,
            errors=[problem.error for problem in file.problems],
            lines=file.layout is RecordLayout.LINES or bool(file.problems),
            paths=[each for record in file.records for each in _paths(record)],
        )
    )


def check_envelope(records: EnvelopeRecords, siblings: SiblingFiles, profile: Profile) -> Iterator[Finding]:
    """Check the records of one envelope together, and the files that its sources lead to."""
    yield from check_record_group(records, profile)
    for origin, why in left_out(records):
        yield from report_partly_read(origin.file, why)
    for source in records.of(RecordKind.SOURCE):
        if (file := siblings.find(source.text("uri"))) is not None:
            yield from check_file_beside(source, file)
    addresses = (each for record in records.records for each, _ in _addresses(record))
    for problem in dict.fromkeys(map(siblings.problem, addresses)):
        if problem is not None:
            report = report_partly_read if problem.is_large else report_unreadable
            yield from report(problem.file, problem.reason)


def _paths(record: Record) -> Iterator[PathInFile]:
    """Yield the paths of a record; those that leave the folder are shown and never followed."""
    for value, path in _addresses(record):
        written = (value or "").removeprefix("file://").removeprefix("file:")
        if written and "://" not in written:
            yield PathInFile(record.kind.value, written, record.origin(*path))


def _addresses(record: Record) -> Iterator[tuple[str | None, tuple[str | int, ...]]]:
    """Yield the addresses of content, and their paths in the record."""
    if record.kind is RecordKind.SOURCE:
        yield record.text("uri"), ("uri",)
    yield from ((each.id, each.path) for each in record.references if each.name == "content_ref")


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
