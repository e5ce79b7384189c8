"""Resolve a cited source such as `messages:12-18` to its lines and their shortened text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from enum import StrEnum

from msgspec import Struct

from ctxview.analysis.diff.values import printable
from ctxview.analysis.wording import beginning
from ctxview.core.state import Ref
from ctxview.formats.kit.history_line import HistoryLine
from ctxview.formats.session import EVENTS, MESSAGES
from ctxview.formats.session.grammar import CitedRange, SourceKind, cited_range, parse_citation
from ctxview.formats.session.history import SessionHistory
from ctxview.formats.session.messages import message_in
from ctxview.formats.session.survey.facts import StreamFacts, Survey

MOST_LINES = 12
LONGEST_LINE = 400


class CitationStatus(StrEnum):
    RESOLVED = "resolved"
    BEYOND = "beyond the end"
    REVERSED = "reversed"
    UNKNOWN = "not yet known"
    UNREADABLE = "in an unreadable history"
    FREE = "free text"


class Citation(Struct, frozen=True):
    """A cited range and whether it exists; `count` is the number of records in the history, if known."""

    cited: CitedRange
    resolution: CitationStatus
    count: int | None = None


def resolve_citation(cited: CitedRange, survey: Survey | None) -> Citation:
    """Return whether the cited lines exist."""
    if cited.kind is SourceKind.OTHER:
        return Citation(cited, CitationStatus.FREE)
    if survey is None:
        return Citation(cited, CitationStatus.UNKNOWN)
    if survey.facts(stream_of(cited)).problem is not None:
        return Citation(cited, CitationStatus.UNREADABLE)
    if cited.kind is SourceKind.LATEST_USER:
        absent = CitationStatus.BEYOND if survey.messages.whole else CitationStatus.UNREADABLE
        return Citation(cited, absent if survey.user is None else CitationStatus.RESOLVED)
    count = survey.facts(stream_of(cited)).records
    first, last = cited.first or 0, cited.last or 0
    if cited.reversed:
        return Citation(cited, CitationStatus.REVERSED, count)
    inside = first >= 1 and last <= count
    return Citation(cited, CitationStatus.RESOLVED if inside else CitationStatus.BEYOND, count)


def stream_of(cited: CitedRange) -> str:
    return EVENTS if cited.kind is SourceKind.EVENTS else MESSAGES


def cited_lines(cited: CitedRange, history: SessionHistory, survey: Survey) -> Iterator[HistoryLine]:
    """Yield the lines of a resolved source."""
    if cited.kind is SourceKind.LATEST_USER and survey.user is not None:
        yield history.messages.line(survey.user.line)
    elif cited.first is not None and cited.last is not None:
        stream, facts = history.stream(stream_of(cited)), survey.facts(stream_of(cited))
        for record in range(cited.first, min(cited.last, facts.records) + 1):
            yield stream.line(facts.line_of(record))


def cited_rows(refs: Iterable[Ref], survey: Survey | None) -> dict[str, range]:
    """Return the names in references that cite messages, each with its range of lines."""
    if survey is None:
        return {}
    names = dict.fromkeys(name for ref in refs for name in (ref.target, *ref.used_by))
    found = {}
    for name in names:
        # The target of a swap reference is a history and its range.
        stream, _, lines = name.partition(" ")
        if rows := _rows(parse_citation(name), survey) or _rows(cited_range(stream, lines), survey):
            found[name] = rows
    return found


def _rows(where: CitedRange, survey: Survey) -> range | None:
    if where.kind is SourceKind.LATEST_USER and survey.user is not None:
        return range(survey.user.line, survey.user.line + 1)
    facts = survey.messages
    if where.kind is not SourceKind.MESSAGES or not where.first or where.last is None:
        return None
    if where.reversed or where.first > facts.records:
        return None
    return range(facts.line_of(where.first), facts.line_of(min(where.last, facts.records)) + 1)


def cited_text(cited: CitedRange, history: SessionHistory, survey: Survey) -> str:
    """Return the text of the cited messages, one a line, without the middle when there are many."""
    if cited.first is None or cited.last is None or cited.last - cited.first < MOST_LINES:
        lines = cited_lines(cited, history, survey)
        return "\n".join(_line_text(line, survey.facts(stream_of(cited))) for line in lines)
    half = MOST_LINES // 2
    first = CitedRange(cited.kind, cited.first, cited.first + half - 1)
    last = CitedRange(cited.kind, cited.last - half + 1, cited.last)
    left_out = f"… {cited.last - cited.first + 1 - 2 * half} more …"
    parts = [cited_text(first, history, survey), left_out, cited_text(last, history, survey)]
    return "\n".join(parts)


def _spelled(line: HistoryLine) -> str:
    """Return a line without a message in one spelling, independent of that in the file."""
    if line.value is None:
        return line.content[:LONGEST_LINE].decode("utf-8", "replace")
    ordered = dict(sorted(line.value.items(), key=lambda each: (each[0] != "type", each[0])))
    return json.dumps(printable(ordered), ensure_ascii=False, separators=(",", ":"))


def _line_text(line: HistoryLine, facts: StreamFacts) -> str:
    message = message_in(line)
    text = message.text or _spelled(line)
    shortened = text if len(text) <= LONGEST_LINE else f"{beginning(text, LONGEST_LINE)}…"
    number = "" if line.number is None else f"{facts.record_at(line.number)} "
    return f"{number}{message.role or 'event'}: {shortened}"
