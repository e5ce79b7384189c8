"""Ids for new records that no record of the source has."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import count

NUMBERED = re.compile(r"(?P<stem>.*?)\.r(?P<number>\d{1,9})", re.DOTALL)


class FreshIds:
    """Makes ids that are neither taken nor made before; `taken` are the ids of all kinds in all files."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)

    def revision(self, name: str) -> str:
        """The id of the next revision of `name`: `plan.r2` after `plan`, `plan.r3` after `plan.r2`."""
        made = next_revision(name, self._taken.__contains__)
        self._taken.add(made)
        return made

    def numbered(self, stem: str) -> str:
        """The first free id of `stem-1`, `stem-2`, …"""
        made = next(each for number in count(1) if (each := f"{stem}-{number}") not in self._taken)
        self._taken.add(made)
        return made


def next_revision(name: str, is_taken: Callable[[str], bool]) -> str:
    """The name of the next revision of a record or file that is not taken."""
    known = NUMBERED.fullmatch(name)
    stem, first = (known["stem"], int(known["number"]) + 1) if known else (name, 2)
    return next(each for number in count(first) if not is_taken(each := f"{stem}.r{number}"))
