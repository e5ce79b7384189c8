"""`ctxview record PATH -o FILE`: record the changes of files until it is stopped.

Exit 0 when stopped, 2 on an error. It writes only the recording.
"""

from __future__ import annotations

import signal
import time
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ctxview.analysis.wording import counted
from ctxview.commands.arguments import ambiguous_folder, sources_below
from ctxview.files.change_detector import FileChangeKind
from ctxview.files.visible_text import visible
from ctxview.recording.manifest import FileDelta, moment_clock_text
from ctxview.recording.recorder import WrittenMoment
from ctxview.reports.console import Console, Style, UserError, print_error
from ctxview.reports.table import cut_cells, size_in_words

if TYPE_CHECKING:
    from ctxview.recording.recorder import RecordingScope
    from ctxview.recording.writer import RecordingOutput


DESCRIPTION = """
It checks the files again and again. Each time something changed, it adds a
moment to the recording: the list of files and their new content. A recording
only grows, survives a crash, and can be continued later. Links are not
followed. Ctrl-C stops. Exit 0 when stopped, 2 error.
"""
LONGEST_WAIT = 86_400.0
MOST_NAMED = 3
MOST_LEFT_OUT = 5


def configure(parser: ArgumentParser) -> None:
    parser.description = f"{parser.description}\n{DESCRIPTION}"
    parser.add_argument("path", metavar="PATH", type=Path, help="a file, session or folder")
    parser.add_argument(
        "-o", "--out", metavar="FILE", type=Path, required=True, help="the recording to create or continue"
    )
    parser.add_argument(
        "--interval",
        metavar="SECONDS",
        type=_seconds,
        default=0.2,
        help="time between two checks (default: %(default)s)",
    )
    parser.add_argument(
        "--for", dest="duration", metavar="SECONDS", type=_seconds, help="stop after this time"
    )


def run(arguments: Namespace) -> int:
    from ctxview.formats.recording.observed_source import scope_holds
    from ctxview.recording.manifest import recording_info
    from ctxview.recording.writer import RecordingError, open_to_write

    path, scope = _scope(arguments.path, arguments.out)
    if scope_holds(scope, arguments.out):
        raise UserError(f"{arguments.out}: the recording would record itself; write it somewhere else")
    try:
        opened = open_to_write(arguments.out, recording_info(path, time.time_ns()))
    except RecordingError as error:
        raise UserError(str(error)) from None
    try:
        return _record(scope, opened, arguments)
    except RecordingError as error:
        raise UserError(f"{arguments.out}: {error}; the moments recorded so far can be read") from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise UserError(f"{arguments.out}: {reason}; the moments recorded so far can be read") from None
    finally:
        opened.writer.close()


def _record(scope: RecordingScope, opened: RecordingOutput, arguments: Namespace) -> int:
    from ctxview.recording.recorder import Recorder
    from ctxview.reports.console import console_for, print_masked

    console = console_for()
    recorder = Recorder(scope, opened.writer, first=opened.moments)
    number = opened.moments
    if opened.cut_off:
        print_error(
            f"note: {arguments.out}: its last {opened.cut_off:,} bytes were incomplete and were removed"
        )
    print_masked([begun_line(str(arguments.path), str(arguments.out), opened.moments, console)])
    with _stoppable():
        for now in _check_times(arguments.interval, arguments.duration):
            moment = recorder.record(now)
            if moment is not None:
                number = moment.number
                print_masked(moment_lines(moment, console))
    print_masked([ended_line(number - opened.moments, opened.writer.end, str(arguments.out))])
    return 0


def _scope(path: Path, out: Path) -> tuple[Path, RecordingScope]:
    """Return the only source at or below `path` and its files, or a whole folder.

    The whole folder is recorded if nothing in it is recognised yet, or if `out` is a recording of it.
    """
    from ctxview.formats import OpenError, open_source
    from ctxview.formats.path_hints import missing_path_reason, unlisted_reason
    from ctxview.formats.recording.observed_source import scope_of, scope_of_path

    try:
        source = open_source(path)
    except OpenError as error:
        if missing_path_reason(path) is not None or not path.is_dir() or unlisted_reason(path) is not None:
            raise UserError(str(error)) from None
        if _is_recording_of(path, out):
            return path, scope_of_path(path)
        below, _ = sources_below(path)
        if len(below) > 1:
            raise UserError(f"{path}: {ambiguous_folder(below)}") from None
        if below:
            return _scope(below[0].path, out)
        print_error(f"note: {path}: no format is recognised here yet; all files are recorded")
        return path, scope_of_path(path)
    return source.path, scope_of(source)


def _is_recording_of(path: Path, out: Path) -> bool:
    from ctxview.files.reading import ReadError
    from ctxview.recording.frames import DamagedRecordingError
    from ctxview.recording.manifest import recording_info
    from ctxview.recording.reader import open_recording

    try:
        recorded = open_recording(out).info
    except (ReadError, DamagedRecordingError):
        return False
    return recorded.is_folder and recorded.place == recording_info(path, 0).place


def _check_times(interval: float, duration: float | None) -> Iterator[int]:
    """Yield the time of each check, in nanoseconds since 1970; the last check is at the end of `duration`."""
    end = time.monotonic() + (LONGEST_WAIT * 36_500 if duration is None else duration)
    while True:
        yield time.time_ns()
        left = end - time.monotonic()
        if left <= 0:
            return
        time.sleep(min(interval, left))


@contextmanager
def _stoppable() -> Iterator[None]:
    """Let an interrupt or a SIGTERM stop the recording without an error."""
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
        raise ArgumentTypeError(f"expected seconds from 0.01 on, such as 0.5 or 600, found '{text}'")
    return seconds


def begun_line(path: str, out: str, before: int, console: Console) -> str:
    into = f"{visible(out)}, after {counted(before, 'moment')}" if before else visible(out)
    return f"{console.paint('recording', Style.STRONG)} {visible(path)} into {into}; Ctrl-C stops"


def moment_lines(moment: WrittenMoment, console: Console) -> Iterator[str]:
    """The changed files, cut to the width of the terminal, then the files that could not be recorded."""
    head = f"{moment_clock_text(moment.time)}  {moment.number:>5}  "
    recorded = [each for each in moment.changes if each.why is None]
    new = [each for each in recorded if each.kind is FileChangeKind.APPEARED]
    texts: list[str] = []
    if len(new) > MOST_NAMED:
        recorded = [each for each in recorded if each.kind is not FileChangeKind.APPEARED]
        size = size_in_words(sum(each.after or 0 for each in new))
        texts.append(f"{counted(len(new), 'file')} appeared, {size}")
    summary = "; ".join([*texts, *_change_texts(recorded)]) or "nothing to record"
    yield head + cut_cells(summary, console.width - len(head))
    left_out = [each for each in moment.changes if each.why is not None]
    notes = [f"{each.name} is not recorded: {each.why}" for each in left_out[:MOST_LEFT_OUT]]
    if len(left_out) > MOST_LEFT_OUT:
        notes.append(f"{len(left_out) - MOST_LEFT_OUT} more are not recorded")
    for note in (*moment.notes, *notes):
        yield f"{' ' * len(head)}{console.paint('note', Style.WARNING)}: {visible(note)}"


def ended_line(moments: int, size: int, out: str) -> str:
    return f"recorded {counted(moments, 'moment')}; {visible(out)} has {size_in_words(size)}"


def _change_texts(changes: list[FileDelta]) -> list[str]:
    texts = [_change_text(each) for each in changes[:MOST_NAMED]]
    return [*texts, f"{len(changes) - MOST_NAMED} more"] if len(changes) > MOST_NAMED else texts


def _change_text(change: FileDelta) -> str:
    name, before, after = visible(change.name), change.before or 0, change.after or 0
    match change.kind:
        case FileChangeKind.APPENDED:
            return f"{name} +{size_in_words(after - before)}"
        case FileChangeKind.APPEARED:
            return f"{name} appeared, {size_in_words(after)}"
        case FileChangeKind.TRUNCATED:
            return f"{name} truncated to {size_in_words(after)}"
        case _:
            return f"{name} {change.kind.value}"
