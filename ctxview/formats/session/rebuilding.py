"""Getting swapped content back from the history it came from, or saying why that cannot be done."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from ctxview.analysis.wording import quoted, shown
from ctxview.formats.session.blobs import ChunkReference
from ctxview.formats.session.citing import Resolution, cited_lines, resolve
from ctxview.formats.session.look import Look
from ctxview.formats.session.message import content_text, parts_of
from ctxview.formats.session.names import EVENTS, MESSAGES, Cited, cited_range
from ctxview.formats.session.records import Record

MOST_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """The content and where it came from; without one, `why` not, and the `member` that is to blame."""

    text: bytes | None
    why: str
    member: str | None = None

    @property
    def digest(self) -> str | None:
        return hashlib.sha256(self.text).hexdigest() if self.text is not None else None


def rebuild(look: Look, record: Record) -> Rebuilt:
    """The content of a swap entry, from the lines or the event it names."""
    source = record.text("source") or ""
    if source not in (MESSAGES, EVENTS):
        part = look.session.folder.read(source)
        if part.data is None:
            return Rebuilt(None, f"{quoted(source, 60)} is gone", "source")
        return Rebuilt(part.data, shown(source, 60))
    if "range" in record.members:
        return _lines(look, source, record.text("range"))
    if "event" in record.members:
        return _event(look, record.text("event"))
    return Rebuilt(None, "the entry names neither a range nor an event")


def referenced_digest(look: Look, reference: ChunkReference) -> Rebuilt:
    """What a referring chunk refers to. Message ids cannot be followed: messages have none."""
    if reference.source not in (MESSAGES, EVENTS):
        return Rebuilt(None, f"its source is {quoted(reference.source or '')}", "source")
    if reference.range is not None:
        return _lines(look, reference.source, reference.range)
    if reference.source == EVENTS and look.survey is not None:
        lines = [look.survey.event_lines.get(name or "") for name in (reference.start, reference.end)]
        if None not in lines:
            facts = look.survey.events
            first, last = (facts.record_at(line) for line in lines if line is not None)
            return _lines(look, EVENTS, f"{first}-{last}")
        return Rebuilt(None, "no event has the ids it names", "start_event")
    return Rebuilt(None, "it names messages by id, but messages carry none")


def _lines(look: Look, source: str, written: str | None) -> Rebuilt:
    where: Cited = cited_range(source, written or "")
    citation = resolve(where, look.survey)
    if citation.resolution is Resolution.FREE:
        return Rebuilt(None, f"{quoted(written or '')} is no range such as 1-120", "range")
    if citation.resolution is Resolution.REVERSED:
        return Rebuilt(None, f"the range {written} ends before it begins", "range")
    if citation.resolution is not Resolution.RESOLVED or look.survey is None:
        return Rebuilt(
            None, f"the range {written} goes beyond the {citation.count} lines of {source}", "range"
        )
    pieces, size = [], 0
    for line in cited_lines(where, look.history, look.survey):
        size += line.size + 1
        if size > MOST_BYTES or line.cut:
            return Rebuilt(None, f"the lines {written} are too long to be put together")
        pieces.append(line.content + b"\n")
    return Rebuilt(b"".join(pieces), f"lines {written} of {source}")


def _event(look: Look, name: str | None) -> Rebuilt:
    """The result of a tool call, or else the whole line of the event that has the id."""
    survey = look.survey
    if survey is None or name is None:
        return Rebuilt(None, "the entry names no event", "event")
    if name in survey.answer_lines:
        value = look.history.events.line(survey.answer_lines[name]).value or {}
        parts = parts_of(value.get("content"))
        text = next((part.get("content") for part in parts if part.get("tool_call_id") == name), None)
        content = content_text(text).encode("utf-8", "surrogatepass")
        return Rebuilt(content, f"the result of the call {shown(name)}")
    if name in survey.event_lines:
        line = look.history.events.line(survey.event_lines[name])
        return Rebuilt(line.content + b"\n", f"the event {shown(name)}")
    return Rebuilt(None, f"no event has the id {quoted(name)}", "event")
