"""The examples of the rules that need no format are true."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from ctxview.analysis.json_rules import check_json
from ctxview.analysis.path_rules import check_path
from ctxview.analysis.text_rules import check_text
from ctxview.core.findings import REGISTRY, Finding
from ctxview.core.origin import Origin
from tests.rule_examples import assert_examples_are_true, rules_of


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


@pytest.mark.parametrize("rule", rules_of("TXT", "SEC", "JSN", "PTH"))
def test_the_examples_are_true(rule: str):
    assert_examples_are_true(REGISTRY[rule], lambda example: findings_of(rule, example))
