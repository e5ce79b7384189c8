"""The rules about the sources of derived records: cited lines and referenced files (ABI025 to 028).

Examples change a sound session, as in `layout`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from ctxview.analysis.path_rules import path_escape
from ctxview.analysis.wording import counted, excerpt, quoted
from ctxview.core.findings import Effect, Hit, Severity, rule
from ctxview.formats.kit.folder import EntryKind
from ctxview.formats.kit.json_records import JsonRecord
from ctxview.formats.session.grammar import SourceKind, looks_like_range, parse_citation
from ctxview.formats.session.survey.citations import CitationStatus, cited_lines, resolve_citation, stream_of
from ctxview.formats.session.survey.facts import SessionFacts

MOST_CITED_LINES = 2000
"""Longer cited ranges are not searched for a user or assistant message."""
SHORTEST_REPEATED = 16
_SPACE = re.compile(r"\s+")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,20}:")


@rule("ABI025", name="source-range", severity=Severity.ERROR)
def source_range(facts: SessionFacts) -> Iterator[Hit]:
    """A fact or decision cites messages that do not exist.

    ## Why
    The source is what makes a fact checkable: `messages:12-18` means the twelfth to the eighteenth message,
    blank lines not counted. A range beyond the end, or backwards, was made up or outlived its history. One
    that cannot be read is warned about; one without a word of user or assistant is mentioned.
    ## Bad
    context/facts.jsonl += {"id": "f3", "text": "It works.", "source": "messages:90-96"}
    ## Good
    context/facts.jsonl += {"id": "f3", "text": "It works.", "source": "messages:1-6"}
    ## Fix
    Find the messages that say it, or remove the record.
    ## Source
    Source document, Compression: the `source` of facts and decisions.
    """
    for records in (facts.session.facts, facts.session.decisions):
        for record in records.records:
            source = record.text("source")
            if source:
                yield from _source_hits(facts, record, source)


@rule("ABI026", name="ref-path", severity=Severity.ERROR)
def ref_path(facts: SessionFacts) -> Iterator[Hit]:
    """A reference leads to a file that is not there, or out of the session.

    ## Why
    A path with `.` or `..` is refused by the runtime. A missing file of the context is an error, because the
    reference cannot be followed; another file of the session is warned about. An absolute path may be right
    on the machine of the agent: it is mentioned and never opened here.
    ## Bad
    context/refs.jsonl += {"id": "r9", "path": "context/notes.md", "kind": "file", "summary": "notes"}
    ## Good
    context/refs.jsonl += {"id": "r9", "path": "context/todo.md", "kind": "file", "summary": "what is left"}
    ## Fix
    Correct the path, restore the file, or remove the reference.
    ## Source
    Source document, Compression: refs.jsonl. Runtime: reference paths have no `.` and `..` parts.
    """
    for record, base in _references(facts):
        path = record.text("path")
        if path:
            yield from _path_hits(facts, record, path, base)


@rule("ABI027", name="ref-kind", severity=Severity.WARNING)
def ref_kind(facts: SessionFacts) -> Iterator[Hit]:
    """A reference says it leads to a swapped chunk or a child's result, but there is none.

    ## Why
    A chunk that the swap index does not list can be collected at any time; a child that does not exist never
    gave a result.
    ## Bad
    context/refs.jsonl += {"id": "r9", "path": "context/swap/chunk/sha256-a", "kind": "swap", "summary": "?"}
    ## Good
    context/refs.jsonl += {"id": "r9", "path": "context/summary.md", "kind": "file", "summary": "the summary"}
    ## Fix
    Correct the kind or the path; let the swap index list the chunk.
    ## Source
    Source document, Compression and Swap: refs to swap chunks, the swap index.
    """
    index = facts.session.swap.index
    swapped = {record.text("id") for record in index.records}
    unreadable = index.part.exists and not index.part.readable
    for record, _ in _references(facts):
        path, kind = record.text("path") or "", record.text("kind")
        if kind == "swap" and PurePosixPath(path).name not in swapped and not unreadable:
            yield Hit(record.origin("path"), f"the swap index does not list {quoted(path, 60)}")
        elif kind == "child_result" and (name := child_in(path)) is not None:
            if not facts.session.has_child(name) and "context/child" not in facts.session.closed:
                yield Hit(record.origin("path"), f"there is no child {quoted(name)}")
        elif kind == "child_result":
            yield Hit(record.origin("path"), f"{quoted(path, 60)} is not the result of a child")


@rule("ABI028", name="told-twice", severity=Severity.INFO)
def told_twice(facts: SessionFacts) -> Iterator[Hit]:
    """A fact or decision is repeated in the summary, or is the same as another.

    ## Why
    Each copy costs the prompt its tokens, and when one of them is corrected the other contradicts it.
    ## Bad
    context/summary.md = The parser counted blank lines. It does so no more.
    ## Good
    context/summary.md = The parser was mended.
    ## Fix
    Keep it as a fact, and let the summary say what happened.
    ## Source
    Source document, Compression: summary, facts and decisions are different kinds.
    """
    summary = _plain(facts.session.part("context/summary.md").text)
    seen: dict[str, JsonRecord] = {}
    for records, name in ((facts.session.facts, "text"), (facts.session.decisions, "decision")):
        for record in records.records:
            text = _plain(record.text(name) or "")
            if len(text) < SHORTEST_REPEATED:
                continue
            if text in summary:
                message = f"{excerpt(record.text('id') or '')} is also in summary.md"
                yield Hit(record.origin(name), message)
            if text in seen:
                # Both may have the same id, so the other one is named by its place too.
                other = seen[text]
                place = f"line {other.line} of {PurePosixPath(other.file).name}"
                names = [excerpt(each.text("id") or "") for each in (record, other)]
                yield Hit(record.origin(name), f"{names[0]} says the same as {names[1]} on {place}")
            seen.setdefault(text, record)


def child_in(path: str) -> str | None:
    """Return the name of the child whose channel a path leads into, or None."""
    parts = path.split("/")
    return parts[2] if parts[:2] == ["context", "child"] and len(parts) > 3 else None


def _source_hits(facts: SessionFacts, record: JsonRecord, source: str) -> Iterator[Hit]:
    origin = record.origin("source")
    where = parse_citation(source)
    if where.kind is SourceKind.OTHER:
        if looks_like_range(source):
            yield Hit(origin, f"{quoted(source)} is not a range such as messages:12-18", Severity.WARNING)
        return
    citation = resolve_citation(where, facts.survey)
    if citation.resolution is CitationStatus.REVERSED:
        yield Hit(origin, f"{quoted(source)} ends before it begins")
    elif citation.resolution is CitationStatus.BEYOND and where.is_range:
        item = "event" if where.kind is SourceKind.EVENTS else "message"
        number = counted(citation.count or 0, item)
        at = "counting begins at 1" if where.first == 0 else f"there are only {number}"
        yield Hit(origin, f"{quoted(source)} cannot be found: {at}")
    elif citation.resolution is CitationStatus.BEYOND:
        yield Hit(origin, f"{quoted(source)} cannot be found: there is no user message")
    elif citation.resolution is CitationStatus.RESOLVED and _has_no_speaker(facts, source):
        yield Hit(origin, f"in {quoted(source)} neither a user nor the assistant speaks", Severity.INFO)


def _has_no_speaker(facts: SessionFacts, source: str) -> bool:
    """Whether a cited range holds neither a user nor an assistant message."""
    where = parse_citation(source)
    if facts.survey is None or not where.is_range or stream_of(where) != "messages.jsonl":
        return False
    if (where.last or 0) - (where.first or 0) > MOST_CITED_LINES:
        return False
    lines = cited_lines(where, facts.history, facts.survey)
    return not any((line.value or {}).get("role") in ("user", "assistant") for line in lines)


def _references(facts: SessionFacts) -> Iterator[tuple[JsonRecord, str]]:
    """Yield every reference with the folder that its relative paths start from."""
    yield from ((record, "") for record in facts.session.refs.records)
    for child in facts.session.children:
        yield from ((record, f"context/child/{child.name}/") for record in child.refs.records)


def _path_hits(facts: SessionFacts, record: JsonRecord, path: str, base: str) -> Iterator[Hit]:
    origin = record.origin("path")
    parts = path.split("/")
    in_context = path.startswith("context/")
    reason = path_escape(path) or ("is an address" if _SCHEME.match(path) else None)
    if "." in parts or ".." in parts:
        yield Hit(origin, f"{quoted(path, 60)} has a part . or ..", effect=Effect.REJECTED)
    elif reason is not None:
        message = f"{quoted(path, 60)} {reason}, outside of the session: it is never opened or checked"
        yield Hit(origin, message, Severity.INFO)
    elif facts.session.folder.entry(path if in_context else f"{base}{path}").kind is EntryKind.ABSENT:
        message = f"there is no {quoted(path, 60)} in the session"
        yield Hit(origin, message, None if in_context else Severity.WARNING)


def _plain(text: str) -> str:
    return _SPACE.sub(" ", text).strip().casefold()
