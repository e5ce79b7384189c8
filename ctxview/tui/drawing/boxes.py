"""Boxes with a title and a key, and blocks of lines side by side. No toolkit."""

from __future__ import annotations

from collections.abc import Sequence

from ctxview.tui.drawing.text import Line, Span, fit, join, pad, width

FRAME_STYLE = "faint"
INSIDE = 4
"""Cells of a box beside its content: frame and margin on both sides."""


def box(title: Line, lines: Sequence[Line], cells: int, *, end: Line = (), height: int = 0) -> list[Line]:
    """Return the lines in a rounded frame, `cells` wide; `end` is at the right of the title.

    With a `height` the content is cut or filled up to it, frame included.
    """
    inside = cells - INSIDE
    if height:
        lines = [*lines[: height - 2], *([()] * (height - 2 - len(lines)))]
    end = join((Span(" "),), end, (Span(" "),)) if end else ()
    head = join((Span(" "),), fit(title, max(1, cells - width(end) - 7)), (Span(" "),)) if title else ()
    rule = "─" * max(0, cells - 4 - width(head) - width(end))
    top = join((Span("╭─", FRAME_STYLE),), head, (Span(rule, FRAME_STYLE),), end, (Span("─╮", FRAME_STYLE),))
    left, right = (Span("│ ", FRAME_STYLE),), (Span(" │", FRAME_STYLE),)
    bottom = (Span(f"╰{'─' * (cells - 2)}╯", FRAME_STYLE),)
    return [top, *(join(left, pad(line, inside), right) for line in lines), bottom]


def side_by_side(*blocks: tuple[Sequence[Line], int]) -> list[Line]:
    """Put blocks of lines beside each other; each has its lines and its width."""
    height = max((len(lines) for lines, _ in blocks), default=0)
    return [
        join(*(pad(lines[row] if row < len(lines) else (), cells) for lines, cells in blocks))
        for row in range(height)
    ]


def ends(left: Line, right: Line, cells: int) -> Line:
    """One line with text at both ends; the left one is cut when both do not fit."""
    room = cells - width(right) - (2 if right else 0)
    return join(pad(left, max(0, room)), (Span("  " if right else ""),), right)


def filled(parts: Sequence[Line], cells: int, gap: str = "   ") -> list[Line]:
    """Put as many `parts` on a line as fit, without breaking one."""
    lines: list[Line] = []
    for part in parts:
        longer = join(lines[-1], part, gap=gap) if lines else part
        if lines and width(longer) <= cells:
            lines[-1] = longer
        else:
            lines.append(fit(part, cells))
    return lines
