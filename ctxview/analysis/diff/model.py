"""The values of a difference: changes, their deltas, and prose compared word by word."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Literal

from msgspec import Struct

from ctxview.core.fields import Owner
from ctxview.core.figures import Reason
from ctxview.core.lazy import lazy_pattern
from ctxview.core.origin import JsonValue

Course = Literal["promoted", "demoted"]
WordSide = Literal["same", "removed", "added"]
Word = Literal["added", "removed", "raised", "lowered", "changed"]
VisibilityWord = Literal["hidden", "shown"]
Loss = Literal["recorded", "inferred"]
"""Whether a compaction record names the lost block, or the loss is only inferred from words and time."""
# SequenceMatcher is quadratic at worst: compare lines beyond so many words, and nothing beyond so many lines.
_MOST_COMPARED = 2000
# A number, a word, a run of white space, or one character: East Asian text has no spaces between words.
_WORD = lazy_pattern(r"\d+\.\d+|[^\W\u2e80-\U0010ffff]+|\s+|.", re.DOTALL)
_LINE = lazy_pattern(r"[^\n]*\n|[^\n]+")


class ChangeKind(StrEnum):
    """The main thing that happened to a subject; its deltas have the details."""

    ADDED = "added"
    REMOVED = "removed"
    MOVED = "moved"
    HIDDEN = "hidden"
    SHOWN = "shown"
    CHANGED = "changed"
    REORDERED = "reordered"
    BROKEN = "broken"
    HEALED = "healed"
    OPENED = "opened"
    CLOSED = "closed"


class ChangeGroup(StrEnum):
    """The parts of a state, in reading order."""

    BLOCKS = "blocks"
    ORDER = "order"
    COMPACTIONS = "compactions"
    CURSOR = "cursor"
    TODO = "todo"
    FIELDS = "fields"
    BUDGET = "budget"
    REFS = "refs"
    MISSING = "missing"


class WordPiece(Struct, frozen=True):
    side: WordSide
    text: str


class Delta(Struct, frozen=True):
    """One value that became another; `word` is "added" or "removed" when one side has no value."""

    name: str
    before: JsonValue
    after: JsonValue
    word: Word
    owner: Owner | None = None
    pieces: tuple[WordPiece, ...] = ()
    """The change word by word, for prose."""
    crossed: str = ""
    """The limit that a figure crossed, in either direction."""
    tampered: bool = False
    """Set when the writer was not allowed to change it."""
    estimate: bool = False
    """Whether both figures are estimates."""
    counts: bool = False
    """Whether the values are numbers of tokens or bytes, which people read with separators."""

    @property
    def system(self) -> bool:
        return self.owner in (Owner.SYSTEM, Owner.APPEND_ONLY)


class Change(Struct, frozen=True):
    """Everything that happened to one subject: a block, the cursor, a field, a budget, a reference, a gap."""

    group: ChangeGroup
    kind: ChangeKind
    subject: str
    place: str = ""
    """The tier of a block (the new one), the kind of a reference, or the unit of a budget."""
    came_from: str | None = None
    """The tier a moved block left."""
    deltas: tuple[Delta, ...] = ()
    visibility: VisibilityWord | None = None
    """Set when the block became hidden from the model or visible to it, with any `kind`."""
    why: str = ""
    loss: Loss | None = None
    """Set when a compaction took the block and no summary keeps its content."""
    in_history: bool = False
    """Set when the block only left the window: the append-only history still has it."""
    course: Course | None = None
    """Whether a moved block went up or down, if its tiers have an order."""
    reason: Reason | None = None
    """Why a hidden block is hidden, or was before it was shown or removed."""

    @property
    def is_field(self) -> bool:
        """Whether the subject is a field of the whole state."""
        return self.group is ChangeGroup.FIELDS

    @property
    def tampered(self) -> tuple[Delta, ...]:
        return tuple(found for found in self.deltas if found.tampered)

    @property
    def one_sided(self) -> bool:
        """Whether the subject exists on one side only, so that no values can be compared."""
        words = {found.word for found in self.deltas}
        return words in ({"added"}, {"removed"}) and self.kind in (
            ChangeKind.ADDED,
            ChangeKind.REMOVED,
            ChangeKind.OPENED,
            ChangeKind.CLOSED,
        )

    @property
    def name(self) -> str:
        if self.group is ChangeGroup.BUDGET:
            return f"{self.subject} ({self.place})"
        return f"{self.place}/{self.subject}" if self.place else self.subject


class DiffSide(Struct, frozen=True):
    """The name of the state on one side; never part of the difference."""

    title: str
    source: str
    revision: str


class BlockCounts(Struct, frozen=True):
    """How many blocks differ between two states: the one definition behind every count of changed blocks.

    A changed block has another content, and may also be among the hidden or shown ones.
    """

    added: int = 0
    changed: int = 0
    removed: int = 0
    moved: int = 0
    hidden: int = 0
    shown: int = 0

    @property
    def text(self) -> str:
        """`4 added, 4 changed, 6 removed; 2 now hidden, 1 now shown`; empty without a difference."""
        names = ("added", "changed", "removed", "moved")
        content = [f"{number:,} {name}" for name in names if (number := getattr(self, name))]
        sight = [f"{number:,} now {name}" for name in ("hidden", "shown") if (number := getattr(self, name))]
        return "; ".join(", ".join(words) for words in (content, sight) if words)


def block_counts(blocks: Sequence[Change]) -> BlockCounts:
    kinds = Counter(change.kind for change in blocks)
    content = (ChangeKind.CHANGED, ChangeKind.HIDDEN, ChangeKind.SHOWN)
    return BlockCounts(
        added=kinds[ChangeKind.ADDED],
        changed=sum(bool(change.deltas) for change in blocks if change.kind in content),
        removed=kinds[ChangeKind.REMOVED],
        moved=kinds[ChangeKind.MOVED],
        hidden=sum(change.visibility == "hidden" for change in blocks),
        shown=sum(change.visibility == "shown" for change in blocks),
    )


class StateDiff(Struct, frozen=True):
    """Every change from one state to another, by group; falsy when there is none."""

    before: DiffSide
    after: DiffSide
    changes: tuple[Change, ...]

    def __bool__(self) -> bool:
        return bool(self.changes)

    def groups(self) -> Iterator[tuple[ChangeGroup, tuple[Change, ...]]]:
        """The groups that have changes, in reading order."""
        for group in ChangeGroup:
            if found := self.of(group):
                yield group, found

    def of(self, group: ChangeGroup) -> tuple[Change, ...]:
        return tuple(change for change in self.changes if change.group is group)

    def counts(self) -> dict[ChangeKind, int]:
        found = Counter(change.kind for change in self.changes)
        return {kind: found[kind] for kind in ChangeKind if found[kind]}

    def block_counts(self) -> BlockCounts:
        return block_counts(self.of(ChangeGroup.BLOCKS))


def word_pieces(before: str, after: str) -> tuple[WordPiece, ...]:
    """Cut two texts into pieces that are the same, removed or added.

    Without the added pieces the text is `before`, without the removed ones it is `after`.
    """
    for cut in (_WORD, _LINE):
        left, right = cut.findall(before), cut.findall(after)
        start, end = _shared_ends(left, right)
        middle_left, middle_right = left[start : len(left) - end], right[start : len(right) - end]
        if max(len(middle_left), len(middle_right)) <= _MOST_COMPARED:
            found = [("same", "".join(left[:start])), *_compare(middle_left, middle_right)]
            return _tidy([*found, ("same", "".join(left[len(left) - end :]))])
    return _tidy([("removed", before), ("added", after)])


def _shared_ends(left: Sequence[str], right: Sequence[str]) -> tuple[int, int]:
    """How many words the two lists have in common at the start and at the end, without overlap."""
    most = min(len(left), len(right))
    start = next((n for n in range(most) if left[n] != right[n]), most)
    most -= start
    end = next((n for n in range(most) if left[-1 - n] != right[-1 - n]), most)
    return start, end


def _compare(left: Sequence[str], right: Sequence[str]) -> Iterator[tuple[WordSide, str]]:
    from difflib import SequenceMatcher

    for tag, a, b, c, d in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if tag == "equal":
            yield "same", "".join(left[a:b])
        else:
            yield "removed", "".join(left[a:b])
            yield "added", "".join(right[c:d])


def _tidy(found: Sequence[tuple[WordSide, str]]) -> tuple[WordPiece, ...]:
    """Join neighbours; a space between two changes counts as changed, so that phrases read better."""
    result: list[WordPiece] = []
    removed = added = ""
    texts = [(side, text) for side, text in found if text]
    for index, (side, text) in enumerate(texts):
        if side == "same" and text.isspace() and (removed or added) and index + 1 < len(texts):
            removed, added = removed + text, added + text
        elif side == "same":
            result += _changed(removed, added)
            result.append(WordPiece("same", text))
            removed = added = ""
        elif side == "removed":
            removed += text
        else:
            added += text
    return (*result, *_changed(removed, added))


def _changed(removed: str, added: str) -> list[WordPiece]:
    return [piece for piece in (WordPiece("removed", removed), WordPiece("added", added)) if piece.text]
