"""The gaps of a session: unreadable parts, lines that never reach the prompt, references without a target."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from ctxview.analysis.wording import counted, excerpt
from ctxview.core.findings import Severity
from ctxview.core.origin import Origin
from ctxview.core.state import Gap, Ref, RefStatus
from ctxview.formats.kit.folder import EntryKind
from ctxview.formats.kit.history import EmptyHistoryStream
from ctxview.formats.kit.state_parts import make_gap
from ctxview.formats.session import EVENTS, MESSAGES
from ctxview.formats.session.caps import left_out
from ctxview.formats.session.state.inputs import SessionStateInputs

MOST_LONG_LINES = 50
ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO
Found: TypeAlias = tuple[str, str, Severity, str, str, Origin, tuple[str, ...]]
"""The arguments of `make_gap`."""
_LOST = {
    "source": "the cited messages",
    "swap": "content that was swapped out",
    "dedup": "content that is stored once",
    "child": "the result of a child",
    "pack": "a source of the pack",
}


def build_gaps(inputs: SessionStateInputs, refs: Sequence[Ref]) -> tuple[Gap, ...]:
    """Return all gaps, the worst first."""
    found = [
        *_histories(inputs),
        *_unread(inputs),
        *_lost_references(refs),
        *_long_lines(inputs),
        *_broken_records(inputs),
        *_not_yet_known(inputs),
    ]
    return tuple(make_gap(*each) for each in sorted(found, key=lambda each: each[2].rank))


def _histories(inputs: SessionStateInputs) -> Iterator[Found]:
    facts = inputs.facts
    for name in (MESSAGES, EVENTS):
        part, stream = facts.session.part(name), facts.history.stream(name)
        if part.kind is EntryKind.ABSENT:
            yield name, "the history", ERROR, "absent", "the file is missing", Origin(part.file), ()
        elif part.kind is not EntryKind.FILE:
            why = f"this is {part.kind.description}; it is not read"
            yield name, "the history", ERROR, "unreadable", why, Origin(part.file), ()
        elif isinstance(stream, EmptyHistoryStream) and stream.problem is not None:
            yield name, "the history", ERROR, "unreadable", stream.problem, Origin(part.file), ()
    store = facts.history.store
    if store is not None and store.shards and not store.readable:
        what, why = counted(store.shards, "shard"), "the shards need pyarrow: pip install ctxview[columnar]"
        origin = facts.session.origin(".store/data")
        yield "shards", f"{what} of history", WARNING, "unreadable", why, origin, ()


def _unread(inputs: SessionStateInputs) -> Iterator[Found]:
    session = inputs.facts.session
    for place, why in sorted(session.closed.items()):
        yield place or ".", "a folder of the session", ERROR, "unreadable", why, session.origin(place), ()
    for part in session.problems():
        if part.name not in (MESSAGES, EVENTS):
            why = part.problem or "it cannot be read"
            yield part.name, "a part of the session", ERROR, "unreadable", why, Origin(part.file), ()
    for name, why in left_out(session, inputs.facts.survey):
        yield name, "a part of the session", WARNING, "left out", why, Origin(session.file(name)), ()


def _lost_references(refs: Sequence[Ref]) -> Iterator[Found]:
    for ref in refs:
        name, severity, why = ref.id, WARNING, None
        match ref.status:
            case RefStatus.DANGLING:
                name = ref.target if ref.kind == "pack" else ref.id
                severity, why = ERROR, f"{ref.target} cannot be found"
            case RefStatus.MISMATCH:
                severity, why = ERROR, f"{ref.target} does not match its hash"
            case RefStatus.REBUILDABLE if ref.kind == "dedup":
                why = "the blob is missing; another place in the session still holds its content"
            case RefStatus.REBUILDABLE:
                why = f"the chunk is missing; {ref.target} still holds its content"
            case RefStatus.PLACEHOLDER if ref.bytes is None:
                why = "the chunk is missing; without its SHA-256 no copy of its content can be recognised"
            case RefStatus.STALE:
                name, why = ref.target, "the pack shows an earlier text of this source"
        if why is not None:
            subject = _LOST.get(ref.kind, "the target of a reference")
            yield name, subject, severity, ref.status.value, why, ref.origin, ref.used_by


def _long_lines(inputs: SessionStateInputs) -> Iterator[Found]:
    survey, limit = inputs.facts.survey, inputs.profile.limits.prompt_line
    if survey is None or limit is None:
        return
    then = inputs.lines_then
    long_lines = [each for each in survey.long_lines if then is None or (each[0].line or 1) <= then]
    for origin, size in long_lines[:MOST_LONG_LINES]:
        name = f"message {survey.messages.record_at((origin.line or 1) - 1)}"
        why = f"{size:,} bytes; lines over {limit:,} never reach the prompt"
        yield name, "a message", WARNING, "hidden", why, origin, (name,)
    more = survey.long_count - min(survey.long_count, MOST_LONG_LINES)
    if more and then is None:
        why = f"{more:,} more lines over {limit:,} bytes never reach the prompt"
        yield "more", "messages", WARNING, "hidden", why, survey.long_lines[-1][0], ()


def _broken_records(inputs: SessionStateInputs) -> Iterator[Found]:
    for records in inputs.facts.session.record_files:
        for record in records.records:
            if record.problem is not None:
                name = f"{records.part.name.rpartition('/')[2]} line {record.line}"
                why = excerpt(record.problem, 200)
                yield name, "a record", ERROR, "unreadable", why, record.origin(), ()
        if records.left_out:
            why = f"{records.left_out:,} more records were not read"
            yield records.part.name, "records", WARNING, "left out", why, Origin(records.file), ()


def _not_yet_known(inputs: SessionStateInputs) -> Iterator[Found]:
    facts = inputs.facts
    if facts.survey is None:
        why = "the histories are still being read: runs, cited messages and repetitions follow"
        origin = facts.session.origin(MESSAGES)
        yield "histories", "the content of the histories", INFO, "unknown", why, origin, ()
    elif facts.survey.runs.forgotten:
        why = f"{facts.survey.runs.forgotten:,} of the oldest runs and calls are left out: there are too many"
        yield "runs", "the oldest runs", INFO, "left out", why, facts.session.origin(EVENTS), ()
