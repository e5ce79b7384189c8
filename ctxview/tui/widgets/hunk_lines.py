"""The byte difference of two versions of a file as styled lines: signs, line numbers, marked words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from ctxview.analysis.diff import Piece, pieces
from ctxview.files.line_difference import Hunk
from ctxview.tui.text import TAB, Line, Span, join, show, wrap

NOTHING = "The bytes are the same."
MOST = 2_000
"""So many lines are drawn; how many more there are is said."""

_SIGNS = {"removed": "-", "added": "+", "same": " ", "note": " "}
_ALIKE = 0.3
"""How much of two lines must be the same before their words are compared; below that they are other lines."""


def hunk_lines(hunks: Sequence[Hunk], width: int) -> list[Line]:
    """Every stretch with its line numbers, a rule between two of them."""
    if not hunks:
        return [show(NOTHING, "dim")]
    digits = len(str(max(hunk.new_line + len(hunk.lines) for hunk in hunks)))
    lines: list[Line] = []
    rows = ((at, row) for at, hunk in enumerate(hunks) for row in _rows(hunk))
    current = 0
    for at, (number, kind, text) in islice(rows, MOST):
        if at != current:
            lines.append((Span("┄" * width, "faint"),))
            current = at
        head = join(show(f"{number or '':>{digits}} ", "dim"), show(f"{_SIGNS[kind]} ", f"diff.{kind}"))
        lines += wrap(join(head, text), width, " " * (digits + 3))
    more = sum(len(hunk.lines) for hunk in hunks) - MOST
    return [*lines, show(f"… and {more:,} more lines", "warn")] if more > 0 else lines


def changed_lines(hunks: Sequence[Hunk]) -> set[int]:
    """The lines of the old version that were removed, replaced, or had something put before them."""
    found: set[int] = set()
    for hunk in hunks:
        line, replaced = hunk.old_line, False
        for kind, _ in hunk.lines:
            if kind == "removed" or (kind == "added" and not replaced):
                found.add(line)
            replaced = kind == "removed" or (replaced and kind != "same")
            line += kind in ("removed", "same")
    return found


def _rows(hunk: Hunk) -> Iterator[tuple[int | None, str, Line]]:
    """Number, kind and text of every line; a removed line has the number it had, others that they have."""
    old, new = hunk.old_line, hunk.new_line
    for kind, text in _marked(hunk):
        yield (None if kind == "note" else old if kind == "removed" else new), kind, text
        old += kind in ("removed", "same")
        new += kind in ("added", "same")


def _marked(hunk: Hunk) -> Iterator[tuple[str, Line]]:
    """The lines with what changed inside them marked, where as many came as went."""
    at = 0
    lines = hunk.lines
    while at < len(lines):
        gone = _run(lines, at, "removed")
        come = _run(lines, at + len(gone), "added")
        if gone and len(gone) == len(come):
            cuts = [pieces(one, other) for one, other in zip(gone, come, strict=True)]
            yield from (("removed", _words(cut, "removed")) for cut in cuts)
            yield from (("added", _words(cut, "added")) for cut in cuts)
            at += 2 * len(gone)
        else:
            kind, text = lines[at]
            style = "dim" if kind in ("same", "note") else f"diff.{kind}"
            yield kind, show(text.expandtabs(TAB), style)
            at += 1


def _run(lines: Sequence[tuple[str, str]], start: int, kind: str) -> list[str]:
    found: list[str] = []
    for at in range(start, len(lines)):
        if lines[at][0] != kind:
            break
        found.append(lines[at][1])
    return found


def _words(cut: Sequence[Piece], side: str) -> Line:
    kept = sum(len(piece.text) for piece in cut if piece.side == "same")
    alike = kept >= _ALIKE * sum(len(piece.text) for piece in cut if piece.side in ("same", side))
    line: list[Span] = []
    for piece in cut:
        if piece.side in ("same", side):
            stands_out = alike and piece.side == side
            line += show(
                piece.text.expandtabs(TAB), f"diff.{side} diff.{side}.word" if stands_out else f"diff.{side}"
            )
    return tuple(line)
