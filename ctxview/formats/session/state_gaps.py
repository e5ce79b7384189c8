"""What is not there: unreadable parts, lines no prompt sees, ranges and sources that lead nowhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ctxview.analysis.wording import counted, shown
from ctxview.findings import Severity
from ctxview.formats.gaps import gap
from ctxview.formats.session.folder import EntryKind
from ctxview.formats.session.history import EmptyStream
from ctxview.formats.session.names import EVENTS, MESSAGES
from ctxview.formats.session.records import RecordFile
from ctxview.formats.session.view import View
from ctxview.state import Gap, Origin, Ref, RefStatus

MOST_LONG_LINES = 50
_LOST = {
    "source": "the messages behind it",
    "swap": "content that was swapped out",
    "dedup": "content that is kept once",
    "child": "the result of a child",
    "pack": "a source of the pack",
}


def build_gaps(view: View, refs: Sequence[Ref]) -> tuple[Gap, ...]:
    """The worst first."""
    gaps = [
        *_histories(view),
        *_unreadable(view),
        *_lost_references(refs),
        *_long_lines(view),
        *_broken_records(view),
        *_not_yet_known(view),
    ]
    return tuple(sorted(gaps, key=lambda each: Severity(each.severity).rank))


def _histories(view: View) -> Iterator[Gap]:
    look = view.look
    for name in (MESSAGES, EVENTS):
        part, stream = look.session.part(name), look.history.stream(name)
        if part.kind is EntryKind.ABSENT:
            why = "the file is not there"
            yield gap(name, "the history", Severity.ERROR, "absent", why, Origin(part.file))
        elif part.kind is not EntryKind.FILE:
            why = f"this is {part.kind.told}; it is not read"
            yield gap(name, "the history", Severity.ERROR, "unreadable", why, Origin(part.file))
        elif isinstance(stream, EmptyStream) and stream.problem is not None:
            yield gap(name, "the history", Severity.ERROR, "unreadable", stream.problem, Origin(part.file))
    store = look.history.store
    if store is not None and store.shards and not store.readable:
        why = "the shards need pyarrow: pip install ctxview[columnar]"
        origin = look.session.origin(".store/data")
        yield gap(
            "shards",
            f"{counted(store.shards, 'shard')} of history",
            Severity.WARNING,
            "unreadable",
            why,
            origin,
        )


def _unreadable(view: View) -> Iterator[Gap]:
    for part in view.look.session.problems():
        if part.name not in (MESSAGES, EVENTS):
            why = part.problem or "it cannot be read"
            yield gap(
                part.name, "a part of the session", Severity.ERROR, "unreadable", why, Origin(part.file)
            )


def _lost_references(refs: Sequence[Ref]) -> Iterator[Gap]:
    for ref in refs:
        question = _LOST.get(ref.kind, "what it refers to")
        if ref.status is RefStatus.DANGLING:
            why = f"{ref.target} cannot be found"
            yield gap(
                ref.target if ref.kind == "pack" else ref.id,
                question,
                Severity.ERROR,
                "dangling",
                why,
                ref.origin,
                ref.used_by,
            )
        elif ref.status is RefStatus.MISMATCH:
            why = f"{ref.target} is not what its hash says"
            yield gap(ref.id, question, Severity.ERROR, "mismatch", why, ref.origin, ref.used_by)
        elif ref.status is RefStatus.REBUILDABLE:
            why = f"the chunk is gone; {ref.target} still has it"
            yield gap(ref.id, question, Severity.WARNING, "rebuildable", why, ref.origin, ref.used_by)
        elif ref.status is RefStatus.STALE:
            why = "the pack shows an earlier text of it"
            yield gap(ref.target, question, Severity.WARNING, "stale", why, ref.origin, ref.used_by)


def _long_lines(view: View) -> Iterator[Gap]:
    survey, limit = view.look.survey, view.profile.limits.prompt_line
    if survey is None or limit is None:
        return
    then = view.lines_then
    long_lines = [each for each in survey.long_lines if then is None or (each[0].line or 1) <= then]
    for origin, size in long_lines[:MOST_LONG_LINES]:
        name = f"message {survey.messages.record_at((origin.line or 1) - 1)}"
        why = f"{size:,} bytes; lines over {limit:,} never reach the prompt"
        yield gap(name, "a message", Severity.WARNING, "hidden", why, origin, (name,))
    more = survey.long_count - min(survey.long_count, MOST_LONG_LINES)
    if more and then is None:
        why = f"{more:,} more lines over {limit:,} bytes never reach the prompt"
        yield gap("more", "messages", Severity.WARNING, "hidden", why, survey.long_lines[-1][0])


def _broken_records(view: View) -> Iterator[Gap]:
    session = view.look.session
    files: tuple[RecordFile, ...] = (
        session.facts,
        session.decisions,
        session.refs,
        session.swap.index,
        session.dedup.index,
    )
    for records in files:
        for record in records.records:
            if record.problem is not None:
                name = f"{records.part.name.rpartition('/')[2]} line {record.line}"
                why = shown(record.problem, 200)
                yield gap(name, "a record", Severity.ERROR, "unreadable", why, record.origin())
        if records.left_out:
            why = f"{records.left_out:,} records were too many to be looked at"
            yield gap(records.part.name, "records", Severity.WARNING, "left out", why, Origin(records.file))


def _not_yet_known(view: View) -> Iterator[Gap]:
    look = view.look
    if look.survey is None:
        why = "the histories are still being read: runs, cited messages and repetitions come later"
        origin = look.session.origin(MESSAGES)
        yield gap("histories", "what the histories hold", Severity.INFO, "unknown", why, origin)
    elif look.survey.runs.forgotten:
        why = f"{look.survey.runs.forgotten:,} of the oldest runs and calls were too many to be kept in mind"
        yield gap("runs", "the oldest runs", Severity.INFO, "left out", why, look.session.origin(EVENTS))
