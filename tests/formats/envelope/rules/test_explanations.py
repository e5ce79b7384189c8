"""Every rule is documented, and its examples tell the truth."""

from __future__ import annotations

import re

import pytest

from ctxview.findings import REGISTRY
from ctxview.formats.envelope import rules
from tests.formats.envelope.bundles import good, read
from tests.formats.envelope.rules.examples import findings_in, findings_of

IDS = sorted(each for each in REGISTRY if each.startswith("ENV"))
NEVER_SPEAK = {"ENV008", "ENV071"}
"""Explained, but not to be seen in a file: one is a promise of the inspector, one is nobody's to check."""
FAMILIES = (rules.STRAY_RULES, rules.RECORD_RULES, rules.DOSSIER_RULES, rules.BUNDLE_RULES)


def test_every_rule_asks_one_of_the_four_questions():
    assert sorted(each.id for family in FAMILIES for each in family) == IDS


def test_names_are_unique_within_the_family():
    names = [REGISTRY[rule].name for rule in IDS]
    assert len(set(names)) == len(names)


def test_the_good_bundle_has_no_findings():
    assert findings_in(read(good())) == []


@pytest.mark.parametrize("rule", IDS)
def test_every_rule_has_a_kebab_case_name_and_all_sections(rule: str):
    explanation = REGISTRY[rule].explanation
    assert re.fullmatch(r"[a-z]+(-[a-z0-9]+)*", REGISTRY[rule].name)
    assert explanation.summary
    assert len(explanation.summary) <= 110
    assert "\n" not in explanation.summary
    for section in ("why", "bad", "good", "fix", "source"):
        assert getattr(explanation, section), section


@pytest.mark.parametrize("rule", [each for each in IDS if each not in NEVER_SPEAK])
def test_the_bad_example_makes_the_rule_speak(rule: str):
    assert rule in {each.rule for each in findings_of(REGISTRY[rule].explanation.bad)}


@pytest.mark.parametrize("rule", [each for each in IDS if each not in NEVER_SPEAK])
def test_the_good_example_leaves_the_rule_silent(rule: str):
    assert rule not in {each.rule for each in findings_of(REGISTRY[rule].explanation.good)}
