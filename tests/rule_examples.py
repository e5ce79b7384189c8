"""The rules of a family, and whether their examples tell the truth; how those are read, the family says."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ctxview.findings import Finding, Rule
from ctxview.formats import all_rules


def rules_of(*families: str) -> list[str]:
    return [each.id for each in all_rules() if each.family in families]


def assert_examples_are_true(rule: Rule, findings_of: Callable[[str], Iterable[Finding]]) -> None:
    """The bad example makes the rule speak, and the good one leaves it silent."""
    assert rule.id in {each.rule for each in findings_of(rule.explanation.bad)}
    assert rule.id not in {each.rule for each in findings_of(rule.explanation.good)}
