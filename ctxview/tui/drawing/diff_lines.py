"""A difference as styled lines: the changes of a `StateDiff`, and the hunks of changed bytes.

Draws the results of `analysis.diff` and `files.line_difference` and judges nothing. Every change has a sign,
so that it can be read without colour.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, zip_longest
from typing import Literal

from ctxview.analysis.diff.compaction import LOST
from ctxview.analysis.diff.model import (
    Change,
    ChangeGroup,
    ChangeKind,
    Delta,
    StateDiff,
    WordPiece,
    word_pieces,
)
from ctxview.analysis.diff.report import IN_HISTORY, TITLES, change_counts, note_on, shortened, side_text
from ctxview.analysis.diff.values import value_text
from ctxview.core.origin import JsonValue
from ctxview.files.line_difference import Hunk
from ctxview.tui.drawing.page import Page
from ctxview.tui.drawing.text import TAB, Line, Span, fit, join, pad, show, wrap, wrap_all
from ctxview.tui.model.reading_index import ItemId, item_of_change

SPLIT_FROM = 110
"""From this width on, before and after are side by side."""

MANY = 600
"""With more rows than this, each row is drawn on one line."""

ChangeSide = Literal["removed", "added"]

SIGNS = {
    ChangeKind.ADDED: ("+", "diff.added"),
    ChangeKind.REMOVED: ("-", "diff.removed"),
    ChangeKind.MOVED: ("›", "link"),
    ChangeKind.HIDDEN: ("○", "hidden"),
    ChangeKind.SHOWN: ("●", "visible.yes"),
    ChangeKind.CHANGED: ("~", "accent"),
    ChangeKind.REORDERED: ("↕", "accent"),
    ChangeKind.BROKEN: ("!", "bad"),
    ChangeKind.HEALED: ("✓", "ok"),
    ChangeKind.OPENED: ("+", "warn"),
    ChangeKind.CLOSED: ("-", "ok"),
}
_NAME = 14
_INDENT = 4
_LONG = 1200


def diff_page(diff: StateDiff, width: int, *, split: bool | None = None) -> Page:
    """All changes by group, each group under its title and counts; see `change_lines` for `split`."""
    rows: list[Change | Line] = []
    items: list[ItemId | None] = []
    for group, changes in diff.groups():
        title = join(show(TITLES[group], "title"), show(change_counts(changes), "dim"), gap="  ")
        rows += [title, *changes]
        items.append(None)
        for number, change in enumerate(changes):
            # The number lets the cursor distinguish several rows of one item.
            item = item_of_change(change)
            items.append(ItemId(item.kind, item.name, item.within, number))
    if len(rows) > MANY:
        # The height of a row is known only after drawing it. One line each needs no drawing beforehand.
        return Page(len(rows), lambda row: [_brief(rows[row], width)], lambda row: items[row])
    drawn = [
        change_lines(row, width, split=split) if isinstance(row, Change) else [(), row] if at else [row]
        for at, row in enumerate(rows)
    ]
    return Page(len(rows), lambda row: drawn[row], lambda row: items[row], [len(lines) for lines in drawn])


def change_lines(change: Change, width: int, *, split: bool | None = None) -> list[Line]:
    """One change: a headline, and how each of its values changed.

    With `split` before and after are side by side, without it below each other; None decides by `width`.
    """
    beside = width >= SPLIT_FROM if split is None else split
    sign, style = SIGNS[change.kind]
    lines = wrap_all([join((Span(f" {sign} ", style),), _headline(change))], width, " " * _INDENT)
    if change.group is ChangeGroup.FIELDS and len(change.deltas) == 1:
        delta = change.deltas[0]
        if not _is_prose(delta):
            return [fit(join(lines[0], _both(delta), gap="  "), width)]
    if change.one_sided:
        return lines + _whole_lines(change, width)
    for delta in change.deltas:
        lines += _delta_lines(delta, width, beside=beside)
    return lines


def _brief(row: Change | Line, width: int) -> Line:
    """A change on one line: its headline, and which of its values changed."""
    if not isinstance(row, Change):
        return row
    sign, style = SIGNS[row.kind]
    names = (show(f"{delta.name} {delta.word}", "dim") for delta in row.deltas if not row.one_sided)
    return fit(join((Span(f" {sign} ", style),), _headline(row), *names, gap="  "), width)


def _headline(change: Change) -> Line:
    style = f"strong tier.{change.place}" if change.group is ChangeGroup.BLOCKS else "strong"
    phrase: list[Line] = []
    if change.came_from is not None:
        phrase.append(show(f"{change.came_from} → {change.place}", "link"))
        phrase.append(show(change.course or "", "accent"))
    if change.kind in (
        ChangeKind.ADDED,
        ChangeKind.REMOVED,
        ChangeKind.OPENED,
        ChangeKind.CLOSED,
        ChangeKind.BROKEN,
        ChangeKind.HEALED,
    ):
        phrase.append(show(change.kind, SIGNS[change.kind][1]))
    if change.loss is not None:
        phrase.append(show(LOST[change.loss], "bad" if change.loss == "recorded" else "warn"))
    elif change.in_history:
        phrase.append(show(IN_HISTORY, "dim"))
    if change.visibility is not None:
        shown_now = change.visibility == "shown"
        words = "now shown to the model" if shown_now else "no longer shown to the model"
        phrase.append(show(words, "visible.yes" if shown_now else "visible.no"))
    if change.why:
        unseen = change.group is ChangeGroup.BLOCKS and change.visibility is None
        phrase.append(show(f"hidden: {change.why}" if unseen else change.why, "dim"))
    return join(show(change.name, style), *filter(None, phrase), gap="  ")


def _delta_lines(delta: Delta, width: int, *, beside: bool) -> list[Line]:
    name = join((Span(" " * _INDENT),), pad(show(delta.name, "dim"), _NAME))
    blank: Line = (Span(" " * (_INDENT + _NAME)),)
    room = width - _INDENT - _NAME
    if beside:
        half = (room - 3) // 2
        left, right = _side(delta, "removed", half), _side(delta, "added", half)
        bar: Line = (Span(" │ ", "faint"),)
        rows = [join(pad(one, half), bar, other) for one, other in zip_longest(left, right, fillvalue=())]
    elif _is_prose(delta):
        rows = [*_side(delta, "removed", room), *_side(delta, "added", room)]
    else:
        rows = wrap_all([_both(delta)], room)
    if _is_prose(delta):
        rows += _owner_note(delta)
    return [join(name if at == 0 else blank, row) for at, row in enumerate(rows)]


def _whole_lines(change: Change, width: int) -> list[Line]:
    """An added or removed item: its facts and its text, in the full width because it has only one side."""
    side: ChangeSide = "added" if change.deltas[0].word == "added" else "removed"
    deltas = {delta.name: delta for delta in change.deltas}
    prose_delta = deltas.pop("text", None)
    text = _value(prose_delta, side) if prose_delta is not None else None
    room = width - _INDENT
    facts = join(*(_fact(delta, side) for delta in deltas.values()), gap=" · ")
    prose = _signed([WordPiece(side, _bounded(text))], side, room) if isinstance(text, str) else []
    lines = [*wrap_all([facts], room), *prose]
    return [join((Span(" " * _INDENT),), line) for line in lines]


def _fact(delta: Delta, side: ChangeSide) -> Line:
    value = _value(delta, side)
    words = " ".join(f"#{tag}" for tag in value) if isinstance(value, list) else _value_text(delta, side)
    return show(words if delta.name in ("type", "tags", "state") else f"{delta.name} {words}", "dim")


def _value(delta: Delta, side: ChangeSide) -> JsonValue:
    return delta.before if side == "removed" else delta.after


def _value_text(delta: Delta, side: ChangeSide) -> str:
    return side_text(delta, "before" if side == "removed" else "after")


def _direction(delta: Delta) -> list[Line]:
    words = [show(delta.word, "dim")] if delta.word in ("raised", "lowered") else []
    return [*words, show(delta.crossed, "warn")] if delta.crossed else words


def _owner_note(delta: Delta) -> list[Line]:
    note = note_on(delta)
    return [show(note, "bad" if delta.tampered else "owner.system")] if note else []


def _both(delta: Delta) -> Line:
    """A short value before and after, on one line."""
    nothing: Line = (Span("nothing", "dim"),)
    before = show(side_text(delta, "before"), "diff.removed") if delta.word != "added" else nothing
    after = show(side_text(delta, "after"), "diff.added") if delta.word != "removed" else nothing
    arrow = join(before, (Span("→", "dim"),), after, *_direction(delta), gap=" ")
    return join(arrow, *_owner_note(delta), gap="  ")


def _side(delta: Delta, side: ChangeSide, room: int) -> list[Line]:
    """The value on one side of the change; empty when that side has no value."""
    if delta.word == {"removed": "added", "added": "removed"}[side]:
        return []
    words = _value_text(delta, side)
    if _is_prose(delta):
        return _signed(_pieces(delta) or [WordPiece(side, _bounded(words))], side, room)
    last = delta.word == "removed" or side == "added"
    remarks = [*_direction(delta), *_owner_note(delta)] if last else []
    return wrap_all([join(show(words, f"diff.{side}"), *remarks, gap="  ")], room)


def _signed(cut: Sequence[WordPiece], side: ChangeSide, room: int) -> list[Line]:
    """Prose of one side, with the sign of that side before it."""
    sign, style = "-" if side == "removed" else "+", f"diff.{side}"
    lines = wrap_all(_prose(cut, side, style), room - 2)
    return [join((Span(f"{sign} " if at == 0 else "  ", style),), line) for at, line in enumerate(lines)]


def _prose(cut: Sequence[WordPiece], side: ChangeSide, style: str) -> list[Line]:
    """The words of one side on their lines, with the changed words highlighted."""
    long = sum(len(piece.text) for piece in cut) > _LONG
    lines: list[list[Span]] = [[]]
    for piece, text in shortened(cut) if long else ((piece, piece.text) for piece in cut):
        if piece.side not in ("same", side):
            continue
        words = "" if piece.side == "same" else f"{style} {style}.word" if len(cut) > 1 else style
        first, *rest = text.split("\n")
        lines[-1].extend(show(first, words))
        lines.extend(list(show(row, words)) for row in rest)
    return [tuple(line) for line in lines]


def _pieces(delta: Delta) -> tuple[WordPiece, ...]:
    if delta.pieces or delta.word in ("added", "removed"):
        return delta.pieces
    before, after = delta.before, delta.after
    if isinstance(before, list) and isinstance(after, list):
        return word_pieces(", ".join(map(value_text, before)), ", ".join(map(value_text, after)))
    return ()


def _bounded(text: str) -> str:
    """Cut a long text: a difference shows what changed, and the detail shows the whole text."""
    return text if len(text) <= _LONG else f"{text[:_LONG]}…"


def _is_prose(delta: Delta) -> bool:
    texts = (delta.before, delta.after)
    return bool(_pieces(delta)) or any(isinstance(text, str) and len(text) > 40 for text in texts)


NOTHING = "The bytes are the same."
MOST = 2_000
"""Lines that are drawn; a last line says how many more there are."""

_SIGNS = {"removed": "-", "added": "+", "same": " ", "note": " "}
_ALIKE = 0.3
"""The share of equal text from which changed words are highlighted; below it the lines are unrelated."""


def hunk_lines(hunks: Sequence[Hunk], width: int) -> list[Line]:
    """Every hunk with its line numbers, and a rule between two hunks."""
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
    """The lines of the old version that were removed, replaced, or got new lines before them."""
    changed: set[int] = set()
    for hunk in hunks:
        line, replaced = hunk.old_line, False
        for kind, _ in hunk.lines:
            if kind == "removed" or (kind == "added" and not replaced):
                changed.add(line)
            replaced = kind == "removed" or (replaced and kind != "same")
            line += kind in ("removed", "same")
    return changed


def _rows(hunk: Hunk) -> Iterator[tuple[int | None, str, Line]]:
    """Number, kind and text of every line; a removed line has its old number, the others their new one."""
    old, new = hunk.old_line, hunk.new_line
    for kind, text in _marked(hunk):
        yield (None if kind == "note" else old if kind == "removed" else new), kind, text
        old += kind in ("removed", "same")
        new += kind in ("added", "same")


def _marked(hunk: Hunk) -> Iterator[tuple[str, Line]]:
    """The lines of a hunk; changed words are marked where as many lines were added as removed."""
    at = 0
    lines = hunk.lines
    while at < len(lines):
        removed = _run(lines, at, "removed")
        added = _run(lines, at + len(removed), "added")
        if removed and len(removed) == len(added):
            cuts = [word_pieces(one, other) for one, other in zip(removed, added, strict=True)]
            yield from (("removed", _words(cut, "removed")) for cut in cuts)
            yield from (("added", _words(cut, "added")) for cut in cuts)
            at += 2 * len(removed)
        else:
            kind, text = lines[at]
            style = "dim" if kind in ("same", "note") else f"diff.{kind}"
            yield kind, show(text.expandtabs(TAB), style)
            at += 1


def _run(lines: Sequence[tuple[str, str]], start: int, kind: str) -> list[str]:
    run: list[str] = []
    for at in range(start, len(lines)):
        if lines[at][0] != kind:
            break
        run.append(lines[at][1])
    return run


def _words(cut: Sequence[WordPiece], side: str) -> Line:
    same = sum(len(piece.text) for piece in cut if piece.side == "same")
    alike = same >= _ALIKE * sum(len(piece.text) for piece in cut if piece.side in ("same", side))
    line: list[Span] = []
    for piece in cut:
        if piece.side in ("same", side):
            highlighted = alike and piece.side == side
            line += show(
                piece.text.expandtabs(TAB), f"diff.{side} diff.{side}.word" if highlighted else f"diff.{side}"
            )
    return tuple(line)
