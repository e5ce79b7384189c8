"""What the parts of a state are built from: a survey at one revision, with the names of its blocks."""

from __future__ import annotations

from functools import cached_property
from typing import Final

from msgspec import Struct

from ctxview.analysis.tokens import TokenCounter
from ctxview.formats.memory.document import Document, parse_document
from ctxview.formats.memory.model import ContextSnapshot, Entry
from ctxview.formats.memory.profile import Profile
from ctxview.formats.memory.survey import MOST_MEMORIES, MemoryHistory, MemorySurvey

MOST_BLOCKS: Final = 100
"""The newest entries of a memory that are blocks; all of them are rows of the history."""
LONGEST_TITLE: Final = 60
NOW: Final = "now"


class MemoryAt(Struct, frozen=True, dict=True):
    """One memory at a revision: the number of its latest snapshot then, and its entries up to then."""

    history: MemoryHistory
    title: str
    number: int | None
    entries: list[Entry]
    several: bool

    @property
    def snapshot(self) -> ContextSnapshot | None:
        return self.history.snapshots[self.number] if self.number is not None else None

    def tier(self, name: str) -> str:
        """Return the name of a tier; with several memories it has the title of its memory."""
        return f"{name} · {self.title}" if self.several else name

    def section(self, heading: str) -> str:
        """Return the name of the tier of a section."""
        return self.tier(heading or "context")

    @property
    def document(self) -> Document:
        return self.history.documents[self.number] if self.number is not None else parse_document("")

    def line_name(self, number: int) -> str:
        """Return the id of a line of the document, as a block."""
        return self.document_names.get(number, f"line {number}")

    @cached_property
    def document_names(self) -> dict[int, str]:
        return self.document.names()


class MemoryStateInputs(Struct, frozen=True, dict=True):
    """`as_of` is the snapshot of a past revision, None for now."""

    survey: MemorySurvey
    profile: Profile
    counter: TokenCounter
    as_of: ContextSnapshot | None
    editable: bool
    """Whether forms may be edited: the revision is the present one."""

    @cached_property
    def memories(self) -> list[MemoryAt]:
        """The memories, the latest used last; without those that did not exist yet."""
        found = [self._at(history) for history in self.survey.histories.values()]
        present = [each for each in found if each is not None]
        return present[-MOST_MEMORIES:]

    def _at(self, history: MemoryHistory) -> MemoryAt | None:
        titles, several = self.survey.bundle.titles, len(self.survey.histories) > 1
        title = titles.get(history.memory or "", history.memory or "memory")[:LONGEST_TITLE]
        count, entries = len(history.snapshots), history.entries
        if self.as_of is not None:
            when = self.as_of.when
            entries = entries[: history.lineage.before(when)] if when is not None else entries
            if self.as_of.memory == history.memory:
                count = history.snapshots.index(self.as_of) + 1
            elif when is not None:
                count = sum(each.when is not None and each.when <= when for each in history.snapshots)
        if not count and not entries and self.as_of is not None:
            return None
        return MemoryAt(history, title, count - 1 if count else None, entries, several)
