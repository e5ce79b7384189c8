"""Rules about sessions of OpenCode, and about names that lead nowhere (TRM)."""

from __future__ import annotations

from collections.abc import Iterator

from ctxview.analysis.wording import beginning
from ctxview.core.findings import Effect, Hit, Severity, rule
from ctxview.formats.transcript.facts import TranscriptFacts
from ctxview.formats.transcript.model import Mark


@rule("TRM011", name="cleared-result", severity=Severity.WARNING, effect=Effect.HIDDEN)
def cleared_result(facts: TranscriptFacts) -> Iterator[Hit]:
    """A result was cleared; its text is only in the store.

    ## Why
    The model sees a short note instead. It may repeat the call, or answer from memory.
    ## Bad
    opencode
    m1 user: Read it
    m2 assistant sent=9000 out=9: tool c1 read cleared row*900
    ## Good
    opencode
    m1 user: Read it
    m2 assistant sent=9000 out=9: tool c1 read completed row*900
    ## Fix
    Ask the agent to read it again, or turn pruning off.
    ## Source
    anomalyco/opencode.
    """
    for part in facts.context.parts:
        if part.mark is Mark.CLEARED:
            name = " ".join(filter(None, (part.tool, part.about))) or "a call"
            size = f": {part.lost:,} characters" if part.lost else ""
            yield Hit(facts.log.origin(part.row), f"the result of {name} was cleared{size}")


@rule("TRM022", name="unfinished-compaction", severity=Severity.WARNING, effect=Effect.IGNORED)
def unfinished_compaction(facts: TranscriptFacts) -> Iterator[Hit]:
    """A compaction has no finished summary: it does not count.

    ## Why
    The whole history is still sent, and the window stays as full as it was.
    ## Bad
    opencode
    m1 user: Fix it
    m2 compact auto
    m3 summary of=m2 sent=9000 error: We
    ## Good
    opencode
    m1 user: Fix it
    m2 compact auto
    m3 summary of=m2 sent=9000 out=9: We fixed it
    ## Fix
    Start the compaction again.
    ## Source
    anomalyco/opencode.
    """
    for row in facts.log.unfinished:
        if row < facts.end:
            yield Hit(facts.log.origin(row), "this compaction has no finished summary; it does not count")


@rule("TRM023", name="name-without-row", severity=Severity.WARNING)
def name_without_row(facts: TranscriptFacts) -> Iterator[Hit]:
    """A row names another one that the context should begin with, and that is not there.

    ## Why
    What the program sends is another context than the one it meant to keep.
    ## Bad
    opencode
    m1 user: Fix it
    m2 compact auto tail=m9
    m3 summary of=m2 sent=9000 out=9: We fixed it
    ## Good
    opencode
    m1 user: Fix it
    m2 compact auto tail=m1
    m3 summary of=m2 sent=9000 out=9: We fixed it
    ## Fix
    Compact again, or start a new session.
    ## Source
    anomalyco/opencode.
    """
    for row, name in facts.context.dangling:
        yield Hit(facts.log.origin(row), f"{beginning(name, 120)} is not in this session before it")
