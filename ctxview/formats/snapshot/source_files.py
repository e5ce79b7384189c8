"""Chooses the files of a snapshot source and puts them in order; `formats.kit.file_source` reads them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct

from ctxview.core.origin import JsonValue
from ctxview.files.strict_json.values import same_value
from ctxview.formats.interface import OpenError
from ctxview.formats.kit import file_source
from ctxview.formats.peek import Peek
from ctxview.formats.snapshot.format import (
    STORE_FILES,
    SUFFIXES,
    agent_folder,
    belongs_to_source,
    is_store,
    log_folder,
)
from ctxview.formats.snapshot.forms import SYSTEM_FIELDS
from ctxview.formats.snapshot.model import Snapshot, SnapshotRole, member_at, text
from ctxview.formats.snapshot.parser import SnapshotFile, parse_file

Loaded: TypeAlias = file_source.LoadedFiles[SnapshotFile]
LoadedFile: TypeAlias = file_source.LoadedFile[SnapshotFile]

READER = file_source.FileReader[SnapshotFile](
    lambda file, data, _whole: parse_file(file, data),
    is_broken=lambda found: found.error is not None,
    belongs=belongs_to_source,
)


def load_files(path: Path, earlier: Loaded | None = None) -> tuple[Loaded, Path | None]:
    """Load the files of the source at `path`, and find the folder of its store; raises `OpenError`.

    With the files of an `earlier` load, only changed files are read, and half-written ones are held back.
    """
    files = file_source.FileLoader(READER, earlier)
    if not path.is_dir():
        if path.name in STORE_FILES and is_store(Peek(path.parent)):
            return files.loaded(), path.parent
        files.add_named(path)
        return files.loaded(), None
    store = agent_folder(Peek(path))
    folder = log_folder(path, store)
    for name in Peek(folder).names:
        if not name.startswith(".") and Path(name).suffix in SUFFIXES and not (folder / name).is_dir():
            files.add(folder / name, by_content=store is None)
    if not files.files and store is None:
        raise OpenError(f"{path}: no snapshot, reply or log in this folder")
    return files.loaded(), store


NameKey = tuple[tuple[int, int | str], ...]


class FileTurn(Struct, frozen=True):
    """The parts of a file that decide its order: its path and its snapshot, if it has one."""

    path: Path
    snapshot: Snapshot | None


class OrderedFile(Struct, frozen=True):
    """A file by its index in the given sequence; `answers` and `follows` are places in the new order."""

    index: int
    answers: int | None
    """The snapshot that a reply answers."""
    follows: int | None = None
    """The previous snapshot of the same role."""


class FileOrder(Struct, frozen=True):
    placed: Sequence[OrderedFile]
    is_history: bool
    """Whether the files are successive rounds; otherwise they are in the order of their names."""


def order_files(turns: Sequence[FileTurn]) -> FileOrder:
    """Order by start, round, received before reply, time, name; a file without a time goes by its name."""
    names = [natural_key(str(turn.path)) for turn in turns]
    answered = _answered(turns, names)
    timed = [index for index, turn in enumerate(turns) if turn.snapshot is not None]
    timed.sort(key=lambda index: _time_key(turns, names, index, answered.get(index)))
    # The files are rounds of one history when most answer another, or differ in time or role.
    states = (turns[index].snapshot for index in timed)
    distinct = {
        (_clock(each), each.role) for each in states if each and each.role is not SnapshotRole.EMITTED
    }
    is_history = len(timed) <= 1 or 2 * (len(distinct) + len(answered)) > len(timed)
    follows = _follows(turns, timed) if is_history else {}
    order = _with_untimed(names, timed if is_history else [])
    places = {index: place for place, index in enumerate(order)}
    answers = {index: places[of] for index, of in answered.items()}
    before = {index: places[of] for index, of in follows.items()}
    placed = [OrderedFile(index, answers.get(index), before.get(index)) for index in order]
    return FileOrder(placed, is_history)


def _follows(turns: Sequence[FileTurn], timed: Sequence[int]) -> dict[int, int]:
    """Map each state to the previous one of its role, if that has an earlier time."""
    latest: dict[SnapshotRole, int] = {}
    found: dict[int, int] = {}
    for index in timed:
        state = turns[index].snapshot
        if state is None or state.role is SnapshotRole.EMITTED:
            continue
        before = latest.get(state.role)
        if before is not None and _clock(turns[before].snapshot) < _clock(state):
            found[index] = before
        latest[state.role] = index
    return found


def _clock(snapshot: Snapshot | None) -> tuple[int, int, str]:
    """Start, round and time of a snapshot, in the order in which they count."""
    if snapshot is None:
        return 0, 0, ""
    return snapshot.startup_at or 0, snapshot.round or 0, _time(snapshot) or ""


def natural_key(name: str) -> NameKey:
    """Return a sort key that puts `round-10` after `round-9`."""
    parts = re.split(r"(\d{1,18})", name)
    return tuple((0, int(part)) if part.isdecimal() else (1, part.casefold()) for part in parts if part)


def _answered(turns: Sequence[FileTurn], names: Sequence[NameKey]) -> dict[int, int]:
    """Map each reply to the received snapshot whose system fields it repeats best."""
    by_round: dict[int | None, list[int]] = defaultdict(list)
    by_time: dict[str | None, list[int]] = defaultdict(list)
    for index, turn in enumerate(turns):
        if turn.snapshot is not None and turn.snapshot.role is not SnapshotRole.EMITTED:
            by_round[turn.snapshot.round].append(index)
            by_time[_time(turn.snapshot)].append(index)
    found: dict[int, int] = {}
    for index, turn in enumerate(turns):
        sent = turn.snapshot
        if sent is None or sent.role is not SnapshotRole.EMITTED:
            continue
        near = {*(by_round[sent.round] if sent.round else ()), *(by_time[_time(sent)] if _time(sent) else ())}
        scores = {other: _similarity(turns[other].snapshot, sent) for other in near}
        likely = [other for other, score in scores.items() if score and score == max(scores.values())]
        if len({_clock(turns[other].snapshot) for other in likely}) < len(likely):
            # Several states of the same time are equally likely: only the file name can decide.
            likely = [other for other in likely if _stem(turns[other]) == _stem(turn)]
        before = [other for other in likely if names[other] <= names[index]]
        if likely:
            found[index] = max(before or likely, key=lambda other: names[other])
    return found


def _stem(turn: FileTurn) -> str:
    """The common beginning of names like `wiped-tier.received.json` and `wiped-tier.reply.txt`."""
    return turn.path.name.partition(".")[0]


def _similarity(given: Snapshot | None, sent: Snapshot) -> int:
    """Score how many system fields agree, a stored snapshot counting more; 0 for another process."""
    if given is None:
        return 0
    starts = (given.startup_at, sent.startup_at)
    if None not in starts and starts[0] != starts[1]:
        return 0
    agreeing = sum(_agrees(given.value, sent.value, path) for path in SYSTEM_FIELDS)
    stated = sum(_agrees(sent.value, sent.value, path) for path in SYSTEM_FIELDS)
    if None in starts and 2 * agreeing < stated:
        # Without both start times the process is unknown, and most fields of the reply are different here.
        return 0
    return 1 + 2 * agreeing + (given.role is SnapshotRole.STORED)


def _agrees(first: JsonValue, second: JsonValue, path: tuple[str, ...]) -> bool:
    (in_first, one), (in_second, other) = member_at(first, path), member_at(second, path)
    return in_first and in_second and same_value(one, other)


def _time(snapshot: Snapshot) -> str | None:
    return text(snapshot.runtime.get("datetime"))


def _time_key(
    turns: Sequence[FileTurn], names: Sequence[NameKey], index: int, answered: int | None
) -> tuple[int, int, bool, str, NameKey]:
    """Return a sort key; a reply follows the snapshot it answers, even if the reply changed its clock."""
    own = turns[index].snapshot
    clock = turns[answered].snapshot if answered is not None else own
    start = clock.startup_at if clock is not None else None
    current = clock.round if clock is not None else None
    replying = own is not None and own.role is SnapshotRole.EMITTED
    time = _time(own) if own is not None else None
    return (start or 0, current or 0, replying, time or "", names[index])


def _with_untimed(names: Sequence[NameKey], timed: Sequence[int]) -> list[int]:
    """Insert each file without a time after the timed file whose name comes just before its own."""
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
