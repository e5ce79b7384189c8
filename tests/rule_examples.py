"""The rules of a family, and a check of their examples, which each family reads in its own way."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ctxview.core.findings import Finding, Rule
from ctxview.formats import all_rules


def rules_of(*families: str) -> list[str]:
    return [each.id for each in all_rules() if each.family in families]


def assert_examples_are_true(rule: Rule, findings_of: Callable[[str], Iterable[Finding]]) -> None:
    """Check that the rule has a finding in its bad example and none in its good one."""
    assert rule.id in {each.rule for each in findings_of(rule.explanation.bad)}
    assert rule.id not in {each.rule for each in findings_of(rule.explanation.good)}
