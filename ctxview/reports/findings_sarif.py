"""Findings as SARIF 2.1.0, for code scanning and editors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePath
from urllib.parse import quote

from ctxview import __version__
from ctxview.files.visible import visible
from ctxview.findings import REGISTRY, Finding, Rule, Severity
from ctxview.origin import JsonValue, Origin

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def sarif(findings: Sequence[Finding]) -> JsonValue:
    """One run; only the rules that found something are described, each once."""
    rules = sorted({finding.rule for finding in findings})
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "ctxview",
                        "version": __version__,
                        "rules": [
                            _rule(REGISTRY[each]) if each in REGISTRY else {"id": each} for each in rules
                        ],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [_result(finding, rules.index(finding.rule)) for finding in findings],
            }
        ],
    }


def _rule(rule: Rule) -> JsonValue:
    told = rule.explanation
    parts = (
        ("Why", told.why),
        ("Bad", told.bad),
        ("Good", told.good),
        ("Fix", told.fix),
        ("Source", told.source),
    )
    sections = [(heading, text) for heading, text in parts if text]
    return {
        "id": rule.id,
        "name": rule.name,
        "shortDescription": {"text": told.summary},
        "fullDescription": {"text": told.why or told.summary},
        "help": {
            "text": "\n\n".join([told.summary, *(f"{heading}: {text}" for heading, text in sections)]),
            "markdown": "\n\n".join(
                [told.summary, *(f"## {heading}\n\n{text}" for heading, text in sections)]
            ),
        },
        "defaultConfiguration": {"level": LEVELS[rule.severity]},
    }


def _result(finding: Finding, rule_index: int) -> JsonValue:
    return {
        "ruleId": finding.rule,
        "ruleIndex": rule_index,
        "level": LEVELS[finding.severity],
        "message": {"text": visible(finding.message)},
        "locations": [_location(finding.origin)],
        "properties": {"effect": finding.effect.value},
    }


def _location(origin: Origin) -> JsonValue:
    place: dict[str, JsonValue] = {"artifactLocation": {"uri": _uri(origin.file)}}
    if region := _region(origin):
        place["region"] = region
    location: dict[str, JsonValue] = {"physicalLocation": place}
    if origin.pointer:
        location["logicalLocations"] = [{"fullyQualifiedName": origin.pointer, "kind": "member"}]
    return location


def _region(origin: Origin) -> dict[str, JsonValue]:
    region: dict[str, JsonValue] = {}
    if origin.line is not None:
        region["startLine"] = origin.line
        if origin.column is not None:
            region["startColumn"] = origin.column
    if origin.start is not None and origin.end is not None:
        region["byteOffset"] = origin.start
        region["byteLength"] = origin.end - origin.start
    return region


def _uri(file: str) -> str:
    """Relative paths stay relative, as code scanning wants them; odd bytes become percent codes."""
    if Path(file).is_absolute():
        return "file://" + quote(PurePath(file).as_posix().encode("utf-8", "surrogateescape"))
    return quote(PurePath(file).as_posix().encode("utf-8", "surrogateescape"))
