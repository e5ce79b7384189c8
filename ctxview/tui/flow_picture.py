"""A flow as a picture in a given room: boxes, a line of words, a column, or only what is around one stage.

The largest that fits is drawn. Each says the same: the stages, how many records each has, and how much
passed from one to the next.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len

from ctxview.flow import Stage
from ctxview.quick_dataclass import dataclass
from ctxview.tui.canvas import Canvas
from ctxview.tui.text import Line, Span, fit, join, pad, plain, show
from ctxview.tui.ways import Ways

CHOSEN = "stage.chosen"
EMPTY = "dim"
EDGE = "accent"
ARROW = "dim"

BOXES = 8
"""Lines of the largest picture."""

_TOP, _SIDES, _BOTTOM = ("╭", "─", "╮"), ("│", " ", "│"), ("╰", "─", "╯")

STRETCH = 4
"""So many cells an edge may be longer than it needs to be, where there is room."""


@dataclass(frozen=True, slots=True)
class Part:
    """A stage as it is drawn: `edge` is what passed into it."""

    stage: Stage
    at: int
    name: str
    edge: str
    chosen: bool

    @property
    def count(self) -> str:
        return f"{len(self.stage.nodes):,}"

    @property
    def style(self) -> str:
        return CHOSEN if self.chosen else "strong" if self.stage.nodes else EMPTY

    @property
    def action(self) -> str:
        return f"screen.go_to_stage({self.at})"


def picture(ways: Ways, chosen: str, width: int, height: int) -> list[Line]:
    """The flow in at most `height` lines, the stage `chosen` highlighted."""
    main, branches = parts(ways, chosen)
    for draw in (_boxes, _words, _column):
        lines = draw(main, branches, width)
        if lines and len(lines) <= height:
            return lines
    return _strip(main, branches, width)


def parts(ways: Ways, chosen: str) -> tuple[list[Part], list[Part]]:
    """The main line and the branches, with what passed into each."""
    before: dict[str, str | None] = {}
    for earlier, stage in zip([None, *ways.main], ways.main, strict=False):
        before[stage.name] = earlier.name if earlier is not None else None
    found = [
        Part(
            stage,
            at,
            plain(show(stage.name)),
            _passed(ways, before.get(stage.name, stage.branch_of), stage, before),
            stage.name == chosen,
        )
        for at, stage in enumerate(ways.flow.stages)
    ]
    main = [part for part in found if part.stage.name in before]
    return main, [part for part in found if part.stage.name not in before]


def _passed(ways: Ways, start: str | None, stage: Stage, before: dict[str, str | None]) -> str:
    """How much went into a stage, and of how much: "7 of 11"; nothing where nothing is known to have."""
    passed = ways.passed(start, stage.name) if start is not None else 0
    if start is None or not passed:
        return ""
    earlier = before.get(start)
    came = ways.passed(earlier, start) if earlier is not None else 0
    return f"{passed:,} of {came:,}" if came > passed and stage.name in before else f"{passed:,}"


def _branches_of(part: Part, branches: Sequence[Part]) -> list[Part]:
    return [branch for branch in branches if branch.stage.branch_of == part.stage.name]


# -- boxes -----------------------------------------------------------------------------------------------


def _boxes(main: Sequence[Part], branches: Sequence[Part], width: int) -> list[Line]:
    """Boxes from left to right, the branches in boxes below; empty when it does not fit."""
    for padding in (1, 0):
        boxes = [max(cell_len(part.name), len(part.count)) + 2 + 2 * padding for part in main]
        edges = [max(len(part.edge), 3) + 2 for part in main[1:]]
        spare = width - sum(boxes) - sum(edges)
        if spare >= 0:
            break
    else:
        return []
    stretch = min(STRETCH, spare // max(1, len(edges)))
    canvas = Canvas(width, BOXES if branches else 4)
    x = free = 0
    for part, box, edge in zip(main, boxes, [0, *(each + stretch for each in edges)], strict=True):
        if edge:
            canvas.put(x + (edge - len(part.edge)) // 2, 1, part.edge, EDGE)
            canvas.put(x + 1, 2, "─" * (edge - 3) + "▶", ARROW)
        x += edge
        _box(canvas, part, x, 0, box)
        for branch in _branches_of(part, branches):
            free = _branch_box(canvas, branch, x + box // 2, free)
            if free > width:
                return []
        x += box
    return canvas.lines()


def _box(canvas: Canvas, part: Part, x: int, y: int, box: int) -> None:
    style = "stage.frame" if part.chosen else "faint"
    inner = box - 2
    for row, (left, fill, right) in enumerate((_TOP, _SIDES, _SIDES, _BOTTOM)):
        canvas.put(x, y + row, left + fill * inner + right, style, part.action)
    for row, text in ((1, part.name), (2, part.count)):
        text_style = part.style if row == 1 else "dim"
        canvas.put(x + 1 + (inner - cell_len(text)) // 2, y + row, text, text_style, part.action)


def _branch_box(canvas: Canvas, part: Part, start: int, free: int) -> int:
    """A box below the main line, joined to the place `start` above it; returns where the next may begin."""
    text = f"{part.name} {part.count}"
    box = cell_len(text) + 4
    x = max(free, start - box // 2, 0)
    end = min(max(start, x + 1), x + box - 2)
    canvas.put(start, 3, "┬", ARROW)
    if end == start:
        canvas.put(start, 4, "│", ARROW)
    else:
        canvas.put(start, 4, "╰" + "─" * (end - start - 1) + "╮", ARROW)
    canvas.put(end + 2, 4, part.edge, EDGE)
    style = "stage.frame" if part.chosen else "faint"
    for row, (left, fill, right) in enumerate((_TOP, _SIDES, _BOTTOM), 5):
        canvas.put(x, row, left + fill * (box - 2) + right, style, part.action)
    canvas.put(end, 5, "┴", ARROW)
    canvas.put(x + 2, 6, part.name, part.style, part.action)
    canvas.put(x + 3 + cell_len(part.name), 6, part.count, "dim", part.action)
    return x + box + 1


# -- a line of words -------------------------------------------------------------------------------------


def _words(main: Sequence[Part], branches: Sequence[Part], width: int) -> list[Line]:
    """Names with arrows between them, figures above and below; empty when it does not fit."""
    names = [cell_len(part.name) for part in main]
    gaps = len(main) - 1
    room = (width - sum(names)) // max(1, gaps)
    if room < 3:
        return []
    gap = min(room, 3 + STRETCH)
    canvas = Canvas(width, 3 + len(branches))
    centres: dict[str, int] = {}
    x = 0
    for part, name in zip(main, names, strict=True):
        if x:
            canvas.put(max(0, x + (gap - len(part.edge)) // 2), 0, part.edge, EDGE)
            canvas.put(x + 1, 1, "─" * (gap - 3) + "▶", ARROW)
            x += gap
        canvas.put(x, 1, part.name, part.style, part.action)
        canvas.put(x + (name - len(part.count)) // 2, 2, part.count, "dim", part.action)
        centres[part.stage.name] = x + name // 2
        x += name
    placed = sorted(branches, key=lambda part: -centres.get(part.stage.branch_of or "", 0))
    for row, part in enumerate(placed, 3):
        start = centres.get(part.stage.branch_of or "", 0)
        for above in range(3, row):
            canvas.put(start, above, "│", ARROW)
        _branch_words(canvas, part, start, row)
    return canvas.lines()


def _branch_words(canvas: Canvas, part: Part, x: int, y: int) -> None:
    pieces = (("╰─", ARROW), (part.edge, EDGE), ("▶ ", ARROW), (part.name, part.style), (" ", ""))
    for text, style in (*pieces, (part.count, "dim")):
        canvas.put(x, y, text, style, part.action)
        x += cell_len(text)


# -- a column --------------------------------------------------------------------------------------------


def _column(main: Sequence[Part], branches: Sequence[Part], width: int) -> list[Line]:
    """A line a stage, from the top down; the branches are indented."""
    ordered = [each for part in main for each in (part, *_branches_of(part, branches))]
    names = min(max((cell_len(part.name) for part in ordered), default=0) + 2, max(8, width // 2))
    lines: list[Line] = []
    for part in ordered:
        glyph = "╰▶" if part in branches else "▼ " if part.edge else "  " if part is main[0] else "│ "
        name = fit(show(part.name, part.style, part.action), names)
        came = show(f"← {part.edge}" if part.edge else "", EDGE)
        row = join((Span(f"{glyph} ", ARROW),), pad(name, names), pad(show(part.count, "dim"), 6, right=True))
        lines.append(fit(join(row, came, gap="  "), width))
    return lines


def _strip(main: Sequence[Part], branches: Sequence[Part], width: int) -> list[Line]:
    """The chosen stage between its neighbours, on one line."""
    ordered = [each for part in main for each in (part, *_branches_of(part, branches))]
    at = next((number for number, part in enumerate(ordered) if part.chosen), 0)
    pieces: list[Line] = [(Span("‹", ARROW),)] if at > 1 else []
    for part in ordered[max(0, at - 1) : at + 2]:
        if part is not ordered[max(0, at - 1)]:
            pieces.append(join((Span("─", ARROW),), show(part.edge, EDGE), (Span("▶", ARROW),)))
        pieces.append(join(show(part.name, part.style, part.action), show(part.count, "dim"), gap=" "))
    if at + 2 < len(ordered):
        pieces.append((Span("›", ARROW),))
    return [fit(join(*pieces, gap=" "), width)]
