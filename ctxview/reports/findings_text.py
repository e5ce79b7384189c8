"""Findings as lines for people: the place first, so that editors and terminals can jump to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from ctxview.files.visible import visible
from ctxview.findings import Effect, Finding, Severity
from ctxview.reports.console import Console, Style

STYLES = {Severity.ERROR: Style.BAD, Severity.WARNING: Style.WARNING, Severity.INFO: Style.NOTE}
NOUNS = {
    Severity.ERROR: ("error", "errors"),
    Severity.WARNING: ("warning", "warnings"),
    Severity.INFO: ("info", "info"),
}


def finding_lines(findings: Sequence[Finding], console: Console) -> Iterator[str]:
    """One line a finding, a blank line between files. `findings` come sorted by file."""
    for index, (_, group) in enumerate(groupby(findings, key=lambda each: each.origin.file)):
        if index:
            yield ""
        for finding in group:
            yield finding_line(finding, console)


def finding_line(finding: Finding, console: Console) -> str:
    """`file:line:column: severity RULE message → effect`."""
    severity = console.paint(f"{finding.severity.value:<7}", STYLES[finding.severity])
    rule = console.paint(finding.rule, Style.STRONG)
    line = f"{visible(str(finding.origin))}: {severity} {rule} {visible(finding.message)}"
    if finding.effect is Effect.NONE:
        return line
    return f"{line} {console.paint(f'→ {finding.effect.value}', Style.QUIET)}"


def summary(findings: Sequence[Finding], files: int) -> str:
    """`2 errors, 1 warning in 1 of 14 files`."""
    looked_at = f"{files} {_plural('file', files)}"
    if not findings:
        return f"{looked_at} checked, nothing found"
    touched = len({finding.origin.file for finding in findings})
    return f"{tally(findings)} in {touched} of {max(files, touched)} {_plural('file', max(files, touched))}"


def tally(findings: Sequence[Finding]) -> str:
    """`2 errors, 1 warning`, worst first."""
    counted = Counter(finding.severity for finding in findings)
    return ", ".join(
        f"{counted[each]} {NOUNS[each][counted[each] != 1]}" for each in Severity if counted[each]
    )


def _plural(noun: str, count: int) -> str:
    return noun if count == 1 else f"{noun}s"
