"""Every rule of every family is documented alike. Whether its examples are true, its family says."""

from __future__ import annotations

import re
from itertools import groupby

import pytest

from ctxview.findings import REGISTRY, Rule
from ctxview.formats import all_rules, rule_families

FAMILIES = {name: list(rules) for name, rules in groupby(all_rules(), key=lambda rule: rule.family)}


def test_it_is_said_what_each_family_is_about() -> None:
    assert rule_families().keys() == FAMILIES.keys()
    assert all(rule_families().values())


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_is_numbered_without_holes_and_gives_no_name_twice(family: str) -> None:
    rules = FAMILIES[family]
    assert [rule.id for rule in rules] == [f"{family}{number:03}" for number in range(1, len(rules) + 1)]
    assert len({rule.name for rule in rules}) == len(rules)


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.id)
def test_every_rule_has_a_kebab_case_name_a_short_summary_and_all_sections(rule: Rule) -> None:
    told = rule.explanation
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.name)
    assert 0 < len(told.summary) <= 110
    assert "\n" not in told.summary
    assert all((told.why, told.bad, told.good, told.fix, told.source))


def test_no_rule_is_known_that_the_list_leaves_out() -> None:
    assert sorted(REGISTRY) == [rule.id for rule in all_rules()]
