"""Every rule is documented, and its examples tell the truth."""

from __future__ import annotations

import re

import pytest

from ctxview.findings import REGISTRY, Severity
from ctxview.formats.envelope import rules
from tests.formats.envelope.bundles import good, read
from tests.formats.envelope.rules.examples import findings_in, findings_of

IDS = [f"ENV{number:03}" for number in range(1, 88)]
ERRORS = {*range(1, 9), 19, 34, 35, 36, 56, 57, 58, 78, 80}
MENTIONS = {10, 11, 16, 22, 28, 32, 40, 60, 69, 87}
"""The rules whose findings are as a rule errors, and mere mentions; all others warn."""
NEVER_SPEAK = {"ENV008", "ENV071"}
"""Explained, but not to be seen in a file: one is a promise of the inspector, one is nobody's to check."""
FAMILIES = (rules.STRAY_RULES, rules.RECORD_RULES, rules.DOSSIER_RULES, rules.BUNDLE_RULES)


def test_there_is_a_rule_for_every_number_and_each_asks_one_of_the_four_questions():
    assert sorted(each.id for family in FAMILIES for each in family) == IDS
    assert sorted(rule for rule in REGISTRY if rule.startswith("ENV")) == IDS


def test_the_severities_are_those_of_the_list():
    found = {
        severity: {int(each[3:]) for each in IDS if REGISTRY[each].severity is severity}
        for severity in Severity
    }
    assert found[Severity.ERROR] == ERRORS
    assert found[Severity.INFO] == MENTIONS


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
