"""Which columns the memory rows have in a given width, and how wide each is. Pure arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from rich.cells import cell_len

from ctxview.quick_dataclass import dataclass
from ctxview.state import Block
from ctxview.tui.session_view import Sort
from ctxview.tui.text import Line, Span, join

GAUGE = 4
"""Cells of the number beside a gauge."""

ROOMY = 96
LEAST_TEXT = 22


@dataclass(frozen=True, slots=True)
class Columns:
    """Widths in cells; 0 leaves a column out. Decay and confidence say 1 or 0; `bar` is their picture."""

    tier: int
    id: int
    type: int
    bar: int
    decay: int
    confidence: int
    quality: int
    age: int
    tokens: int
    text: int = 0

    @property
    def indent(self) -> int:
        """Where the second line of a row begins: under the id."""
        return 3 + (self.tier + 1 if self.tier else 0)

    @property
    def taken(self) -> int:
        """Everything but the text, with the gaps."""
        gauges = [self.decay and self.bar + GAUGE, self.confidence and self.bar + GAUGE]
        widths = [2, self.tier, self.id, self.type, *gauges, self.quality, self.age, self.tokens]
        return sum(each + 1 for each in widths if each)

    def header(self, sort: Sort, reverse: bool) -> Line:
        gauge = self.bar + GAUGE
        named: list[tuple[str, int, Sort | None, bool]] = [
            ("tier", self.tier, Sort.FILE, False),
            ("id", self.id, None, False),
            ("type", self.type, None, False),
            ("decay", self.decay and gauge, Sort.DECAY, False),
            ("conf" if gauge < 10 else "confidence", self.confidence and gauge, Sort.CONFIDENCE, False),
            ("qual", self.quality, Sort.QUALITY, True),
            ("age", self.age, Sort.AGE, True),
            ("tok", self.tokens, Sort.TOKENS, True),
            ("text", self.text, Sort.MODEL, False),
        ]
        cells = [
            _heading(name, width, key, right, sort, reverse) for name, width, key, right in named if width
        ]
        return join((Span("  "),), *cells, gap=" ")


def plan(width: int, blocks: Sequence[Block]) -> Columns:
    """The columns that fit: as the room grows less, the least needed go first, the text keeps its share."""
    roomy = width >= ROOMY
    full = Columns(
        tier=_widest((block.tier for block in blocks), 4, 10 if not roomy else 14),
        id=_widest((block.id for block in blocks), 4, 24 if width >= 150 else 18 if roomy else 14),
        type=_widest((block.type or "" for block in blocks), 4, 16 if roomy else 9),
        bar=8 if width >= 130 else 4 if roomy else 1,
        decay=1,
        confidence=1,
        quality=4,
        age=4,
        tokens=5,
    )
    full = _without_unsaid(full, blocks)
    drop: list[Callable[[Columns], Columns]] = [
        lambda columns: replace(columns, bar=1),
        lambda columns: replace(columns, type=min(columns.type, 8)),
        lambda columns: replace(columns, quality=0),
        lambda columns: replace(columns, age=0),
        lambda columns: replace(columns, tokens=0),
        lambda columns: replace(columns, type=0),
        lambda columns: replace(columns, id=min(columns.id, 10)),
        lambda columns: replace(columns, tier=min(columns.tier, 5)),
        lambda columns: replace(columns, tier=0),
    ]
    for step in drop:
        if width - full.taken >= LEAST_TEXT:
            break
        full = step(full)
    return replace(full, text=max(0, width - full.taken))


def _without_unsaid(columns: Columns, blocks: Sequence[Block]) -> Columns:
    """Figures that no block has need no column."""
    told = {
        "decay": any(block.decay is not None for block in blocks),
        "confidence": any(block.confidence is not None for block in blocks),
        "quality": any(block.quality is not None for block in blocks),
        "age": any(block.age is not None for block in blocks),
        "tokens": any(block.tokens is not None for block in blocks),
        "type": any(block.type for block in blocks),
    }
    return replace(columns, **{name: 0 for name, is_told in told.items() if not is_told})


def _heading(name: str, width: int, key: Sort | None, right: bool, sort: Sort, reverse: bool) -> Line:
    action = f"screen.sort_by('{key.name}')" if key is not None else ""
    current = key is sort and sort is not Sort.FILE
    arrow = ("▴" if reverse else "▾") if current else ""
    if name == "text" and current:
        name = "text, as the model reads"
    label = (name[: width - len(arrow)] + arrow)[:width]
    blank = " " * (width - len(label))
    text = Span(label, "link" if current else "dim", action)
    return (Span(blank), text) if right else (text, Span(blank))


def _widest(words: Iterable[str], least: int, most: int) -> int:
    return min(most, max(least, max((cell_len(word) for word in words), default=0)))
