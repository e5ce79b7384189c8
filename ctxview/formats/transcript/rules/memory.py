"""Rules about compactions and tasks (TRM)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from ctxview.analysis.wording import beginning, counted
from ctxview.core.findings import Effect, Hit, Severity, rule
from ctxview.formats.transcript.facts import EDITING_TOOLS, TranscriptFacts
from ctxview.formats.transcript.model import Absence, Mark, PartKind
from ctxview.formats.transcript.state import size_after, size_before
from ctxview.formats.transcript.state.gaps import edited_before, lost_tasks


@rule("TRM001", name="compaction", severity=Severity.INFO)
def compaction(facts: TranscriptFacts) -> Iterator[Hit]:
    """The context was compacted: a summary replaced the rows before it.

    ## Why
    What the summary does not say, the model does not know any more.
    ## Bad
    u1 user : Fix it
    a1 assistant sent=167000 out=5 : Done
    b1 boundary pre=167000
    s1 < b1 summary : We fixed it
    a2 assistant sent=30000 out=5 : Going on
    ## Good
    u1 user : Fix it
    a1 assistant sent=900 out=5 : Done
    ## Fix
    Read what was lost in the difference to the call before.
    ## Source
    Observed in sessions of Claude Code and rollouts of Codex.
    """
    gone, last = facts.context.gone(Absence.COMPACTED), 0
    for cut in facts.log.compactions:
        before, after = size_before(facts, cut), size_after(facts, cut)
        end = f"{after:,}" if after is not None else "a size that is not known: no call follows"
        start = f"{before:,}" if before is not None else "an unknown size"
        replaced = bisect_left(gone, cut.row) - bisect_left(gone, last)
        rows = f"; {counted(replaced, 'row')} replaced" if replaced else ""
        kept = f", {len(cut.kept)} kept" if cut.kept else ""
        text = f"compaction ({cut.trigger or 'unknown'}) from {start} to {end}{rows}{kept}"
        yield Hit(facts.log.origin(cut.row), text)
        last = cut.row


@rule("TRM002", name="lost-task", severity=Severity.WARNING, effect=Effect.DROPPED)
def lost_task(facts: TranscriptFacts) -> Iterator[Hit]:
    """A task that was open before the compaction is neither in the summary nor in a later list.

    ## Why
    The agent will not do it, and nobody is reminded.
    ## Bad
    u1 user : Deploy it
    a1 call id=t1 tool=TodoWrite sent=900 out=30 : {"todos": [{"content": "deploy", "status": "pending"}]}
    r1 result id=t1 : Todos have been modified
    b1 boundary
    s1 < b1 summary : We wrote the code
    a2 assistant sent=700 out=5 : Going on
    ## Good
    u1 user : Deploy it
    a1 call id=t1 tool=TodoWrite sent=900 out=30 : {"todos": [{"content": "deploy", "status": "pending"}]}
    r1 result id=t1 : Todos have been modified
    b1 boundary
    s1 < b1 summary : We wrote the code and must still deploy it
    a2 assistant sent=700 out=5 : Going on
    ## Fix
    Name the task in the next prompt.
    ## Source
    ctxview's own.
    """
    for title, row in lost_tasks(facts):
        yield Hit(facts.log.origin(row), f"the compaction dropped an open task: {title}")


@rule("TRM003", name="edited-unread", severity=Severity.WARNING)
def edited_unread(facts: TranscriptFacts) -> Iterator[Hit]:
    """A file edited before a compaction is edited after it without being read again.

    ## Why
    The model edits from what the summary says about the file.
    ## Bad
    u1 user : Fix it
    a1 call id=t1 tool=Edit sent=900 out=30 : {"file_path": "a.py"}
    r1 result id=t1 : ok
    b1 boundary
    s1 < b1 summary : We changed a.py
    a2 call id=t2 tool=Edit sent=700 out=30 : {"file_path": "a.py"}
    r2 result id=t2 : ok
    ## Good
    u1 user : Fix it
    a1 call id=t1 tool=Edit sent=900 out=30 : {"file_path": "a.py"}
    r1 result id=t1 : ok
    b1 boundary
    s1 < b1 summary : We changed a.py
    f1 attachment type=file file=a.py : text
    a2 call id=t2 tool=Edit sent=700 out=30 : {"file_path": "a.py"}
    r2 result id=t2 : ok
    ## Fix
    Ask the agent to read the file first.
    ## Source
    ctxview's own.
    """
    start = facts.context.start
    if start is None:
        return
    before = edited_before(facts, start.row)
    known: set[str | None] = set()
    for part in facts.context.parts:
        if part.row <= start.row:
            continue
        if part.kind is PartKind.REMINDER or (part.kind is PartKind.CALL and part.tool == "Read"):
            known.add(part.about)
        elif part.kind is PartKind.CALL and part.tool in EDITING_TOOLS:
            if part.about in before and part.about not in known:
                text = f"{part.about} is edited after the compaction and was not read again"
                yield Hit(facts.log.origin(part.row), text)
            known.add(part.about)


@rule("TRM005", name="encrypted", severity=Severity.INFO)
def encrypted(facts: TranscriptFacts) -> Iterator[Hit]:
    """The summary is encrypted: what it says is not known.

    ## Why
    Nobody but the provider can read what the model remembers of the work before.
    ## Bad
    meta
    user: Fix it
    compacted encrypted=1
    user: Go on
    ## Good
    meta
    user: Fix it
    compacted: We fixed it
    user: Go on
    ## Fix
    State what matters in the next prompt.
    ## Source
    openai/codex.
    """
    for part in facts.context.parts:
        if part.kind is PartKind.SUMMARY and part.mark is Mark.ENCRYPTED:
            yield Hit(facts.log.origin(part.row), "the summary is encrypted: what it says is not known")


@rule("TRM006", name="size-after-compaction", severity=Severity.INFO)
def size_after_compaction(facts: TranscriptFacts) -> Iterator[Hit]:
    """The written size after a compaction is not what the next call was sent.

    ## Why
    System prompt, tools and files come on top; the written figure makes the window look emptier.
    ## Bad
    u1 user : Fix it
    b1 boundary post=6977
    s1 < b1 summary : We fixed it
    a2 assistant sent=34765 out=5 : Going on
    ## Good
    u1 user : Fix it
    b1 boundary post=34765
    s1 < b1 summary : We fixed it
    a2 assistant sent=34765 out=5 : Going on
    ## Fix
    Use the size of the next call.
    ## Source
    Measured: 6,977 written, 34,765 sent.
    """
    for cut in facts.log.compactions:
        after = size_after(facts, cut)
        if cut.written_after is not None and after is not None and abs(after - cut.written_after) > 1000:
            text = f"{cut.written_after:,} tokens are written, {after:,} were sent"
            yield Hit(facts.log.origin(cut.row), text)


@rule("TRM007", name="close-compactions", severity=Severity.WARNING)
def close_compactions(facts: TranscriptFacts) -> Iterator[Hit]:
    """Two compactions lie within a few turns: the window is too small for the work.

    ## Why
    Each compaction loses something; soon only a summary of summaries is left.
    ## Bad
    u1 user : Fix it
    b1 boundary
    s1 < b1 summary : one
    u2 user : More
    b2 boundary
    s2 < b2 summary : two
    ## Good
    u1 user : Fix it
    b1 boundary
    s1 < b1 summary : one
    ## Fix
    Use a model with a larger window, or smaller tasks.
    ## Source
    Reported for Claude Code.
    """
    starts = [row for row in facts.prompts if not facts.log.rows[row].side]
    last = None
    for cut in facts.log.compactions:
        turns = bisect_right(starts, cut.row)
        if last is not None and turns - last <= facts.profile.limits.close_compactions:
            within = f"within {counted(turns - last, 'turn')}" if turns > last else "in one turn"
            yield Hit(facts.log.origin(cut.row), f"two compactions {within}")
        last = turns


@rule("TRM008", name="prompt-too-long", severity=Severity.WARNING, effect=Effect.REJECTED)
def prompt_too_long(facts: TranscriptFacts) -> Iterator[Hit]:
    """A call was refused because the prompt was too long.

    ## Why
    The agent could not go on until something was removed.
    ## Bad
    u1 user : Fix it
    a1 assistant error=1 : API Error: 400 prompt is too long: 210000 tokens > 200000 maximum
    ## Good
    u1 user : Fix it
    a1 assistant error=1 : API Error: 400 bad request
    ## Fix
    Compact earlier.
    ## Source
    Reported for Claude Code.
    """
    for row, text in facts.log.errors:
        if "too long" in text.casefold() or "context_length" in text or "context window" in text:
            yield Hit(facts.log.origin(row), f"a call was refused: {beginning(text, 120)}")


@rule("TRM019", name="tasks-in-progress", severity=Severity.WARNING)
def tasks_in_progress(facts: TranscriptFacts) -> Iterator[Hit]:
    """More than one task is in progress, or none while some wait and the session went on.

    ## Why
    The list does not say what the agent is doing.
    ## Bad
    u1 user : Go
    a1 call id=t1 tool=TaskCreate sent=900 out=30 : {"subject": "one"}
    r1 result id=t1 task=1 : Task #1 created
    a2 call id=t2 tool=TaskCreate sent=950 out=30 : {"subject": "two"}
    r2 result id=t2 task=2 : Task #2 created
    a3 call id=t3 tool=TaskUpdate sent=990 out=30 : {"taskId": "1", "status": "in_progress"}
    r3 result id=t3 : Updated task #1
    a4 call id=t4 tool=TaskUpdate sent=999 out=30 : {"taskId": "2", "status": "in_progress"}
    r4 result id=t4 : Updated task #2
    ## Good
    u1 user : Go
    a1 call id=t1 tool=TaskCreate sent=900 out=30 : {"subject": "one"}
    r1 result id=t1 task=1 : Task #1 created
    ## Fix
    Ask the agent to update its list.
    ## Source
    ctxview's own.
    """
    doing = [task for task in facts.tasks() if task.status == "in_progress"]
    if len(doing) > 1:
        text = f"{len(doing)} tasks are in progress at once: {doing[0].title}, {doing[1].title}"
        yield Hit(facts.log.origin(doing[-1].row), text)
    waiting = [task for task in facts.tasks() if task.status == "pending"]
    if waiting and not doing:
        last = max(task.row for task in facts.tasks())
        calls = facts.log.calls_before(facts.end) - facts.log.calls_before(last)
        if calls > facts.profile.limits.idle_calls:
            text = f"{counted(len(waiting), 'open task')}, and none in progress for {calls} calls"
            yield Hit(facts.log.origin(last), text)


@rule("TRM021", name="plan-gone", severity=Severity.INFO, effect=Effect.HIDDEN)
def plan_gone(facts: TranscriptFacts) -> Iterator[Hit]:
    """The plan is no longer in the context.

    ## Why
    The list shows open steps, but the model does not see it any more.
    ## Bad
    meta
    user: Fix it
    call id=c1 tool=update_plan: {"plan": [{"step": "deploy", "status": "pending"}]}
    output id=c1: Plan updated
    tokens sent=900 out=30
    compacted: We fixed it
    user: Go on
    ## Good
    meta
    user: Fix it
    call id=c1 tool=update_plan: {"plan": [{"step": "deploy", "status": "pending"}]}
    output id=c1: Plan updated
    tokens sent=900 out=30
    ## Fix
    Ask the agent to state its plan again.
    ## Source
    openai/codex.
    """
    last = facts.log.todos[-1] if facts.log.todos else None
    if last is None or last.tool != "update_plan":
        return
    live = any(part.row == last.row for part in facts.context.parts)
    if not live and last.row in facts.context.gone(Absence.COMPACTED, Absence.ROLLED_BACK):
        yield Hit(facts.log.origin(last.row), "the plan is no longer in the context")
