"""The messages of a source as rows, however many: the words `state` has for them. Reads nothing itself."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, runtime_checkable

from ctxview.origin import Origin
from ctxview.quick_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a transcript: who speaks, what kind of line it is, and what it says. `size` is in bytes."""

    index: int
    role: str | None
    kind: str
    text: str
    run: str | None
    origin: Origin
    size: int
    problem: str | None = None
    """Why the line could not be read; None for a good one."""
    unseen: str | None = None
    """Why the model can never be shown it, whatever comes after; None when it can."""


END = sys.maxsize
"""The number of the row behind the last, whatever that is."""


class Transcript(Protocol):
    """The messages of a source, however many: rows are read when asked for. Any thread may ask."""

    def __len__(self) -> int:
        """The rows known so far, from the first."""

    @property
    def complete(self) -> bool:
        """Whether all rows are known."""

    @property
    def ending(self) -> int:
        """While not all rows are known: how many of the last can be had by numbers from -1 down."""

    def row(self, index: int) -> Row:
        """One row, a negative number counting from the end; raises `IndexError` for one that is not known.

        The row has its number, or the negative one while it is not known.
        """

    def raw(self, index: int) -> bytes:
        """The very bytes of one row, of a huge one the beginning; raises `IndexError` like `row`."""

    def find(self, needle: str, start: int, backwards: bool, cancelled: Callable[[], bool]) -> int | None:
        """The first row at or after `start` whose text holds `needle`, or the last one before it.

        A negative `start` counts from the end, and `END` is behind the last row.
        A needle without capitals is found in any case. None when there is none, or when cancelled.
        """


@runtime_checkable
class GrowingTranscript(Transcript, Protocol):
    """A transcript whose messages stand in one file, so that new ones can be seen at once."""

    @property
    def file(self) -> Path | None:
        """None when there is no such file after all."""

    def again(self) -> Transcript:
        """The messages as they are now; this transcript stays what it is."""
