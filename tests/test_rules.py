"""Every rule is documented in the same way. The tests of each family check the examples."""

from __future__ import annotations

import re
from itertools import groupby

import pytest

from ctxview.core.findings import REGISTRY, Rule
from ctxview.formats import all_rules, rule_families

FAMILIES = {name: list(rules) for name, rules in groupby(all_rules(), key=lambda rule: rule.family)}


def test_each_family_has_a_topic() -> None:
    assert rule_families().keys() == FAMILIES.keys()
    assert all(rule_families().values())


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_is_numbered_without_gaps_and_has_unique_names(family: str) -> None:
    rules = FAMILIES[family]
    assert [rule.id for rule in rules] == [f"{family}{number:03}" for number in range(1, len(rules) + 1)]
    assert len({rule.name for rule in rules}) == len(rules)


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.id)
def test_every_rule_has_a_kebab_case_name_a_short_summary_and_all_sections(rule: Rule) -> None:
    explanation = rule.explanation
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.name)
    assert 0 < len(explanation.summary) <= 110
    assert "\n" not in explanation.summary
    assert all((explanation.why, explanation.bad, explanation.good, explanation.fix, explanation.source))


def test_the_list_has_every_rule() -> None:
    assert sorted(REGISTRY) == [rule.id for rule in all_rules()]
