"""Rebuild the context that Codex holds at one moment, by replaying the rows of a rollout."""

from __future__ import annotations

from itertools import chain, islice
from operator import attrgetter

from msgspec import Struct

from ctxview.formats.transcript.model import (
    ROLLBACK,
    Absence,
    LiveContext,
    LoggedCompaction,
    LogPart,
    ModelCall,
    PartKind,
    TranscriptLog,
)

OLD_COMPACTION_TOKENS = 20_000
REPLACED = "replaced"
"""Marks a compaction that states the whole new history."""


class _Cut(Struct, frozen=True):
    """A compaction, and how things were before it."""

    row: int
    history: list[LogPart]
    compacted: int
    """The number of rows that were compacted away."""
    start: LoggedCompaction | None


def live_context(log: TranscriptLog, call: ModelCall | None) -> LiveContext:
    """Return the context that `call` was sent, or the present one, by replaying the rows."""
    end = call.row if call is not None else len(log.rows)
    base: list[LogPart] = []
    history: list[LogPart] = []
    compacted: list[int] = []
    rolled: list[int] = []
    start: LoggedCompaction | None = None
    cuts: list[_Cut] = []
    compactions = {each.row: each for each in log.compactions}
    uncertain = None
    rows, done = log.rows, 0
    for index in _turning_points(log, end):
        history += chain.from_iterable(map(_parts_of, rows[done:index]))
        done, row = index + 1, rows[index]
        if row.role == "system":
            base = list(row.parts)
        elif row.boundary:
            cuts.append(_Cut(index, history, len(compacted), start))
            compacted += dict.fromkeys(map(_row_of, history))
            kept = _kept_prompts(log, history) if row.source != REPLACED else []
            history = [*kept, *row.parts]
            start = compactions.get(index)
        else:
            turns = int(row.source or 0)
            undone: list[int] = []
            while cuts and turns > (later := len(_turn_starts(log, history, cuts[-1].row))):
                # The turn that the compaction was made in goes, and the compaction with it.
                turns -= later
                undone += [part.row for part in history if part.row >= cuts[-1].row]
                cut = cuts.pop()
                del compacted[cut.compacted :]
                history, start = cut.history, cut.start
                uncertain = "a compaction was undone with the rolled-back turn that contains it"
            history, last = _rolled_back(log, history, turns)
            rolled += dict.fromkeys(undone + last)
    history += chain.from_iterable(map(_parts_of, rows[done:end]))
    live, undone_rows = set(map(_row_of, history)), set(rolled)
    absent = {
        Absence.COMPACTED: [row for row in dict.fromkeys(compacted) if row not in live],
        Absence.ROLLED_BACK: [row for row in rolled if row not in live],
    }
    results = {part.call_id for part in history if part.kind is PartKind.RESULT}
    calls = {part.call_id for part in history if part.kind is PartKind.CALL}
    lost = [part for part in history if part.kind is PartKind.RESULT and part.call_id not in calls]
    unsent = {id(part) for part in lost}
    open_calls = [
        part
        for part in history
        if part.kind is PartKind.CALL and part.call_id is not None and part.call_id not in results
    ]
    parts = [*base, *(part for part in history if id(part) not in unsent)]
    first = start.row if start is not None else -1
    return LiveContext(
        parts=parts,
        absent=absent,
        calls=[
            each
            for each in log.calls[log.calls_before(first + 1) : log.calls_before(end)]
            if each.row not in undone_rows
        ],
        lineage=[
            index for index, row in enumerate(islice(rows, end)) if row.parts and index not in undone_rows
        ],
        uncertain=uncertain,
        start=start,
        missing_results=open_calls,
        missing_calls=lost,
    )


_parts_of, _row_of = attrgetter("parts"), attrgetter("row")


def _turning_points(log: TranscriptLog, end: int) -> list[int]:
    """Return the rows before `end` that do more than to add their parts: system, compactions, rollbacks."""
    found = [each.row for each in log.compactions]
    found += [row for row in log.turn_ends if log.rows[row].sort == ROLLBACK]
    system = next((at for at, row in enumerate(log.rows) if row.role == "system"), end)
    return sorted(row for row in (*found, system) if row < end)


def _kept_prompts(log: TranscriptLog, history: list[LogPart]) -> list[LogPart]:
    """Return the newest prompts that an older program kept beside its summary."""
    kept: list[LogPart] = []
    room = 4 * OLD_COMPACTION_TOKENS
    for part in reversed(history):
        if part.kind is PartKind.PROMPT and log.rows[part.row].prompt:
            if room <= 0:
                break
            kept.insert(0, part)
            room -= part.size
    return kept


def _rolled_back(log: TranscriptLog, history: list[LogPart], turns: int) -> tuple[list[LogPart], list[int]]:
    """Return the history without its last turns, and the rows that went. The first turn's lead stays."""
    starts = _turn_starts(log, history)
    if turns <= 0 or not starts:
        return history, []
    cut = starts[max(0, len(starts) - turns)]
    while cut > 0 and cut != starts[0] and history[cut - 1].kind in (PartKind.REMINDER, PartKind.MEMORY):
        cut -= 1
    gone = list(dict.fromkeys(part.row for part in history[cut:]))
    return history[:cut], gone


def _turn_starts(log: TranscriptLog, history: list[LogPart], after: int = -1) -> list[int]:
    """Return where the turns of a history begin, of those with rows after row `after`."""
    begins = [
        at
        for at, part in enumerate(history)
        if part.kind is PartKind.PROMPT and log.rows[part.row].prompt and part.row > after
    ]
    return [at for at in begins if at == 0 or history[at - 1].row != history[at].row]
