"""Stacked columns in eighths of a cell, two segments in one cell, and a bar of segments.

Without colour every segment is drawn with its letter, and whole cells are rounded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from string import ascii_lowercase

from msgspec import Struct

from ctxview.analysis.prompt_tokens import HEADER
from ctxview.analysis.revisions.window import ELSEWHERE
from ctxview.core.state import Budget
from ctxview.tui.drawing.glyphs import LEVELS
from ctxview.tui.drawing.text import Line, Span, join, merge, show

EIGHTHS = 8
HERE = "here"
"""The name of the sum of all segments that the read files hold."""
RESERVED, FREE = "░", "·"
SEGMENT_STYLES = {ELSEWHERE: "segment.elsewhere", "fields": "segment.fields", HEADER: "segment.header"}
"""The styles of the segments of a window that are no tier."""


class SegmentStyle(Struct, frozen=True):
    """The colour of a segment, and its letter on terminals without colour."""

    style: str
    letter: str


class Stack(Struct, frozen=True):
    """One column: amounts by segment, from bottom to top. `faded` columns are drawn darker."""

    parts: tuple[tuple[str, int], ...]
    cells: int = 1
    faded: bool = False

    @property
    def height(self) -> int:
        return sum(max(0, amount) for _, amount in self.parts)


def segment_styles(
    names: Iterable[str], tiers: Mapping[str, str], own: str = HERE
) -> dict[str, SegmentStyle]:
    """A colour and a letter of its own for each segment; tiers have the colours that they have elsewhere."""
    styles = {
        ELSEWHERE: SegmentStyle(SEGMENT_STYLES[ELSEWHERE], "n"),
        HERE: SegmentStyle("segment.here", "s"),
        own: SegmentStyle("segment.here", "s"),
    }
    taken = {"n"}
    names = dict.fromkeys(names)
    shown = {tiers[name] for name in names if name in tiers}
    ramp = [style for at in range(EIGHTHS) if (style := f"tiers.{at}") not in shown] or ["tiers.0"]
    free = sorted(ramp, key={*tiers.values()}.__contains__)
    rest = sorted(name for name in names if name not in tiers and name not in SEGMENT_STYLES)
    others = {name: free[at % len(free)] for at, name in enumerate(rest)}
    for name in names:
        if name in styles:
            continue
        letter = "x"
        if len(taken) < len(ascii_lowercase):
            own_letters = filter(ascii_lowercase.__contains__, name.casefold())
            letter = next(each for each in (*own_letters, *ascii_lowercase) if each not in taken)
            taken.add(letter)
        style = tiers.get(name) or SEGMENT_STYLES.get(name) or others[name]
        styles[name] = SegmentStyle(style, letter)
    return styles


def draw_columns(
    stacks: Sequence[Stack],
    scale: int,
    rows: int,
    styles: Mapping[str, SegmentStyle],
    *,
    gap: int = 1,
    letters: bool = False,
    line_at: int | None = None,
) -> list[Line]:
    """Draw the stacks, the top row first. `line_at` is an amount that a dotted line marks in empty cells."""
    tall = [_ends(stack, scale, rows) for stack in stacks]
    marked = rows - 1 - min(rows - 1, line_at * rows // scale) if line_at is not None and scale else None
    lines: list[Line] = []
    for row in range(rows):
        low = (rows - 1 - row) * EIGHTHS
        empty = "┄" if row == marked else " "
        spans: list[Span] = []
        for stack, ends in zip(stacks, tall, strict=True):
            cell = _letter_cell(ends, low, styles) if letters else _cell(ends, low, styles)
            if cell is None:
                spans.append(Span(empty * stack.cells, "limit" if empty != " " else ""))
            else:
                spans.append(
                    Span(cell.text * stack.cells, f"{cell.style} dim" if stack.faded else cell.style)
                )
            spans.append(Span(empty * gap, "limit" if empty != " " else ""))
        lines.append(tuple(merge(spans)))
    return lines


_End = tuple[int, str]
"""Where a segment ends, in eighths from the bottom, and its name."""


def _ends(stack: Stack, scale: int, rows: int) -> list[_End]:
    ends: list[_End] = []
    done = 0
    for name, amount in stack.parts:
        done += max(0, amount)
        end = round(done * rows * EIGHTHS / scale) if scale else 0
        if not ends and done and not end:
            end = 1
        if amount > 0:
            ends.append((min(end, rows * EIGHTHS), name))
    return ends


def _cell(ends: Sequence[_End], low: int, styles: Mapping[str, SegmentStyle]) -> Span | None:
    """The segments between `low` and eight eighths higher as one character."""
    high = low + EIGHTHS
    inside: list[tuple[int, str]] = []
    start = 0
    for end, name in ends:
        share = min(end, high) - max(start, low)
        if share > 0:
            inside.append((share, name))
        start = end
    if not inside:
        return None
    filled = sum(share for share, _ in inside)
    if len(inside) == 1 or filled < EIGHTHS:
        largest = max(inside)[1]
        return Span(LEVELS[filled - 1], styles[largest].style)
    # Two colours fit into a cell: those of the two largest segments.
    largest_two = sorted(range(len(inside)), key=lambda at: -inside[at][0])[:2]
    (share, lower), (rest, upper) = (inside[at] for at in sorted(largest_two))
    share = min(EIGHTHS - 1, max(1, round(EIGHTHS * share / (share + rest))))
    return Span(LEVELS[share - 1], f"{styles[lower].style} on:{styles[upper].style}")


def _letter_cell(ends: Sequence[_End], low: int, styles: Mapping[str, SegmentStyle]) -> Span | None:
    middle = low + EIGHTHS // 2
    name = next((name for end, name in ends if end >= middle), None)
    if name is None and low == 0 and ends:
        name = ends[-1][1]
    return Span(styles[name].letter, styles[name].style) if name is not None else None


def window_bar(
    budget: Budget, cells: int, styles: Mapping[str, SegmentStyle], *, letters: bool = False
) -> Line:
    """What is elsewhere, what is here, what is free, the limit, what is beyond it, and the reserve.

    When nothing is elsewhere, and the limit is kept, what is here is drawn in its segments.
    """
    if not budget.limit or budget.used is None or cells < 4:
        return ()
    elsewhere = sum(each.used for each in budget.segments if each.name == ELSEWHERE)
    here = budget.used - elsewhere
    line = budget.line or budget.limit
    over = max(0, budget.used - line)
    parts: list[tuple[int, str, str]] = []
    if not elsewhere and not over and sum(each.used for each in budget.segments) <= here:
        for each in sorted(budget.segments, key=lambda segment: -segment.used):
            found = styles[each.name]
            parts.append((each.used, found.letter if letters else "█", found.style))
    before = [
        (elsewhere, "n" if letters else "▒", "segment.elsewhere"),
        *parts,
        (here - over - sum(amount for amount, _, _ in parts), "s" if letters else "█", "segment.here"),
        (budget.free, "." if letters else FREE, "faint"),
    ]
    after = [(over, "s" if letters else "█", "budget.over")]
    within = before if budget.holds_reserve and not budget.compacts else after
    within.append((budget.reserve_left, ":" if letters else RESERVED, "budget.reserved"))
    whole = sum(max(0, amount) for amount, _, _ in (*before, *after))
    spans: list[Span] = []
    done = at = 0
    for group in (before, after):
        for amount, sign, style in group:
            done += max(0, amount)
            place = done * (cells - 1)
            end = -(-place // whole) if group is before else round(place / whole)
            if style == "faint":
                # Free room is rounded down, so that a full window looks full.
                end = min(end, at + amount * (cells - 1) // whole)
            if amount > 0 and end > at:
                spans.append(Span(sign * (end - at), style))
                at = end
        if group is before:
            spans.append(Span("|" if letters else "┃", "limit"))
    return tuple(merge(spans))


def parts_bar(
    parts: Sequence[tuple[str, int]], cells: int, styles: Mapping[str, SegmentStyle], *, letters: bool = False
) -> Line:
    """A bar of segments that fills `cells`, in proportion."""
    whole = sum(amount for _, amount in parts)
    spans: list[Span] = []
    done = at = 0
    for name, amount in parts:
        done += amount
        end = round(done * cells / whole) if whole else 0
        if end > at:
            found = styles[name]
            spans.append(Span((found.letter if letters else "█") * (end - at), found.style))
            at = end
    return tuple(spans)


def legend_entry(name: str, shown: str, styles: Mapping[str, SegmentStyle], *, letters: bool = False) -> Line:
    """The colour or letter of a segment, and a text about it."""
    found = styles[name]
    return join((Span(f"{found.letter if letters else '■'} ", found.style),), show(shown))
