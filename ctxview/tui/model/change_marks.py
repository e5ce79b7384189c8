"""Differences between two readings as marks, and recent changes on disk as a text. No toolkit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from msgspec import Struct, field

from ctxview.core.state import Block
from ctxview.files.change_detector import FileChange, FileChangeKind
from ctxview.tui.model.reading_index import ItemId, ItemKind, ReadingIndex


class ChangeMark(StrEnum):
    """How a block differs from the view before: another profile, revision, draft or file."""

    ADDED = "added"
    CHANGED = "changed"
    VERDICT = "verdict"


class ChangeMarks(Struct, frozen=True):
    """The blocks that are new or changed, and the ids of those that are gone."""

    changes: Mapping[ItemId, ChangeMark] = field(default_factory=dict)
    gone: tuple[ItemId, ...] = ()
    fading: bool = False
    """Whether these are changes on disk, which are marked only for a short time."""

    def __bool__(self) -> bool:
        return bool(self.changes or self.gone)


def compare_readings(before: ReadingIndex, after: ReadingIndex, *, fading: bool = False) -> ChangeMarks:
    compared = ("text", "type", "decay", "confidence", "round", "tags", "state")
    changes: dict[ItemId, ChangeMark] = {}
    for item in after.of(ItemKind.BLOCK):
        old, new = before.value(item), after.block(item)
        if not isinstance(old, Block):
            changes[item] = ChangeMark.ADDED
        elif (old.visible, old.reason) != (new.visible, new.reason):
            changes[item] = ChangeMark.VERDICT
        elif any(getattr(old, name) != getattr(new, name) for name in compared):
            changes[item] = ChangeMark.CHANGED
    gone = tuple(item for item in before.of(ItemKind.BLOCK) if item not in after.items)
    return ChangeMarks(changes, gone, fading)


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
