"""Rows that several panes and screens draw: findings, gaps, and counts of findings and hits."""

from __future__ import annotations

from collections.abc import Mapping

from ctxview.analysis.gaps import BLOCKING, gap_is_settled, gap_severity
from ctxview.analysis.revisions.facts import KnownRevisions
from ctxview.core.findings import Effect, Finding, Severity
from ctxview.core.state import Gap
from ctxview.tui.drawing import glyphs
from ctxview.tui.drawing.text import Line, Span, join, preview, show, styled
from ctxview.tui.model.search import SearchHits

EMPTY_TEXT = Span("(empty)", "dim")
"""Shown in place of an empty text."""


def finding_row(finding: Finding) -> Line:
    """Severity, rule, message and effect of a finding on one line."""
    return join(
        (Span(f"{glyphs.SEVERITY[finding.severity]} ", f"severity.{finding.severity}"),),
        show(finding.rule, "rule"),
        (Span(" "),),
        preview(finding.message, "", limit=1000),
        (Span(f"  {finding.effect}", "warn"),) if finding.effect is not Effect.NONE else (),
    )


def severity_counts(counts: Mapping[Severity, int], gap: str = " ", *, zeros: bool = False) -> Line:
    """The number of findings of each severity: ✖ 2 ▲ 5 ● 3; with `zeros` also of those without findings."""
    parts: list[Line] = [
        (Span(f"{glyphs.SEVERITY[each]} {counts[each]}", f"severity.{each}" if counts[each] else "dim"),)
        for each in Severity
        if counts[each] or zeros
    ]
    return join(*parts, gap=gap)


def severity_columns(counts: Mapping[Severity, int], digits: Mapping[Severity, int]) -> Line:
    """The counts with one column for each severity, for lists; `digits` is the width, 0 for no column."""
    cells = [
        Span(f"{glyphs.SEVERITY[each]} {counts[each]:>{digits[each]}}", f"severity.{each}")
        if counts[each]
        else Span(" " * (digits[each] + 2))
        for each in Severity
        if digits[each]
    ]
    return join(*((cell,) for cell in cells), gap=" ")


def gap_badge(gap: Gap) -> Line:
    """The severity of a gap in the word of its format; highlighted while it blocks and is not settled."""
    severity = gap_severity(gap.severity)
    if gap_is_settled(gap):
        return join((Span(f"{glyphs.YES} ", "dim"),), show(gap.severity, "dim"))
    word = show(f"{glyphs.SEVERITY[severity]} {gap.severity}", f"severity.{severity}")
    if gap.severity.casefold() not in BLOCKING:
        return word
    return styled(join((Span(" "),), word, (Span(" "),)), "blocking")


def hit_count_line(hits: SearchHits, messages: int = 0, known: KnownRevisions | None = None) -> Line:
    """How many hits were found, and where; `messages` and `known` revisions are searched only with Enter."""
    if not hits.needle.strip():
        return show("searches blocks, todo, references, missing, findings, text and history", "dim")
    more = show(f"Enter and n continue in {messages:,} messages", "dim") if messages else ()
    if not hits.found:
        revisions = len(known.names) if known is not None else 1
        elsewhere = f"not in this revision; Enter searches all {revisions:,}"
        return more or (show(elsewhere, "dim") if revisions > 1 else show("not found", "warn"))
    total: Line = (Span(f"{len(hits.found)}{'+' if hits.capped else ''} found", "ok"),)
    parts = (show(f"{kind} {number}", "dim") for kind, number in hits.counts().items())
    return join(total, *parts, more, gap=" · ")


def finding_summary_line(finding: Finding) -> Line:
    mark = show(f"{glyphs.SEVERITY[finding.severity]} {finding.rule}", f"severity.{finding.severity}")
    return join(mark, show(finding.message), gap=" ")
