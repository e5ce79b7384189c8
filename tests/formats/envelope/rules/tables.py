"""Check one row of a table of cases: a rule, changes to the good bundle, and the expected finding."""

from __future__ import annotations

from tests.formats.envelope.rules.examples import rule_findings


def expect(rule: int, changes: str, severity: str, words: str, member: str) -> None:
    """Assert that a finding has the severity, the words in its message, and its origin at `member`."""
    found = rule_findings(rule, changes)
    actual = [(each.severity.value, each.message, _member(each.origin.pointer or "")) for each in found]
    assert any(has == severity and words in message and at == member for has, message, at in actual), actual


def _member(pointer: str) -> str:
    """The path from a record, which is a list element, to `pointer`."""
    return pointer.lstrip("/").partition("/")[2]
