"""Orders the files of a snapshot source in time, and pairs each reply with the snapshot it answers.

A reply may state any clock, so its name and its neighbours decide before the fields it repeats. Where the
clock of a reply does not fit what it answers, the rules report it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct

from ctxview.core.lazy import lazy_pattern
from ctxview.files.strict_json.values import same_value
from ctxview.formats.snapshot.model import SYSTEM_FIELDS, Snapshot, SnapshotRole, member_at, text

NameKey: TypeAlias = tuple[tuple[int, int | str], ...]

GIVEN_WORDS = (
    "received given stored injected context contexts snapshot snapshots state states prompt prompts "
    "request requests input inputs in log logs full lite model"
)
REPLY_WORDS = "reply replies response responses answer answers emitted output outputs out sent"
ROLE_WORDS = frozenset(f"{GIVEN_WORDS} {REPLY_WORDS} json txt md".split())
"""The words by which the names of a snapshot and of its reply differ, as in `round-09.reply.txt`."""
_UTC = lazy_pattern(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", re.ASCII)
_SAVED = lazy_pattern(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z", re.ASCII)


class Clock(Struct, frozen=True):
    """Start, round and time of a snapshot; 0 or empty where it states none."""

    start: int = 0
    round: int = 0
    time: str = ""


class FileTurn(Struct, frozen=True, dict=True):
    """The parts of a file that decide its order: path, snapshot if it has one, and when a log was saved."""

    path: Path
    snapshot: Snapshot | None
    is_reply: bool = False
    saved_at: str = ""

    @cached_property
    def clock(self) -> Clock:
        found = self.snapshot
        if found is None:
            return Clock()
        return Clock(found.startup_at or 0, found.round or 0, text(found.runtime.get("datetime")) or "")

    @property
    def role(self) -> SnapshotRole | None:
        return self.snapshot.role if self.snapshot is not None else None

    @property
    def is_state(self) -> bool:
        return self.snapshot is not None and not self.is_reply

    @cached_property
    def stem(self) -> tuple[str, ...]:
        return name_stem(self.path.name)

    @property
    def numbers(self) -> tuple[str, ...]:
        return tuple(word for word in self.stem if not word or word.isdecimal())


def name_stem(name: str) -> tuple[str, ...]:
    """The words and numbers of a name, without those that distinguish a snapshot from its reply."""
    words = re.findall(r"[^\W\d_]+|\d+", name.casefold())
    return tuple(word.lstrip("0") for word in words if word not in ROLE_WORDS)


class OrderedFile(Struct, frozen=True):
    """A file by its index in the given sequence; `answers` and `follows` are places in the new order."""

    index: int
    answers: int | None
    """The snapshot that a reply answers."""
    follows: int | None = None
    """The snapshot that a state continues, never a reply."""


class FileOrder(Struct, frozen=True):
    placed: Sequence[OrderedFile]
    is_history: bool
    """Whether the files are successive rounds; otherwise they are in the order of their names."""


def order_files(turns: Sequence[FileTurn]) -> FileOrder:
    """Order by start, time and round, a reply after what it answers; files without a time by their names."""
    names = [natural_key(str(turn.path)) for turn in turns]
    answered, is_history = pair_replies(turns, names)
    by_round = _is_round_reliable(turns, names)
    timed = [index for index, turn in enumerate(turns) if turn.snapshot is not None]
    saved_times = [turn.saved_at for turn in turns if turn.is_state]
    # Times in the same form can be compared as texts.
    all_saved = all(map(_SAVED.fullmatch, saved_times)) and len(set(map(len, saved_times))) == 1

    def key(index: int) -> tuple[tuple[object, ...], bool, NameKey]:
        turn = turns[answered.get(index, index)]
        # The clock of a log is content; when it was saved is not.
        clock, saved = turn.clock, turn.saved_at if all_saved else ""
        own = (clock.round, clock.time) if by_round else (clock.time, clock.round)
        return (clock.start, saved, *own), turns[index].is_reply, names[index]

    timed.sort(key=key)
    follows = _follows(turns, timed) if is_history else {}
    order = _with_untimed(names, timed if is_history else [])
    places = {index: place for place, index in enumerate(order)}
    answers = {index: places[of] for index, of in answered.items()}
    before = {index: places[of] for index, of in follows.items()}
    placed = [OrderedFile(index, answers.get(index), before.get(index)) for index in order]
    return FileOrder(placed, is_history)


def pair_replies(turns: Sequence[FileTurn], names: Sequence[NameKey]) -> tuple[dict[int, int], bool]:
    """Map each reply to the snapshot it answers, and return whether the files are one history.

    A reply answers the snapshot whose name differs only by the words of `ROLE_WORDS`; else the only one with
    the same numbers in its name, as in `ctx-09.json` and `model-09.txt`; else its neighbour, where snapshots
    and replies alternate; else the one whose system fields it repeats. In a history each reply answers a
    snapshot, whatever it states; but none if the file of its name cannot be read.
    """
    by_name = sorted(range(len(turns)), key=names.__getitem__)
    states = [index for index in by_name if turns[index].is_state]
    replies = [index for index in by_name if turns[index].is_reply]
    partners = _partners(turns, by_name)
    neighbours = _neighbours(turns, by_name)
    distinct = {(turns[index].clock, turns[index].role) for index in states}
    clocks = [turns[index].clock for index in states]
    in_order = 2 * len(distinct) > len(states) and not _inversions(
        (clock.start, clock.round, clock.time) for clock in clocks
    )
    direct = {after for before, after in pairwise(by_name) if turns[before].is_state}
    unnamed = [index for index in replies if index not in partners]
    if len(turns) == 2 and states and replies:
        # The only two files of a folder belong together, whatever the reply states.
        return {replies[0]: states[0]}, True
    alternating = in_order and len(set(clocks)) > 1 and len(unnamed) > 1 and direct.issuperset(unnamed)
    nearest = _Nearest(turns, names, states)
    found: dict[int, int] = {}
    for index in replies:
        if candidates := partners.get(index):
            if readable := [other for other in candidates if turns[other].is_state]:
                found[index] = nearest.best(index, readable)
        elif alternating:
            found[index] = neighbours[index]
        elif (likely := nearest.by_fields(index, neighbours.get(index))) is not None:
            found[index] = likely
    timed = sum(turn.snapshot is not None for turn in turns)
    paired = sum(turns[index].snapshot is not None for index in found)
    is_history = timed <= 1 or 2 * (len(distinct) + paired) > timed
    if is_history and states:
        for index in unnamed:
            if index not in found:
                found[index] = neighbours[index] if in_order else nearest.best(index, states)
    return found, is_history


def _partners(turns: Sequence[FileTurn], by_name: Sequence[int]) -> dict[int, list[int]]:
    """Map replies to the snapshots, readable or not, that their names belong to."""
    stems: dict[tuple[str, ...], list[int]] = defaultdict(list)
    numbered: dict[tuple[str, ...], set[tuple[str, ...]]] = defaultdict(set)
    for index in by_name:
        if not turns[index].is_reply:
            stems[turns[index].stem].append(index)
            numbered[turns[index].numbers].add(turns[index].stem)
    found: dict[int, list[int]] = {}
    for index in by_name:
        stem, numbers = turns[index].stem, turns[index].numbers
        same_numbers = numbered[numbers] if numbers else set()
        if turns[index].is_reply and (stem in stems or len(same_numbers) == 1):
            found[index] = stems[stem if stem in stems else min(same_numbers)]
    return found


def natural_key(name: str) -> NameKey:
    """Return a sort key that puts `round-10` after `round-9`."""
    parts = re.split(r"(\d{1,18})", name)
    return tuple((0, int(part)) if part.isdecimal() else (1, part.casefold()) for part in parts if part)


def _is_round_reliable(turns: Sequence[FileTurn], names: Sequence[NameKey]) -> bool:
    """Whether rounds order the files better than times: where they disagree, names and saved logs decide."""
    states = [(turn, name) for turn, name in zip(turns, names, strict=True) if turn.is_state]
    if not all(_UTC.fullmatch(turn.clock.time) for turn, _ in states):
        return True
    in_names = [turn for turn, _ in sorted(states, key=lambda each: (each[0].clock.start, each[1]))]
    logs = [turn for turn in in_names if turn.saved_at]
    logs.sort(key=lambda turn: (turn.clock.start, turn.saved_at))
    rounds, times = 0, 0
    for order in (in_names, logs):
        rounds += _inversions((turn.clock.start, turn.clock.round) for turn in order)
        times += _inversions((turn.clock.start, turn.clock.time) for turn in order)
    return rounds < times


def _inversions(values: Iterable[tuple[int | str, ...]]) -> int:
    """How often a value is smaller than the one before it."""
    return sum(after < before for before, after in pairwise(values))


def _follows(turns: Sequence[FileTurn], timed: Sequence[int]) -> dict[int, int]:
    """Map each state to the previous one of its role, else to the previous one of another role."""
    latest: dict[SnapshotRole | None, int] = {}
    last: int | None = None
    found: dict[int, int] = {}
    for index in timed:
        turn = turns[index]
        if not turn.is_state:
            continue
        before = latest.get(turn.role, last)
        if before is not None:
            found[index] = before
        latest[turn.role] = last = index
    return found


def _neighbours(turns: Sequence[FileTurn], by_name: Sequence[int]) -> dict[int, int]:
    """Map each reply to the last snapshot before it by name, else the first; a stored one before its copy."""
    last = next((index for index in by_name if turns[index].is_state), None)
    found: dict[int, int] = {}
    for index in by_name:
        turn = turns[index]
        if turn.is_reply and last is not None:
            found[index] = last
        elif turn.is_state and last is not None:
            is_copy = turn.role is SnapshotRole.INJECTED and turns[last].role is SnapshotRole.STORED
            last = last if is_copy and turns[last].clock == turn.clock else index
    return found


class _Nearest:
    """Chooses among snapshots the one whose system fields a reply repeats most."""

    def __init__(self, turns: Sequence[FileTurn], names: Sequence[NameKey], states: Sequence[int]) -> None:
        self._turns, self._names = turns, names
        self._by_round: dict[int, list[int]] = defaultdict(list)
        self._by_time: dict[str, list[int]] = defaultdict(list)
        for index in states:
            self._by_round[turns[index].clock.round].append(index)
            self._by_time[turns[index].clock.time].append(index)

    def best(self, reply: int, candidates: Sequence[int]) -> int:
        """Return the stored one that agrees most; of equal ones, the last before the reply by name."""

        def key(other: int) -> tuple[bool, int, bool, NameKey]:
            stored = self._turns[other].role is SnapshotRole.STORED
            is_before = self._names[other] <= self._names[reply]
            return stored, self._agreeing(other, reply), is_before, self._names[other]

        return max(candidates, key=key)

    def by_fields(self, reply: int, neighbour: int | None) -> int | None:
        """Return the neighbour or a snapshot of the stated round or time, if most fields agree; else None."""
        sent, clock = self._turns[reply].snapshot, self._turns[reply].clock
        stated = sum(member_at(sent.value, path)[0] for path in SYSTEM_FIELDS) if sent is not None else 0
        near = {neighbour} if neighbour is not None else set()
        near.update(self._by_round[clock.round] if clock.round else ())
        near.update(self._by_time[clock.time] if clock.time else ())
        scores = {
            other: (agreeing, self._turns[other].role is SnapshotRole.STORED)
            for other in near
            if (agreeing := self._agreeing(other, reply)) and 2 * agreeing >= stated
        }
        likely = [other for other, score in scores.items() if score == max(scores.values())]
        if len({self._turns[other].clock for other in likely}) < len(likely):
            # Several snapshots of the same time are equally likely, and no name decides.
            return None
        return self.best(reply, likely) if likely else None

    def _agreeing(self, other: int, reply: int) -> int:
        given, sent = self._turns[other].snapshot, self._turns[reply].snapshot
        if given is None or sent is None:
            return 0
        both = ((member_at(given.value, path), member_at(sent.value, path)) for path in SYSTEM_FIELDS)
        return sum(known and stated and same_value(was, now) for (known, was), (stated, now) in both)


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
