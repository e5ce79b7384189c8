"""The overview at three sizes: a list at 80 columns, boxes from 100, a third column from 160. No toolkit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from ctxview.analysis.revisions.window import used_elsewhere
from ctxview.tui.drawing import overview_parts as parts
from ctxview.tui.drawing.boxes import INSIDE, box, ends, side_by_side
from ctxview.tui.drawing.glyphs import tier_styles
from ctxview.tui.drawing.overview_parts import OverviewDrawing
from ctxview.tui.drawing.skyline import SkylineDrawing, small_chart, strip_line
from ctxview.tui.drawing.text import EMPTY, Line, Span, fit, join, pad, show, width, wrap_to

BOXED, THREE = 100, 160
"""Columns from which on the parts are boxes, and have a third column."""
LEAST_BOXED, LEAST_THREE = 30, 44
"""Rows that boxes need, and that the third column needs."""
LEAST_KEYS, LEAST_WHOLE = 60, 15
"""Columns below which the keys go, and rows below which only window, blocks and findings stay."""
LABEL = 10
SECTIONS = {
    "4": "pane_4",
    "2": "pane_2",
    "3": "pane_3",
    "5": "pane_5",
    "6": "pane_6",
    "F8": "next_finding",
    "d": "diff",
    "T": "pane_t",
}
"""The parts by their keys, and the actions that open them."""
FREE = 11
"""Rows from this `spare` on take only the room that no other row needs."""
LEAST_CHART, LEAST_STRIP, LEAST_SECOND = 6, 3, 5
"""Rows that the chart needs in its box, that one row of it needs, and those of the boxes above it."""
MOST_READ, LEAST_BELOW = 28, 12
"""Rows for what the model reads, and those that are kept for the skyline below it."""
MOST_PAIRS = 3


class _Row(Struct, frozen=True):
    """One row of the list. Rows with a higher `spare` go first when the room is short.

    A line that is too long is cut, or has a second row where there is room.
    """

    line: Line
    label: str = ""
    key: str = ""
    spare: int = 0


def draw_overview(drawing: OverviewDrawing, cells: int, rows: int) -> list[Line]:
    """Return the overview for a size; at 80 by 21 and above nothing needs to be scrolled."""
    if cells >= THREE and rows >= LEAST_THREE:
        return _three_columns(drawing, cells, rows)
    if cells >= BOXED and rows >= LEAST_BOXED:
        return _boxes(drawing, cells, rows)
    return _list(drawing, cells, rows)


def _list(drawing: OverviewDrawing, cells: int, rows: int) -> list[Line]:
    keys = 4 if cells >= LEAST_KEYS else 1
    room = cells - LABEL - 1 - keys
    todo, missing = drawing.overview.todo, drawing.overview.missing
    lacking = [show(". ".join(missing) or parts.MISSING_NOTHING)]
    if width(lacking[0]) > room:
        lacking = [*map(show, missing)]
    reasons = parts.reason_lines(drawing, room)
    found: list[_Row] = [
        _Row(EMPTY, spare=9),
        _Row(parts.headline(drawing, room), "Window", "4"),
        _Row(parts.bar(drawing, room)),
        _Row(parts.used_line(drawing, room)),
        _Row(parts.source_line(drawing, room), spare=3),
        _Row(parts.second_line(drawing)),
        *(_Row(line, spare=2) for line in _parts_of_window(drawing, room)),
        _Row(parts.stage_line(drawing), spare=1),
        _Row(EMPTY, spare=9),
        *_reply_rows(drawing),
        _Row(parts.block_counts_line(drawing, room), "Blocks", "2"),
        *(
            row
            for at, (lines, names) in enumerate(reasons)
            for row in (
                _Row(lines[0], key="" if at else "W", spare=3 if at > 2 else 0),
                *(_Row(line, spare=3 if at > 2 else 0) for line in lines[1:]),
                _Row(names, spare=10),
            )
        ),
        _Row(EMPTY, spare=9),
        _Row(show(". ".join(todo[:2]) if todo else "nothing yet"), "Todo", "3", spare=4),
        *(_Row(show(line, "dim"), spare=7) for line in todo[2:3]),
        *([_Row(show(drawing.overview.refs), "Refs", "5", spare=5)] if drawing.overview.refs else []),
        *(_Row(show(pair), spare=FREE + (at > 0)) for at, pair in enumerate(drawing.overview.pairs)),
        _Row(lacking[0], "Missing", "6", spare=4),
        *(_Row(line, spare=FREE + (at > 0)) for at, line in enumerate(lacking[1:])),
        *([_Row(show(drawing.state.advice), "Advice", "5")] if drawing.state.advice else []),
        _Row(EMPTY, spare=9),
        _Row(parts.worst_line(drawing), "Worst", "F8"),
        _Row(parts.finding_counts_line(drawing)),
    ]
    if drawing.overview.reply is None:
        found.append(_Row(parts.changed_line(drawing), "Changed", "d", spare=4))
    known, place = drawing.windows
    if len(known.names) > 1:
        strip = strip_line(known, place, room, letters=drawing.letters)
        found.append(_Row(strip, _strip_label(drawing), "T", spare=6))
    kept = [row for row in found if row.line or row.spare == 9]
    if rows < LEAST_WHOLE:
        kept = [row for row in kept if row.spare < 4]
    wraps = sum(row.spare < FREE and len(wrap_to(row.line, room, 2, "  ")) > 1 for row in kept)
    while (most := max(row.spare for row in kept)) and len(kept) + wraps * (most >= FREE) > rows:
        last = max(at for at, row in enumerate(kept) if row.spare == most)
        del kept[last]
    free = rows - len(kept)
    drawn: list[Line] = []
    for row in reversed(kept):
        lines = wrap_to(row.line, room, 2 if free > 0 else 1, "  ") or [row.line]
        free -= len(lines) - 1
        first, *more = (replace(row, line=line) for line in lines)
        rest = (_list_line(_Row(each.line), room, keys, "") for each in more)
        drawn[:0] = [_list_line(first, room, keys, drawing.chosen), *rest]
    return drawn


def _parts_of_window(drawing: OverviewDrawing, room: int) -> list[Line]:
    """What is elsewhere and what is here; when all is here, its segments."""
    split = parts.split_line(drawing)
    return [split] if split else parts.segment_lines(drawing, room, 2)


def _strip_label(drawing: OverviewDrawing) -> str:
    """`Rounds`, `Runs`: what the revisions are called; `Time` when they have no common name."""
    labels = [name.label for name in drawing.windows[0].names if not name.is_reply]
    words = {re.match(r"[a-z]+(?= \d)", label) for label in labels[:-1] or labels}
    first = {found[0] if found else "" for found in words}
    word = first.pop() if len(first) == 1 else ""
    return f"{word.capitalize()}s" if word and len(word) < LABEL - 1 else "Time"


def _list_line(row: _Row, room: int, keys: int, chosen: str) -> Line:
    action = click_of(row.key)
    key = pad(show(row.key, "key", action), keys - 1, right=True) if keys > 1 else ()
    style = "stage.chosen" if row.label and row.key == chosen else "title"
    label = join(show(row.label, style, action), (Span(" " * (LABEL - len(row.label))),))
    return join((Span(" "),), label, pad(row.line, room), key, (Span(" "),))


def _reply_rows(drawing: OverviewDrawing) -> list[_Row]:
    does = drawing.overview.reply
    if does is None:
        return []
    return [_Row(join(show("What the reply does: ", "dim"), show(does, "strong")), "Reply", "d")]


def _boxes(drawing: OverviewDrawing, cells: int, rows: int) -> list[Line]:
    left = (cells - 2) // 2 + 3
    right = cells - left
    blocks = [*_block_lines(drawing, left - INSIDE)]
    todo = _todo_lines(drawing, right - INSIDE)
    missing = _missing_lines(drawing, right - INSIDE)
    height = max(len(blocks) + 2, len(todo) + len(missing) + 4)
    pair = side_by_side(
        (_titled(drawing, "Blocks", blocks, left, "2", height), left),
        (
            [
                *_titled(drawing, "Todo", todo, right, "3"),
                *_titled(drawing, "Missing", missing, right, "6", height - len(todo) - 2),
            ],
            right,
        ),
    )
    window = _window_box(drawing, cells)
    changes = parts.change_lines(drawing, right - INSIDE)
    free = rows - len(window) - len(pair) - LEAST_SECOND
    # Without room for the chart there is a strip, and what is left goes to the finding.
    more = free - LEAST_STRIP if LEAST_STRIP < free < LEAST_CHART else 0
    worst = [
        *wrap_to(parts.worst_line(drawing), left - INSIDE, 2 + more, "  "),
        parts.finding_counts_line(drawing),
    ]
    height = max(len(worst), len(changes)) + 2
    second = side_by_side(
        (_titled(drawing, _worst_title(drawing), worst, left, "F8", height), left),
        (_titled(drawing, _changed_title(drawing), changes, right, "d", height), right),
    )
    lines = [*window, *pair, *second]
    return [*lines, *_skyline_box(drawing, cells, rows - len(lines))]


def _three_columns(drawing: OverviewDrawing, cells: int, rows: int) -> list[Line]:
    side = cells * 3 // 10
    middle = cells - 2 * side
    hidden = islice(parts.hidden_lines(drawing, side - INSIDE), rows)
    left = [*_counted_tiers(drawing, side - INSIDE), EMPTY, *hidden]
    if drawing.overview.blocks.in_part:
        names = ", ".join(drawing.overview.blocks.in_part[:side])
        left += [EMPTY, *wrap_to(show(f"◐ shown in part: {names}", "dim"), side - INSIDE, 3)]
    right: list[Line] = []
    for title, lines, key in (
        ("Todo", _todo_lines(drawing, side - INSIDE), "3"),
        ("Missing", _missing_lines(drawing, side - INSIDE), "6"),
        (
            _worst_title(drawing),
            [
                *wrap_to(parts.worst_line(drawing), side - INSIDE, 3, "  "),
                parts.finding_counts_line(drawing),
                parts.written_again_line(drawing),
            ],
            "F8",
        ),
        (_changed_title(drawing), parts.change_lines(drawing, side - INSIDE), "d"),
    ):
        right += _titled(drawing, title, [line for line in lines if line], side, key)
    top = _window_box(drawing, cells)
    shown = drawing.overview.blocks.shown
    height = min(max(len(right), len(left) + 2, min(shown + 2, MOST_READ)), rows - len(top) - LEAST_BELOW)
    reads = _model_reads(drawing, middle - INSIDE, height - 2)
    reading = show("What the model reads, in order", "title")
    whole = join(show("X", "key"), show("whole text", "dim"), gap=" ")
    body = side_by_side(
        (_titled(drawing, "Blocks", left, side, "2", height), side),
        (box(reading, reads, middle, end=whole, height=height), middle),
        (right[:height], side),
    )
    lines = [*top, *body]
    return [*lines, *_skyline_box(drawing, cells, rows - len(lines))]


def _titled(
    drawing: OverviewDrawing, title: str, lines: Sequence[Line], cells: int, key: str, height: int = 0
) -> list[Line]:
    style = "stage.chosen" if key == drawing.chosen else "title"
    action = click_of(key)
    return box(show(title, style, action), lines, cells, end=show(key, "key", action), height=height)


def click_of(key: str) -> str:
    """What a click on the key of a part does."""
    return f"screen.command('{SECTIONS[key]}')" if key in SECTIONS else ""


def _window_box(drawing: OverviewDrawing, cells: int) -> list[Line]:
    room = cells - INSIDE
    window = drawing.overview.window
    head = parts.headline(drawing, room)
    later = ""
    if window.later is not None and cells >= THREE:
        later = f". The provider counted {window.later[1]:,} for this call (recorded in {window.later[0]})"
    growth = join(parts.growth_line(drawing), show(later, "dim"))
    lines = [ends(head, growth if width(head) + width(growth) + 2 <= room else (), room)]
    lines += [parts.bar(drawing, room), _split(drawing, room)]
    lines += [parts.source_line(drawing, room), parts.second_line(drawing)]
    if window.budget is not None and used_elsewhere(window.budget) is not None:
        lines += [show(f"{drawing.own.capitalize()}, enlarged:", "dim"), parts.enlarged_bar(drawing, room)]
    lines += parts.segment_lines(drawing, room, 2)
    if window.budget is not None and window.budget.note:
        note = window.budget.note
        lines.append(fit(show(f"{note[:1].upper()}{note[1:]}", "dim"), room))
    lines.append(parts.stage_line(drawing))
    return _titled(drawing, "Window", [line for line in lines if line], cells, "4")


def _split(drawing: OverviewDrawing, room: int) -> Line:
    budget = drawing.overview.window.budget
    split = parts.split_line(drawing)
    if budget is None or budget.used is None:
        return ()
    reserved = show(f"{budget.reserved:,} reserved", "dim") if budget.reserved else ()
    return ends(join(show(f"{budget.used:,} used", "strong"), split, gap="   "), reserved, room)


def _counted_tiers(drawing: OverviewDrawing, room: int) -> list[Line]:
    does = drawing.overview.reply
    reply = [join(show("The reply: ", "dim"), show(does, "strong"))] if does is not None else []
    return [*reply, parts.block_counts_line(drawing, room), *parts.tier_lines(drawing, room)]


def _block_lines(drawing: OverviewDrawing, room: int) -> list[Line]:
    found = parts.reason_lines(drawing, room - 3)
    reasons = [line for lines, names in found for line in (*lines, names) if line]
    if reasons:
        reasons[0] = ends(reasons[0], show("W", "key"), room)
    return [*_counted_tiers(drawing, room), *reasons]


def _todo_lines(drawing: OverviewDrawing, room: int) -> list[Line]:
    first, *rest = drawing.overview.todo or ("nothing yet",)
    notes = [line for text in rest for line in wrap_to(show(text), room, 2)]
    return [show(first, "strong"), *notes]


def _missing_lines(drawing: OverviewDrawing, room: int) -> list[Line]:
    first, *rest = drawing.overview.missing or (parts.MISSING_NOTHING,)
    lines = [*wrap_to(show(first, "strong"), room, 3)]
    lines += [line for text in rest[:3] for line in wrap_to(show(text), room, 2)]
    if len(rest) > 3:
        lines.append(show(f"{len(rest) - 3} more", "dim"))
    lines += wrap_to(show(drawing.overview.refs, "dim"), room, 2) if drawing.overview.refs else []
    lines += [fit(show(pair), room) for pair in drawing.overview.pairs[:MOST_PAIRS]]
    return [*lines, *(wrap_to(show(advice, "strong"), room, 2) if (advice := drawing.state.advice) else [])]


def _worst_title(drawing: OverviewDrawing) -> str:
    known, total = drawing.known, len(drawing.known.names)
    if known.is_read and not known.is_complete:
        return f"Worst finding of {len(known.facts):,} of {total:,} revisions"
    return f"Worst finding of all {total:,} revisions" if total > 1 else "Worst finding"


def _changed_title(drawing: OverviewDrawing) -> str:
    changes, is_reply = drawing.overview.changes, drawing.overview.reply is not None
    return f"Changed {'by the reply to' if is_reply else 'since'} {changes.since}" if changes else "Changed"


def _skyline_box(drawing: OverviewDrawing, cells: int, rows: int) -> list[Line]:
    known, place = drawing.windows
    if rows < LEAST_STRIP or len(known.names) < 2:
        return []
    if rows < LEAST_CHART:
        strip = strip_line(known, place, cells - INSIDE, letters=drawing.letters)
        return _titled(drawing, "Skyline", [strip], cells, "T")
    if not known.facts:
        return _titled(drawing, "Skyline", [show("reading…", "dim")], cells, "T", rows)
    tiers = tier_styles(drawing.state.tiers)
    skyline = SkylineDrawing(known, place, tiers, drawing.own, drawing.letters)
    return _titled(drawing, "Skyline", small_chart(skyline, cells - INSIDE, rows - 2), cells, "T", rows)


def _model_reads(drawing: OverviewDrawing, cells: int, rows: int) -> list[Line]:
    """The first line of every shown block, in the order in which the model reads them."""
    styles = tier_styles(drawing.state.tiers)
    shown = [block for block in drawing.state.blocks() if block.visible is True]
    shown.sort(key=lambda block: (block.rank is None, block.rank or 0))
    lines: list[Line] = []
    tier = None
    for block in shown[:rows]:
        sign = block.tier[:1] if block.tier != tier else "│"
        tier = block.tier
        text = " ".join(block.text[:400].split())
        lines.append(fit(join(show(f"{sign} ", styles.get(block.tier, "")), show(text)), cells))
    if len(shown) > rows and lines:
        lines[-1] = show(f"  {len(shown) - rows + 1:,} more", "dim")
    return lines
