"""Rules about the chain of rows and of calls to the model (TRC)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from ctxview.analysis.wording import beginning, counted, listed
from ctxview.core.findings import Effect, Hit, Severity, rule
from ctxview.formats.transcript.facts import TranscriptFacts
from ctxview.formats.transcript.model import Absence, ModelCall


@rule("TRC001", name="missing-parent", severity=Severity.WARNING)
def missing_parent(facts: TranscriptFacts) -> Iterator[Hit]:
    """A parent on the way to the newest message is not in the file.

    ## Why
    What came before it is not known, so the context that is shown may lack its beginning.
    ## Bad
    u1 < - user : Fix the test
    a1 < gone assistant sent=900 out=5 : Done
    ## Good
    u1 < - user : Fix the test
    a1 assistant sent=900 out=5 : Done
    ## Fix
    Look for the session that this one continues.
    ## Source
    Observed in sessions of Claude Code.
    """
    for row, bridged in facts.context.broken:
        name = facts.log.rows[row].parent
        if facts.reader.alone and row == min(facts.context.lineage, default=row):
            continue
        end = (
            "a bad line explains it, and the row before is taken instead"
            if bridged
            else ("what came before is not known")
        )
        yield Hit(facts.log.origin(row), f"the parent {name} is not in the file; {end}")


@rule("TRC002", name="circle", severity=Severity.ERROR)
def circle(facts: TranscriptFacts) -> Iterator[Hit]:
    """The parents of rows form a circle.

    ## Why
    The conversation has no beginning; a program that walks up the parents never ends.
    ## Bad
    u1 < a1 user : Fix the test
    a1 < u1 assistant sent=900 out=5 : Done
    ## Good
    u1 < - user : Fix the test
    a1 < u1 assistant sent=900 out=5 : Done
    ## Fix
    The file was changed by hand or by another program; take an older copy.
    ## Source
    ctxview's own.
    """
    if facts.context.circle is not None:
        name = facts.log.name(facts.context.circle)
        yield Hit(facts.log.origin(facts.context.circle), f"the parents lead back to {name}")


@rule("TRC003", name="dead-branch", severity=Severity.INFO, effect=Effect.HIDDEN)
def dead_branch(facts: TranscriptFacts) -> Iterator[Hit]:
    """Rows are on a branch that was left: a prompt was edited, or the session was rewound.

    ## Why
    The model does not know this work any more, although the log shows it.
    ## Bad
    u1 user : Fix the test
    a1 assistant sent=900 out=5 : Done
    u2 user : Now the docs
    u3 < a1 user : Now the changelog
    a3 assistant sent=950 out=5 : Done
    ## Good
    u1 user : Fix the test
    a1 assistant sent=900 out=5 : Done
    u2 user : Now the docs
    a3 assistant sent=950 out=5 : Done
    ## Fix
    Nothing: `[` and `]` walk to the calls of the branch.
    ## Source
    Observed in sessions of Claude Code.
    """
    all_rows, lineage = facts.log.rows, facts.context.lineage
    end_of_live = lineage[-1] if lineage else -1
    # Attachments behind the end wait for the next prompt: nothing was left there.
    dead = [
        row
        for row in facts.context.gone(Absence.DEAD)
        if row < end_of_live or all_rows[row].role != "attachment"
    ]
    if dead:
        rows, first = counted(len(dead), "row"), facts.log.name(dead[0])
        text = f"{rows} ({_estimated(facts, dead)}) from {first} on are on a branch that was left"
        over = all_rows[dead[0]].parent
        instead = next((row for row in lineage if row > dead[0] and all_rows[row].parent == over), None)
        end = f"; {facts.log.name(instead)} took its place" if instead is not None else ""
        yield Hit(facts.log.origin(dead[0]), text + end)


@rule("TRC004", name="beside-the-walk", severity=Severity.WARNING, effect=Effect.DROPPED)
def beside_the_walk(facts: TranscriptFacts) -> Iterator[Hit]:
    """Rows that the model had are not on the way up the parents.

    ## Why
    A running session has them. After a resume with an affected version of the program, the model lacks them.
    ## Bad
    u1 user : Read both
    a1 call msg=m1 id=t1 sent=900 out=9 : ls
    a2 call msg=m1 id=t2 sent=900 out=9 : pwd
    r1 < a1 result id=t1 : one
    r2 < a2 result id=t2 : two
    a3 < r1 assistant sent=950 out=5 : Done
    ## Good
    u1 user : Read it
    a1 call msg=m1 id=t1 sent=900 out=9 : ls
    r1 < a1 result id=t1 : one
    a3 < r1 assistant sent=950 out=5 : Done
    ## Fix
    After a resume, ask the agent to read again what it needs.
    ## Source
    Measured: the reported sizes include these rows.
    """
    rows = sorted(facts.context.beside_walk)
    if rows:
        tokens = sum(facts.sizes.of(part) for row in rows for part in facts.log.rows[row].parts)
        text = f"{counted(len(rows), 'live row')} ({tokens:,} tokens) would be lost by a resume"
        yield Hit(facts.log.origin(rows[0]), text)


@rule("TRC005", name="written-again", severity=Severity.INFO)
def written_again(facts: TranscriptFacts) -> Iterator[Hit]:
    """The conversation was written again under new ids; the older copy is superseded.

    ## Why
    An editor resumed the session. Counting both copies would double everything.
    ## Bad
    u1 < - user : Fix the test
    a1 assistant msg=m1 sent=900 out=5 : Done
    u2 < - user : Fix the test
    a2 assistant msg=m1 sent=900 out=5 : Done
    ## Good
    u1 < - user : Fix the test
    a1 assistant msg=m1 sent=900 out=5 : Done
    u2 user : Fix the test
    a2 assistant msg=m2 sent=950 out=5 : Done
    ## Fix
    Nothing: only the newer copy counts.
    ## Source
    Observed in sessions of Claude Code.
    """
    old = facts.context.gone(Absence.SUPERSEDED)
    if old:
        text = f"{counted(len(old), 'row')} were written again under new ids"
        yield Hit(facts.log.origin(old[0]), text)


@rule("TRC012", name="model-changed", severity=Severity.INFO)
def model_changed(facts: TranscriptFacts) -> Iterator[Hit]:
    """The model changed within the session; it is a warning when the context shrank at that call.

    ## Why
    Another model counts differently, has another window, and the cache is built anew.
    ## Bad
    u1 user : Fix it
    a1 assistant sent=900 out=5 : Done
    u2 user : More
    a2 assistant model=claude-haiku-4-5 sent=950 out=5 : Done
    ## Good
    u1 user : Fix it
    a1 assistant sent=900 out=5 : Done
    u2 user : More
    a2 assistant sent=950 out=5 : Done
    ## Fix
    Nothing, or stay with one model in long sessions.
    ## Source
    Observed in sessions of Claude Code.
    """
    for before, call in neighbours(facts):
        if before.model and call.model and before.model != call.model:
            fell = before.sent is not None and call.sent is not None and call.sent < before.sent
            text = f"call {call.number}: the model changed from {before.model} to {call.model}"
            yield Hit(facts.log.origin(call.row), text, Severity.WARNING if fell else None)


@rule("TRC013", name="version-changed", severity=Severity.INFO)
def version_changed(facts: TranscriptFacts) -> Iterator[Hit]:
    """The program's version changed: the session was resumed.

    ## Why
    Another version may put the context together by other rules.
    ## Bad
    u1 user version=2.1.79 : Fix it
    a1 assistant version=2.1.63 sent=900 out=5 : Done
    ## Good
    u1 user : Fix it
    a1 assistant sent=900 out=5 : Done
    ## Fix
    Nothing.
    ## Source
    Observed in sessions of Claude Code.
    """
    if len(facts.log.versions) > 1:
        row = list(facts.log.versions.values())[1]
        yield Hit(facts.log.origin(row), f"versions in this file: {listed(facts.log.versions)}")


@rule("TRC014", name="no-usage", severity=Severity.WARNING)
def no_usage(facts: TranscriptFacts) -> Iterator[Hit]:
    """No call has usage, so every size is an estimate.

    ## Why
    Some back ends report zeros. Nothing says how full the window really is.
    ## Bad
    u1 user : Fix it
    a1 assistant : Done
    ## Good
    u1 user : Fix it
    a1 assistant sent=900 out=5 : Done
    ## Fix
    Use a back end that reports usage.
    ## Source
    Observed with other models behind Claude Code.
    """
    calls = facts.log.calls
    if calls and all(call.sent is None for call in calls):
        yield Hit(facts.log.origin(calls[0].row), f"none of {counted(len(calls), 'call')} has usage")


@rule("TRC015", name="placeholder-output", severity=Severity.WARNING)
def placeholder_output(facts: TranscriptFacts) -> Iterator[Hit]:
    """Output sizes are placeholders, so that sums of output are lower bounds.

    ## Why
    Some versions of the program write 1 to 8 tokens for every answer.
    ## Bad
    u1 user : Fix it
    a1 assistant sent=900 out=1 : word*500
    ## Good
    u1 user : Fix it
    a1 assistant sent=900 out=1 : OK
    ## Fix
    Update the program; the growth of the context is still right.
    ## Source
    Measured in versions 2.1.11 to 2.1.29 of Claude Code.
    """
    wrong = [call for call in facts.log.calls if call.out is not None and not call.output_known]
    if wrong:
        text = (
            f"the output of {counted(len(wrong), 'call')} is a placeholder, first of call {wrong[0].number}"
        )
        yield Hit(facts.log.origin(wrong[0].row), text)


@rule("TRC016", name="ends-in-errors", severity=Severity.WARNING)
def ends_in_errors(facts: TranscriptFacts) -> Iterator[Hit]:
    """The session ends in errors of the API, or has many in a row.

    ## Why
    The last work may not have been done, and the context may be one that the API refuses.
    ## Bad
    u1 user : Fix it
    a1 assistant error=1 : API Error: 400 bad request
    ## Good
    u1 user : Fix it
    a1 assistant error=1 : API Error: 529 overloaded
    a2 assistant sent=900 out=5 : Done
    ## Fix
    Resume the session, or start a new one from a summary.
    ## Source
    Observed in sessions of Claude Code.
    """
    errors = facts.log.errors
    if not errors:
        return
    row, text = errors[-1]
    last = max((call.last_row for call in facts.log.calls), default=-1)
    at_end = sum(each > last for each, _ in errors)
    if at_end:
        yield Hit(
            facts.log.origin(row), f"the session ends in {counted(at_end, 'error')}: {beginning(text, 120)}"
        )
    runs: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for error in errors[: len(errors) - at_end]:
        runs[facts.log.calls_before(error[0])].append(error)
    for run in runs.values():
        if len(run) >= facts.profile.limits.errors_in_a_row:
            row, text = run[-1]
            yield Hit(facts.log.origin(row), f"{len(run)} errors in a row: {beginning(text, 120)}")


@rule("TRC018", name="rolled-back", severity=Severity.INFO, effect=Effect.HIDDEN)
def rolled_back(facts: TranscriptFacts) -> Iterator[Hit]:
    """Turns were rolled back.

    ## Why
    The model does not know them any more, although their work on files stays.
    ## Bad
    meta
    user: Fix it
    assistant: Done
    tokens sent=900 out=5
    user: Now delete it
    assistant: Deleted
    tokens sent=950 out=5
    rollback 1
    ## Good
    meta
    user: Fix it
    assistant: Done
    tokens sent=900 out=5
    rollback 0
    ## Fix
    Look at the working tree: what the turns changed is still there.
    ## Source
    openai/codex.
    """
    gone = facts.context.gone(Absence.ROLLED_BACK)
    if gone:
        rows = set(gone)
        calls = sum(call.row in rows for call in facts.log.calls)
        prompts = [facts.texts.text(part, 60) for part in facts.lost_prompts if part.row in rows]
        named = f": {listed(prompts)}" if prompts else ""
        size = f"{counted(len(gone), 'row')} of {counted(calls, 'call')} ({_estimated(facts, gone)})"
        yield Hit(facts.log.origin(gone[0]), f"{size} were rolled back{named}")


@rule("TRC020", name="usage-on-several-rows", severity=Severity.INFO)
def usage_on_several_rows(facts: TranscriptFacts) -> Iterator[Hit]:
    """Usage stands on more rows than there were calls.

    ## Why
    The program repeats the usage on every row of a call. A plain sum over the rows is too high.
    ## Bad
    u1 user : Read both
    a1 call msg=m1 id=t1 sent=900 out=9 : ls
    a2 call msg=m1 id=t2 sent=900 out=9 : pwd
    ## Good
    u1 user : Read it
    a1 call msg=m1 id=t1 sent=900 out=9 : ls
    ## Fix
    Count calls by message id, as `show --json` does.
    ## Source
    Measured: 3,313 rows were 1,780 calls.
    """
    calls, rows = len(facts.log.calls), facts.log.usage_rows
    if calls and rows > calls:
        times = f"{rows / calls:.2f} times too high"
        text = f"usage stands on {rows:,} rows of {calls:,} calls: a plain sum is {times}"
        yield Hit(facts.log.origin(facts.log.calls[0].row), text)


def neighbours(facts: TranscriptFacts) -> Iterator[tuple[ModelCall, ModelCall]]:
    """Yield every call up to this moment with the one that it continues, but not those that write a summary.

    These have their own instructions and no tools.
    """
    calls, end, log = facts.log.calls, facts.end, facts.log
    for call in calls:
        if call.previous is not None and call.row < end and not log.compacted_between(call.row, call.row + 1):
            yield calls[call.previous], call


def _estimated(facts: TranscriptFacts, rows: Sequence[int]) -> str:
    parts = (part for row in rows for part in facts.log.rows[row].parts)
    return f"about {sum(map(facts.estimator.tokens, parts)):,} tokens"
