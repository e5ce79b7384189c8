"""`ctxview export PATH`: write a report of one revision, or with `--redact` a redacted copy of the source."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from ctxview.analysis.wording import counted
from ctxview.commands.arguments import add_reading_arguments, lens_from, open_whole_source, revision_index
from ctxview.commands.why import Unobserved
from ctxview.files.create import CreateRefused, create
from ctxview.files.visible_text import visible
from ctxview.formats import open_source
from ctxview.formats.revisions import REVISION_HELP
from ctxview.reports.console import UserError, console_for, print_error, print_masked

if TYPE_CHECKING:
    from ctxview.review.redaction.redaction import RedactedCopy
    from ctxview.review.reports.contents import Report

FORMS = ("html", "md", "svg", "json")
MOST_LISTED = 20
"""Changed files that are listed by name."""


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", type=Path, help="a file, session or folder")
    parser.add_argument(
        "--to", metavar="FORM", choices=FORMS, default="html", help="the form of the report (default: html)"
    )
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, help="write here (default: stdout)")
    parser.add_argument("--at", metavar="REV", help=f"{REVISION_HELP} (default: the latest)")
    parser.add_argument("--redact", action="store_true", help="write a copy without the following")
    parser.add_argument("--secrets", action="store_true", help="remove every secret that SEC finds")
    parser.add_argument(
        "--block", metavar="ID", action="append", default=[], help="remove the text of a block"
    )
    parser.add_argument(
        "--field",
        metavar="FILE#/POINTER",
        action="append",
        default=[],
        help="remove a value; in a file of JSON lines FILE:LINE#/POINTER",
    )
    parser.add_argument(
        "--text", metavar="TEXT", action="append", default=[], help="remove a text everywhere"
    )
    parser.add_argument("--preview", action="store_true", help="show the redacted state and write nothing")
    add_reading_arguments(parser)


def run(arguments: Namespace) -> int:
    chooses = bool(arguments.secrets or arguments.block or arguments.field or arguments.text)
    if arguments.redact:
        if not chooses:
            raise UserError("--redact needs --secrets, --block, --field or --text")
        return _redact(arguments)
    if chooses or arguments.preview:
        raise UserError("--secrets, --block, --field, --text and --preview need --redact")
    return _report(arguments)


def _report(arguments: Namespace) -> int:
    from ctxview.review.reports.contents import make_report

    source = open_whole_source(arguments.path, arguments)
    report = make_report(source, revision_index(source, arguments.at), lens_from(arguments), Unobserved())
    text = _written(report, arguments.to)
    if arguments.output is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode())
        return 0
    try:
        create(arguments.output.parent, arguments.output.name, text.encode(), mode=0o644)
    except CreateRefused as refused:
        why = "it exists and is not replaced; choose another name" if arguments.output.exists() else refused
        raise UserError(f"{arguments.output}: {why}") from refused
    print_masked([f"wrote {visible(str(arguments.output))}"])
    return 0


def _written(report: Report, form: str) -> str:
    if form == "json":
        from ctxview.reports.json_output import dumps
        from ctxview.review.reports.json_report import report_json

        return f"{dumps(report_json(report))}\n"
    if form == "md":
        from ctxview.review.reports.markdown_report import markdown_report

        return markdown_report(report)
    if form == "svg":
        from ctxview.review.reports.svg_report import svg_report

        return svg_report(report)
    from ctxview.review.reports.html_report import html_report

    return html_report(report)


def _redact(arguments: Namespace) -> int:
    from ctxview.review.redaction.redaction import make_copy, write_copy
    from ctxview.review.redaction.redaction_choice import RedactionChoice, RedactionError

    if arguments.output is None and not arguments.preview:
        raise UserError("--redact needs -o OUT for the copy, or --preview")
    source = open_whole_source(arguments.path, arguments)
    choice = RedactionChoice(
        arguments.secrets, tuple(arguments.block), tuple(arguments.field), tuple(arguments.text)
    )
    try:
        copy = make_copy(source, choice, lens_from(arguments, shows_figures=False))
        if arguments.preview:
            _preview(copy, arguments)
        else:
            write_copy(copy, arguments.output)
            print_masked(_summary(copy, f"wrote {visible(str(arguments.output))}"))
    except (RedactionError, CreateRefused) as error:
        raise UserError(f"{arguments.path}: {error}") from error
    except OSError as error:
        raise UserError(f"{arguments.output}: {error.strerror or error}") from error
    for name, why in copy.tree.left_out.items():
        print_error(f"note: {name} is not in the copy: {why}")
    return 0


def _summary(copy: RedactedCopy, first: str) -> list[str]:
    removed = ", ".join(f"{number} from {where}" for where, number in copy.values.items())
    changed = [copy.tree.names[name] for name in copy.tree.changed]
    lines = [
        f"{first}: {counted(sum(copy.values.values()), 'text')} removed ({removed}), "
        f"{len(changed)} of {counted(len(copy.tree.files), 'file')} changed"
    ]
    lines += [f"  {visible(name)}" for name in changed[:MOST_LISTED]]
    return [*lines, f"  {len(changed) - MOST_LISTED} more"] if len(changed) > MOST_LISTED else lines


def _preview(copy: RedactedCopy, arguments: Namespace) -> None:
    """Print what would change, and the state of the copy, which exists only in a private folder."""
    from ctxview.reports.state_text import state_lines
    from ctxview.review.redaction.redaction import write_copy

    print_masked(_summary(copy, "preview"))
    with TemporaryDirectory(prefix="ctxview-") as folder:
        target = Path(folder) / copy.name
        write_copy(copy, target)
        source = open_source(target, arguments.as_format)
        reading = source.reading(revision_index(source, arguments.at), lens_from(arguments))
        print_masked(["", *state_lines(reading.state, reading.findings, console_for())])
