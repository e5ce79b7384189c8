"""The rules that need no format are documented, and their examples tell the truth."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from ctxview.analysis.json_rules import check_json
from ctxview.analysis.path_rules import check_path
from ctxview.analysis.text_rules import check_text
from ctxview.findings import REGISTRY, Finding
from ctxview.state import Origin

EXPECTED = {"TXT": 6, "SEC": 8, "JSN": 6, "PTH": 1}
IDS = [f"{family}{number:03}" for family, most in EXPECTED.items() for number in range(1, most + 1)]


def findings_of(rule: str, example: str) -> Iterator[Finding]:
    family = rule[:3]
    if family == "PTH":
        return check_path("session.json", example, Origin("session.json"))
    if family == "JSN":
        return check_json("file.json", json_example(example))
    return check_text(with_characters(example), lambda start, end: Origin("file", None, start, end))


def json_example(example: str) -> bytes:
    if nested := re.fullmatch(r"\[\* (\d+)\]", example):
        return b"[" * int(nested[1]) + b"]" * int(nested[1])
    return re.sub(r"^\\ufeff", "\ufeff", example).encode()


def with_characters(example: str) -> str:
    return re.sub(
        r"\\u([0-9a-f]{4})|\\U([0-9a-f]{8})", lambda found: chr(int(found[1] or found[2], 16)), example
    )


def test_the_families_are_complete():
    assert [rule for rule in REGISTRY if rule[:3] in EXPECTED and rule not in IDS] == []
    assert [rule for rule in IDS if rule not in REGISTRY] == []


@pytest.mark.parametrize("rule", IDS)
def test_every_rule_has_a_kebab_case_name_and_all_sections(rule: str):
    explanation = REGISTRY[rule].explanation
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", REGISTRY[rule].name)
    assert 0 < len(explanation.summary) <= 100
    for section in ("why", "bad", "good", "fix", "source"):
        assert getattr(explanation, section), section


@pytest.mark.parametrize("rule", IDS)
def test_the_bad_example_makes_the_rule_speak(rule: str):
    assert rule in {finding.rule for finding in findings_of(rule, REGISTRY[rule].explanation.bad)}


@pytest.mark.parametrize("rule", IDS)
def test_the_good_example_leaves_the_rule_silent(rule: str):
    assert rule not in {finding.rule for finding in findings_of(rule, REGISTRY[rule].explanation.good)}
