"""Every rule runs, and its examples are true."""

from __future__ import annotations

import pytest

from ctxview.core.findings import REGISTRY, Severity
from ctxview.formats.envelope import rules
from tests.formats.envelope.bundles import good, read
from tests.formats.envelope.rules.examples import findings_in, findings_of
from tests.rule_examples import assert_examples_are_true, rules_of

IDS = rules_of("ENV")
ERRORS = {*range(1, 9), 19, 34, 35, 36, 56, 57, 58, 78, 80}
MENTIONS = {10, 11, 16, 22, 28, 32, 40, 60, 69, 87}
"""The rules with the severity error, and those with info; all others are warnings."""
NEVER_SPEAK = {"ENV008", "ENV071"}
"""Rules without findings: one is a promise of the inspector, the other cannot be checked."""
FAMILIES = (rules.STRAY_RULES, rules.RECORD_RULES, rules.ENVELOPE_RULES, rules.BUNDLE_RULES)


def test_every_rule_is_in_one_of_the_four_groups():
    assert sorted(each.id for family in FAMILIES for each in family) == IDS


def test_the_severities_are_as_listed():
    found = {
        severity: {int(each[3:]) for each in IDS if REGISTRY[each].severity is severity}
        for severity in Severity
    }
    assert found[Severity.ERROR] == ERRORS
    assert found[Severity.INFO] == MENTIONS


def test_the_good_bundle_has_no_findings():
    assert findings_in(read(good())) == []


@pytest.mark.parametrize("rule", [each for each in IDS if each not in NEVER_SPEAK])
def test_the_examples_are_true(rule: str):
    assert_examples_are_true(REGISTRY[rule], findings_of)
