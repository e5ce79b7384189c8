"""The rules about where derived records lead: cited lines and referenced files (ABI025 to 028).

Examples change a sound session, as in `layout`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from ctxview.analysis.path_rules import way_out
from ctxview.analysis.wording import counted, quoted, shown
from ctxview.findings import Effect, Hit, Severity, rule
from ctxview.formats.session.citing import Resolution, cited_lines, resolve, stream_of
from ctxview.formats.session.folder import EntryKind
from ctxview.formats.session.look import Look
from ctxview.formats.session.names import SourceKind, cited, looks_like_range
from ctxview.formats.session.records import Record

MOST_LOOKED_AT = 2000
"""How many lines of one cited range are looked at for who speaks in them."""
SHORTEST_TOLD_TWICE = 16
_SPACE = re.compile(r"\s+")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,20}:")


@rule("ABI025", name="source-range", severity=Severity.ERROR)
def source_range(look: Look) -> Iterator[Hit]:
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
    for records in (look.session.facts, look.session.decisions):
        for record in records.records:
            source = record.text("source")
            if source:
                yield from _source_hits(look, record, source)


@rule("ABI026", name="ref-path", severity=Severity.ERROR)
def ref_path(look: Look) -> Iterator[Hit]:
    """A reference leads to a file that is not there, or out of the session.

    ## Why
    A path with `.` or `..` is refused by the runtime. A file of the context that is gone is lost for whoever
    follows the reference; another file of the session is warned about. An absolute path may be right on the
    machine of the agent: it is mentioned and never opened here.
    ## Bad
    context/refs.jsonl += {"id": "r9", "path": "context/notes.md", "kind": "file", "summary": "notes"}
    ## Good
    context/refs.jsonl += {"id": "r9", "path": "context/todo.md", "kind": "file", "summary": "what is left"}
    ## Fix
    Mend the path, bring the file back, or remove the reference.
    ## Source
    Source document, Compression: refs.jsonl. Runtime: reference paths have no `.` and `..` parts.
    """
    for record, base in _references(look):
        path = record.text("path")
        if path:
            yield from _path_hits(look, record, path, base)


@rule("ABI027", name="ref-kind", severity=Severity.WARNING)
def ref_kind(look: Look) -> Iterator[Hit]:
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
    swapped = {record.text("id") for record in look.session.swap.index.records}
    for record, _ in _references(look):
        path, kind = record.text("path") or "", record.text("kind")
        if kind == "swap" and PurePosixPath(path).name not in swapped:
            yield Hit(record.origin("path"), f"the swap index does not list {quoted(path, 60)}")
        elif kind == "child_result" and (name := child_in(path)) is not None:
            if look.session.child(name) is None:
                yield Hit(record.origin("path"), f"there is no child {quoted(name)}")
        elif kind == "child_result":
            yield Hit(record.origin("path"), f"{quoted(path, 60)} is no result of a child")


@rule("ABI028", name="told-twice", severity=Severity.INFO)
def told_twice(look: Look) -> Iterator[Hit]:
    """A fact or decision stands in the summary too, or is the same as another.

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
    summary = _plain(look.session.part("context/summary.md").text)
    seen: dict[str, Record] = {}
    for records, name in ((look.session.facts, "text"), (look.session.decisions, "decision")):
        for record in records.records:
            said = _plain(record.text(name) or "")
            if len(said) < SHORTEST_TOLD_TWICE:
                continue
            if said in summary:
                message = f"{shown(record.text('id') or '')} also stands in summary.md"
                yield Hit(record.origin(name), message)
            if said in seen:
                other = seen[said]
                message = f"{shown(record.text('id') or '')} says the same as {shown(other.text('id') or '')}"
                yield Hit(record.origin(name), message)
            seen.setdefault(said, record)


def child_in(path: str) -> str | None:
    """The child whose channel a path leads into; None when it leads elsewhere."""
    parts = path.split("/")
    return parts[2] if parts[:2] == ["context", "child"] and len(parts) > 3 else None


def _source_hits(look: Look, record: Record, source: str) -> Iterator[Hit]:
    origin = record.origin("source")
    where = cited(source)
    if where.kind is SourceKind.OTHER:
        if looks_like_range(source):
            yield Hit(origin, f"{quoted(source)} is no range such as messages:12-18", Severity.WARNING)
        return
    citation = resolve(where, look.survey)
    if citation.resolution is Resolution.REVERSED:
        yield Hit(origin, f"{quoted(source)} ends before it begins")
    elif citation.resolution is Resolution.BEYOND and where.is_range:
        thing = "event" if where.kind is SourceKind.EVENTS else "message"
        number = counted(citation.count or 0, thing)
        at = "counting begins at 1" if where.first == 0 else f"there are only {number}"
        yield Hit(origin, f"{quoted(source)} cannot be found: {at}")
    elif citation.resolution is Resolution.BEYOND:
        yield Hit(origin, f"{quoted(source)} cannot be found: no user has said anything")
    elif citation.resolution is Resolution.RESOLVED and _nobody_speaks(look, record, source):
        yield Hit(origin, f"in {quoted(source)} neither a user nor the assistant speaks", Severity.INFO)


def _nobody_speaks(look: Look, record: Record, source: str) -> bool:
    where = cited(source)
    if look.survey is None or not where.is_range or stream_of(where) != "messages.jsonl":
        return False
    if (where.last or 0) - (where.first or 0) > MOST_LOOKED_AT:
        return False
    lines = cited_lines(where, look.history, look.survey)
    return not any((line.value or {}).get("role") in ("user", "assistant") for line in lines)


def _references(look: Look) -> Iterator[tuple[Record, str]]:
    """Every reference, with the folder its relative paths start from."""
    yield from ((record, "") for record in look.session.refs.records)
    for child in look.session.children:
        yield from ((record, f"context/child/{child.name}/") for record in child.refs.records)


def _path_hits(look: Look, record: Record, path: str, base: str) -> Iterator[Hit]:
    origin = record.origin("path")
    parts = path.split("/")
    if "." in parts or ".." in parts:
        yield Hit(origin, f"{quoted(path, 60)} has a part . or ..", effect=Effect.REJECTED)
    elif (reason := way_out(path) or _scheme(path)) is not None:
        message = f"{quoted(path, 60)} {reason}, outside of the session: it is never opened or checked"
        yield Hit(origin, message, Severity.INFO)
    elif look.session.folder.entry(_inside(path, base)).kind is EntryKind.ABSENT:
        severe = path.startswith("context/")
        message = f"there is no {quoted(path, 60)} in the session"
        yield Hit(origin, message, None if severe else Severity.WARNING)


def _scheme(path: str) -> str | None:
    return "is an address" if _SCHEME.match(path) else None


def _inside(path: str, base: str) -> str:
    return path if path.startswith("context/") else f"{base}{path}"


def _plain(text: str) -> str:
    return _SPACE.sub(" ", text).strip().casefold()
