"""Build the state of a transcript at one moment: tiers, tasks, window, references, gaps, timeline."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from operator import itemgetter

from ctxview.analysis.wording import beginning, counted
from ctxview.core.state import (
    CompactionRecord,
    ContextState,
    Counts,
    Cursor,
    Event,
    LogSummary,
    SummedCompaction,
    Tier,
    Todo,
    TodoItem,
    Transcript,
    progress_text,
)
from ctxview.formats.transcript.facts import TranscriptFacts
from ctxview.formats.transcript.forgotten import lost_instructions
from ctxview.formats.transcript.format import NAME
from ctxview.formats.transcript.growth import TurnGrowth, largest, new_parts, turn_growth
from ctxview.formats.transcript.loading import context_of
from ctxview.formats.transcript.model import (
    ROLLBACK,
    SUBAGENT_OF,
    Absence,
    Dialect,
    LoggedCompaction,
    Mark,
    ModelCall,
    PartKind,
    TranscriptLog,
)
from ctxview.formats.transcript.state.budgets import build_budgets
from ctxview.formats.transcript.state.gaps import build_gaps, lost_tasks, unread_edits
from ctxview.formats.transcript.state.references import build_refs
from ctxview.formats.transcript.state.tiers import absent_not_shown, block_id, build_tiers, cache_marks

MOST_EVENTS = 500
_DIALECTS = {
    "claude-code": "Claude Code",
    "codex": "Codex",
    "request-body": "request body",
    "opencode": "OpenCode",
}


def build_state(
    facts: TranscriptFacts, title: str, revision: str, transcript: Transcript | None, *, linked: bool
) -> ContextState:
    tiers = build_tiers(facts)
    count, events = _events(facts) if len(facts.log.requests) != 1 else (0, [])
    not_shown = [*absent_not_shown(facts)]
    if count > MOST_EVENTS:
        not_shown.append(f"only the last {MOST_EVENTS:,} of {count:,} events are on the timeline")
    return ContextState(
        format=NAME,
        title=title,
        source=facts.log.file,
        revision=revision,
        tiers=tiers,
        counts=_counts(facts, tiers),
        todo=_todo(facts),
        budgets=build_budgets(facts),
        refs=build_refs(facts) if linked else (),
        missing=build_gaps(facts, not_shown) if linked else (),
        timeline=tuple(event() for event in events[-MOST_EVENTS:]),
        extra=dict(_extra(facts)),
        transcript=transcript,
        compactions=tuple(_compactions(facts)),
        log=summarised(facts),
    )


def summarised(facts: TranscriptFacts) -> LogSummary:
    """Return the figures of the whole log, for programs."""
    log, context = facts.log, facts.context
    calls = log.calls[: log.calls_before(facts.end + (facts.call is not None))]
    sent = [call.sent for call in calls if call.sent is not None]
    rows = dict.fromkeys(part.row for part in context.parts)
    dead = context.gone(Absence.DEAD)
    return LogSummary(
        dialect=log.dialect.value,
        calls=len(calls),
        last_sent=sent[-1] if sent else None,
        peak_sent=max(sent, default=None),
        output_tokens=sum(call.out or 0 for call in calls) if sent else None,
        output_known=bool(calls) and all(call.output_known for call in calls),
        compactions=tuple(
            SummedCompaction(each.trigger, size_before(facts, each), size_after(facts, each))
            for each in log.compactions
            if each.row < facts.end
        ),
        live_rows=tuple(log.name(row) for row in rows),
        dead_rows=tuple(log.name(row) for row in dead),
        calls_without_result=tuple(part.call_id or "?" for part in context.missing_results),
        results_without_call=tuple(part.call_id or "?" for part in context.missing_calls),
        children=tuple(child.agent or child.call_id or "?" for child in log.children),
        window=facts.window.size,
        window_from=facts.window.known_by,
        models=tuple(log.models),
        versions=tuple(log.versions),
    )


def size_before(facts: TranscriptFacts, cut: LoggedCompaction) -> int | None:
    """Return the size before a compaction: as written, else that of the last call before it."""
    log = facts.log
    if cut.before is not None:
        return cut.before
    before = map(log.calls.__getitem__, range(log.calls_before(cut.row) - 1, -1, -1))
    last = next((call for call in before if call.sent), None)
    return last.after if last is not None else None


def size_after(facts: TranscriptFacts, cut: LoggedCompaction) -> int | None:
    """Return what the first call after a compaction was sent; None when none follows on its branch."""
    log = facts.log
    name = log.rows[cut.row].id
    linked = log.dialect is Dialect.CLAUDE_CODE and not log.partial and name is not None
    linked = linked and any(row.parent == name for row in islice(log.rows, cut.row + 1, None))
    for call in map(log.calls.__getitem__, range(log.calls_before(cut.row + 1), len(log.calls))):
        if not call.sent or (linked and call.compaction != cut.row):
            continue
        ends = (row for row in log.turn_ends if cut.row < row < call.row)
        undone = any(log.rows[row].sort == ROLLBACK for row in ends)
        return call.sent if not undone or context_of(facts.reader, call).start is cut else None
    return None


def _counts(facts: TranscriptFacts, tiers: Sequence[Tier]) -> Counts:
    blocks = [block for tier in tiers for block in tier.blocks]
    shown = sum(block.visible is True for block in blocks)
    hidden = sum(block.visible is False for block in blocks)
    sizes = facts.sizes
    way = f"reported, shared by {sizes.estimator}" if sizes.reported else sizes.estimator
    # Only the sum is reported; its parts are estimates.
    return Counts(len(blocks), shown, hidden, sizes.total, False, way)


def _todo(facts: TranscriptFacts) -> Todo | None:
    tasks = facts.tasks()
    if not tasks:
        return None
    current = next((task for task in tasks if task.status == "in_progress"), None)
    items = tuple(
        TodoItem(
            int(task.id) if task.id.isdecimal() else None,
            task.title,
            {"completed": "done", "in_progress": "doing", "pending": "open"}.get(task.status, task.status),
            task is current,
            facts.log.origin(task.row),
        )
        for task in tasks
    )
    cursor = None
    if current is not None:
        number = int(current.id) if current.id.isdecimal() else None
        place = facts.log.origin(current.row)
        cursor = Cursor(_phase(facts), current.active or current.title, number, None, place)
    step = tasks.index(current) + 1 if current is not None else None
    return Todo(progress_text(items), len(items), step, cursor, items)


def _phase(facts: TranscriptFacts) -> str:
    """Return `planning` in plan mode, `blocked` after an error or a refusal, otherwise `doing`."""
    last = next((part for part in reversed(facts.context.parts) if part.kind is PartKind.RESULT), None)
    newest = facts.context.parts[-1].row if facts.context.parts else 0
    if facts.log.facts.get("mode") == "plan":
        return "planning"
    stopped = last is not None and (last.error is not None or last.mark is Mark.REFUSED)
    return "blocked" if stopped and last is not None and last.row == newest else "doing"


def _events(facts: TranscriptFacts) -> tuple[int, list[Callable[[], Event]]]:
    """Return the number of events, and what makes each of the last ones, in the order of the rows."""
    log = facts.log
    last = facts.end + 1 if facts.call is not None else facts.end
    found: list[tuple[int, Callable[[], Event]]] = []
    model = version = None
    older = max(0, log.calls_before(last) - MOST_EVENTS)
    for at, call in enumerate(islice(log.calls, log.calls_before(last))):
        if at >= older:
            found.append((call.row, partial(_call_event, facts, call, at)))
        if model is not None and call.model not in (None, model):
            found.append((call.row, partial(_call_event, facts, call, at, "model", f"model {call.model}")))
        model = call.model or model
        if version is not None and call.version not in (None, version):
            label = f"resumed with version {call.version}"
            found.append((call.row, partial(_call_event, facts, call, at, "resume", label)))
        version = call.version or version
    found += [(cut.row, partial(_compaction_event, facts, cut)) for cut in log.compactions]
    found += [(turn.row, partial(_turn_event, facts, turn)) for turn in turn_growth(facts)]
    for child in log.children:
        label = f"sub-agent {child.kind or ''} {child.agent or ''} {child.status or 'started'}".strip()
        found.append((child.row, partial(_row_event, log, child.row, "child", label)))
    for index in facts.context.gone(Absence.DEAD):
        if log.rows[index].prompt:
            found.append((index, partial(_branch_event, facts, index)))
    for index in log.turn_ends:
        if log.rows[index].sort == ROLLBACK:
            label = f"{counted(int(log.rows[index].source or 0), 'turn')} rolled back"
            found.append((index, partial(_row_event, log, index, "branch", label)))
    found.sort(key=itemgetter(0))
    made = [make for at, make in found if at < last]
    return older + len(made), made


def _row_event(log: TranscriptLog, row: int, kind: str, label: str) -> Event:
    return Event(label, kind, log.rows[row].time, None, log.origin(row))


def _call_event(
    facts: TranscriptFacts, call: ModelCall, at: int, kind: str = "call", label: str = ""
) -> Event:
    return Event(label or _call_label(facts, call), kind, call.time, at, facts.log.origin(call.row))


def _call_label(facts: TranscriptFacts, call: ModelCall) -> str:
    """Return what a call was sent, how much more than the call that it continues, and the largest cause."""
    log = facts.log
    sent = f"{call.sent:,} tokens sent" if call.sent is not None else "no usage"
    before = log.calls[call.previous] if call.previous is not None else None
    if before is None or before.sent is None or call.sent is None:
        return f"call {call.number}: {sent}"
    # After a branch or a compaction, and in the next request, what is new is not what lies between.
    follows = call.previous == call.number - 2 and not log.compacted_between(before.row, call.row)
    follows = follows and facts.request is None
    causes = largest(facts, new_parts(facts, before.row, call.row)) if follows else ()
    cause = f": {causes[0][0]} {causes[0][1]:,}" if causes else ""
    return f"call {call.number}: {sent}, {call.sent - before.sent:+,}{cause}"


def _compaction_event(facts: TranscriptFacts, cut: LoggedCompaction) -> Event:
    log = facts.log
    before, after = size_before(facts, cut), size_after(facts, cut)
    sizes = f"{before:,} to {after:,} tokens" if before and after else "the size after it is not known"
    label = f"compaction ({cut.trigger or 'unknown'}): {sizes}"
    following = log.calls_before(cut.row + 1)
    return Event(label, "compaction", log.rows[cut.row].time, following, log.origin(cut.row))


def _turn_event(facts: TranscriptFacts, turn: TurnGrowth) -> Event:
    causes = "; ".join(f"{name} {tokens:,}" for name, tokens in largest(facts, turn.parts(facts)))
    label = f"turn {turn.turn}: {turn.tokens:+,} tokens" + (f": {causes}" if causes else "")
    return _row_event(facts.log, turn.row, "turn", label)


def _branch_event(facts: TranscriptFacts, row: int) -> Event:
    label = f"branch left: {facts.texts.text(facts.log.rows[row].parts[0], 60)}"
    return _row_event(facts.log, row, "branch", label)


def _compactions(facts: TranscriptFacts) -> Iterator[CompactionRecord]:
    cut = facts.context.start
    if cut is None:
        return
    at = facts.log.compactions.index(cut)
    before = facts.log.compactions[at - 1].row if at else -1
    gone = tuple(
        block_id(facts, part)
        for row in facts.context.gone(Absence.COMPACTED)
        if row > before and facts.turn_of(row) is not None
        for part in facts.log.rows[row].parts
    )
    summaries = [part for part in facts.context.parts if part.kind is PartKind.SUMMARY]
    text = "\n".join(facts.texts.text(part) for part in summaries) or None
    lost = [f"task: {title}" for title, _ in lost_tasks(facts)]
    lost += [f"file edited before: {path}" for path, _ in unread_edits(facts)]
    lost += [f"said by a person: {sentence}" for sentence, _ in lost_instructions(facts)]
    yield CompactionRecord(facts.log.name(cut.row), text, gone, tuple(lost), facts.log.origin(cut.row))


def _extra(facts: TranscriptFacts) -> Iterator[tuple[str, str]]:
    log = facts.log
    yield "dialect", _DIALECTS.get(log.dialect.value, log.dialect.value)
    request = facts.request
    if request is not None:
        yield "written for", request.api.value
        yield "owner", "a copy of a request: read-only"
    else:
        yield "owner", "the agent's own record: read-only history"
    if log.versions:
        yield "version", ", ".join(list(log.versions)[-3:])
    last = facts.call or next(reversed(log.calls), None)
    if last is not None and last.model:
        yield "model", last.model
    yield "window", f"{facts.window.size:,} ({facts.window.known_by})"
    if facts.context.lineage:
        yield "turns", str(facts.last_turn)
    for name in ("cwd", "branch", SUBAGENT_OF, "forked from", "parent session"):
        if name in log.facts:
            yield name, log.facts[name]
    if causes := largest(facts, facts.context.parts):
        yield "largest", "; ".join(f"{name} {tokens:,}" for name, tokens in causes)
    if marks := cache_marks(facts):
        yield "cache breakpoints", marks
    if request is not None and request.edits:
        yield "context editing", ", ".join(request.edits)
    if request is not None and request.error is not None:
        yield "answer", f"an error: {beginning(request.error, 200)}"
    if facts.context.uncertain is not None:
        yield "uncertain", facts.context.uncertain
    if log.partial:
        yield "rows", "only the end was read so far"
