"""Reads tables of cases: a rule, changes to the good bundle, what the rule should say of them, and where."""

from __future__ import annotations

from tests.formats.envelope.rules.examples import said


def expect(rule: int, changes: str, severity: str, words: str, member: str) -> None:
    """One finding at least has the severity, the words in its message, and stands at that member."""
    found = said(rule, changes)
    told = [(each.severity.value, each.message, _member(each.origin.pointer or "")) for each in found]
    assert any(has == severity and words in message and at == member for has, message, at in told), told


def _member(pointer: str) -> str:
    """The way from a record, which is an element of a list, to the place."""
    return pointer.lstrip("/").partition("/")[2]
