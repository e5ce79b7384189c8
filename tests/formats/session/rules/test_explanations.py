"""Every rule belongs to a check function, and its examples are true."""

from __future__ import annotations

from pathlib import Path
from tempfile import mkdtemp

import pytest

from ctxview.core.findings import REGISTRY
from ctxview.formats.session import rules
from tests.formats.session.rules.examples import findings_of
from tests.rule_examples import assert_examples_are_true, rules_of

FAMILIES = (
    rules.LINE_RULES,
    rules.SESSION_RULES,
    rules.ROOT_RULES,
    rules.SUCCESSION_RULES,
    rules.GC_RULES,
)


def test_every_rule_is_in_one_of_the_five_families():
    assert sorted(each.id for family in FAMILIES for each in family) == rules_of("ABI")


@pytest.mark.parametrize("rule", rules_of("ABI"))
def test_the_examples_are_true(rule: str, tmp_path: Path):
    assert_examples_are_true(
        REGISTRY[rule], lambda example: findings_of(int(rule[3:]), example, Path(mkdtemp(dir=tmp_path)))
    )
