"""Rows that more than one pane draws."""

from __future__ import annotations

from collections.abc import Mapping

from ctxview.findings import Effect, Finding, Severity
from ctxview.state import Gap
from ctxview.tui import glyphs
from ctxview.tui.text import Line, Span, join, preview, show, styled

LOUD = {"blocking", "fatal"}

RANKS = (
    LOUD,
    {"critical", "error"},
    {"high"},
    {"warning", "medium", "major", "degraded", "moderate"},
    {"low", "minor"},
    {"info"},
)
"""The words of all formats for how bad a gap is, the worst first."""

EMPTY_TEXT = Span("(empty)", "dim")
"""What stands for a text that says nothing."""

SETTLED = {"resolved", "declined", "expired", "closed"}
"""What is said of a gap that nobody waits for any more."""


def finding_row(finding: Finding) -> Line:
    """Severity, rule and message on one line."""
    return join(
        (Span(f"{glyphs.SEVERITY[finding.severity]} ", f"severity.{finding.severity}"),),
        show(finding.rule, "rule"),
        (Span(" "),),
        preview(finding.message, "", limit=1000),
        (Span(f"  {finding.effect}", "warn"),) if finding.effect is not Effect.NONE else (),
    )


def severity_counts(counts: Mapping[Severity, int], gap: str = " ", *, zeros: bool = False) -> Line:
    """✖ 2 ▲ 5 ● 3; a click goes to the findings."""
    parts: list[Line] = [
        (Span(f"{glyphs.SEVERITY[each]} {counts[each]}", f"severity.{each}" if counts[each] else "dim"),)
        for each in Severity
        if counts[each] or zeros
    ]
    return join(*parts, gap=gap)


def severity_columns(counts: Mapping[Severity, int], digits: Mapping[Severity, int]) -> Line:
    """The same with every severity in a column of its own, for lists; a column nobody needs takes no room."""
    cells = [
        Span(f"{glyphs.SEVERITY[each]} {counts[each]:>{digits[each]}}", f"severity.{each}")
        if counts[each]
        else Span(" " * (digits[each] + 2))
        for each in Severity
        if digits[each]
    ]
    return join(*((cell,) for cell in cells), gap=" ")


def gap_badge(gap: Gap) -> Line:
    """How bad a gap is, in its format's own word; what blocks is loud while it is not settled."""
    severity = gap_severity(gap.severity)
    if is_settled(gap):
        return join((Span(f"{glyphs.YES} ", "dim"),), show(gap.severity, "dim"))
    word = show(f"{glyphs.SEVERITY[severity]} {gap.severity}", f"severity.{severity}")
    if gap.severity.casefold() not in LOUD:
        return word
    return styled(join((Span(" "),), word, (Span(" "),)), "blocking")


def gap_order(gap: Gap) -> tuple[bool, int]:
    """What is not settled first, the worst of it on top."""
    folded = gap.severity.casefold()
    ranks = [at for at, words in enumerate(RANKS) if folded in words]
    return is_settled(gap), ranks[0] if ranks else len(RANKS)


def what_waits(gap: Gap) -> list[str]:
    """What it blocks. That a block which is not there is itself not there needs no telling."""
    return [each for each in gap.blocks if each != gap.id]


def is_settled(gap: Gap) -> bool:
    return gap.status.casefold() in SETTLED


def gap_severity(word: str) -> Severity:
    """Formats have their own words for how bad a gap is."""
    folded = word.casefold()
    if any(folded in words for words in RANKS[:3]):
        return Severity.ERROR
    return Severity.WARNING if folded in RANKS[3] else Severity.INFO
