"""The flow of a state as a picture: its stages as boxes, words, a column or one line, whichever fits."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from rich.cells import cell_len, get_character_cell_size

from ctxview.core.flow import FlowIndex, FlowStage
from ctxview.tui.drawing.text import Line, Span, fit, join, merge, pad, plain, show

CHOSEN = "stage.chosen"
EMPTY = "dim"
EDGE = "accent"
ARROW = "dim"

BOXES = 8
"""Lines of the largest picture, which has boxes."""

_TOP, _SIDES, _BOTTOM = ("╭", "─", "╮"), ("│", " ", "│"), ("╰", "─", "╯")

STRETCH = 4
"""Cells by which an edge may be longer than necessary, where there is room."""


class StageBox(Struct, frozen=True):
    """A stage to draw; `edge` is the count of what passed into it."""

    stage: FlowStage
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


def flow_picture(index: FlowIndex, chosen: str, width: int, height: int) -> list[Line]:
    """The flow in at most `height` lines, with the stage `chosen` highlighted."""
    main, branches = parts(index, chosen)
    for draw in (_boxes, _words, _column):
        lines = draw(main, branches, width)
        if lines and len(lines) <= height:
            return lines
    return _strip(main, branches, width)


def parts(index: FlowIndex, chosen: str) -> tuple[list[StageBox], list[StageBox]]:
    """The stages of the main line and the branches, each with the count of what passed into it."""
    before: dict[str, str | None] = {}
    for earlier, stage in zip([None, *index.main], index.main, strict=False):
        before[stage.name] = earlier.name if earlier is not None else None
    found = [
        StageBox(
            stage,
            at,
            plain(show(stage.name)),
            _passed(index, before.get(stage.name, stage.branch_of), stage, before),
            stage.name == chosen,
        )
        for at, stage in enumerate(index.flow.stages)
    ]
    main = [part for part in found if part.stage.name in before]
    return main, [part for part in found if part.stage.name not in before]


def _passed(index: FlowIndex, start: str | None, stage: FlowStage, before: dict[str, str | None]) -> str:
    """How much passed into a stage, and of how much: "7 of 11"; empty when nothing is known."""
    passed = index.passed(start, stage.name) if start is not None else 0
    if start is None or not passed:
        return ""
    earlier = before.get(start)
    came = index.passed(earlier, start) if earlier is not None else 0
    return f"{passed:,} of {came:,}" if came > passed and stage.name in before else f"{passed:,}"


def _branches_of(part: StageBox, branches: Sequence[StageBox]) -> list[StageBox]:
    return [branch for branch in branches if branch.stage.branch_of == part.stage.name]


def _boxes(main: Sequence[StageBox], branches: Sequence[StageBox], width: int) -> list[Line]:
    """Boxes from left to right, with the branches in boxes below; empty when they do not fit."""
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


def _box(canvas: Canvas, part: StageBox, x: int, y: int, box: int) -> None:
    style = "stage.frame" if part.chosen else "faint"
    inner = box - 2
    for row, (left, fill, right) in enumerate((_TOP, _SIDES, _SIDES, _BOTTOM)):
        canvas.put(x, y + row, left + fill * inner + right, style, part.action)
    for row, text in ((1, part.name), (2, part.count)):
        text_style = part.style if row == 1 else "dim"
        canvas.put(x + 1 + (inner - cell_len(text)) // 2, y + row, text, text_style, part.action)


def _branch_box(canvas: Canvas, part: StageBox, start: int, free: int) -> int:
    """Draw a box below the main line, joined to column `start`; return the first free column."""
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


def _words(main: Sequence[StageBox], branches: Sequence[StageBox], width: int) -> list[Line]:
    """Names with arrows between them, and figures above and below; empty when they do not fit."""
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


def _branch_words(canvas: Canvas, part: StageBox, x: int, y: int) -> None:
    pieces = (("╰─", ARROW), (part.edge, EDGE), ("▶ ", ARROW), (part.name, part.style), (" ", ""))
    for text, style in (*pieces, (part.count, "dim")):
        canvas.put(x, y, text, style, part.action)
        x += cell_len(text)


def _column(main: Sequence[StageBox], branches: Sequence[StageBox], width: int) -> list[Line]:
    """One line for each stage, from the top down; branches are indented."""
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


def _strip(main: Sequence[StageBox], branches: Sequence[StageBox], width: int) -> list[Line]:
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


class Canvas:
    """A grid of cells; a later text covers an earlier one, and text beyond the width is dropped."""

    def __init__(self, width: int, height: int) -> None:
        self.width = width
        self._rows: list[list[Span]] = [[Span(" ")] * width for _ in range(height)]

    def put(self, x: int, y: int, text: str, style: str = "", action: str = "") -> None:
        for span in show(text, style, action):
            for character in span.text:
                wide = get_character_cell_size(character)
                if not wide and 0 < x <= self.width:
                    before = self._rows[y][x - 1]
                    self._rows[y][x - 1] = Span(before.text + character, before.style, before.action)
                elif wide and x >= 0 and x + wide <= self.width:
                    self._rows[y][x] = Span(character, span.style, span.action)
                    # The second cell of a wide character has no text.
                    for rest in range(x + 1, x + wide):
                        self._rows[y][rest] = Span("")
                x += wide

    def lines(self) -> list[Line]:
        """The cells of each row as few spans, without the blank end of the line."""
        lines: list[Line] = []
        for row in self._rows:
            merged = merge(cell for cell in row if cell.text)
            if merged and not merged[-1].style and not merged[-1].text.strip():
                merged.pop()
            lines.append(tuple(merged))
        return lines
