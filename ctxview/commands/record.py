"""`ctxview record PATH -o FILE`: keeps what happens to some files until somebody stops it.

Exit 0 when it was stopped, 2 trouble. Nothing is written but the recording.
"""

from __future__ import annotations

import signal
import time
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ctxview.commands.looking import below_of, one_of
from ctxview.commands.trouble import Trouble, complain

if TYPE_CHECKING:
    from ctxview.recording.places import Opened
    from ctxview.recording.tree import Scope

FORM = """
Files are looked at again and again; each time something changed, a moment is
added to the recording: which files there are, and what of them is new. The file
only grows, survives a crash, and can be gone on with later. Links are not
followed. Ctrl-C stops. Exit 0 when stopped, 2 trouble.
"""
LONGEST_WAIT = 86_400.0


def configure(parser: ArgumentParser) -> None:
    parser.description = f"{parser.description}\n{FORM}"
    parser.add_argument("path", metavar="PATH", type=Path, help="a file, a session or a tree")
    parser.add_argument(
        "-o", "--out", metavar="FILE", type=Path, required=True, help="the recording, new or to go on with"
    )
    parser.add_argument(
        "--interval",
        metavar="S",
        type=_seconds,
        default=0.2,
        help="seconds between two looks (default: %(default)s)",
    )
    parser.add_argument(
        "--for", dest="lasting", metavar="S", type=_seconds, help="stop after so many seconds"
    )


def run(arguments: Namespace) -> int:
    from ctxview.recording.about import about
    from ctxview.recording.places import open_to_write
    from ctxview.recording.scope import holds
    from ctxview.recording.writer import CannotRecord

    path, scope = _what_to_record(arguments.path, arguments.out)
    if holds(scope, arguments.out):
        raise Trouble(f"{arguments.out}: the recording would record itself; write it somewhere else")
    try:
        opened = open_to_write(arguments.out, about(path, time.time_ns()))
    except CannotRecord as error:
        raise Trouble(str(error)) from None
    try:
        return _record(scope, opened, arguments)
    except CannotRecord as error:
        raise Trouble(f"{arguments.out}: {error}; what was kept so far can be read") from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise Trouble(f"{arguments.out}: {reason}; what was kept so far can be read") from None
    finally:
        opened.writer.close()


def _record(scope: Scope, opened: Opened, arguments: Namespace) -> int:
    from ctxview.commands.record_text import begun_line, ended_line, moment_lines
    from ctxview.recording.recorder import Recorder
    from ctxview.reports.console import console_for

    console = console_for()
    recorder = Recorder(scope, opened.writer, first=opened.moments)
    number = opened.moments
    if opened.cut_off:
        complain(f"note: {arguments.out}: its last {opened.cut_off:,} bytes were not complete and are gone")
    print(begun_line(str(arguments.path), str(arguments.out), opened.moments, console), flush=True)
    with _stoppable():
        for now in _looks(arguments.interval, arguments.lasting):
            kept = recorder.look(now)
            if kept is not None:
                number = kept.number
                print("\n".join(moment_lines(kept, console)), flush=True)
    print(ended_line(number - opened.moments, opened.writer.end, str(arguments.out)))
    return 0


def _what_to_record(path: Path, out: Path) -> tuple[Path, Scope]:
    """The one thing at or below a path, or all of a folder.

    That is of one in which nothing is recognised yet, and of one whose recording is gone on with.
    """
    from ctxview.formats import CannotOpen, open_source
    from ctxview.formats.nearest import absence, unlisted
    from ctxview.recording.scope import scope_of, scope_of_path

    try:
        source = open_source(path)
    except CannotOpen as error:
        if absence(path) is not None or not path.is_dir() or unlisted(path) is not None:
            raise Trouble(str(error)) from None
        if _is_recording_of(path, out):
            return path, scope_of_path(path)
        below, _ = below_of(path)
        if len(below) > 1:
            raise Trouble(f"{path}: {one_of(below)}") from None
        if below:
            return _what_to_record(below[0], out)
        complain(f"note: {path}: nothing is recognised here yet; everything in it is kept")
        return path, scope_of_path(path)
    return source.path, scope_of(source)


def _is_recording_of(path: Path, out: Path) -> bool:
    from ctxview.files.reading import Unreadable
    from ctxview.recording.about import about
    from ctxview.recording.frames import Damaged
    from ctxview.recording.reader import open_recording

    try:
        recorded = open_recording(out).about
    except (Unreadable, Damaged):
        return False
    return recorded.is_folder and recorded.place == about(path, 0).place


def _looks(interval: float, lasting: float | None) -> Iterator[int]:
    """The times to look at, one after the other, in nanoseconds since 1970; the last one at the very end."""
    end = time.monotonic() + (LONGEST_WAIT * 36_500 if lasting is None else lasting)
    while True:
        yield time.time_ns()
        left = end - time.monotonic()
        if left <= 0:
            return
        time.sleep(min(interval, left))


@contextmanager
def _stoppable() -> Iterator[None]:
    """Being interrupted or asked to end is how a recording stops, not a failure."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    except KeyboardInterrupt:
        pass
    finally:
        signal.signal(signal.SIGTERM, before)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0.01 <= seconds <= LONGEST_WAIT * 365:
        raise ArgumentTypeError(f"{text} is no number of seconds from 0.01 on")
    return seconds
