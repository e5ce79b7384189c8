"""A small grid of cells to draw on: texts are put at places, and lines come out. Knows no picture."""

from __future__ import annotations

from rich.cells import get_character_cell_size

from ctxview.tui.text import Line, Span, show


class Canvas:
    """What is put later covers what was put before; what does not fit in the width is not taken."""

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
                    # The second half of a wide character is a cell without a text of its own.
                    for rest in range(x + 1, x + wide):
                        self._rows[y][rest] = Span("")
                x += wide

    def lines(self) -> list[Line]:
        return [_merged(row) for row in self._rows]


def _merged(row: list[Span]) -> Line:
    """Cells of one style as one span, without the blank rest of the line."""
    merged: list[Span] = []
    for cell in row:
        last = merged[-1] if merged else None
        if last is not None and (last.style, last.action) == (cell.style, cell.action):
            merged[-1] = Span(last.text + cell.text, cell.style, cell.action)
        elif cell.text:
            merged.append(cell)
    if merged and not merged[-1].style and not merged[-1].text.strip():
        merged.pop()
    return tuple(merged)
