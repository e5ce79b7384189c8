"""Rules about what turns and kinds of content take of the window (TRW)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from ctxview.analysis.text_copies import holds_redaction_mark
from ctxview.core.findings import Hit, Severity, rule
from ctxview.formats.transcript.facts import TranscriptFacts
from ctxview.formats.transcript.growth import largest, turn_growth
from ctxview.formats.transcript.model import MADE_BY_MODEL, Dialect, LogPart, Mark, PartKind
from ctxview.formats.transcript.rules.chain import neighbours


@rule("TRW009", name="baseline-jumped", severity=Severity.INFO)
def baseline_jumped(facts: TranscriptFacts) -> Iterator[Hit]:
    """Between two calls, far more or less was added than the rows between them explain.

    ## Why
    Tools or memory files were loaded or dropped. Nothing in the file says which.
    ## Bad
    u1 user : Fix it
    a1 assistant sent=20000 out=5 : Done
    u2 user : More
    a2 assistant sent=60000 out=5 : Done
    ## Good
    u1 user : Fix it
    a1 assistant sent=20000 out=5 : Done
    u2 user : word*30000
    a2 assistant sent=60000 out=5 : Done
    ## Fix
    Look at what was changed in the settings between the two calls: servers, tools, memory files.
    ## Source
    Measured: 39,000 tokens less after a switch of the model.
    """
    least = facts.profile.limits.baseline_jump
    for before, call in neighbours(facts):
        if before.sent is None or call.sent is None or not before.output_known:
            continue
        growth = call.sent - before.sent - (before.out or 0)
        if 0 <= growth <= least or facts.log.compacted_between(before.row, call.row):
            continue
        parts = [part for row in facts.log.rows[before.row : call.row] for part in row.parts]
        given = sum(facts.estimator.tokens(part) for part in parts if part.kind not in MADE_BY_MODEL)
        jump = growth - given
        fell = jump < 0 and before.model == call.model  # TRW006 says so
        if abs(jump) > max(least, given) and not fell and not _holds_redactions(facts, parts):
            text = f"call {call.number} was sent {jump:+,} tokens beyond the rows before it"
            yield Hit(facts.log.origin(call.row), text)


def _holds_redactions(facts: TranscriptFacts, parts: Sequence[LogPart]) -> bool:
    """Whether texts were removed from parts: what the model was sent for them is not in a redacted copy."""
    return any(holds_redaction_mark(facts.texts.whole(part)) for part in parts)


@rule("TRW011", name="large-turn", severity=Severity.INFO)
def large_turn(facts: TranscriptFacts) -> Iterator[Hit]:
    """One turn added a large part of the window.

    ## Why
    Its biggest causes are where a better question, or a search instead of a whole file, saves most.
    ## Bad
    u1 user : Fix it
    a1 assistant sent=20000 out=5 : Done
    u2 user : Read everything
    a2 call id=t1 tool=Read sent=20100 out=30 : {"file_path": "big.sql"}
    r1 result id=t1 : row*50000
    a3 assistant sent=82000 out=5 : Done
    ## Good
    u1 user : Fix it
    a1 assistant sent=62000 out=5 : Done
    u2 user : More
    a2 assistant sent=62100 out=5 : Done
    ## Fix
    Split the task, or let a sub-agent search.
    ## Source
    ctxview's own; the share is in the profile.
    """
    size = facts.window.size
    for turn in turn_growth(facts):
        percent = 100 * turn.tokens // size if size else 0
        if percent >= facts.profile.limits.turn_percent:
            causes = "; ".join(f"{name} {tokens:,}" for name, tokens in largest(facts, turn.parts(facts)))
            text = f"turn {turn.turn} added {turn.tokens:,} tokens, {percent} % of the window: {causes}"
            yield Hit(facts.log.origin(turn.row), text)


@rule("TRW012", name="much-thinking", severity=Severity.INFO)
def much_thinking(facts: TranscriptFacts) -> Iterator[Hit]:
    """Thinking is a large part of what is live.

    ## Why
    It is sent again with every call, where the model keeps it.
    ## Bad
    u1 user : Fix it
    a1 thinking msg=m1 sent=2000 out=1500 : word*1000
    a2 assistant msg=m1 sent=2000 out=1500 : Done
    u2 user : More
    a3 assistant sent=3510 out=5 : Done
    ## Good
    u1 user : Fix it
    a1 thinking msg=m1 sent=2000 out=90 : word*60
    a2 assistant msg=m1 sent=2000 out=90 : Done
    u2 user : More
    a3 assistant sent=2100 out=5 : Done
    ## Fix
    Use a lower effort, or start a new session for the next task.
    ## Source
    ctxview's own; the share is in the profile.
    """
    found = [part for part in facts.context.parts if part.kind is PartKind.THINKING]
    known = facts.sizes.reported and all(call.output_known for call in facts.context.calls)
    tokens, total = sum(map(facts.sizes.of, found)), facts.sizes.total
    if known and total and 100 * tokens > facts.profile.limits.thinking_percent * total:
        text = f"thinking takes {tokens:,} of {total:,} tokens, {100 * tokens // total} %"
        yield Hit(facts.log.origin(found[-1].row), text)


@rule("TRW014", name="repeated-reminders", severity=Severity.INFO)
def repeated_reminders(facts: TranscriptFacts) -> Iterator[Hit]:
    """The same kind of reminder is in the context many times.

    ## Why
    Each one is sent again with every call.
    ## Bad
    u1 user : Fix it
    n1 attachment type=task_reminder times=20 : Remember the list
    a1 assistant sent=900 out=5 : Done
    ## Good
    u1 user : Fix it
    n1 attachment type=task_reminder : Remember the list
    a1 assistant sent=900 out=5 : Done
    ## Fix
    Compact, or finish the list of tasks.
    ## Source
    Observed: 60 task reminders in one session.
    """
    kinds: dict[str, list[LogPart]] = defaultdict(list)
    for part in facts.context.parts:
        if part.kind is PartKind.REMINDER and part.tool is not None:
            kinds[part.tool].append(part)
    for kind, parts in kinds.items():
        if len(parts) >= facts.profile.limits.reminders:
            tokens = sum(map(facts.sizes.of, parts))
            text = f"{kind} is in the context {len(parts)} times: {tokens:,} tokens"
            yield Hit(facts.log.origin(parts[-1].row), text)


@rule("TRW015", name="rough-estimates", severity=Severity.INFO)
def rough_estimates(facts: TranscriptFacts) -> Iterator[Hit]:
    """The estimates were far off the reported size before they were adjusted to it.

    ## Why
    The sum is right; the figures of the parts are rough.
    ## Bad
    u1 user : Fix it
    a1 call id=t1 sent=9000 out=30 : ls
    r1 result id=t1 : row*4000
    a2 assistant sent=29000 out=5 : Done
    ## Good
    u1 user : Fix it
    a1 call id=t1 sent=9000 out=30 : ls
    r1 result id=t1 : row*4000
    a2 assistant sent=13600 out=5 : Done
    ## Fix
    State the characters a token of this model in a profile.
    ## Source
    ctxview's own; the share is in the profile.
    """
    if not facts.sizes.reported or facts.log.dialect is Dialect.BODY:
        return
    parts = [part for part in facts.context.parts if part.mark is not Mark.ENCRYPTED]
    placed = sum(map(facts.sizes.of, parts))
    guessed = sum(map(facts.estimator.tokens, parts))
    least = facts.profile.limits.least_judged
    is_off = (
        placed > least and 100 * abs(guessed - placed) > facts.profile.limits.estimate_off_percent * placed
    )
    if is_off and not _holds_redactions(facts, parts):
        text = f"the parts were estimated at {guessed:,} tokens, and {placed:,} were reported"
        yield Hit(facts.log.origin(parts[-1].row), text)
