"""`ctxview check PATH …`: report the findings of every source there. Exit 0 clean, 1 findings, 2 error."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from ctxview.analysis.wording import did_you_mean
from ctxview.commands.arguments import add_reading_arguments, lens_from
from ctxview.core.findings import Finding, Severity
from ctxview.files.reading import error_text
from ctxview.formats import DiscoveredSource, Lens, OpenError, Source, discover, open_source
from ctxview.formats.kit.profiles import is_profile_path, unknown_profile
from ctxview.formats.path_hints import missing_path_reason
from ctxview.formats.registry import BUILT_IN, unusable_formats
from ctxview.reports.console import UserError, print_error

FAILING = {"error": (Severity.ERROR,), "warning": (Severity.ERROR, Severity.WARNING), "never": ()}
UNREADABLE = "RAW002"
MOST_PAIRED = 1_000
"""The named files that are opened together to pair replies with the snapshots they answer."""


FEWEST_SHARED = 8
"""From so many sources on, all processors share the work."""


class SourceToCheck(Struct, frozen=True):
    """A source at or below a path of the command line, or a line to print in its place."""

    path: Path
    as_format: str | None = None
    found: DiscoveredSource | None = None
    opened: Source | None = None
    message: str | None = None
    is_error: bool = False


class CheckedSource(Struct, frozen=True):
    """The results of one source."""

    findings: Sequence[Finding] = ()
    files: tuple[Path, ...] = ()
    profiles: tuple[str, ...] = ()
    error: str | None = None
    """Why the source could not be read, or None."""
    refused: str | None = None
    """Why the whole check ends here, or None."""
    not_remembered: str | None = None
    """Why the state could not be stored for the next check, or None."""


class CheckRun(Struct):
    """The results of all sources."""

    findings: dict[Finding, None] = field(default_factory=dict)
    files: set[Path] = field(default_factory=set)
    unreadable: bool = False
    profiles: dict[str, None] = field(default_factory=dict)
    """The names of all profiles of the checked sources."""
    not_remembered: str | None = None


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("paths", metavar="PATH", nargs="+", type=Path, help="files, sessions or folders")
    parser.add_argument(
        "--format",
        choices=("text", "json", "sarif", "github"),
        default="text",
        help="output format (default: text)",
    )
    parser.add_argument(
        "--select", metavar="A,B", help="only these rules, by id or prefix: SNP, SNP02, SNP021"
    )
    parser.add_argument("--ignore", metavar="A,B", help="all rules except these")
    parser.add_argument(
        "--fail-on",
        choices=tuple(FAILING),
        default="error",
        help="lowest severity that makes the exit code 1 (default: error)",
    )
    parser.add_argument(
        "--forget",
        action="store_true",
        help="accept sessions as they are now: changes since the last check were intended",
    )
    add_reading_arguments(parser, tokens=False)


def run(arguments: Namespace) -> int:
    selected, ignored = _prefixes("--select", arguments.select), _prefixes("--ignore", arguments.ignore)
    checked = _check_all(arguments)
    _require_known_profile(arguments.profile, checked)
    wanted = [
        each
        for each in checked.findings
        if (not selected or each.rule.startswith(selected)) and not each.rule.startswith(ignored)
    ]
    findings = sorted(
        wanted,
        key=lambda each: (
            each.origin.file,
            each.origin.start or 0,
            each.severity.rank,
            each.rule,
            each.message,
        ),
    )
    _print(findings, checked, arguments.format)
    for note in unusable_formats() if arguments.as_format is None else ():
        print_error(f"note: {note}")
    if checked.not_remembered is not None:
        print_error(f"note: the next check cannot compare with this one: {checked.not_remembered}")
    if checked.unreadable:
        return 2
    return 1 if any(finding.severity in FAILING[arguments.fail_on] for finding in findings) else 0


def _paired_files(arguments: Namespace) -> dict[Path, Source]:
    """Open the named files whose replies may answer each other."""
    files = [path for path in arguments.paths if missing_path_reason(path) is None and path.is_file()]
    if len(files) < 2:
        return {}
    if len(files) > MOST_PAIRED:
        print_error(f"note: replies are not paired with snapshots: more than {MOST_PAIRED:,} files are named")
        return {}
    opened: list[Source] = []
    for path in dict.fromkeys(files):
        with suppress(OpenError):  # it is reported when the file is checked
            opened.append(open_source(path, arguments.as_format))
    with_replies = [each for each in opened if each.abilities.replies is not None]
    replies = with_replies[0].abilities.replies if with_replies else None
    return {each.path: each for each in replies.paired_with(with_replies[1:])} if replies is not None else {}


def _check_all(arguments: Namespace) -> CheckRun:
    checked, paired = CheckRun(), _paired_files(arguments)
    sources = [each for path in arguments.paths for each in _sources(path, arguments.as_format, paired)]
    work = partial(_check, lens=lens_from(arguments), forget=arguments.forget)
    for source, result in zip(sources, _results(work, sources), strict=True):
        if source.message is not None:
            print_error(source.message)
            checked.unreadable = checked.unreadable or source.is_error
            continue
        if isinstance(result, Exception):
            result = CheckedSource(error=f"{source.path}: checking it failed: {result}")
        if result.refused is not None:
            raise UserError(result.refused)
        if result.error is not None:
            print_error(result.error)
        checked.profiles |= dict.fromkeys(result.profiles)
        checked.findings |= dict.fromkeys(result.findings)
        checked.files.update(result.files)
        checked.not_remembered = result.not_remembered or checked.not_remembered
        unreadable = result.error is not None or any(each.rule == UNREADABLE for each in result.findings)
        checked.unreadable = checked.unreadable or unreadable
    return checked


def _results(
    work: Callable[[SourceToCheck], CheckedSource], sources: Sequence[SourceToCheck]
) -> Iterator[CheckedSource | Exception]:
    if len(sources) < FEWEST_SHARED:
        return map(work, sources)
    from ctxview.commands.processes import available_processes, in_order

    return in_order(work, sources, available_processes())


def _check(source: SourceToCheck, lens: Lens, *, forget: bool) -> CheckedSource:
    if source.message is not None:
        return CheckedSource()
    profiles: tuple[str, ...] = ()
    not_remembered = None
    try:
        opened = source.opened or _open(source)
        if forget:
            _forget(opened)
        profiles = tuple(opened.profiles)
        own = _lens_for(opened, lens)
        found = opened.findings(own)
    except OpenError as error:
        return CheckedSource(profiles=profiles, error=str(error))
    except PermissionError as error:
        return CheckedSource(profiles=profiles, error=f"{error.filename or source.path}: {error_text(error)}")
    except UserError as error:
        return CheckedSource(refused=str(error))
    except Exception as error:
        if source.found is None or source.found.format in BUILT_IN:
            raise
        why = f"the format {source.found.format} failed: {type(error).__name__}: {error}"
        return CheckedSource(profiles=profiles, error=f"{source.path}: {why}")
    if (last_look := opened.abilities.last_look) is not None:
        # The next check compares with this state to see whether histories only grew.
        try:
            last_look.remember(own)
        except OSError as error:
            not_remembered = str(error)
    files = tuple(dict.fromkeys(revision.file for revision in opened.revisions))
    return CheckedSource(tuple(found), files, profiles, not_remembered=not_remembered)


def _open(source: SourceToCheck) -> Source:
    return source.found.open() if source.found is not None else open_source(source.path, source.as_format)


def _lens_for(source: Source, lens: Lens) -> Lens:
    """The lens for `source`: a profile of another format is replaced by the default of its own."""
    if lens.profile is None or is_profile_path(lens.profile) or not source.profiles:
        return lens
    return lens if lens.profile in source.profiles else replace(lens, profile=None)


def _require_known_profile(profile: str | None, checked: CheckRun) -> None:
    if (
        profile is not None
        and checked.profiles
        and not is_profile_path(profile)
        and profile not in checked.profiles
    ):
        raise UserError(str(unknown_profile(profile, [*checked.profiles])))


def _forget(source: Source) -> None:
    if (last_look := source.abilities.last_look) is not None:
        try:
            last_look.forget()
        except OSError as error:
            raise UserError(f"{source.path}: cannot forget the last check: {error}") from error


def _sources(path: Path, as_format: str | None, paired: dict[Path, Source]) -> Iterator[SourceToCheck]:
    """Yield every source at or below `path`, with the format to open it as."""
    if as_format is not None:
        yield SourceToCheck(path, as_format, opened=paired.pop(path, None))
        return
    try:
        discovery = discover(path)
    except OpenError as error:
        yield SourceToCheck(path, message=str(error), is_error=True)
        return
    for note in (*discovery.notes, *filter(None, [discovery.capped])):
        yield SourceToCheck(path, message=f"note: {path}: {note}")
    for folder, why in discovery.unread:
        yield SourceToCheck(path, message=f"{folder}: {why}", is_error=True)
    if not discovery.found and not discovery.unread:
        nothing = f"note: {path}: no format was recognised, so there is nothing to check"
        yield SourceToCheck(path, message=nothing)
    for found in discovery.found:
        yield SourceToCheck(found.path, found=found, opened=paired.pop(found.path, None))


def _prefixes(option: str, value: str | None) -> tuple[str, ...]:
    """Split a list of rule ids or prefixes; raises `UserError` for one that matches no rule."""
    if value is None:
        return ()
    from ctxview.formats import all_rules

    known = [rule.id for rule in all_rules()]
    prefixes = tuple(part.strip().upper() for part in value.split(",") if part.strip())
    for prefix in prefixes:
        if not any(rule.startswith(prefix) for rule in known):
            raise UserError(
                f"{option}: no rule begins with {prefix}{did_you_mean(prefix, known)}; see ctxview rules"
            )
    return prefixes


def _print(findings: Sequence[Finding], checked: CheckRun, output: str) -> None:
    if output == "text":
        from ctxview.reports.console import console_for, print_masked
        from ctxview.reports.findings import file_summary_lines, finding_lines, summary

        print_masked(finding_lines(findings, console_for()))
        if checked.files or not checked.unreadable:
            print_masked(file_summary_lines(findings, console_for(sys.stderr)), sys.stderr)
            print(summary(findings, len(checked.files)), file=sys.stderr)
    elif output == "github":
        from ctxview.reports.findings import github_lines

        for line in github_lines(findings):
            print(line)
    else:
        from ctxview.reports.json_output import dumps

        if output == "sarif":
            from ctxview.reports.findings import sarif

            print(dumps(sarif(findings)))
        else:
            from ctxview.reports.json_output import finding_as_json

            print(dumps([finding_as_json(finding) for finding in findings]))
