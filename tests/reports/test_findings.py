"""Findings as text, GitHub commands and SARIF, each safe for its reader."""

from __future__ import annotations

import json

from ctxview.core.findings import REGISTRY, Effect, Finding, Severity
from ctxview.core.origin import Origin
from ctxview.reports.console import Console
from ctxview.reports.findings import finding_lines, github_lines, sarif, summary
from ctxview.reports.json_output import dumps

PLAIN = Console(width=80, colour=False)
COLOUR = Console(width=80, colour=True)


def finding(
    message: str = "decay is 1.7",
    severity: Severity = Severity.ERROR,
    effect: Effect = Effect.NONE,
    file: str = "a.json",
    line: int | None = 3,
) -> Finding:
    return Finding("SNP016", severity, effect, message, Origin(file, "/memory", 10, 14, line, line and 7))


# -- text ------------------------------------------------------------------------------------------------


def test_a_finding_is_one_line_that_begins_with_its_place() -> None:
    assert list(finding_lines([finding()], PLAIN)) == ["a.json:3:7: error   SNP016 decay is 1.7"]


def test_the_effect_follows_an_arrow() -> None:
    (line,) = finding_lines([finding(effect=Effect.DROPPED)], PLAIN)

    assert line.endswith("decay is 1.7 → dropped")


def test_a_blank_line_separates_files() -> None:
    lines = list(finding_lines([finding(), finding(), finding(file="b.json")], PLAIN))

    assert [bool(line) for line in lines] == [True, True, False, True]


def test_colours_are_printed_only_on_a_terminal_with_colours() -> None:
    assert "\x1b" not in "".join(finding_lines([finding()], PLAIN))
    assert "\x1b[31m" in "".join(finding_lines([finding()], COLOUR))


def test_messages_and_file_names_are_safe_to_print() -> None:
    hostile = finding(message="x\x1b]0;owned\x07\u202e\ny", file="evil\x1b[2J\n.json")

    (line,) = finding_lines([hostile], PLAIN)

    assert line.isprintable()
    assert "^[" in line
    assert "<U+202E>" in line


def test_the_summary_counts_findings_and_files() -> None:
    found = [finding(), finding(severity=Severity.WARNING), finding(severity=Severity.INFO, file="b.json")]

    assert summary(found, 14) == "1 error, 1 warning, 1 info in 2 of 14 files"
    assert summary([], 1) == "1 file checked, nothing found"


# -- GitHub --------------------------------------------------------------------------------------------


def test_a_workflow_command_carries_file_line_column_and_title() -> None:
    (line,) = github_lines([finding(severity=Severity.INFO)])

    assert line.startswith("::notice file=a.json,line=3,col=7,title=SNP016")
    assert line.endswith("::decay is 1.7")


def test_a_message_cannot_end_its_command_or_begin_another() -> None:
    hostile = finding(message="100%\n::error::owned", file="a:b,c%.json")

    (line,) = github_lines([hostile])

    assert "\n" not in line
    assert "file=a%3Ab%2Cc%25.json," in line
    assert "100%25" in line


# -- SARIF ---------------------------------------------------------------------------------------------


def run_of(*findings: Finding) -> dict:
    report = json.loads(dumps(sarif(findings)))
    assert report["version"] == "2.1.0"
    assert len(report["runs"]) == 1
    return report["runs"][0]


def test_a_result_names_its_rule_its_level_and_its_region() -> None:
    run = run_of(finding(effect=Effect.DROPPED), finding(severity=Severity.INFO))

    first, second = run["results"]
    assert (first["ruleId"], first["ruleIndex"], first["level"]) == ("SNP016", 0, "error")
    assert second["level"] == "note"
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "a.json"
    assert place["region"] == {"startLine": 3, "startColumn": 7, "byteOffset": 10, "byteLength": 4}
    assert first["properties"] == {"effect": "dropped"}


def test_rules_are_described_once_with_help() -> None:
    import ctxview.formats.snapshot.rules  # noqa: F401  # registers SNP016

    run = run_of(finding(), finding())

    (rule,) = run["tool"]["driver"]["rules"]
    assert rule["id"] == "SNP016"
    assert rule["name"] == REGISTRY["SNP016"].name
    assert rule["shortDescription"]["text"]
    assert rule["help"]["text"]
    assert rule["defaultConfiguration"]["level"] in ("error", "warning", "note")


def test_a_finding_without_a_line_has_no_line_in_its_region() -> None:
    run = run_of(finding(line=None))

    assert "startLine" not in run["results"][0]["locations"][0]["physicalLocation"]["region"]


def test_uris_are_escaped_and_absolute_paths_say_so() -> None:
    run = run_of(finding(file="my logs/ü\udcff.json"), finding(file="/tmp/a.json"))

    uris = [
        result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in run["results"]
    ]
    assert uris == ["my%20logs/%C3%BC%FF.json", "file:///tmp/a.json"]


def test_a_report_without_findings_is_valid() -> None:
    run = run_of()

    assert run["results"] == []
    assert run["tool"]["driver"]["rules"] == []
