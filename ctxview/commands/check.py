"""`ctxview check PATH …`: what is wrong with everything found there. Exit 0 clean, 1 findings, 2 trouble."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ctxview.analysis.wording import did_you_mean
from ctxview.commands.looking import add_look, lens
from ctxview.commands.trouble import Trouble, complain
from ctxview.findings import Finding, Severity
from ctxview.formats import CannotOpen, Found, Lens, Remembers, Source, discover, open_source
from ctxview.formats.profile_shelf import is_path, unknown

OUTPUTS = ("text", "json", "sarif", "github")
FAILING = {"error": (Severity.ERROR,), "warning": (Severity.ERROR, Severity.WARNING), "never": ()}
UNREADABLE = "RAW002"


@dataclass
class Checked:
    """What has been looked at so far."""

    findings: list[Finding] = field(default_factory=list)
    files: set[Path] = field(default_factory=set)
    unreadable: bool = False
    profiles: dict[str, None] = field(default_factory=dict)
    """The names that could have been asked for."""
    not_remembered: str | None = None
    """Why what was seen could not be kept for the next check; None while it could."""


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("paths", metavar="PATH", nargs="+", type=Path, help="files, sessions or trees")
    parser.add_argument("--format", choices=OUTPUTS, default="text", help="how to print (default: text)")
    parser.add_argument("--select", metavar="A,B", help="only these rules: SNP, SNP02, SNP021")
    parser.add_argument("--ignore", metavar="A,B", help="not these rules")
    parser.add_argument(
        "--fail-on",
        choices=tuple(FAILING),
        default="error",
        help="what makes the exit code 1 (default: error)",
    )
    parser.add_argument(
        "--forget",
        action="store_true",
        help="take sessions as they are now: a change since the last check was meant",
    )
    add_look(parser, tokens=False)


def run(arguments: Namespace) -> int:
    selected, ignored = _prefixes("--select", arguments.select), _prefixes("--ignore", arguments.ignore)
    checked = Checked()
    for path in arguments.paths:
        _check(path, arguments, lens(arguments), checked)
    _demand_known(arguments.profile, checked)
    findings = sorted(
        {each for each in checked.findings if _wanted(each.rule, selected, ignored)},
        key=lambda each: (
            each.origin.file,
            each.origin.start or 0,
            each.severity.rank,
            each.rule,
            each.message,
        ),
    )
    _print(findings, checked, arguments.format)
    if checked.not_remembered is not None:
        complain(f"note: the next check has nothing to compare with: {checked.not_remembered}")
    if checked.unreadable:
        return 2
    return 1 if any(finding.severity in FAILING[arguments.fail_on] for finding in findings) else 0


def _check(path: Path, arguments: Namespace, look: Lens, checked: Checked) -> None:
    for thing, as_format in _things(path, arguments.as_format, checked):
        try:
            source = open_source(thing, as_format)
            if arguments.forget:
                _forget(source)
            own = _lens_for(source, look, checked)
            found = source.findings(own)
        except CannotOpen as error:
            complain(str(error))
            checked.unreadable = True
            continue
        _remember(source, own, checked)
        checked.findings += found
        checked.files.update(revision.file for revision in source.revisions)
        checked.unreadable = checked.unreadable or any(finding.rule == UNREADABLE for finding in found)


def _lens_for(source: Source, look: Lens, checked: Checked) -> Lens:
    """A profile is of one format; what else lies in the tree is judged by the default of its own."""
    checked.profiles.update(dict.fromkeys(source.profiles))
    if look.profile is None or is_path(look.profile) or not source.profiles:
        return look
    return look if look.profile in source.profiles else replace(look, profile=None)


def _demand_known(profile: str | None, checked: Checked) -> None:
    if profile is not None and checked.profiles and not is_path(profile) and profile not in checked.profiles:
        raise Trouble(str(unknown(profile, [*checked.profiles])))


def _remember(source: Source, look: Lens, checked: Checked) -> None:
    """Keep what was seen, so that the next check can tell whether histories have only grown."""
    if isinstance(source, Remembers):
        try:
            source.remember(look)
        except OSError as error:
            checked.not_remembered = str(error)


def _forget(source: Source) -> None:
    if isinstance(source, Remembers):
        try:
            source.forget()
        except OSError as error:
            raise Trouble(f"{source.path}: the last look cannot be forgotten: {error}") from error


def _things(path: Path, as_format: str | None, checked: Checked) -> Iterator[tuple[Path, str | None]]:
    """Everything at `path` that can be opened, with the format to open it as."""
    if as_format is not None:
        yield path, as_format
        return
    try:
        discovery = discover(path)
    except CannotOpen as error:
        complain(str(error))
        checked.unreadable = True
        return
    for note in (*discovery.notes, *filter(None, [discovery.capped])):
        complain(f"note: {path}: {note}")
    for folder, why in discovery.unread:
        complain(f"{folder}: {why}")
        checked.unreadable = True
    if not discovery.found and not discovery.unread:
        complain(f"note: {path}: no format was recognised, so there was nothing to check")
    yield from ((found.path, _decided(found)) for found in discovery.found)


def _decided(found: Found) -> str | None:
    """The format, unless several fit: then opening decides, or tells the person that it cannot."""
    return found.format if len(found.matches) < 2 else None


def _prefixes(option: str, value: str | None) -> tuple[str, ...]:
    """The rule ids or their beginnings a person listed; raises `Trouble` for one that fits no rule."""
    if value is None:
        return ()
    from ctxview.formats import all_rules

    known = [rule.id for rule in all_rules()]
    prefixes = tuple(part.strip().upper() for part in value.split(",") if part.strip())
    for prefix in prefixes:
        if not any(rule.startswith(prefix) for rule in known):
            raise Trouble(
                f"{option}: no rule begins with {prefix}{did_you_mean(prefix, known)}; see ctxview rules"
            )
    return prefixes


def _wanted(rule: str, selected: tuple[str, ...], ignored: tuple[str, ...]) -> bool:
    return (not selected or rule.startswith(selected)) and not (ignored and rule.startswith(ignored))


def _print(findings: Sequence[Finding], checked: Checked, form: str) -> None:
    if form == "text":
        from ctxview.reports.console import console_for
        from ctxview.reports.findings_text import finding_lines, summary

        for line in finding_lines(findings, console_for()):
            print(line)
        sys.stdout.flush()
        if checked.files or not checked.unreadable:
            print(summary(findings, len(checked.files)), file=sys.stderr)
    elif form == "github":
        from ctxview.reports.findings_github import github_lines

        for line in github_lines(findings):
            print(line)
    else:
        from ctxview.reports.json_text import dumps

        if form == "sarif":
            from ctxview.reports.findings_sarif import sarif

            print(dumps(sarif(findings)))
        else:
            from ctxview.contract import finding_as_json

            print(dumps([finding_as_json(finding) for finding in findings]))
