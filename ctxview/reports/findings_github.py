"""Findings as GitHub workflow commands, which become annotations on a pull request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ctxview.files.visible import visible
from ctxview.findings import REGISTRY, Effect, Finding, Severity

COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def github_lines(findings: Iterable[Finding]) -> Iterator[str]:
    for finding in findings:
        properties = ",".join(f"{name}={_property(value)}" for name, value in _properties(finding).items())
        yield f"::{COMMANDS[finding.severity]} {properties}::{_data(_message(finding))}"


def _properties(finding: Finding) -> dict[str, str]:
    found = {"file": finding.origin.file}
    if finding.origin.line is not None:
        found["line"] = str(finding.origin.line)
    if finding.origin.column is not None:
        found["col"] = str(finding.origin.column)
    rule = REGISTRY.get(finding.rule)
    return {**found, "title": f"{finding.rule} {rule.name}" if rule else finding.rule}


def _message(finding: Finding) -> str:
    return finding.message if finding.effect is Effect.NONE else f"{finding.message} → {finding.effect.value}"


def _data(text: str) -> str:
    return visible(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
