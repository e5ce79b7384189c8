"""Reads tables of cases: a rule, changes to a sound session, and what the rule should say of them."""

from __future__ import annotations

from pathlib import Path

from ctxview.findings import Finding
from tests.formats.session.rules.examples import findings_of


def said(rule: int, changes: str, base: Path) -> list[Finding]:
    """What one rule, and only that, says about a changed session."""
    found = findings_of(rule, changes.replace(" ¶ ", "\n"), base)
    return [each for each in found if each.rule == f"ABI{rule:03}"]


def expect(rule: int, changes: str, severity: str, words: str, file: str, base: Path) -> None:
    """One finding at least has the severity, the words in its message, and the end of the file's name."""
    found = said(rule, changes, base)
    told = [(each.severity.value, each.message, each.origin.file.rpartition("default/")[2]) for each in found]
    assert any(has == severity and words in message and name.endswith(file) for has, message, name in told), (
        told
    )
