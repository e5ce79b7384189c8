"""Findings as text, SARIF or GitHub workflow commands, and rules as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path, PurePath
from textwrap import indent
from urllib.parse import quote

from msgspec.structs import replace

from ctxview import __version__
from ctxview.analysis.secrets import mask_secrets
from ctxview.analysis.wording import counted
from ctxview.core.findings import REGISTRY, Effect, Explanation, Finding, Rule, Severity
from ctxview.core.origin import JsonValue, Origin
from ctxview.files.visible_text import visible
from ctxview.reports.console import Console, Style, without_log_commands
from ctxview.reports.table import Cell, Column, cut_cells, table_lines

STYLES = {Severity.ERROR: Style.BAD, Severity.WARNING: Style.WARNING, Severity.INFO: Style.NOTE}
NOUNS = {
    Severity.ERROR: ("error", "errors"),
    Severity.WARNING: ("warning", "warnings"),
    Severity.INFO: ("info", "info"),
}
UNCUT = 4096
"""The width of a table whose paths are not cut."""
MOST_SUMMED_UP = 12
"""The files that a summary lists."""
GITHUB_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
SARIF_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
SARIF_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def finding_lines(findings: Sequence[Finding], console: Console) -> Iterator[str]:
    """One line for each finding, a blank line between files. `findings` must be sorted by file."""
    for index, (_, group) in enumerate(groupby(findings, key=lambda each: each.origin.file)):
        if index:
            yield ""
        for finding in group:
            yield finding_text_line(finding, console)


def finding_text_line(finding: Finding, console: Console) -> str:
    """`file:line:column: severity RULE message → effect`."""
    severity = console.paint(f"{finding.severity.value:<7}", STYLES[finding.severity])
    rule = console.paint(finding.rule, Style.STRONG)
    line = f"{visible(str(finding.origin))}: {severity} {rule} {visible(finding.message)}"
    if finding.effect is Effect.NONE:
        return line
    return f"{line} {console.paint(f'→ {finding.effect.value}', Style.QUIET)}"


def summary(findings: Sequence[Finding], files: int) -> str:
    """`2 errors, 1 warning in 1 of 14 files`."""
    if not findings:
        return f"{counted(files, 'file')} checked, nothing found"
    touched = len({finding.origin.file for finding in findings})
    files = max(files, touched)
    return f"{severity_counts_text(findings)} in {touched} of {counted(files, 'file')}"


def file_summary_lines(findings: Sequence[Finding], console: Console) -> Iterator[str]:
    """A table of the files with their counts, the worst first; nothing for a single file."""
    files: dict[str, Counter[Severity]] = {}
    for finding in findings:
        files.setdefault(finding.origin.file, Counter())[finding.severity] += 1
    if len(files) < 2:
        return
    worst = sorted(files, key=lambda each: [-files[each][severity] for severity in Severity])
    columns = (*(Column(NOUNS[each][1], right=True) for each in Severity), Column("file", most=UNCUT))
    rows = [
        [
            *(Cell(f"{files[name][each]:,}" if files[name][each] else "", STYLES[each]) for each in Severity),
            Cell(visible(name)),
        ]
        for name in worst[:MOST_SUMMED_UP]
    ]
    yield from table_lines(columns, rows, replace(console, width=UNCUT))
    if len(worst) > MOST_SUMMED_UP:
        yield f"  and {counted(len(worst) - MOST_SUMMED_UP, 'more file')}"


def severity_counts_text(findings: Sequence[Finding]) -> str:
    """`2 errors, 1 warning`, worst first."""
    counts = Counter(finding.severity for finding in findings)
    return ", ".join(counted(counts[each], *NOUNS[each]) for each in Severity if counts[each])


def rule_list_lines(rules: Sequence[Rule], families: Mapping[str, str], console: Console) -> Iterator[str]:
    """The rules grouped by family; `rules` must be sorted by id, `families` has the topic of each family."""
    for index, (family, group) in enumerate(groupby(rules, key=lambda each: each.family)):
        if index:
            yield ""
        title = f"{family}  {families.get(family, '')}".rstrip()
        yield console.paint(title, Style.HEADING)
        for rule in group:
            severity = console.paint(f"{rule.severity.value:<7}", STYLES[rule.severity])
            summary = " ".join(rule.explanation.summary.split())
            summary = cut_cells(summary, console.width - 19)
            yield f"  {console.paint(rule.id, Style.STRONG)}  {severity}  {summary}"


def explanation_lines(rule: Rule, console: Console) -> Iterator[str]:
    severity = console.paint(rule.severity.value, STYLES[rule.severity])
    effect = "" if rule.effect is Effect.NONE else f"  → {rule.effect.value}"
    yield f"{console.paint(f'{rule.id} {rule.name}', Style.STRONG)}  {severity}{effect}"
    yield ""
    yield rule.explanation.summary
    for heading, text in _sections(rule.explanation):
        yield ""
        yield console.paint(heading, Style.HEADING)
        yield indent(text, "  ")


def _sections(about: Explanation) -> list[tuple[str, str]]:
    """The parts of an explanation that are not empty, with their headings."""
    parts = {"Why": about.why, "Bad": about.bad, "Good": about.good, "Fix": about.fix, "Source": about.source}
    return [(heading, text) for heading, text in parts.items() if text]


def _masked(findings: Iterable[Finding]) -> list[Finding]:
    """The findings for documents that people read, without secrets in a message or in the name of a file."""
    return [
        replace(
            each,
            message=mask_secrets(each.message),
            origin=replace(each.origin, file=mask_secrets(each.origin.file)),
        )
        for each in findings
    ]


def github_lines(findings: Iterable[Finding]) -> Iterator[str]:
    """Workflow commands, which GitHub shows as annotations on a pull request, with secrets masked."""
    for finding in _masked(findings):
        place, rule = finding.origin, REGISTRY.get(finding.rule)
        title = f"{finding.rule} {rule.name}" if rule else finding.rule
        values = {"file": place.file, "line": place.line, "col": place.column, "title": title}
        properties = ",".join(
            f"{name}={_data(str(value)).replace(':', '%3A').replace(',', '%2C')}"
            for name, value in values.items()
            if value is not None
        )
        effect = "" if finding.effect is Effect.NONE else f" → {finding.effect.value}"
        yield f"::{GITHUB_COMMANDS[finding.severity]} {properties}::{_data(finding.message + effect)}"


def _data(text: str) -> str:
    return without_log_commands(visible(text)).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def sarif(findings: Sequence[Finding]) -> JsonValue:
    """A SARIF log with one run, with secrets masked; it describes only the rules that have findings."""
    rules = sorted({finding.rule for finding in findings})
    return {
        "$schema": SARIF_SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "ctxview",
                        "version": __version__,
                        "rules": [
                            _sarif_rule(REGISTRY[each]) if each in REGISTRY else {"id": each}
                            for each in rules
                        ],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [
                    {
                        "ruleId": finding.rule,
                        "ruleIndex": rules.index(finding.rule),
                        "level": SARIF_LEVELS[finding.severity],
                        "message": {"text": visible(finding.message)},
                        "locations": [_location(finding.origin)],
                        "properties": {"effect": finding.effect.value},
                    }
                    for finding in _masked(findings)
                ],
            }
        ],
    }


def _sarif_rule(rule: Rule) -> JsonValue:
    about = rule.explanation
    sections = _sections(about)
    return {
        "id": rule.id,
        "name": rule.name,
        "shortDescription": {"text": about.summary},
        "fullDescription": {"text": about.why or about.summary},
        "help": {
            "text": "\n\n".join([about.summary, *(f"{heading}: {text}" for heading, text in sections)]),
            "markdown": "\n\n".join(
                [about.summary, *(f"## {heading}\n\n{text}" for heading, text in sections)]
            ),
        },
        "defaultConfiguration": {"level": SARIF_LEVELS[rule.severity]},
    }


def _location(origin: Origin) -> JsonValue:
    path = quote(PurePath(origin.file).as_posix().encode("utf-8", "surrogateescape"))
    # Relative paths stay relative, which code scanning needs.
    uri = f"file://{path}" if Path(origin.file).is_absolute() else path
    place: dict[str, JsonValue] = {"artifactLocation": {"uri": uri}}
    region: dict[str, JsonValue] = {}
    if origin.line is not None:
        region["startLine"] = origin.line
        if origin.column is not None:
            region["startColumn"] = origin.column
    if origin.start is not None and origin.end is not None:
        region["byteOffset"] = origin.start
        region["byteLength"] = origin.end - origin.start
    if region:
        place["region"] = region
    location: dict[str, JsonValue] = {"physicalLocation": place}
    if origin.pointer:
        name = mask_secrets(origin.pointer)
        location["logicalLocations"] = [{"fullyQualifiedName": name, "kind": "member"}]
    return location
