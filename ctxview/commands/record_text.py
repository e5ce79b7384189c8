"""A recording while it is made: one line a moment, for people."""

from __future__ import annotations

from collections.abc import Iterator

from ctxview.analysis.wording import counted
from ctxview.files.following import What
from ctxview.files.visible import visible
from ctxview.recording.changes import Change
from ctxview.recording.moment_names import clock
from ctxview.recording.recorder import Kept
from ctxview.reports.cells import cut
from ctxview.reports.console import Console, Style
from ctxview.reports.reasons import size_in_words

MOST_NAMED = 3
MOST_LEFT_OUT = 5


def begun_line(path: str, out: str, before: int, console: Console) -> str:
    into = f"{visible(out)}, behind {counted(before, 'moment')}" if before else visible(out)
    return f"{console.paint('recording', Style.STRONG)} {visible(path)} into {into}; Ctrl-C stops"


def moment_lines(kept: Kept, console: Console) -> Iterator[str]:
    """What changed, cut to the width of the terminal; then what could not be kept."""
    head = f"{clock(kept.time)}  {kept.number:>5}  "
    told = [each for each in kept.changes if each.why is None]
    yield head + cut(_summary(told), console.width - len(head))
    left_out = [each for each in kept.changes if each.why is not None]
    notes = [f"{each.name} is not kept: {each.why}" for each in left_out[:MOST_LEFT_OUT]]
    if len(left_out) > MOST_LEFT_OUT:
        notes.append(f"{len(left_out) - MOST_LEFT_OUT} more are not kept")
    for note in (*kept.notes, *notes):
        yield f"{' ' * len(head)}{console.paint('note', Style.WARNING)}: {visible(note)}"


def ended_line(moments: int, size: int, out: str) -> str:
    return f"kept {counted(moments, 'moment')}; {visible(out)} has {size_in_words(size)}"


def _summary(changes: list[Change]) -> str:
    new = [each for each in changes if each.what is What.APPEARED]
    if len(new) > MOST_NAMED:
        others = [each for each in changes if each.what is not What.APPEARED]
        size = size_in_words(sum(each.after or 0 for each in new))
        return "; ".join([f"{counted(len(new), 'file')} appeared, {size}", *_each(others)])
    return "; ".join(_each(changes)) or "nothing to keep"


def _each(changes: list[Change]) -> list[str]:
    told = [_told(each) for each in changes[:MOST_NAMED]]
    return [*told, f"{len(changes) - MOST_NAMED} more"] if len(changes) > MOST_NAMED else told


def _told(change: Change) -> str:
    name, before, after = visible(change.name), change.before or 0, change.after or 0
    match change.what:
        case What.APPENDED:
            return f"{name} +{size_in_words(after - before)}"
        case What.APPEARED:
            return f"{name} appeared, {size_in_words(after)}"
        case What.TRUNCATED:
            return f"{name} truncated to {size_in_words(after)}"
        case _:
            return f"{name} {change.what.value}"
