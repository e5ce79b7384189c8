"""Rows that more than one pane draws."""

from __future__ import annotations

from ctxview.findings import Effect, Finding, Severity
from ctxview.tui import glyphs
from ctxview.tui.text import Line, Span, join, preview, show


def finding_row(finding: Finding) -> Line:
    """Severity, rule and message on one line."""
    return join(
        (Span(f"{glyphs.SEVERITY[finding.severity]} ", f"severity.{finding.severity}"),),
        show(finding.rule, "rule"),
        (Span(" "),),
        preview(finding.message, "", limit=1000),
        (Span(f"  {finding.effect}", "warn"),) if finding.effect is not Effect.NONE else (),
    )


def severity_counts(counts: dict[Severity, int], gap: str = " ", *, zeros: bool = False) -> Line:
    """✖ 2 ▲ 5 ● 3; a click goes to the findings."""
    parts: list[Line] = [
        (Span(f"{glyphs.SEVERITY[each]} {counts[each]}", f"severity.{each}" if counts[each] else "faint"),)
        for each in Severity
        if counts[each] or zeros
    ]
    return join(*parts, gap=gap)


def gap_severity(word: str) -> Severity:
    """Formats have their own words for how bad a gap is."""
    folded = word.casefold()
    if folded in {"error", "blocking", "critical", "high", "fatal"}:
        return Severity.ERROR
    if folded in {"warning", "medium", "major", "degraded", "moderate"}:
        return Severity.WARNING
    return Severity.INFO
