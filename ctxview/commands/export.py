"""`ctxview export PATH`: write a report of one revision as HTML, Markdown, SVG or JSON."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from ctxview.commands.arguments import add_reading_arguments, lens_from, open_whole_source, revision_index
from ctxview.commands.why import Unobserved
from ctxview.files.create import CreateRefused, create
from ctxview.files.visible_text import visible
from ctxview.formats.revisions import REVISION_HELP
from ctxview.reports.console import UserError, print_lines

if TYPE_CHECKING:
    from ctxview.review.report import Report

FORMS = ("html", "md", "svg", "json")


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", type=Path, help="a file, session or folder")
    parser.add_argument(
        "--to", metavar="FORM", choices=FORMS, default="html", help="the form of the report (default: html)"
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", type=Path, help="write to this file (default: stdout)"
    )
    parser.add_argument("--at", metavar="REV", help=f"{REVISION_HELP} (default: the latest)")
    add_reading_arguments(parser)


def run(arguments: Namespace) -> int:
    from ctxview.review.report import make_report

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
    print_lines([f"wrote {visible(str(arguments.output))}"])
    return 0


def _written(report: Report, form: str) -> str:
    if form == "json":
        from ctxview.reports.json_output import dumps
        from ctxview.review.json_report import report_json

        return f"{dumps(report_json(report))}\n"
    if form == "md":
        from ctxview.review.markdown_report import markdown_report

        return markdown_report(report)
    if form == "svg":
        from ctxview.review.svg_report import svg_report

        return svg_report(report)
    from ctxview.review.html_report import html_report

    return html_report(report)
