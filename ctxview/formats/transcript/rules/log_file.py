"""Rules about the file of a transcript (TRF)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from ctxview.analysis.wording import counted
from ctxview.core.findings import Effect, Hit, Severity, rule
from ctxview.formats.transcript.facts import TranscriptFacts
from ctxview.formats.transcript.model import LineProblem


@rule("TRF001", name="bad-line", severity=Severity.WARNING, effect=Effect.DROPPED)
def bad_line(facts: TranscriptFacts) -> Iterator[Hit]:
    """A line in the middle is not JSON; what could be recovered from it is named.

    ## Why
    A program was stopped while it wrote, or two programs wrote at once. Rows of the conversation may be lost.
    ## Bad
    u1 user : Fix the test
    ~{"type":"user","uuid":"x","message":{"role":"us
    a1 assistant sent=900 out=5 : Done
    ## Good
    u1 user : Fix the test
    a1 assistant sent=900 out=5 : Done
    ## Fix
    Nothing can bring the lost bytes back; the rows around them are shown.
    ## Source
    Observed in sessions of Claude Code.
    """
    yield from _problems(facts, "TRF001")


@rule("TRF002", name="unfinished-line", severity=Severity.INFO)
def unfinished_line(facts: TranscriptFacts) -> Iterator[Hit]:
    """The last line is unfinished; it is a warning when the file has not changed for a while.

    ## Why
    While the agent runs, its last line may be half-written. Later it means that the program was stopped.
    ## Bad
    u1 user : Fix the test
    ~{"type":"user","uuid":"x","message":{"role":"user","content":"caf\\
    ## Good
    u1 user : Fix the test
    ## Fix
    Wait, or take the row as lost.
    ## Source
    Observed in sessions of Claude Code.
    """
    for hit in _problems(facts, "TRF002"):
        yield Hit(hit.origin, hit.message, Severity.WARNING if facts.stale else None)


@rule("TRF003", name="glued-records", severity=Severity.WARNING, effect=Effect.REPAIRED)
def glued_records(facts: TranscriptFacts) -> Iterator[Hit]:
    """Several records stand on one line.

    ## Why
    A line end was lost. Programs that read line by line drop all of these records.
    ## Bad
    ~{"type":"mode","sessionId":"s1"}{"type":"mode","sessionId":"s1"}
    u1 user : Fix the test
    ## Good
    ~{"type":"mode","sessionId":"s1"}
    u1 user : the characters }{ in a text
    ## Fix
    Nothing: each of them is read.
    ## Source
    Reported for sessions of Claude Code.
    """
    yield from _problems(facts, "TRF003")


@rule("TRF004", name="skipped-bytes", severity=Severity.INFO, effect=Effect.REPAIRED)
def skipped_bytes(facts: TranscriptFacts) -> Iterator[Hit]:
    """A byte order mark, carriage returns or NUL bytes were skipped.

    ## Why
    NUL bytes are left by a crash of the machine; what stood there is lost.
    ## Bad
    ~﻿{"type":"mode","sessionId":"s1"}
    u1 user : Fix the test
    ## Good
    ~{"type":"mode","sessionId":"s1"}
    u1 user : Fix the test
    ## Fix
    Nothing.
    ## Source
    Reported for sessions of Claude Code.
    """
    kinds: dict[str, list[LineProblem]] = defaultdict(list)
    for problem in facts.log.problems:
        if problem.rule == "TRF004":
            kinds[problem.message].append(problem)
    for text, same in kinds.items():
        more = f" in {len(same):,} lines, first here" if len(same) > 1 else ""
        yield Hit(same[0].origin, text + more)


@rule("TRF005", name="unknown-record", severity=Severity.INFO, effect=Effect.IGNORED)
def unknown_record(facts: TranscriptFacts) -> Iterator[Hit]:
    """Records have a type that is not known.

    ## Why
    A newer version of the program writes them. If they are part of the context, sizes and panes miss them.
    ## Bad
    u1 user : Fix the test
    q1 quantum-state
    ## Good
    u1 user : Fix the test
    p1 progress
    ## Fix
    Update ctxview, or report the type.
    ## Source
    ctxview's own: nothing is left out in silence.
    """
    for sort, (count, first) in facts.log.unknown.items():
        yield Hit(facts.log.origin(first), f"the type {sort} is not known: {counted(count, 'record')}")


@rule("TRF006", name="no-messages", severity=Severity.ERROR)
def no_messages(facts: TranscriptFacts) -> Iterator[Hit]:
    """There are rows, but no message among them: nothing can be said about a context.

    ## Why
    The session was never used, or only its title is left.
    ## Bad
    t1 title : Fix the test
    ## Good
    u1 user : Fix the test
    ## Fix
    Open the session that the title belongs to.
    ## Source
    Observed in sessions of Claude Code.
    """
    rows = facts.log.rows
    if rows and not any(row.in_context for row in rows):
        yield Hit(facts.log.origin(0), f"no message in {counted(len(rows), 'row')}")


@rule("TRF007", name="unusable-record", severity=Severity.WARNING, effect=Effect.IGNORED)
def unusable_record(facts: TranscriptFacts) -> Iterator[Hit]:
    """A known record lacks what it needs, or has it in another type.

    ## Why
    It cannot be placed in the conversation, so the context that is shown may lack it.
    ## Bad
    u1 user : Fix the test
    ~{"type":"user","uuid":"u2","parentUuid":"u1","sessionId":"s1","message":"hello"}
    ## Good
    u1 user : Fix the test
    ~{"type":"user","uuid":"u2","parentUuid":"u1","sessionId":"s1","message":{"content":"hello"}}
    ## Fix
    Report it: the program may write a new shape.
    ## Source
    ctxview's own: nothing is left out in silence.
    """
    yield from _problems(facts, "TRF007")


@rule("TRF008", name="long-line", severity=Severity.WARNING, effect=Effect.TRUNCATED)
def long_line(facts: TranscriptFacts) -> Iterator[Hit]:
    """A line is so long that it is shown from its beginning.

    ## Why
    Usually it holds an image. Its text is not searched beyond the limit.
    ## Bad
    u1 user : x*9000000
    ## Good
    u1 user : x*90000
    ## Fix
    Nothing.
    ## Source
    ctxview's own: every bound that is reached is reported.
    """
    yield from _problems(facts, "TRF008")


@rule("TRF009", name="comment-line", severity=Severity.INFO, effect=Effect.IGNORED)
def comment_line(facts: TranscriptFacts) -> Iterator[Hit]:
    """A line is a comment, as some exports have before their first record.

    ## Why
    The file is an export and not the session itself; rows may have been left out.
    ## Bad
    ~// Source: a web page
    u1 user : Fix the test
    ## Good
    u1 user : // a comment in a text
    ## Fix
    Open the session itself where it is at hand.
    ## Source
    Observed in exports.
    """
    yield from _problems(facts, "TRF009")


@rule("TRF010", name="rows-of-another-session", severity=Severity.INFO, effect=Effect.IGNORED)
def rows_of_another_session(facts: TranscriptFacts) -> Iterator[Hit]:
    """Rows of another session stand in this file.

    ## Why
    They were carried over when the session was resumed; they are not necessarily in the context.
    ## Bad
    x1 user session=s0 : from yesterday
    u1 user : Fix the test
    a1 assistant sent=900 out=5 : Done
    ## Good
    u1 user : Fix the test
    a1 assistant sent=900 out=5 : Done
    ## Fix
    Nothing.
    ## Source
    Observed in sessions of Claude Code.
    """
    if len(facts.log.sessions) > 1:
        own, *others = facts.log.sessions.most_common()
        count = sum(number for _, number in others)
        yield Hit(facts.log.origin(0), f"{counted(count, 'row')} of other sessions than {own[0]}")


@rule("TRF011", name="no-unpacker", severity=Severity.INFO)
def no_unpacker(facts: TranscriptFacts) -> Iterator[Hit]:
    """The file is compressed, and no unpacker is installed.

    ## Why
    Nothing of it can be shown. Codex compresses rollouts that were not used for a while.
    ## Bad
    packed zstd
    meta
    user: Fix it
    ## Good
    packed gzip
    meta
    user: Fix it
    ## Fix
    Install the optional package: `pip install 'ctxview[zstd]'`.
    ## Source
    openai/codex.
    """
    yield from _problems(facts, "TRF011")


@rule("TRF012", name="history-rewritten", severity=Severity.WARNING)
def history_rewritten(facts: TranscriptFacts) -> Iterator[Hit]:
    """The file became shorter, or its beginning changed, since the last look.

    ## Why
    A transcript only grows. What was there before may be lost.
    ## Bad
    u1 user : Fix it
    a1 assistant sent=900 out=5 : Done
    later
    u1 user : Fix it
    ## Good
    u1 user : Fix it
    later
    u1 user : Fix it
    a1 assistant sent=900 out=5 : Done
    ## Fix
    Look for a copy of the file.
    ## Source
    ctxview's own.
    """
    yield from _problems(facts, "TRF012")


def _problems(facts: TranscriptFacts, name: str) -> Iterator[Hit]:
    for problem in facts.log.problems:
        if problem.rule == name:
            yield Hit(problem.origin, problem.message)
