"""Every rule is in one family, and its examples are true."""

from __future__ import annotations

import pytest

from ctxview.core.findings import REGISTRY
from ctxview.formats.snapshot import rules
from tests.formats.snapshot.rules.examples import findings_of
from tests.rule_examples import assert_examples_are_true, rules_of

FAMILIES = (
    rules.REPLY_RULES,
    rules.SNAPSHOT_RULES,
    rules.LOG_RULES,
    rules.EXCHANGE_RULES,
    rules.SUCCESSION_RULES,
    rules.STORE_RULES,
)


def test_every_rule_is_in_one_of_the_six_families():
    assert sorted(each.id for family in FAMILIES for each in family) == rules_of("SNP")


@pytest.mark.parametrize("rule", rules_of("SNP"))
def test_the_examples_are_true(rule: str):
    assert_examples_are_true(REGISTRY[rule], lambda example: findings_of(int(rule[3:]), example))
