"""The messages of a source as rows, as part of the neutral state. Nothing here reads a file."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, runtime_checkable

from msgspec import Struct

from ctxview.core.fields import Form
from ctxview.core.origin import Origin


class Row(Struct, frozen=True):
    """One row of a transcript: its role, its kind and its text. `size` is in bytes."""

    index: int
    role: str | None
    kind: str
    text: str
    run: str | None
    origin: Origin
    size: int
    problem: str | None = None
    """Why the line could not be read; None when it could."""
    unseen: str | None = None
    """Why the model can never be shown the row; None when it can."""
    number: int | None = None
    """The number by which sources cite the row, from 1; None for a blank line, or while it is not known."""
    form: Form | None = None


END = sys.maxsize
"""A row number behind the last row of any transcript."""


class Transcript(Protocol):
    """The messages of a source; rows are read on request, from any thread."""

    def __len__(self) -> int:
        """Return the number of rows known so far, from the first."""

    @property
    def complete(self) -> bool:
        """Whether all rows are known."""

    @property
    def ending(self) -> int:
        """The number of last rows that can be read by negative numbers while not all rows are known."""

    def row(self, index: int) -> Row:
        """Return row `index`, a negative one counted from the end; raises `IndexError` for an unknown row.

        The row has its number, or the negative one while its number is not known.
        """

    def raw(self, index: int) -> bytes:
        """Return the bytes of one row, only the beginning of a huge one; raises `IndexError` like `row`."""

    def find(self, needle: str, start: int, backwards: bool, cancelled: Callable[[], bool]) -> int | None:
        """Return the first row at or after `start` that contains `needle`, or `backwards` the last before it.

        A negative `start` counts from the end, and `END` is behind the last row.
        A needle without capitals is found in any case. None when no row matches, or when cancelled.
        """


@runtime_checkable
class GrowingTranscript(Transcript, Protocol):
    """A transcript whose messages are in one file, so that new messages can be read at once."""

    @property
    def file(self) -> Path | None:
        """The file of the messages; None when it does not exist."""

    def again(self) -> Transcript:
        """Return the messages as they are now; this transcript does not change."""
