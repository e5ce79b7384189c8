"""Every rule is documented, and its examples tell the truth."""

from __future__ import annotations

import re

import pytest

from ctxview.findings import REGISTRY
from ctxview.formats.snapshot import rules
from tests.formats.snapshot.rules.examples import findings_of

IDS = [f"SNP{number:03}" for number in range(1, 66)]
FAMILIES = (
    rules.REPLY_RULES,
    rules.SNAPSHOT_RULES,
    rules.LOG_RULES,
    rules.EXCHANGE_RULES,
    rules.SUCCESSION_RULES,
    rules.STORE_RULES,
)


def test_there_is_a_rule_for_every_number_and_no_other():
    assert sorted(each.id for family in FAMILIES for each in family) == IDS
    assert sorted(rule for rule in REGISTRY if rule.startswith("SNP")) == IDS


def test_names_are_unique_within_the_family():
    names = [REGISTRY[rule].name for rule in IDS]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("rule", IDS)
def test_every_rule_has_a_kebab_case_name_and_all_sections(rule: str):
    explanation = REGISTRY[rule].explanation
    assert re.fullmatch(r"[a-z]+(-[a-z0-9]+)*", REGISTRY[rule].name)
    assert explanation.summary
    assert len(explanation.summary) <= 100
    assert "\n" not in explanation.summary
    for section in ("why", "bad", "good", "fix", "source"):
        assert getattr(explanation, section), section


@pytest.mark.parametrize("rule", IDS)
def test_the_bad_example_makes_the_rule_speak(rule: str):
    found = findings_of(int(rule[3:]), REGISTRY[rule].explanation.bad)
    assert rule in {each.rule for each in found}


@pytest.mark.parametrize("rule", IDS)
def test_the_good_example_leaves_the_rule_silent(rule: str):
    found = findings_of(int(rule[3:]), REGISTRY[rule].explanation.good)
    assert rule not in {each.rule for each in found}
