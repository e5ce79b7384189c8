"""Rules about the window and waste in it (TRW)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from ctxview.analysis.rfc3339 import parse_time
from ctxview.analysis.wording import counted
from ctxview.core.findings import Effect, Hit, Severity, rule
from ctxview.core.origin import Origin
from ctxview.formats.transcript.facts import TranscriptFacts
from ctxview.formats.transcript.model import ROLLBACK, Dialect, LogPart, Mark, PartKind
from ctxview.formats.transcript.rules.chain import neighbours
from ctxview.formats.transcript.values import LONG


@rule("TRW001", name="window-nearly-full", severity=Severity.WARNING)
def window_nearly_full(facts: TranscriptFacts) -> Iterator[Hit]:
    """Most of the window is used, and no compaction follows.

    ## Why
    The next large result starts a compaction, or the request is refused.
    ## Bad
    u1 user : Fix it
    a1 assistant sent=192580 out=5 : Done
    ## Good
    u1 user : Fix it
    a1 assistant sent=110760 out=5 : Done
    ## Fix
    Compact at a good moment, or start a new session with a summary.
    ## Source
    The windows of the profile.
    """
    used, size = facts.sizes.total, facts.window.size
    percent = 100 * used // size if size else 0
    limits = facts.profile.limits
    if percent >= limits.full_percent and facts.sizes.reported:
        severity = Severity.ERROR if percent >= limits.overfull_percent else None
        text = f"{used:,} of {size:,} tokens are used: {percent} % of the window"
        yield Hit(_end(facts), text, severity)


@rule("TRW002", name="inferred-window", severity=Severity.INFO)
def inferred_window(facts: TranscriptFacts) -> Iterator[Hit]:
    """The window is inferred: of an unknown model, or nearly full. A warning when a call proved it wrong.

    ## Why
    The file does not state it, and all percentages depend on it. For a known model with room left, only the
    Budget says how the window is known.
    ## Bad
    u1 user : Fix it
    a1 assistant model=in-house-7 sent=900 out=5 : Done
    ## Good
    u1 user : Fix it
    a1 assistant sent=900 out=5 : Done
    ## Fix
    Run `/context` in the session once, or state the window in a profile.
    ## Source
    The windows of the profile.
    """
    window = facts.window
    full = 100 * facts.sizes.total >= facts.profile.limits.full_percent * window.size
    if window.inferred and facts.log.calls and (window.exceeded or window.assumed or full):
        severity = Severity.WARNING if window.exceeded else None
        text = f"the window of {window.size:,} tokens is {window.known_by}"
        yield Hit(facts.log.origin(facts.log.calls[0].row), text, severity)


@rule("TRW003", name="large-item", severity=Severity.WARNING)
def large_item(facts: TranscriptFacts) -> Iterator[Hit]:
    """One item takes a large part of the window.

    ## Why
    It is sent again with every call until a compaction.
    ## Bad
    u1 user : Read it
    a1 call id=t1 tool=Read sent=9000 out=30 : {"file_path": "big.sql"}
    r1 result id=t1 : row*30000
    a2 assistant sent=43000 out=5 : Done
    ## Good
    u1 user : Read it
    a1 call id=t1 tool=Read sent=9000 out=30 : {"file_path": "small.sql"}
    r1 result id=t1 : row*300
    a2 assistant sent=9400 out=5 : Done
    ## Fix
    Let the agent search instead of reading whole files.
    ## Source
    ctxview's own; the share is in the profile.
    """
    most = facts.window.size * facts.profile.limits.item_percent // 100
    for part in facts.context.parts:
        tokens = facts.sizes.of(part)
        if tokens > most and part.kind is not PartKind.SUMMARY:
            name = " ".join(filter(None, (part.tool, part.about))) or part.kind.value
            text = f"{name} takes {tokens:,} tokens, {100 * tokens // facts.window.size} % of the window"
            yield Hit(facts.log.origin(part.row), text)


@rule("TRW004", name="read-again", severity=Severity.WARNING)
def read_again(facts: TranscriptFacts) -> Iterator[Hit]:
    """The same part of a file was read several times while the earlier copies are still live.

    ## Why
    Each copy is sent again with every call.
    ## Bad
    u1 user : Read it
    a1 call id=t1 tool=Read sent=9000 out=30 : {"file_path": "a.py"}
    r1 result id=t1 : row*300
    a2 call id=t2 tool=Read sent=9400 out=30 : {"file_path": "a.py"}
    r2 result id=t2 : row*300
    a3 call id=t3 tool=Read sent=9800 out=30 : {"file_path": "a.py"}
    r3 result id=t3 : row*300
    ## Good
    u1 user : Read it
    a1 call id=t1 tool=Read sent=9000 out=30 : {"file_path": "a.py"}
    r1 result id=t1 : row*300
    a2 call id=t2 tool=Edit sent=9400 out=30 : {"file_path": "a.py"}
    r2 result id=t2 : ok
    a3 call id=t3 tool=Read sent=9500 out=30 : {"file_path": "a.py"}
    r3 result id=t3 : row*300
    a4 call id=t4 tool=Read sent=9900 out=30 : {"file_path": "b.py"}
    r4 result id=t4 : row*300
    ## Fix
    Say in the instructions that files which are in the context need not be read again.
    ## Source
    Observed in sessions of Claude Code.
    """
    for part, copies in _reads_again(facts):
        wasted = sum(facts.sizes.of(each) for each in copies[1:])
        text = f"{part.about} was read {len(copies)} times: {wasted:,} tokens are copies"
        yield Hit(facts.log.origin(part.row), text)


@rule("TRW005", name="identical-results", severity=Severity.WARNING)
def identical_results(facts: TranscriptFacts) -> Iterator[Hit]:
    """Live results are long and identical.

    ## Why
    All but the first tell the model nothing and are sent again with every call. Copies of a file that TRW004
    reports are not reported here again.
    ## Bad
    u1 user : Test it
    a1 call id=t1 sent=9000 out=30 : git status
    r1 result id=t1 : row*900
    a2 call id=t2 sent=9900 out=30 : git status -v
    r2 result id=t2 : row*900
    ## Good
    u1 user : Test it
    a1 call id=t1 sent=9000 out=30 : git status
    r1 result id=t1 : row*900
    a2 call id=t2 sent=9900 out=30 : git status -v
    r2 result id=t2 : row*901
    ## Fix
    Ask for shorter output.
    ## Source
    Observed in sessions of Claude Code.
    """
    reads = {each.row for _, copies in _reads_again(facts) for each in copies}
    results = [part for part in facts.context.parts if part.kind is PartKind.RESULT and part.row not in reads]
    yield from _repeated(facts, results, "result", "that of")


@rule("TRW006", name="shrunk-context", severity=Severity.WARNING, effect=Effect.DROPPED)
def shrunk_context(facts: TranscriptFacts) -> Iterator[Hit]:
    """The context shrank from one call to the next, and nothing says why.

    ## Why
    Something was taken away: a resume lost rows, results were cleared, other tools were loaded.
    ## Bad
    u1 user : Fix it
    a1 assistant sent=102305 out=5 : Done
    u2 user : More
    a2 assistant sent=89000 out=5 : Done
    ## Good
    u1 user : Fix it
    a1 assistant sent=102305 out=5 : Done
    u2 user : More
    a2 assistant sent=102400 out=5 : Done
    ## Fix
    Ask the agent to read again what it needs.
    ## Source
    Measured in sessions of Claude Code.
    """
    rows = facts.log.rows
    undone = [at for at in facts.log.turn_ends if rows[at].sort == ROLLBACK]
    least, codex = facts.profile.limits.shrunk_tokens, facts.log.dialect is Dialect.CODEX
    for before, call in neighbours(facts):
        if before.sent is None or call.sent is None or before.model != call.model:
            continue
        fell = before.sent - call.sent
        # Codex drops the reasoning of earlier turns.
        if fell <= least or (codex and before.turn != call.turn):
            continue
        known = facts.log.compacted_between(before.row, call.row)
        if not known and not any(before.row < row < call.row for row in undone):
            text = (
                f"call {call.number} was sent {fell:,} tokens less than the one before, and no row says why"
            )
            yield Hit(facts.log.origin(call.row), text)


@rule("TRW007", name="cache-built-anew", severity=Severity.WARNING)
def cache_built_anew(facts: TranscriptFacts) -> Iterator[Hit]:
    """The cache was built anew; it is a note when a pause, a compaction or another model explains it.

    ## Why
    Writing the cache again costs more than reading it, and takes longer. Each explanation is noted once.
    ## Bad
    u1 user : Fix it
    a1 assistant sent=60000 out=5 : Done
    u2 user : More
    a2 assistant sent=60100 written=59000 out=5 : Done
    ## Good
    u1 user : Fix it
    a1 assistant sent=60000 out=5 : Done
    u2 user : More
    a2 assistant sent=60100 written=90 out=5 : Done
    ## Fix
    Look for something that changes at the beginning of the prompt: tools, dates, memory files.
    ## Source
    The Messages API: prompt caching.
    """
    if not any(call.cached for call in facts.log.calls):
        return
    least = facts.profile.limits.cache_fell
    explained: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
    for before, call in neighbours(facts):
        if before.sent is None or call.cached is None or not before.cached:
            continue
        fell = min(before.sent, call.sent or 0) - call.cached
        if fell <= least:
            continue
        cause = note = ""
        first, last = parse_time(before.time or ""), parse_time(call.time or "")
        if first is not None and last is not None:
            minutes = (last - first).total_seconds() / 60
            if minutes >= before.cache_minutes:
                cause, note = "after a pause", f"{minutes:.0f} minutes passed"
        if before.model != call.model:
            cause, note = "with another model", "the model changed"
        if facts.log.compacted_between(before.row, call.row):
            cause, note = "after a compaction", "a compaction lies between"
        text = f"call {call.number} wrote {fell:,} cached tokens again"
        if cause:
            explained[cause].append((fell, call.row, f"{text}: {note}"))
        else:
            yield Hit(facts.log.origin(call.row), text)
    for cause, found in explained.items():
        most, row, text = max(found)
        if len(found) > 1:
            total = sum(fell for fell, _, _ in found)
            text = (
                f"{len(found)} calls {cause} wrote {total:,} cached tokens again, this one the most: {most:,}"
            )
        yield Hit(facts.log.origin(row), text, Severity.INFO)


@rule("TRW008", name="large-baseline", severity=Severity.INFO)
def large_baseline(facts: TranscriptFacts) -> Iterator[Hit]:
    """System prompt, tools and memory files take a large part of the window before the first word.

    ## Why
    They are sent with every call and leave less room for the work.
    ## Bad
    u1 user : Fix it
    a1 assistant sent=60000 out=5 : Done
    ## Good
    u1 user : Fix it
    a1 assistant sent=20000 out=5 : Done
    ## Fix
    Remove servers and tools that are not used, and shorten memory files.
    ## Source
    Inferred from the first call.
    """
    limits, size = facts.profile.limits, facts.window.size
    percent = 100 * facts.sizes.baseline // size if size else 0
    if percent >= limits.base_percent and facts.log.dialect in (Dialect.CLAUDE_CODE, Dialect.OPENCODE):
        severity = Severity.WARNING if percent >= limits.heavy_base_percent else None
        text = f"{facts.sizes.baseline:,} tokens ({percent} % of the window) are sent before the first word"
        yield Hit(facts.log.origin(0), text, severity)


@rule("TRW010", name="context-text-twice", severity=Severity.WARNING)
def context_text_twice(facts: TranscriptFacts) -> Iterator[Hit]:
    """The same context text is live twice: a memory file, a skill, or initial messages after a rollback.

    ## Why
    The second copy is waste in every call.
    ## Bad
    meta
    developer: rules*300
    developer: rules*300
    user: Fix it
    ## Good
    meta
    developer: rules*300
    developer: rules*301
    user: Fix it
    ## Fix
    Start a new session.
    ## Source
    Observed in rollouts of Codex: 8,000 tokens.
    """
    kinds = (PartKind.SYSTEM, PartKind.MEMORY, PartKind.REMINDER)
    yield from _repeated(facts, [part for part in facts.context.parts if part.kind in kinds], "text")


@rule("TRW013", name="images", severity=Severity.INFO)
def images(facts: TranscriptFacts) -> Iterator[Hit]:
    """There are images in the context.

    ## Why
    Each one costs up to 1,600 tokens with every call; many of them crowd out text.
    ## Bad
    u1 user image=4 : x
    a1 assistant sent=9000 out=5 : Done
    ## Good
    u1 user : Fix it
    a1 assistant sent=900 out=5 : Done
    ## Fix
    Compact after the images were discussed.
    ## Source
    The Messages API.
    """
    found = [part for part in facts.context.parts if part.images]
    count = sum(part.images for part in found)
    if count:
        tokens = sum(facts.sizes.of(part) for part in found)
        limits = facts.profile.limits
        many = count > limits.most_images or tokens * 100 > facts.window.size * limits.image_percent
        text = f"{counted(count, 'image')} in the context, about {tokens:,} tokens"
        yield Hit(facts.log.origin(found[0].row), text, Severity.WARNING if many else None)


def _reads_again(facts: TranscriptFacts) -> list[tuple[LogPart, list[LogPart]]]:
    """Return the calls that read a part of a file once too often, with all live results of such calls."""
    results = {part.call_id: part for part in facts.context.parts if part.kind is PartKind.RESULT}
    seen: dict[tuple[str, str | None], list[LogPart]] = defaultdict(list)
    found: list[tuple[LogPart, list[LogPart]]] = []
    for part in facts.context.parts:
        if part.kind is not PartKind.CALL or part.about is None:
            continue
        if part.tool not in ("Read", "read"):
            for key in [key for key in seen if key[0] == part.about]:
                del seen[key]
            continue
        result = results.get(part.call_id)
        if result is None or result.error is not None or result.mark is Mark.UNCHANGED:
            continue
        copies = seen[part.about, part.detail]
        copies.append(result)
        if len(copies) == facts.profile.limits.same_reads:
            found.append((part, copies))
    return found


def _repeated(
    facts: TranscriptFacts, parts: Iterable[LogPart], name: str, preposition: str = ""
) -> Iterator[Hit]:
    """Yield one hit for each long text that other parts repeat, at the first of these."""
    seen: dict[int, list[list[LogPart]]] = defaultdict(list)
    for part in parts:
        if part.size < LONG:
            continue
        alike = seen[part.size]
        text = facts.texts.whole(part) if alike else ""
        group = next((each for each in alike if facts.texts.whole(each[0]) == text), None)
        if group is None:
            alike.append([part])
        else:
            group.append(part)
    for first, *copies in (group for alike in seen.values() for group in alike):
        if copies:
            tokens = sum(map(facts.sizes.of, copies))
            origin = " ".join(filter(None, (preposition, facts.log.name(first.row))))
            text = f"this {name} is the same as {origin}: {tokens:,} tokens are sent twice"
            if len(copies) > 1:
                text = f"{len(copies)} {name}s are the same as {origin}: {tokens:,} tokens are sent again"
            yield Hit(facts.log.origin(copies[0].row), text)


def _end(facts: TranscriptFacts) -> Origin:
    rows = [part.row for part in facts.context.parts]
    return facts.log.origin(rows[-1] if rows else 0)
