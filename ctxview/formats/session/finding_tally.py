"""Findings by the million, kept to the first few of each kind and the number of the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from ctxview.findings import Finding

MOST_OF_A_KIND = 100


class FindingTally:
    """Takes any number of findings and holds at most a hundred of each rule, severity and file."""

    def __init__(self, most: int = MOST_OF_A_KIND) -> None:
        self._most = most
        self._kept: list[Finding] = []
        self._counts: Counter[tuple[str, str, str]] = Counter()
        self._last: dict[tuple[str, str, str], Finding] = {}

    def copy(self) -> FindingTally:
        """One that takes more without this one knowing."""
        made = FindingTally(self._most)
        made._kept, made._counts, made._last = list(self._kept), self._counts.copy(), dict(self._last)
        return made

    def add(self, finding: Finding) -> None:
        kind = (finding.rule, finding.severity.value, finding.origin.file)
        self._counts[kind] += 1
        if self._counts[kind] <= self._most:
            self._kept.append(finding)
        else:
            self._last[kind] = finding

    def findings(self) -> tuple[Finding, ...]:
        """What was kept; where there were more, one last finding tells how many."""
        return (*self._kept, *self._summaries())

    def _summaries(self) -> Iterator[Finding]:
        for kind, last in self._last.items():
            more = self._counts[kind] - self._most
            yield replace(last, message=f"{last.message} (the last of {more:,} more like the ones before)")


def tallied(findings: Iterable[Finding], most: int = MOST_OF_A_KIND) -> tuple[Finding, ...]:
    tally = FindingTally(most)
    for finding in findings:
        tally.add(finding)
    return tally.findings()
