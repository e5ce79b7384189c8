"""A semantic difference as styled lines: one row a change, its values side by side or one under the other.

Draws what `analysis.diff` found and judges nothing. Every sign says in a character what the colour says.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Literal

from ctxview.analysis.diff import Change, Delta, Group, Kind, Piece, StateDiff, pieces
from ctxview.analysis.diff.compaction import LOST
from ctxview.analysis.diff.report import IN_HISTORY, TITLES, note_on, shortened, tally
from ctxview.analysis.diff.values import shown
from ctxview.state import JsonValue
from ctxview.tui.text import Line, Span, fit, join, pad, show, wrap_all
from ctxview.tui.things import TEXT, TODO, WHOLE, Thing
from ctxview.tui.things import Kind as ThingKind
from ctxview.tui.widgets.page import Page

SPLIT_FROM = 110
"""From so many cells on, before and after stand side by side."""

MANY = 600
"""With more rows than this each is drawn on one line."""

Side = Literal["removed", "added"]

SIGNS = {
    Kind.ADDED: ("+", "diff.added"),
    Kind.REMOVED: ("-", "diff.removed"),
    Kind.MOVED: ("›", "link"),
    Kind.HIDDEN: ("✗", "visible.no"),
    Kind.SHOWN: ("✓", "visible.yes"),
    Kind.CHANGED: ("~", "accent"),
    Kind.REORDERED: ("↕", "accent"),
    Kind.BROKEN: ("!", "bad"),
    Kind.HEALED: ("✓", "ok"),
    Kind.OPENED: ("+", "warn"),
    Kind.CLOSED: ("-", "ok"),
}
_NAME = 14
_INDENT = 4
_LONG = 1200


def diff_page(diff: StateDiff, width: int, *, split: bool | None = None) -> Page:
    """All changes by group, each under its title and counts; see `change_lines` for `split`."""
    rows: list[Change | Line] = []
    things: list[Thing | None] = []
    for group, changes in diff.groups():
        rows += [_title(group, changes), *changes]
        things += [None, *(_numbered(thing_of(change), number) for number, change in enumerate(changes))]
    if len(rows) > MANY:
        # To know how high a row is one must draw it; so many take one line each, drawn when in sight.
        return Page(len(rows), lambda row: [_brief(rows[row], width)], lambda row: things[row])
    drawn = [
        change_lines(row, width, split=split) if isinstance(row, Change) else _headed(row, first=not at)
        for at, row in enumerate(rows)
    ]
    return Page(len(rows), lambda row: drawn[row], lambda row: things[row], [len(lines) for lines in drawn])


def change_lines(change: Change, width: int, *, split: bool | None = None) -> list[Line]:
    """One change: what happened, and how every value of it changed.

    Before and after stand side by side when `split`, else one under the other; None: where there is room.
    """
    beside = width >= SPLIT_FROM if split is None else split
    sign, style = SIGNS[change.kind]
    lines = wrap_all([join((Span(f" {sign} ", style),), _headline(change))], width, " " * _INDENT)
    if change.group is Group.FIELDS and len(change.deltas) == 1:
        found = change.deltas[0]
        if not _is_prose(found):
            return [fit(join(lines[0], _both(found), gap="  "), width)]
    if change.one_sided:
        return lines + _whole_lines(change, width)
    for found in change.deltas:
        lines += _delta_lines(found, width, beside=beside)
    return lines


def thing_of(change: Change) -> Thing:
    """What a change is about, as the panes name it."""
    kinds = {Group.BLOCKS: ThingKind.BLOCK, Group.BUDGET: ThingKind.BUDGET, Group.REFS: ThingKind.REF}
    if change.group in kinds:
        return Thing(kinds[change.group], change.subject, change.place)
    if change.group is Group.MISSING:
        return Thing(ThingKind.GAP, change.subject)
    if change.group is Group.TODO and change.subject != "progress":
        return Thing(ThingKind.ITEM, change.subject.removeprefix("#"))
    if change.group in (Group.TODO, Group.CURSOR):
        return TODO
    if change.group is Group.ORDER:
        order = change.deltas[0].after
        return Thing(ThingKind.BLOCK, str(order[0]) if isinstance(order, list) else "", change.subject)
    return TEXT if change.subject == "text" else WHOLE


def _numbered(thing: Thing, number: int) -> Thing:
    """Several rows may be about one thing; the cursor has to tell them apart."""
    return Thing(thing.kind, thing.name, thing.within, number)


def _headed(title: Line, *, first: bool) -> list[Line]:
    return [title] if first else [(), title]


def _brief(row: Change | Line, width: int) -> Line:
    """A change on one line: what happened, and which of its values changed."""
    if not isinstance(row, Change):
        return row
    sign, style = SIGNS[row.kind]
    names = (show(f"{found.name} {found.word}", "dim") for found in row.deltas if not row.one_sided)
    return fit(join((Span(f" {sign} ", style),), _headline(row), *names, gap="  "), width)


def _title(group: Group, changes: Sequence[Change]) -> Line:
    return join(show(TITLES[group], "title"), show(tally(changes), "dim"), gap="  ")


def _headline(change: Change) -> Line:
    style = f"strong tier.{change.place}" if change.group is Group.BLOCKS else "strong"
    phrase: list[Line] = []
    if change.came_from is not None:
        phrase.append(show(f"{change.came_from} → {change.place}", "link"))
        phrase.append(show(change.course or "", "accent"))
    if change.kind in (Kind.ADDED, Kind.REMOVED, Kind.OPENED, Kind.CLOSED, Kind.BROKEN, Kind.HEALED):
        phrase.append(show(change.kind, SIGNS[change.kind][1]))
    if change.loss is not None:
        phrase.append(show(LOST[change.loss], "bad" if change.loss == "recorded" else "warn"))
    elif change.in_history:
        phrase.append(show(IN_HISTORY, "dim"))
    if change.sight is not None:
        shown_now = change.sight == "shown"
        words = "now shown to the model" if shown_now else "no longer shown to the model"
        phrase.append(show(words, "visible.yes" if shown_now else "visible.no"))
    if change.why:
        unseen = change.group is Group.BLOCKS and change.sight is None
        phrase.append(show(f"hidden: {change.why}" if unseen else change.why, "dim"))
    return join(show(change.name, style), *filter(None, phrase), gap="  ")


def _delta_lines(found: Delta, width: int, *, beside: bool) -> list[Line]:
    name = join((Span(" " * _INDENT),), pad(show(found.name, "dim"), _NAME))
    blank: Line = (Span(" " * (_INDENT + _NAME)),)
    room = width - _INDENT - _NAME
    if beside:
        half = (room - 3) // 2
        left, right = _side(found, "removed", half), _side(found, "added", half)
        rows = _columns(left, right, half)
    elif _is_prose(found):
        rows = [*_side(found, "removed", room), *_side(found, "added", room)]
    else:
        rows = wrap_all([_both(found)], room)
    if _is_prose(found):
        rows += _whose(found)
    return [join(name if at == 0 else blank, row) for at, row in enumerate(rows)]


def _whole_lines(change: Change, width: int) -> list[Line]:
    """What came or went whole: its facts, then its text, in the whole width: there is no other side."""
    side: Side = "added" if change.deltas[0].word == "added" else "removed"
    values = {found.name: found.before if side == "removed" else found.after for found in change.deltas}
    text = values.pop("text", None)
    room = width - _INDENT
    facts = join(*(_fact(name, value) for name, value in values.items()), gap=" · ")
    prose = _signed([Piece(side, _bounded(text))], side, room) if isinstance(text, str) else []
    lines = [*wrap_all([facts], room), *prose]
    return [join((Span(" " * _INDENT),), line) for line in lines]


def _fact(name: str, value: JsonValue) -> Line:
    words = " ".join(f"#{tag}" for tag in value) if isinstance(value, list) else shown(value)
    return show(words if name in ("type", "tags", "state") else f"{name} {words}", "dim")


def _columns(left: Sequence[Line], right: Sequence[Line], half: int) -> list[Line]:
    bar: Line = (Span(" │ ", "faint"),)
    return [join(pad(one, half), bar, other) for one, other in zip_longest(left, right, fillvalue=())]


def _direction(found: Delta) -> list[Line]:
    words = [found.word] if found.word in ("raised", "lowered") else []
    told = [show(word, "dim") for word in words]
    return [*told, show(found.crossed, "warn")] if found.crossed else told


def _whose(found: Delta) -> list[Line]:
    note = note_on(found)
    return [show(note, "bad" if found.tampered else "owner.system")] if note else []


def _both(found: Delta) -> Line:
    """A short value before and after, on one line."""
    nothing: Line = (Span("nothing", "dim"),)
    before = show(shown(found.before), "diff.removed") if found.word != "added" else nothing
    after = show(shown(found.after), "diff.added") if found.word != "removed" else nothing
    arrow = join(before, (Span("→", "dim"),), after, *_direction(found), gap=" ")
    return join(arrow, *_whose(found), gap="  ")


def _side(found: Delta, side: Side, room: int) -> list[Line]:
    """The value on one side of the change; nothing where there was nothing."""
    if found.word == {"removed": "added", "added": "removed"}[side]:
        return []
    value = found.before if side == "removed" else found.after
    if _is_prose(found):
        return _signed(_pieces(found) or [Piece(side, _bounded(shown(value)))], side, room)
    last = found.word == "removed" or side == "added"
    remarks = [*_direction(found), *_whose(found)] if last else []
    return wrap_all([join(show(shown(value), f"diff.{side}"), *remarks, gap="  ")], room)


def _signed(cut: Sequence[Piece], side: Side, room: int) -> list[Line]:
    """Prose of one side, with the sign of that side in front."""
    sign, style = "-" if side == "removed" else "+", f"diff.{side}"
    lines = wrap_all(_prose(cut, side, style), room - 2)
    return [join((Span(f"{sign} " if at == 0 else "  ", style),), line) for at, line in enumerate(lines)]


def _prose(cut: Sequence[Piece], side: Side, style: str) -> list[Line]:
    """The words of one side on the lines they stand on; those that changed stand out."""
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


def _pieces(found: Delta) -> tuple[Piece, ...]:
    if found.pieces or found.word in ("added", "removed"):
        return found.pieces
    before, after = found.before, found.after
    if isinstance(before, list) and isinstance(after, list):
        return pieces(", ".join(map(shown, before)), ", ".join(map(shown, after)))
    return ()


def _bounded(text: str) -> str:
    """A difference tells what changed; who wants to read a whole book opens it."""
    return text if len(text) <= _LONG else f"{text[:_LONG]}…"


def _is_prose(found: Delta) -> bool:
    texts = (found.before, found.after)
    return bool(_pieces(found)) or any(isinstance(text, str) and len(text) > 40 for text in texts)
