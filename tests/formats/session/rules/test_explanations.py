"""Every rule is documented, and its examples tell the truth."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ctxview.findings import REGISTRY
from ctxview.formats.session import rules
from tests.formats.session.rules.examples import findings_of

IDS = [f"ABI{number:03}" for number in range(1, 62)]
FAMILIES = (
    rules.LINE_RULES,
    rules.SESSION_RULES,
    rules.ROOT_RULES,
    rules.SUCCESSION_RULES,
    rules.GC_RULES,
)


def test_there_is_a_rule_for_every_number_and_no_other():
    assert sorted(each.id for family in FAMILIES for each in family) == IDS
    assert sorted(rule for rule in REGISTRY if rule.startswith("ABI")) == IDS


def test_names_are_unique_within_the_family():
    names = [REGISTRY[rule].name for rule in IDS]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("rule", IDS)
def test_every_rule_has_a_kebab_case_name_and_all_sections(rule: str):
    explanation = REGISTRY[rule].explanation
    assert re.fullmatch(r"[a-z]+(-[a-z0-9]+)*", REGISTRY[rule].name)
    assert explanation.summary
    assert len(explanation.summary) <= 110
    assert "\n" not in explanation.summary
    for section in ("why", "bad", "good", "fix", "source"):
        assert getattr(explanation, section), section


@pytest.mark.parametrize("rule", IDS)
def test_the_bad_example_makes_the_rule_speak(rule: str, tmp_path: Path):
    found = findings_of(int(rule[3:]), REGISTRY[rule].explanation.bad, tmp_path)
    assert rule in {each.rule for each in found}


@pytest.mark.parametrize("rule", IDS)
def test_the_good_example_leaves_the_rule_silent(rule: str, tmp_path: Path):
    found = findings_of(int(rule[3:]), REGISTRY[rule].explanation.good, tmp_path)
    assert rule not in {each.rule for each in found}
