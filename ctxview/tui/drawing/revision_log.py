"""The revisions as rows of a log: name, time, changes, window, findings, event. No toolkit."""

from __future__ import annotations

from msgspec import Struct

from ctxview.analysis.revisions.facts import KnownRevisions
from ctxview.analysis.revisions.log import LogRow, log_sentence
from ctxview.analysis.revisions.skyline import SeriesKey, budget_at
from ctxview.analysis.revisions.window import unit_of
from ctxview.analysis.wording import counted
from ctxview.reports.why import short_origin
from ctxview.tui.drawing.boxes import INSIDE, box, ends
from ctxview.tui.drawing.glyphs import SEVERITY
from ctxview.tui.drawing.overview_parts import names_line
from ctxview.tui.drawing.skyline import EVENT_SIGNS
from ctxview.tui.drawing.text import Line, Span, fit, join, pad, shorten, show, width

COUNT, FIGURE, TIME = 4, 8, 8
LEAST_BAR, WIDEST_BAR = 8, 14
LEAST_EVENT = 10
SELECTED, TALLEST = 9, 20
"""The least and the greatest height of the box about the revision at the cursor."""
LONGEST_PLACE = 4
"""The share of a line that the place of a finding may take."""
MOST_OTHERS = 4
"""Lines of that box beside the findings: what was added, changed and removed, and what comes back."""
ROOMY = 100
"""The width from which on the bar of a window is longer."""
PRESSURE = {"over": "severity.error", "full": "severity.warning", "high": "severity.warning"}
NONE = Span("·", "faint")


class LogColumns(Struct, frozen=True):
    """The widths of the columns, 0 for one that has no room. Name, findings and losses always stay."""

    name: int
    time: int
    changed: int
    bar: int
    event: int


def log_columns(known: KnownRevisions, cells: int) -> LogColumns:
    """Choose the columns for a width: event words go first, then the bar, the time, the changed blocks."""
    names = max((width(show(name.short)) + 2 * name.is_reply for name in known.names), default=8)
    name = min(max(10, names + 1), max(10, cells // 3))
    room = cells - 2 - name - 2 * COUNT - FIGURE - 2 * COUNT
    time = TIME if room >= TIME + COUNT else 0
    changed = COUNT if room - time >= COUNT else 0
    room -= time + changed
    event = LEAST_EVENT if room >= LEAST_BAR + LEAST_EVENT else 0
    widest = WIDEST_BAR if cells >= ROOMY else LEAST_BAR
    bar = min(widest, room - event - 2) if room >= LEAST_BAR + 2 else 0
    return LogColumns(name, time, changed, bar, max(0, room - bar - 2))


def log_header(
    known: KnownRevisions, columns: LogColumns, series: SeriesKey | None, cells: int
) -> list[Line]:
    """The answer, and the heads of the columns."""
    answer = ends(show(f" {log_sentence(known)}", "strong"), show("F8 ", "key"), cells)
    room = columns.bar + FIGURE if columns.bar else FIGURE
    window = pad(show(_window_head(known, series, room), "dim"), room)
    head = join(
        pad(show("  revision", "dim"), columns.name + 2),
        pad(show("time", "dim"), columns.time),
        pad(show("+", "changed.added"), COUNT, right=True),
        pad(show("~", "changed.changed"), columns.changed, right=True),
        pad(show("−", "diff.removed"), COUNT, right=True),
        pad((), 2),
        window,
        pad(show("✖", "severity.error"), COUNT, right=True),
        pad(show("▲", "severity.warning"), COUNT, right=True),
        show("  event" if columns.event else "", "dim"),
    )
    return [answer, fit(head, cells - 2)]


def _window_head(known: KnownRevisions, series: SeriesKey | None, cells: int) -> str:
    """`window, of 24,720`, as far as there is room; a unit other than tokens is always named."""
    found = (budget_at(known, facts.number, series) for facts in reversed(known.in_order))
    budget = next((each for each in found if each is not None), None)
    if budget is None:
        return "window"
    unit = "" if unit_of(budget) == "tokens" else f" {unit_of(budget)}"
    limit = f" of {budget.line:,}" if budget.line else ""
    heads = (f"window,{limit}{unit}", f"window,{unit}" if unit else "window", unit.strip())
    return next((each for each in heads if len(each) <= cells and each[-1:] != ","), heads[1])


def log_line(row: LogRow, columns: LogColumns, cells: int, *, marked: bool = False) -> Line:
    """One revision; counts that are not known yet are blank."""
    indent = "    " if row.is_reply else "  "
    name = shorten(row.name, columns.name + 2 - len(indent) - 1)
    counts = row.counts
    added, changed, removed = (
        (counts.added, counts.changed + counts.moved, counts.removed) if counts else (None,) * 3
    )
    return fit(
        join(
            (Span("▌" if marked else " ", "accent"),),
            pad(show(f"{indent[1:]}{name}", _name_style(row)), columns.name + 1),
            pad(show(_clock(row.time), "dim"), columns.time),
            _count(added, "changed.added", COUNT),
            _count(changed, "changed.changed", columns.changed),
            _count(removed, "diff.removed", COUNT),
            pad((), 2),
            _window(row, columns),
            _count(row.errors, "severity.error", COUNT),
            _count(row.warnings, "severity.warning", COUNT),
            _event(row, columns.event),
        ),
        cells,
    )


def selected_box(known: KnownRevisions, number: int, cells: int, free: int = 0) -> list[Line]:
    """What is known of the revision at the cursor, in a box that is as high for each.

    `free` are the rows that the list does not need.
    """
    most = max((len(facts.findings) for facts in known.in_order), default=0) + MOST_OTHERS
    height = min(max(SELECTED, min(free, most + 2)), TALLEST)
    lines = log_details(known, number, cells - INSIDE, height - 2)
    name = known.names[number].name
    keys = join(show("Enter", "key"), show("go there  "), show("d", "key"), show("diff"), gap=" ")
    return box(show(f"Selected: {name}", "title"), lines, cells, end=keys, height=height)


def selected_line(known: KnownRevisions, number: int, cells: int) -> Line:
    """The worst finding of the revision at the cursor, and how many more it has, on one line."""
    facts = known.facts.get(number)
    if facts is None or not facts.findings:
        text = "reading…" if facts is None else f"nothing was found in {known.names[number].name}"
        return fit(show(f" {text}", "dim"), cells)
    finding, *more = facts.findings
    mark = show(f" {SEVERITY[finding.severity]} {finding.rule} ", f"severity.{finding.severity}")
    rest = show(f"{len(more)} more " if more else "", "dim")
    return ends(join(mark, show(finding.message)), rest, cells)


def log_details(known: KnownRevisions, number: int, cells: int, rows: int = 8) -> list[Line]:
    """The findings of a revision with their places, its blocks, and which of the lost ones come back."""
    facts = known.facts.get(number)
    if facts is None:
        return [show("reading…", "dim")]
    lines: list[Line] = []
    back, never = known.written_again(number)
    most = rows - sum(map(bool, (facts.added, facts.changed, facts.removed, back)))
    most -= len(facts.findings) > most
    # The name of the only file would take the room of the messages.
    is_single = len({finding.origin.file for finding in facts.findings}) == 1
    for finding in facts.findings[:most]:
        mark = show(f"{SEVERITY[finding.severity]} {finding.rule} ", f"severity.{finding.severity}")
        place = short_origin(finding.origin)
        if is_single and len(place) > cells // LONGEST_PLACE:
            place = f":{finding.origin.line}" if finding.origin.line is not None else ""
        lines.append(ends(join(mark, show(finding.message)), show(place, "link"), cells))
    if len(facts.findings) > most:
        lines.append(show(f"{counted(len(facts.findings) - most, 'more finding')}", "dim"))
    changed = [f"{name} {word}".strip() for (_, name), word in facts.changed]
    for sign, style, count, names in (
        ("+", "changed.added", len(facts.added), [name for _, name in facts.added]),
        ("~", "changed.changed", facts.counts.changed + facts.counts.moved, changed),
        ("−", "diff.removed", len(facts.removed), [name for _, name in facts.removed]),
    ):
        if names:
            head = show(f"{sign} {count} ", style)
            lines.append(join(head, names_line(names, cells - width(head), ", ")))
    if back:
        first = ", ".join(name for _, name in back[:3])
        more = f" and {len(back) - 3} more" if len(back) > 3 else ""
        lines.append(show(f"Later {first}{more} are written again; {len(never)} never come back.", "dim"))
    return [fit(line, cells) for line in lines] or [show("Nothing changed and nothing was found.", "dim")]


def _name_style(row: LogRow) -> str:
    return "dim" if row.is_reply else ""


def _clock(time: str | None) -> str:
    return time[11:16] if time is not None and len(time) >= 16 and time[10:11] in "T " else (time or "")[:7]


def _count(number: int | None, style: str, cells: int) -> Line:
    if not cells:
        return ()
    if number is None:
        return pad((), cells)
    return pad(show(f"{number:,}", style) if number else (NONE,), cells, right=True)


def _window(row: LogRow, columns: LogColumns) -> Line:
    if row.used is None:
        return pad((), columns.bar + FIGURE)
    style = PRESSURE.get(row.pressure, "segment.elsewhere")
    figure = pad(show(f"{row.used:,}", style if row.pressure in PRESSURE else ""), FIGURE, right=True)
    if not columns.bar or not row.limit:
        return join(pad((), columns.bar), figure)
    full = min(columns.bar, max(1, round(row.used * columns.bar / row.limit)))
    return join((Span("█" * full, style), Span("·" * (columns.bar - full), "faint")), figure)


def _event(row: LogRow, cells: int) -> Line:
    if row.event is None or not cells:
        return ()
    sign, style = EVENT_SIGNS[row.event.kind]
    words = show(f"  {sign} {row.event.text}", style)
    if width(words) <= cells:
        return words
    # A name is never cut.
    word = row.event.word or row.event.text.split()[0]
    short = show(f"  {sign} {f'−{len(row.event.blocks)}' if row.event.blocks else word}", style)
    return short if width(short) <= cells else show(f"  {sign}", style)
