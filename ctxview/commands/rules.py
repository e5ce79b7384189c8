"""`ctxview rules [ID]`: list the rules, or explain one."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ctxview.analysis.wording import did_you_mean
from ctxview.core.findings import Rule
from ctxview.core.origin import JsonValue
from ctxview.reports.console import UserError


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "id", metavar="ID", nargs="?", help="rule to explain, or family to list: SNP021, SNP, SNP02"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: Namespace) -> int:
    chosen = _chosen(arguments.id)
    if arguments.json:
        from ctxview.reports.json_output import dumps

        print(dumps([_as_json(rule) for rule in chosen]))
        return 0
    from ctxview.formats import rule_families
    from ctxview.reports.console import console_for, print_lines
    from ctxview.reports.findings import explanation_lines, rule_list_lines

    console = console_for()
    if len(chosen) == 1 and arguments.id:
        lines = explanation_lines(chosen[0], console)
    else:
        lines = rule_list_lines(chosen, rule_families(), console)
    print_lines(lines)
    return 0


def _chosen(wanted: str | None) -> list[Rule]:
    from ctxview.formats import all_rules

    rules = all_rules()
    if wanted is None:
        return list(rules)
    prefix = wanted.upper()
    found = [rule for rule in rules if rule.id.startswith(prefix) or rule.name == wanted.lower()]
    if not found:
        names = [name for rule in rules for name in (rule.id, rule.name)]
        raise UserError(f"unknown rule {wanted}{did_you_mean(prefix, names)}; see ctxview rules")
    return found


def _as_json(rule: Rule) -> JsonValue:
    explanation = rule.explanation
    return {
        "id": rule.id,
        "name": rule.name,
        "severity": rule.severity.value,
        "effect": rule.effect.value,
        "summary": explanation.summary,
        "why": explanation.why,
        "bad": explanation.bad,
        "good": explanation.good,
        "fix": explanation.fix,
        "source": explanation.source,
    }
