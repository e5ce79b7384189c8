"""Checks tables of cases: a rule, changes to a sound session, and the expected finding."""

from __future__ import annotations

from pathlib import Path

from ctxview.core.findings import Finding
from tests.formats.session.rules.examples import findings_of


def findings_for(rule: int, changes: str, base: Path) -> list[Finding]:
    """Return the findings of one rule for a changed session."""
    found = findings_of(rule, changes.replace(" ¶ ", "\n"), base)
    return [each for each in found if each.rule == f"ABI{rule:03}"]


def expect(rule: int, changes: str, severity: str, words: str, file: str, base: Path) -> None:
    """Assert that a finding has the severity, `words` in its message, and an origin that ends with `file`."""
    found = [
        (each.severity.value, each.message, each.origin.file.rpartition("default/")[2])
        for each in findings_for(rule, changes, base)
    ]
    assert any(
        level == severity and words in message and name.endswith(file) for level, message, name in found
    ), found
