"""Rules for people: the list in one line each, and one rule explained."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from textwrap import indent

from ctxview.findings import Effect, Rule
from ctxview.reports.cells import cut
from ctxview.reports.console import Console, Style
from ctxview.reports.findings_text import STYLES


def rule_list_lines(rules: Sequence[Rule], families: Mapping[str, str], console: Console) -> Iterator[str]:
    """Grouped by family, with what each is about; `rules` come sorted by id."""
    for index, (family, group) in enumerate(groupby(rules, key=lambda each: each.family)):
        if index:
            yield ""
        title = f"{family}  {families.get(family, '')}".rstrip()
        yield console.paint(title, Style.HEADING)
        for rule in group:
            severity = console.paint(f"{rule.severity.value:<7}", STYLES[rule.severity])
            summary = " ".join(rule.explanation.summary.split())
            yield f"  {console.paint(rule.id, Style.STRONG)}  {severity}  {cut(summary, console.width - 19)}"


def explanation_lines(rule: Rule, console: Console) -> Iterator[str]:
    told = rule.explanation
    severity = console.paint(rule.severity.value, STYLES[rule.severity])
    yield f"{console.paint(f'{rule.id} {rule.name}', Style.STRONG)}  {severity}{_effect(rule)}"
    yield ""
    yield told.summary
    for heading, text in (
        ("Why", told.why),
        ("Bad", told.bad),
        ("Good", told.good),
        ("Fix", told.fix),
        ("Source", told.source),
    ):
        if text:
            yield ""
            yield console.paint(heading, Style.HEADING)
            yield indent(text, "  ")


def _effect(rule: Rule) -> str:
    return "" if rule.effect is Effect.NONE else f"  → {rule.effect.value}"
