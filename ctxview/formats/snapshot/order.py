"""Puts the files of a folder in the order in which they came about, and finds what each reply answers.

Looks at what the files say of their time, then at their names; it reads and writes nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from ctxview.files.json_values import same_value
from ctxview.formats.snapshot.model import Role, Snapshot, text
from ctxview.formats.snapshot.ownership import SYSTEM_FIELDS
from ctxview.origin import JsonValue
from ctxview.quick_dataclass import dataclass

Name = tuple[tuple[int, int | str], ...]


@dataclass(frozen=True, slots=True)
class Turn:
    """One file as far as order needs it: its path and the snapshot in it, if there is one."""

    path: Path
    snapshot: Snapshot | None


@dataclass(frozen=True, slots=True)
class Placed:
    """A file's index in the given sequence, and the places in the new order of what it comes from."""

    index: int
    answers: int | None
    """What a reply answers."""
    follows: int | None = None
    """The state of the same role that it goes on from."""


@dataclass(frozen=True, slots=True)
class Order:
    placed: Sequence[Placed]
    is_history: bool
    """Whether these are rounds that go on from each other; else they are in the order of their names."""


def in_order(turns: Sequence[Turn]) -> Order:
    """By start, round, received before reply, time, name. What has no time follows its neighbour by name."""
    names = [natural(str(turn.path)) for turn in turns]
    answered = _answered(turns, names)
    timed = [index for index, turn in enumerate(turns) if turn.snapshot is not None]
    timed.sort(key=lambda index: _time_key(turns, names, index, answered.get(index)))
    is_history = _is_history(turns, timed, answered)
    follows = _follows(turns, timed) if is_history else {}
    order = _with_untimed(names, timed if is_history else [])
    places = {index: place for place, index in enumerate(order)}
    answers = {index: places[of] for index, of in answered.items()}
    before = {index: places[of] for index, of in follows.items()}
    placed = [Placed(index, answers.get(index), before.get(index)) for index in order]
    return Order(placed, is_history)


def _is_history(turns: Sequence[Turn], timed: Sequence[int], answered: Mapping[int, int]) -> bool:
    """Whether files are rounds of one history: most answer another, or show another moment or side."""
    states = [state for index in timed if (state := turns[index].snapshot) and state.role is not Role.EMITTED]
    shown = {(_moment(state), state.role) for state in states}
    return len(timed) <= 1 or 2 * (len(shown) + len(answered)) > len(timed)


def _follows(turns: Sequence[Turn], timed: Sequence[int]) -> dict[int, int]:
    """What each state goes on from: the last of its role, if that is of an earlier time."""
    latest: dict[Role, int] = {}
    found: dict[int, int] = {}
    for index in timed:
        state = turns[index].snapshot
        if state is None or state.role is Role.EMITTED:
            continue
        before = latest.get(state.role)
        if before is not None and _moment(turns[before].snapshot) < _moment(state):
            found[index] = before
        latest[state.role] = index
    return found


def _moment(snapshot: Snapshot | None) -> tuple[int, int, str]:
    if snapshot is None:
        return 0, 0, ""
    return snapshot.startup_at or 0, snapshot.round or 0, _time(snapshot) or ""


def natural(name: str) -> Name:
    """Sorts `round-10` behind `round-9`."""
    parts = re.split(r"(\d{1,18})", name)
    return tuple((0, int(part)) if part.isdecimal() else (1, part.casefold()) for part in parts if part)


def _answered(turns: Sequence[Turn], names: Sequence[Name]) -> dict[int, int]:
    """For each reply the received snapshot whose system fields it repeats best."""
    by_round: dict[int | None, list[int]] = defaultdict(list)
    by_time: dict[str | None, list[int]] = defaultdict(list)
    for index, turn in enumerate(turns):
        if turn.snapshot is not None and turn.snapshot.role is not Role.EMITTED:
            by_round[turn.snapshot.round].append(index)
            by_time[_time(turn.snapshot)].append(index)
    found: dict[int, int] = {}
    for index, turn in enumerate(turns):
        sent = turn.snapshot
        if sent is None or sent.role is not Role.EMITTED:
            continue
        near = {*(by_round[sent.round] if sent.round else ()), *(by_time[_time(sent)] if _time(sent) else ())}
        scores = {other: _likeness(turns[other].snapshot, sent) for other in near}
        likely = [other for other, score in scores.items() if score and score == max(scores.values())]
        if len({_moment(turns[other].snapshot) for other in likely}) < len(likely):
            # Several states of one moment are as likely: only a name can tell which one was meant.
            likely = [other for other in likely if _stem(turns[other]) == _stem(turn)]
        before = [other for other in likely if names[other] <= names[index]]
        if likely:
            found[index] = max(before or likely, key=lambda other: names[other])
    return found


def _stem(turn: Turn) -> str:
    """What `wiped-tier.received.json` and `wiped-tier.reply.txt` have in common."""
    return turn.path.name.partition(".")[0]


def _likeness(given: Snapshot | None, sent: Snapshot) -> int:
    """How many system fields agree, the fuller view counting more; 0 for what another process was shown."""
    if given is None:
        return 0
    starts = (given.startup_at, sent.startup_at)
    if None not in starts and starts[0] != starts[1]:
        return 0
    agreeing = sum(_agrees(given.value, sent.value, path) for path in SYSTEM_FIELDS)
    stated = sum(_agrees(sent.value, sent.value, path) for path in SYSTEM_FIELDS)
    if None in starts and 2 * agreeing < stated:
        # No start says whether it is one process, and most of what the reply repeats was never told here.
        return 0
    return 1 + 2 * agreeing + (given.role is Role.STORED)


def _agrees(first: JsonValue, second: JsonValue, path: tuple[str, ...]) -> bool:
    for key in path:
        if not isinstance(first, dict) or not isinstance(second, dict):
            return False
        if key not in first or key not in second:
            return False
        first, second = first[key], second[key]
    return same_value(first, second)


def _time(snapshot: Snapshot) -> str | None:
    return text(snapshot.runtime.get("datetime"))


def _time_key(
    turns: Sequence[Turn], names: Sequence[Name], index: int, answered: int | None
) -> tuple[int, int, bool, str, Name]:
    """A reply stands behind what it answers, whatever its own (perhaps changed) clock says."""
    own = turns[index].snapshot
    clock = turns[answered].snapshot if answered is not None else own
    start = clock.startup_at if clock is not None else None
    current = clock.round if clock is not None else None
    replying = own is not None and own.role is Role.EMITTED
    time = _time(own) if own is not None else None
    return (start or 0, current or 0, replying, time or "", names[index])


def _with_untimed(names: Sequence[Name], timed: Sequence[int]) -> list[int]:
    """Each file without a time goes behind the file whose name comes just before its own."""
    followers: dict[int | None, list[int]] = defaultdict(list)
    known = sorted((names[index], index) for index in timed)
    untimed = set(range(len(names))) - set(timed)
    for name, index in sorted((names[index], index) for index in untimed):
        before = bisect_left(known, (name, -1))
        followers[known[before - 1][1] if before else None].append(index)
    order = list(followers[None])
    for index in timed:
        order += [index, *followers[index]]
    return order
