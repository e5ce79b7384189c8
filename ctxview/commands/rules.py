"""`ctxview rules [ID]`: lists the rules, or explains one."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ctxview.analysis.wording import did_you_mean
from ctxview.commands.trouble import Trouble
from ctxview.findings import Rule
from ctxview.origin import JsonValue


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", nargs="?", help="explain this rule, or list a family: SNP, SNP02")
    parser.add_argument("--json", action="store_true", help="print JSON for programs")


def run(arguments: Namespace) -> int:
    chosen = _chosen(arguments.id)
    if arguments.json:
        from ctxview.reports.json_text import dumps

        print(dumps([_as_json(rule) for rule in chosen]))
        return 0
    from ctxview.formats import rule_families
    from ctxview.reports.console import console_for
    from ctxview.reports.rule_text import explanation_lines, rule_list_lines

    console = console_for()
    explain = len(chosen) == 1 and arguments.id
    listed = (
        explanation_lines(chosen[0], console)
        if explain
        else rule_list_lines(chosen, rule_families(), console)
    )
    print("\n".join(listed))
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
        raise Trouble(f"no rule is called {wanted}{did_you_mean(prefix, names)}")
    return found


def _as_json(rule: Rule) -> JsonValue:
    told = rule.explanation
    return {
        "id": rule.id,
        "name": rule.name,
        "severity": rule.severity.value,
        "effect": rule.effect.value,
        "summary": told.summary,
        "why": told.why,
        "bad": told.bad,
        "good": told.good,
        "fix": told.fix,
        "source": told.source,
    }
