"""Differences between two states as marks, and recent changes on disk as a text. No toolkit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from msgspec import Struct, field

from ctxview.analysis.diff.model import BlockCounts, ChangeGroup, ChangeKind, StateDiff
from ctxview.files.change_detector import FileChange, FileChangeKind
from ctxview.tui.model.reading_index import ItemId, item_of_change


class ChangeMark(StrEnum):
    """How a block differs from the view before: another profile, revision, draft or file."""

    ADDED = "added"
    CHANGED = "changed"
    VERDICT = "verdict"


class ChangeMarks(Struct, frozen=True):
    """The blocks that are new or changed, and how many blocks differ in all."""

    changes: Mapping[ItemId, ChangeMark] = field(default_factory=dict)
    counts: BlockCounts = BlockCounts()
    fading: bool = False
    """Whether these are changes on disk, which are marked only for a short time."""
    since: str = ""
    """The label of the revision that this one is compared with; empty for the view before."""
    pending: bool = False
    """Whether the reading is not yet compared with the one before."""

    def __bool__(self) -> bool:
        return bool(self.changes) or self.counts != BlockCounts()

    @property
    def text(self) -> str:
        since = f" since {self.since}" if self.since else ""
        return f"{self.counts.text}{since}" if self.counts.text else ""


def marks_of(difference: StateDiff, since: str = "", *, fading: bool = False) -> ChangeMarks:
    """The marks of a semantic difference, so that marks, counts and the list of changes agree."""
    changes: dict[ItemId, ChangeMark] = {}
    for change in difference.of(ChangeGroup.BLOCKS):
        if change.kind is ChangeKind.ADDED:
            changes[item_of_change(change)] = ChangeMark.ADDED
        elif change.kind is not ChangeKind.REMOVED:
            verdict = change.visibility is not None
            changes[item_of_change(change)] = ChangeMark.VERDICT if verdict else ChangeMark.CHANGED
    return ChangeMarks(changes, difference.block_counts(), fading, since)


MOST = 2
"""File names in the text."""


class RecentChanges:
    """Collects changes on disk that follow each other quickly, for one text about all of them."""

    def __init__(self) -> None:
        self._lines: Counter[str] = Counter()
        self._kinds: dict[str, FileChangeKind] = {}

    def add_lines(self, file: Path | None, more: int) -> None:
        """`file` got `more` new lines."""
        if file is not None:
            self._lines[file.name] += more

    def add(self, changes: Sequence[FileChange]) -> None:
        for each in changes:
            if each.sure and not each.path.name.startswith("."):
                self._kinds.pop(each.path.name, None)
                self._kinds[each.path.name] = each.kind

    def clear(self) -> None:
        self._lines.clear()
        self._kinds.clear()

    @property
    def text(self) -> str:
        """The changed files; empty when there are none."""
        lines = [f"{name} +{more:,} {'line' if more == 1 else 'lines'}" for name, more in self._lines.items()]
        others = [
            f"{name} {kind}"
            for name, kind in reversed(self._kinds.items())
            if not (name in self._lines and kind is FileChangeKind.APPENDED)
        ]
        files = [*lines, *others]
        more = f" and {len(files) - MOST} more" if len(files) > MOST else ""
        return ", ".join(files[:MOST]) + more
