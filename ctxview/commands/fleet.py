"""`ctxview fleet`: read many sources into tables, and answer questions about them with SQL.

Exit 0 done, 1 some sources could not be read (they are rows with an error), 2 error.
"""

from __future__ import annotations

import atexit
import gc
import os
import shlex
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from datetime import datetime
from importlib.util import find_spec
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

from ctxview.analysis.wording import counted, did_you_mean
from ctxview.commands.arguments import preferred_settings, unsigned_integer
from ctxview.commands.inspect import add_screen_arguments, run_screen
from ctxview.formats.path_hints import missing_path_reason
from ctxview.reports.console import UserError, console_for, print_error, print_lines, print_masked

if TYPE_CHECKING:
    from ctxview.core.origin import JsonValue
    from ctxview.fleet.queries import FleetAnswer
    from ctxview.fleet.reader import FleetProgress
    from ctxview.fleet.storage import Storage

ACTIONS = ("read", "show", "sql", "report", "vacuum")
BATCH = 50
EVERY = 10.0
"""Seconds between two lines of progress in a log."""
AT_ONCE = 0.1
"""Seconds between two updates of the progress on a terminal."""
WIDEST = 40
DESCRIPTION = """
read takes files, folders and URLs and writes Parquet tables into DIR. It reads
what is new or changed, so run it again at any time. show opens the inspector on
all sources; sql and report answer questions about sources, revisions, findings,
tools and instructions; vacuum removes older versions and the rest of
interrupted runs.
"""
USAGE = """ctxview fleet read PATH ... --into DIR [OPTIONS]
       ctxview fleet show DIR
       ctxview fleet sql DIR QUERY [--format text|json|csv]
       ctxview fleet report DIR [NAME] [--format text|json|csv]
       ctxview fleet vacuum DIR"""


def configure(parser: ArgumentParser) -> None:
    parser.description = f"{parser.description}\n{DESCRIPTION}"
    parser.usage = USAGE
    parser.add_argument("action", metavar="ACTION", choices=ACTIONS, help="what to do")
    parser.add_argument(
        "words", metavar="PATH", nargs="+", help="what to read; or DIR, and for sql and report the question"
    )
    parser.add_argument("--into", metavar="DIR", help="the folder or URL of the tables; made when absent")
    parser.add_argument(
        "--workers", metavar="N", type=unsigned_integer, help="processes (default: all processors)"
    )
    parser.add_argument("--scheduler", metavar="URL", help="use the workers of this Dask scheduler")
    parser.add_argument(
        "--batch",
        metavar="N",
        type=unsigned_integer,
        default=BATCH,
        help=f"paths in a job (default: {BATCH})",
    )
    parser.add_argument(
        "--verify", action="store_true", help="compare the bytes of known sources, and not only their stamps"
    )
    parser.add_argument("--no-messages", action="store_true", help="leave the messages of findings out")
    parser.add_argument("--format", choices=("text", "json", "csv"), default="text", help="of an answer")
    add_screen_arguments(parser)


def run(arguments: Namespace) -> int:
    if not all(map(find_spec, ("duckdb", "pyarrow"))):
        raise UserError("ctxview fleet needs an extra: pip install 'ctxview[fleet]'")
    # DuckDB, once imported, would report what is frozen until the end of the program as a leak.
    atexit.register(gc.unfreeze)
    from ctxview.fleet.engines import EngineError
    from ctxview.fleet.jobs import OtherVersion
    from ctxview.fleet.queries import FleetQueryError
    from ctxview.fleet.storage import StorageError

    actions: dict[str, Callable[[Namespace], int]] = {
        "read": _read,
        "show": _show,
        "sql": _sql,
        "report": _report,
        "vacuum": _vacuum,
    }
    try:
        return actions[arguments.action](arguments)
    except (EngineError, OtherVersion, FleetQueryError, StorageError) as error:
        raise UserError(str(error)) from error


def _read(arguments: Namespace) -> int:
    from ctxview.files.visible_text import visible
    from ctxview.fleet.engines import DaskEngine, PoolEngine
    from ctxview.fleet.reader import FleetRequest, read_fleet
    from ctxview.fleet.storage import is_url

    if arguments.into is None:
        raise UserError("--into DIR is missing: the folder or URL of the tables (see ctxview fleet --help)")
    for place in arguments.words:
        if not is_url(place) and (why := missing_path_reason(Path(place))) is not None:
            raise UserError(f"{place}: {why}")
    places = [place if is_url(place) else _absolute(place) for place in arguments.words]
    into = arguments.into if is_url(arguments.into) else _absolute(arguments.into)
    request = FleetRequest(
        tuple(dict.fromkeys(places)),
        into,
        max(1, arguments.batch),
        arguments.verify,
        not arguments.no_messages,
    )
    workers = arguments.workers or _processors()
    engine = DaskEngine(arguments.scheduler) if arguments.scheduler else PoolEngine(workers)
    progress = _ProgressLine()
    try:
        done = read_fleet(request, engine, progress.show)
    except KeyboardInterrupt:
        progress.end()
        print_error("stopped; the same command goes on from here")
        raise
    progress.end()
    errors = f", {counted(done.errors, 'could not be read', 'could not be read')}" if done.errors else ""
    read = f"{counted(done.sources, 'source')} read{errors}, {done.unchanged:,} unchanged"
    place = visible(shlex.quote(arguments.into))
    print_lines([f'{read}; ask with: ctxview fleet sql {place} "SELECT …"'], sys.stderr)
    return 1 if done.errors else 0


def _show(arguments: Namespace) -> int:
    if len(arguments.words) != 1:
        raise UserError("expected one folder: ctxview fleet show DIR")
    from ctxview.fleet.fleet_source import FleetSource

    source = FleetSource(_storage(arguments.words[0]))

    def inspect() -> int:
        from ctxview.tui.app import run

        return run([], preferred_settings(arguments), opener=lambda: [source])

    return run_screen(inspect, arguments)


def _sql(arguments: Namespace) -> int:
    if len(arguments.words) != 2:
        raise UserError('expected a folder and a query: ctxview fleet sql DIR "SELECT …"')
    from ctxview.fleet.queries import Fleet

    _print(Fleet(_storage(arguments.words[0])).ask(arguments.words[1]), arguments.format)
    return 0


def _report(arguments: Namespace) -> int:
    from ctxview.fleet.queries import Fleet
    from ctxview.fleet.reports import REPORTS

    place, *names = arguments.words
    if len(names) != 1 or names[0] not in REPORTS:
        listed = [f"  {name:<24}{report.title}" for name, report in REPORTS.items()]
        hint = did_you_mean(names[0], [*REPORTS]) if names else ""
        wrong = f"unknown report {names[0]}{hint}; " if names else ""
        print_lines(listed)
        raise UserError(f"{wrong}name one of the reports: ctxview fleet report {place} {next(iter(REPORTS))}")
    _print(Fleet(_storage(place)).ask(REPORTS[names[0]].query), arguments.format)
    return 0


def _vacuum(arguments: Namespace) -> int:
    from ctxview.fleet.vacuum import vacuum

    if len(arguments.words) != 1:
        raise UserError("expected one folder: ctxview fleet vacuum DIR")
    done = vacuum(_storage(arguments.words[0]))
    print_lines([f"{counted(done.removed, 'file')} replaced by {done.written:,}"], sys.stderr)
    return 0


def _storage(place: str) -> Storage:
    from ctxview.fleet.storage import is_url, storage_at

    if not is_url(place) and (why := missing_path_reason(Path(place))) is not None:
        raise UserError(f"{place}: {why}")
    return storage_at(place)


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _absolute(place: str) -> str:
    """Return a path from the root, as the user wrote it: links are not resolved."""
    return os.path.normpath(Path(place).absolute())


def _print(answer: FleetAnswer, output: str) -> None:
    if output == "json":
        from ctxview.reports.json_output import dumps

        rows = [dict(zip(answer.columns, map(_as_json, row), strict=True)) for row in answer.rows]
        print_masked([dumps([*rows])])
    elif output == "csv":
        import csv
        import io

        text = io.StringIO()
        lines = csv.writer(text, lineterminator="\n")
        lines.writerows([answer.columns, *([_as_text(each) for each in row] for row in answer.rows)])
        print_masked(text.getvalue().splitlines())
    else:
        _print_table(answer)


def _print_table(answer: FleetAnswer) -> None:
    from ctxview.reports.table import Cell, Column, table_lines

    numbers = [
        all(isinstance(row[place], int | float | None) for row in answer.rows)
        for place in range(len(answer.columns))
    ]
    columns = [Column(name, WIDEST, right) for name, right in zip(answer.columns, numbers, strict=True)]
    cells = [[Cell(_as_text(each, "{:,}")) for each in row] for row in answer.rows]
    print_masked(table_lines(columns, cells, console_for(), ""))
    print_lines([counted(len(answer.rows), "row")], sys.stderr)


def _as_text(value: object, number: str = "{}") -> str:
    """A value in one line, with special characters escaped."""
    from ctxview.files.visible_text import visible

    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return number.format(value)
    if isinstance(value, datetime):
        return value.isoformat(" ", "seconds")
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return ", ".join(_as_text(each) for each in value)
    return visible(str(value))


def _as_json(value: object) -> JsonValue:
    if isinstance(value, float) and not isfinite(value):
        return None  # JSON has neither infinity nor NaN
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, dict):
        return {str(name): _as_json(each) for name, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return [_as_json(each) for each in value]
    return value.isoformat() if isinstance(value, datetime) else str(value)


class _ProgressLine:
    """Counts, rate and time left on stderr: one line that is written over; in a log a line at times."""

    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._shown = self._begun
        self._is_terminal = sys.stderr.isatty()

    def show(self, progress: FleetProgress) -> None:
        now = time.monotonic()
        if now - self._shown < (AT_ONCE if self._is_terminal else EVERY):
            return
        self._shown = now
        rate = progress.looked_at / max(now - self._begun, 1e-9)
        left = (progress.found - progress.looked_at) / rate if rate else None
        line = f"{progress.looked_at:,} of {progress.found:,} paths, {progress.sources:,} sources"
        line += f", {rate:,.0f} a second" if rate else ""
        line += f", {_duration(left)} left" if left is not None else ""
        if self._is_terminal:
            self._replace(line)
        else:
            print_lines([line], sys.stderr)

    def end(self) -> None:
        if self._is_terminal:
            self._replace("")

    def _replace(self, line: str) -> None:
        sys.stderr.write(f"\r\x1b[K{line}")
        sys.stderr.flush()


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
