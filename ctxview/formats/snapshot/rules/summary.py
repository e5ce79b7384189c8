"""Reads `todo.summary` by the profile's grammar, and says when it cannot be true of a total and a step."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from functools import cache

from ctxview.formats.snapshot.profile import TodoGrammar
from ctxview.quick_dataclass import dataclass


class Wording(StrEnum):
    """Which sentence of the grammar a summary is."""

    EMPTY = "empty"
    FINISHED = "finished"
    RUNNING = "running"
    SKIPPED = "running_skipped"


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary taken apart; a number the sentence does not have is None."""

    wording: Wording
    done: int | None
    total: int | None
    step: int | None


def read_summary(written: str, grammar: TodoGrammar) -> Summary | None:
    """What a summary says; None when it is none of the grammar's sentences."""
    for wording in Wording:
        if found := _pattern(getattr(grammar, wording)).fullmatch(written.strip()):
            numbers = {name: int(value) for name, value in found.groupdict().items()}
            return Summary(wording, numbers.get("done"), numbers.get("total"), numbers.get("step"))
    return None


def contradictions(summary: Summary, total: int | None, step: int | None) -> Iterator[str]:
    """What a summary says that `total` and `step` (or the sentence itself) make impossible."""
    if summary.total is not None and total is not None and summary.total != total:
        yield f"it counts {summary.total} items, but total is {total}"
    if summary.step is not None and step is not None and summary.step != step:
        yield f"it stands at step {summary.step}, but step is {step}"
    now = summary.step if summary.step is not None else step
    match summary.wording:
        case Wording.EMPTY:
            if total:
                yield f"it says there is nothing to do, but total is {total}"
        case Wording.FINISHED:
            if summary.done != summary.total or summary.total == 0:
                yield f"it says all is done, but counts {summary.done} of {summary.total}"
            elif step is not None and step != summary.total:
                yield f"it says all is done, then step is {summary.total}, not {step}"
        case Wording.RUNNING if summary.done is not None and now is not None:
            if summary.done != now - 1:
                yield f"at step {now} without a skip {now - 1} items are done, not {summary.done}"
        case Wording.SKIPPED if None not in (summary.done, summary.total, now):
            done, items, current = summary.done or 0, summary.total or 0, now or 0
            if not current <= done < items:
                bounds = f"from {current} to {items - 1}"
                yield f"with a skip at step {current} {bounds} items are done, not {done}"


@cache
def _pattern(template: str) -> re.Pattern[str]:
    """A template of the grammar as a pattern with the numbers as groups."""
    parts = re.split(r"\{(done|total|step)\}", template)
    groups = [
        re.escape(part) if index % 2 == 0 else rf"(?P<{part}>\d{{1,9}})" for index, part in enumerate(parts)
    ]
    return re.compile("".join(groups), re.ASCII)
