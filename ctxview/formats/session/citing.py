"""From a written source such as `messages:12-18` to the very lines it cites, and their text, shortened."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from enum import StrEnum

from ctxview.analysis.diff.values import printable
from ctxview.formats.session.history import History
from ctxview.formats.session.history_line import HistoryLine
from ctxview.formats.session.message import message_in
from ctxview.formats.session.names import EVENTS, MESSAGES, Cited, SourceKind, cited, cited_range
from ctxview.formats.session.survey import Survey
from ctxview.quick_dataclass import dataclass
from ctxview.state import Ref

MOST_LINES = 12
LONGEST_LINE = 400


class Resolution(StrEnum):
    RESOLVED = "resolved"
    BEYOND = "beyond the end"
    REVERSED = "reversed"
    UNKNOWN = "not yet known"
    FREE = "free text"


@dataclass(frozen=True, slots=True)
class Citation:
    """Where a source leads. `count` is how many records the stream has, when that is known."""

    cited: Cited
    resolution: Resolution
    count: int | None = None


def resolve(cited: Cited, survey: Survey | None) -> Citation:
    """Whether the cited lines exist."""
    if cited.kind is SourceKind.OTHER:
        return Citation(cited, Resolution.FREE)
    if survey is None:
        return Citation(cited, Resolution.UNKNOWN)
    if cited.kind is SourceKind.LATEST_USER:
        return Citation(cited, Resolution.RESOLVED if survey.user is not None else Resolution.BEYOND)
    count = survey.facts(stream_of(cited)).records
    first, last = cited.first or 0, cited.last or 0
    if cited.reversed:
        return Citation(cited, Resolution.REVERSED, count)
    inside = first >= 1 and last <= count
    return Citation(cited, Resolution.RESOLVED if inside else Resolution.BEYOND, count)


def stream_of(cited: Cited) -> str:
    return EVENTS if cited.kind is SourceKind.EVENTS else MESSAGES


def cited_lines(cited: Cited, history: History, survey: Survey) -> Iterator[HistoryLine]:
    """The lines of a resolved source, one after the other."""
    if cited.kind is SourceKind.LATEST_USER and survey.user is not None:
        yield history.messages.line(survey.user.line)
    elif cited.first is not None and cited.last is not None:
        stream, facts = history.stream(stream_of(cited)), survey.facts(stream_of(cited))
        for record in range(cited.first, min(cited.last, facts.records) + 1):
            yield stream.line(facts.line_of(record))


def cited_rows(refs: Iterable[Ref], survey: Survey | None) -> dict[str, range]:
    """The names in references that mean messages, each with the lines from the first to the last of them."""
    if survey is None:
        return {}
    names = dict.fromkeys(name for ref in refs for name in (ref.target, *ref.used_by))
    found = {name: _rows(cited(name), survey) or _rows(cited_range(*_halves(name)), survey) for name in names}
    return {name: rows for name, rows in found.items() if rows}


def _rows(where: Cited, survey: Survey) -> range | None:
    if where.kind is SourceKind.LATEST_USER and survey.user is not None:
        return range(survey.user.line, survey.user.line + 1)
    facts = survey.messages
    if where.kind is not SourceKind.MESSAGES or not where.first or where.last is None:
        return None
    if where.reversed or where.first > facts.records:
        return None
    return range(facts.line_of(where.first), facts.line_of(min(where.last, facts.records)) + 1)


def _halves(name: str) -> tuple[str, str]:
    """A stream and a range of it, as a swap index is told."""
    stream, _, lines = name.partition(" ")
    return stream, lines


def cited_text(cited: Cited, history: History, survey: Survey) -> str:
    """What the cited messages say, one a line, the middle left out when there are many."""
    if cited.first is None or cited.last is None or cited.last - cited.first < MOST_LINES:
        return "\n".join(_told(line) for line in cited_lines(cited, history, survey))
    half = MOST_LINES // 2
    first = Cited(cited.kind, cited.first, cited.first + half - 1)
    last = Cited(cited.kind, cited.last - half + 1, cited.last)
    left_out = f"… {cited.last - cited.first + 1 - 2 * half} more …"
    parts = [cited_text(first, history, survey), left_out, cited_text(last, history, survey)]
    return "\n".join(parts)


def _spelled(line: HistoryLine) -> str:
    """What holds no message, in one spelling whatever that of the file."""
    if line.value is None:
        return line.content[:LONGEST_LINE].decode("utf-8", "replace")
    ordered = dict(sorted(line.value.items(), key=lambda each: (each[0] != "type", each[0])))
    return json.dumps(printable(ordered), ensure_ascii=False, separators=(",", ":"))


def _told(line: HistoryLine) -> str:
    message = message_in(line)
    text = message.text or _spelled(line)
    shortened = text if len(text) <= LONGEST_LINE else f"{text[:LONGEST_LINE]}…"
    number = "" if line.number is None else f"{line.number + 1} "
    return f"{number}{message.role or 'event'}: {shortened}"
