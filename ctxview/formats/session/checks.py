"""Runs every rule that concerns one session: its own, files as such, strict JSON, paths, text, secrets."""

from __future__ import annotations

from collections.abc import Iterator

from ctxview.analysis.json_rules import check_document
from ctxview.analysis.path_rules import check_path
from ctxview.findings import Finding
from ctxview.formats.file_rules import report_partly_read, report_unreadable
from ctxview.formats.session.folder import EntryKind
from ctxview.formats.session.history import EmptyStream
from ctxview.formats.session.look import Look
from ctxview.formats.session.model import Session
from ctxview.formats.session.names import EVENTS, MESSAGES
from ctxview.formats.session.read import MOST_CHILDREN, MOST_PINNED
from ctxview.formats.session.texts import check_small_texts
from ctxview.state import Origin

PATH_RULES = ("ABI026", "ABI029", "ABI042")
"""The rules that judge where references, pack items and referring chunks lead."""


def check_look(look: Look) -> Iterator[Finding]:
    """Everything wrong with a session as far as it is known; the histories' texts are asked elsewhere."""
    from ctxview.formats.session import rules

    found = tuple(rules.check_session(look))
    yield from found
    if look.survey is not None:
        yield from look.survey.findings
    yield from _files(look)
    yield from _json(look.session)
    # Where a rule of sessions tells of a way out, a second finding would say the same again.
    told = {_place(each) for each in found if each.rule in PATH_RULES}
    yield from (each for each in _paths(look) if _place(each) not in told)
    yield from check_small_texts(look.session)


def _files(look: Look) -> Iterator[Finding]:
    session = look.session
    for part in session.problems():
        if part.kind is EntryKind.FILE and part.name not in (MESSAGES, EVENTS):
            yield from report_unreadable(part.file, part.problem or "it cannot be read")
    for name in (MESSAGES, EVENTS):
        stream = look.history.stream(name)
        if isinstance(stream, EmptyStream) and stream.problem is not None:
            yield from report_unreadable(session.file(name), stream.problem)
    for records in (session.facts, session.decisions, session.refs, session.swap.index, session.dedup.index):
        if records.left_out:
            yield from report_partly_read(records.file, f"{records.left_out:,} records were not looked at")
    for count, most, name in (
        (len(session.children), MOST_CHILDREN, "context/child"),
        (len(session.pinned), MOST_PINNED, "context/pinned"),
    ):
        if count >= most:
            yield from report_partly_read(session.file(name), f"only the first {most:,} were looked at")
    if look.survey is not None and look.survey.runs.forgotten:
        told = f"{look.survey.runs.forgotten:,} of the oldest runs and calls were too many to be checked"
        yield from report_partly_read(session.file(EVENTS), told)


def _json(session: Session) -> Iterator[Finding]:
    for part in (session.meta, session.runtime_state, session.pack.json, session.plan.json):
        if part.document is not None:
            yield from check_document(part.file, part.document)


def _paths(look: Look) -> Iterator[Finding]:
    """References that lead out of the session; they are shown and never followed."""
    session = look.session
    for records in (session.refs, *(child.refs for child in session.children)):
        for record in records.records:
            path = record.text("path")
            if path is not None:
                yield from check_path(records.part.name, path, record.origin("path"))
    for item in session.pack.items:
        if item.source is not None:
            yield from check_path("pack.json", item.source, session.pack.origin(item, "source"))
    for blob in session.swap.blobs:
        facts = look.facts(blob)
        source = facts.reference.source if facts is not None and facts.reference is not None else None
        if source is not None:
            yield from check_path(blob.name, source, Origin(blob.file))


def _place(finding: Finding) -> tuple[str, str | None]:
    return finding.origin.file, finding.origin.pointer
