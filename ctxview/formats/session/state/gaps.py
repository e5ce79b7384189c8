"""The gaps of a session: unreadable parts, lines that never reach the prompt, references without a target."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ctxview.analysis.wording import counted, excerpt
from ctxview.core.findings import Severity
from ctxview.core.origin import Origin
from ctxview.core.state import Gap, Ref, RefStatus
from ctxview.formats.kit.folder import EntryKind
from ctxview.formats.kit.history import EmptyHistoryStream
from ctxview.formats.kit.json_records import JsonRecordFile
from ctxview.formats.kit.state_parts import make_gap
from ctxview.formats.session.caps import left_out
from ctxview.formats.session.grammar import EVENTS, MESSAGES
from ctxview.formats.session.state.inputs import SessionStateInputs

MOST_LONG_LINES = 50
_LOST = {
    "source": "the cited messages",
    "swap": "content that was swapped out",
    "dedup": "content that is stored once",
    "child": "the result of a child",
    "pack": "a source of the pack",
}


def build_gaps(inputs: SessionStateInputs, refs: Sequence[Ref]) -> tuple[Gap, ...]:
    """Return all gaps, the worst first."""
    gaps = [
        *_histories(inputs),
        *_unreadable(inputs),
        *_left_out(inputs),
        *_lost_references(refs),
        *_long_lines(inputs),
        *_broken_records(inputs),
        *_not_yet_known(inputs),
    ]
    return tuple(sorted(gaps, key=lambda each: Severity(each.severity).rank))


def _histories(inputs: SessionStateInputs) -> Iterator[Gap]:
    facts = inputs.facts
    for name in (MESSAGES, EVENTS):
        part, stream = facts.session.part(name), facts.history.stream(name)
        if part.kind is EntryKind.ABSENT:
            why = "the file is missing"
            yield make_gap(name, "the history", Severity.ERROR, "absent", why, Origin(part.file))
        elif part.kind is not EntryKind.FILE:
            why = f"this is {part.kind.description}; it is not read"
            yield make_gap(name, "the history", Severity.ERROR, "unreadable", why, Origin(part.file))
        elif isinstance(stream, EmptyHistoryStream) and stream.problem is not None:
            yield make_gap(
                name, "the history", Severity.ERROR, "unreadable", stream.problem, Origin(part.file)
            )
    store = facts.history.store
    if store is not None and store.shards and not store.readable:
        why = "the shards need pyarrow: pip install ctxview[columnar]"
        origin = facts.session.origin(".store/data")
        yield make_gap(
            "shards",
            f"{counted(store.shards, 'shard')} of history",
            Severity.WARNING,
            "unreadable",
            why,
            origin,
        )


def _unreadable(inputs: SessionStateInputs) -> Iterator[Gap]:
    session = inputs.facts.session
    for place, why in sorted(session.closed.items()):
        origin = session.origin(place)
        yield make_gap(place or ".", "a folder of the session", Severity.ERROR, "unreadable", why, origin)
    for part in session.problems():
        if part.name not in (MESSAGES, EVENTS):
            why = part.problem or "it cannot be read"
            yield make_gap(
                part.name, "a part of the session", Severity.ERROR, "unreadable", why, Origin(part.file)
            )


def _left_out(inputs: SessionStateInputs) -> Iterator[Gap]:
    session = inputs.facts.session
    for name, why in left_out(session, inputs.facts.survey):
        yield make_gap(
            name, "a part of the session", Severity.WARNING, "left out", why, Origin(session.file(name))
        )


def _lost_references(refs: Sequence[Ref]) -> Iterator[Gap]:
    for ref in refs:
        subject = _LOST.get(ref.kind, "the target of a reference")
        if ref.status is RefStatus.DANGLING:
            why = f"{ref.target} cannot be found"
            yield make_gap(
                ref.target if ref.kind == "pack" else ref.id,
                subject,
                Severity.ERROR,
                "dangling",
                why,
                ref.origin,
                ref.used_by,
            )
        elif ref.status is RefStatus.MISMATCH:
            why = f"{ref.target} does not match its hash"
            yield make_gap(ref.id, subject, Severity.ERROR, "mismatch", why, ref.origin, ref.used_by)
        elif ref.status is RefStatus.REBUILDABLE:
            why = f"the chunk is missing; {ref.target} still holds its content"
            if ref.kind == "dedup":
                why = "the blob is missing; another place in the session still holds its content"
            yield make_gap(ref.id, subject, Severity.WARNING, "rebuildable", why, ref.origin, ref.used_by)
        elif ref.status is RefStatus.PLACEHOLDER and ref.bytes is None:
            why = "the chunk is missing; without its SHA-256 no copy of its content can be recognised"
            yield make_gap(ref.id, subject, Severity.WARNING, "placeholder", why, ref.origin, ref.used_by)
        elif ref.status is RefStatus.STALE:
            why = "the pack shows an earlier text of this source"
            yield make_gap(ref.target, subject, Severity.WARNING, "stale", why, ref.origin, ref.used_by)


def _long_lines(inputs: SessionStateInputs) -> Iterator[Gap]:
    survey, limit = inputs.facts.survey, inputs.profile.limits.prompt_line
    if survey is None or limit is None:
        return
    then = inputs.lines_then
    long_lines = [each for each in survey.long_lines if then is None or (each[0].line or 1) <= then]
    for origin, size in long_lines[:MOST_LONG_LINES]:
        name = f"message {survey.messages.record_at((origin.line or 1) - 1)}"
        why = f"{size:,} bytes; lines over {limit:,} never reach the prompt"
        yield make_gap(name, "a message", Severity.WARNING, "hidden", why, origin, (name,))
    more = survey.long_count - min(survey.long_count, MOST_LONG_LINES)
    if more and then is None:
        why = f"{more:,} more lines over {limit:,} bytes never reach the prompt"
        yield make_gap("more", "messages", Severity.WARNING, "hidden", why, survey.long_lines[-1][0])


def _broken_records(inputs: SessionStateInputs) -> Iterator[Gap]:
    session = inputs.facts.session
    files: tuple[JsonRecordFile, ...] = (
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
                why = excerpt(record.problem, 200)
                yield make_gap(name, "a record", Severity.ERROR, "unreadable", why, record.origin())
        if records.left_out:
            why = f"{records.left_out:,} more records were not read"
            yield make_gap(
                records.part.name, "records", Severity.WARNING, "left out", why, Origin(records.file)
            )


def _not_yet_known(inputs: SessionStateInputs) -> Iterator[Gap]:
    facts = inputs.facts
    if facts.survey is None:
        why = "the histories are still being read: runs, cited messages and repetitions follow"
        origin = facts.session.origin(MESSAGES)
        yield make_gap("histories", "the content of the histories", Severity.INFO, "unknown", why, origin)
    elif facts.survey.runs.forgotten:
        why = f"{facts.survey.runs.forgotten:,} of the oldest runs and calls are left out: there are too many"
        yield make_gap(
            "runs", "the oldest runs", Severity.INFO, "left out", why, facts.session.origin(EVENTS)
        )
