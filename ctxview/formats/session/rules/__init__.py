"""The rules about sessions (ABI), and a check function for each of their five subjects.

A rule's docstring is its explanation, and the tests run its examples: `Bad` must give a finding of the rule
and `Good` must not. Each module says how its examples are read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from ctxview.analysis.json_rules import check_document
from ctxview.analysis.path_rules import check_path
from ctxview.analysis.text_rules import check_bytes, check_text
from ctxview.core.findings import Finding, group_rules, run
from ctxview.core.origin import Origin
from ctxview.formats.kit.file_rules import check_encoding, report_partly_read, report_unreadable
from ctxview.formats.kit.folder import EntryKind, FolderFile, SourceFolder
from ctxview.formats.kit.history import EmptyHistoryStream
from ctxview.formats.kit.json_records import JsonRecord
from ctxview.formats.session import EVENTS, MESSAGES
from ctxview.formats.session.caps import left_out
from ctxview.formats.session.model import Session
from ctxview.formats.session.profile import Profile
from ctxview.formats.session.root import SessionRoot
from ctxview.formats.session.survey.facts import SessionFacts
from ctxview.formats.session.survey.last_look import LookComparison


def check_session(facts: SessionFacts) -> Iterator[Finding]:
    """Check a session; rules that need a pass over the histories give findings only after it."""
    yield from run(SESSION_RULES, facts)


def check_root(sessions: SessionRoot, profile: Profile) -> Iterator[Finding]:
    """Check a folder of sessions and its index."""
    yield from run(ROOT_RULES, sessions, profile)
    yield from _closed(sessions.folder)
    yield from _unreadable(sessions.index)
    for name, more in sessions.folder.seen.capped.items():
        yield from report_partly_read(sessions.folder.file(name), f"{more:,} more entries were not read")


def check_succession(facts: SessionFacts, both: LookComparison) -> Iterator[Finding]:
    """Check that the changes since the session was last read are allowed."""
    yield from run(SUCCESSION_RULES, facts, both)


def check_gc_plan(facts: SessionFacts, deletions: Sequence[str]) -> Iterator[Finding]:
    """Check that a collection plan deletes nothing protected; `deletions` are the names it deletes."""
    yield from run(GC_RULES, facts, deletions)


LINE_RULES, SESSION_RULES, ROOT_RULES, SUCCESSION_RULES, GC_RULES = group_rules(
    __name__, "line profile", "facts", "root profile", "facts both", "facts deletions"
)

LARGEST_TEXT = 2 * 1024 * 1024


def check_small_texts(session: Session) -> Iterator[Finding]:
    """Check the texts of summary, todo, pinned files, records and child channels; the pack repeats them."""
    parts = [session.part("context/summary.md"), session.part("context/todo.md"), *session.pinned]
    for child in session.children:
        parts += [child.part("handoff.md"), child.result]
    for part in parts:
        if part.data is not None and len(part.data) <= LARGEST_TEXT:
            yield from check_bytes(part.file, part.data)
    for part in (*parts, session.part("context/pack.md"), session.part("latest.md")):
        if part.data is not None and len(part.data) <= LARGEST_TEXT:
            yield from check_encoding(part.file, part.data)
    for record in (*session.facts.records, *session.decisions.records, *session.refs.records):
        for name, value in record.members.items():
            if isinstance(value, str):
                yield from check_text(value, _value_origin(record, name))


def _value_origin(record: JsonRecord, name: str) -> Callable[[int, int], Origin]:
    """Return the origin of the whole string for any character: escapes hide the exact position."""
    return lambda _start, _end: record.origin(name)


def check_all(facts: SessionFacts) -> Iterator[Finding]:
    """Yield all findings of a session that are known so far, without those of the histories' texts."""
    session, found = facts.session, tuple(check_session(facts))
    yield from found
    if facts.survey is not None:
        yield from facts.survey.findings
    yield from _files(facts)
    for part in (session.meta, session.runtime_state, session.pack.json, session.plan.json):
        if part.document is not None:
            yield from check_document(part.file, part.document)
    # These rules check the paths of references, pack items and referring chunks: do not report a path twice.
    reported = {_place(each) for each in found if each.rule in ("ABI026", "ABI029", "ABI042")}
    yield from (each for each in _paths(facts) if _place(each) not in reported)
    yield from check_small_texts(session)


def _closed(folder: SourceFolder) -> Iterator[Finding]:
    for place, reason in sorted(folder.seen.closed.items()):
        yield from report_unreadable(folder.file(place) if place else str(folder.root), reason)


def _unreadable(parts: Iterable[FolderFile]) -> Iterator[Finding]:
    """Report what is there and cannot be read, but neither links nor the content of a closed folder."""
    for part in parts:
        known = part.kind not in (EntryKind.ABSENT, EntryKind.UNKNOWN, EntryKind.LINK)
        if known and not part.readable:
            yield from report_unreadable(part.file, part.problem or "it cannot be read")


def _files(facts: SessionFacts) -> Iterator[Finding]:
    session = facts.session
    yield from _closed(session.folder)
    # ABI001 reports the histories.
    yield from _unreadable(part for part in session.problems() if part.name not in (MESSAGES, EVENTS))
    for blob in (*session.swap.blobs, *session.dedup.blobs):
        known = facts.blob_facts(blob)
        if known is not None and known.problem is not None and blob.entry.kind is not EntryKind.LINK:
            yield from report_unreadable(blob.file, known.problem)
    for name in (MESSAGES, EVENTS):
        stream = facts.history.stream(name)
        plain = session.part(name).kind is EntryKind.FILE
        if plain and isinstance(stream, EmptyHistoryStream) and stream.problem is not None:
            yield from report_unreadable(session.file(name), stream.problem)
    for name, why in left_out(session, facts.survey):
        yield from report_partly_read(session.file(name), why)
    if facts.survey is not None and facts.survey.runs.forgotten:
        forgotten = f"{facts.survey.runs.forgotten:,} of the oldest runs and calls were not checked"
        yield from report_partly_read(session.file(EVENTS), forgotten)


def _paths(facts: SessionFacts) -> Iterator[Finding]:
    """Check for references that lead out of the session; they are shown and never followed."""
    session = facts.session
    for file in (session.refs, *(child.refs for child in session.children)):
        for record in file.records:
            path = record.text("path")
            if path is not None:
                yield from check_path(file.part.name, path, record.origin("path"))
    for item in session.pack.items:
        if item.source is not None:
            yield from check_path("pack.json", item.source, session.pack.origin(item, "source"))
    for blob in session.swap.blobs:
        known = facts.blob_facts(blob)
        source = known.reference.source if known is not None and known.reference is not None else None
        if source is not None:
            yield from check_path(blob.name, source, Origin(blob.file))


def _place(finding: Finding) -> tuple[str, str | None]:
    return finding.origin.file, finding.origin.pointer
