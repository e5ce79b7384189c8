"""The parts of the overview as lines: window, blocks, todo, missing, worst finding, changes. No toolkit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from msgspec import Struct

from ctxview.analysis.revisions.facts import KnownRevisions
from ctxview.analysis.revisions.overview import ChangeSummary, Overview, hidden_since, worst_sentence
from ctxview.analysis.revisions.window import (
    ELSEWHERE,
    Growth,
    counter_of,
    pressure_of,
    segments_here,
    unit_of,
    used_elsewhere,
    window_sentence,
    window_source,
)
from ctxview.core.figures import figure_text
from ctxview.core.state import ContextState
from ctxview.tui.drawing.boxes import ends, filled
from ctxview.tui.drawing.columns import (
    HERE,
    SegmentStyle,
    legend_entry,
    parts_bar,
    segment_styles,
    window_bar,
)
from ctxview.tui.drawing.glyphs import SEVERITY, signed, tier_styles
from ctxview.tui.drawing.text import Line, Span, fit, join, pad, plain, show, width, wrap_to

MOST_REASONS = 5
LEAST_ENTRY = 4
"""Cells that an entry of the segments needs at least."""
MOST_LISTED, MANY_ROWS = 8, 4
"""Hidden blocks of one reason that have a row each, and the rows for the names of more."""
MOST_DOTS = 20
"""Blocks of a tier that are drawn as one dot each; more are a bar."""
PRESSURE_STYLES = {"over": "severity.error", "full": "severity.error", "high": "severity.warning"}
MISSING_NOTHING = "Nothing is missing"


class OverviewDrawing(Struct, frozen=True, dict=True):
    """What the parts are drawn from. `letters`: without colour, segments are letters."""

    overview: Overview
    state: ContextState
    known: KnownRevisions
    letters: bool = False
    log: tuple[KnownRevisions, int] | None = None
    """Where a log records the window over time: its turns, and the shown place in them."""
    chosen: str = ""
    """The key of the chosen part."""

    @cached_property
    def styles(self) -> dict[str, SegmentStyle]:
        budget = self.overview.window.budget
        names = [each.name for each in budget.segments] if budget is not None else []
        return segment_styles(names, tier_styles(self.state.tiers))

    @property
    def is_broken(self) -> bool:
        """Whether the revision has an event that says that it cannot be read."""
        return any(event.kind == "broken" for event in self.known.events_of(self.overview.number))

    @property
    def windows(self) -> tuple[KnownRevisions, int]:
        return self.log or (self.known, self.overview.number)

    @property
    def own(self) -> str:
        return f"this {self.state.format}"


def headline(drawing: OverviewDrawing, cells: int) -> Line:
    window = drawing.overview.window
    if drawing.is_broken:
        return show("✖ This revision cannot be read", "severity.error bold")
    if window.waits:
        return show("reading…", "dim")
    style = PRESSURE_STYLES.get(pressure_of(window.budget), "strong")
    of = f"Window of {window.of}. " if window.of is not None else ""
    sentence = window_sentence(window.budget)
    line = join(show(of, "dim"), show(sentence, f"{style} bold"))
    whole = join(line, show(window_source(window.budget), "dim"))
    return whole if width(whole) <= cells else line


def growth_line(drawing: OverviewDrawing) -> Line:
    """`+9,415 since round 8, of which +9,269 not in this file`."""
    window = drawing.overview.window
    if window.grown is None or window.since is None:
        return ()
    cause: Growth | None = window.growth[0] if window.growth and window.grown > 0 else None
    if not window.grown:
        return show(f"as in {window.since}", "dim")
    line = show(f"{signed(window.grown)} since {window.since}", "dim")
    if cause is None or cause.amount == window.grown:
        return line
    return join(line, show(", of which ", "dim"), show(signed(cause.amount)), show(f" {cause.name}", "dim"))


def used_line(drawing: OverviewDrawing, cells: int) -> Line:
    """The use with its counter, the growth, and the reserve at the end."""
    window = drawing.overview.window
    budget = window.budget
    if budget is None or budget.used is None:
        return ()
    counter = counter_of(budget)
    used = show(f"{budget.used:,} used{f' ({counter})' if counter else ''}")
    since = show(f"{signed(window.grown)} since {window.since}") if window.grown and window.since else ()
    reserved = show(f"reserved {budget.reserved:,}", "dim") if budget.reserved else ()
    return ends(join(used, since, gap=", "), reserved, cells)


def source_line(drawing: OverviewDrawing, cells: int) -> Line:
    """Where the figure and the limit come from, when the headline has no room for it."""
    budget = drawing.overview.window.budget
    source = window_source(budget).removeprefix(", ").removeprefix("; ")
    if budget is None or not source or source in plain(headline(drawing, cells)):
        return ()
    return show(source, "dim")


def split_line(drawing: OverviewDrawing) -> Line:
    """What is elsewhere and what is here, with their colours; empty when all is here."""
    budget = drawing.overview.window.budget
    elsewhere = used_elsewhere(budget) if budget is not None else None
    if budget is None or budget.used is None or elsewhere is None:
        return ()
    parts = (
        legend_entry(ELSEWHERE, f"{elsewhere:,} {ELSEWHERE}", drawing.styles, letters=drawing.letters),
        legend_entry(
            HERE, f"{budget.used - elsewhere:,} {drawing.own}", drawing.styles, letters=drawing.letters
        ),
    )
    return join(*parts, gap="   ")


def segment_lines(drawing: OverviewDrawing, cells: int, rows: int) -> list[Line]:
    """The segments of this source, the largest first, with their sizes, in a number of rows."""
    budget = drawing.overview.window.budget
    segments = segments_here(budget) if budget is not None else []
    entries = [
        legend_entry(each.name, f"{each.name} {each.used:,}", drawing.styles, letters=drawing.letters)
        for each in segments[: cells * rows // LEAST_ENTRY]
    ]
    return filled(entries, cells)[:rows]


def enlarged_bar(drawing: OverviewDrawing, cells: int) -> Line:
    budget = drawing.overview.window.budget
    parts = [(each.name, each.used) for each in segments_here(budget)] if budget is not None else []
    return parts_bar(parts, cells, drawing.styles, letters=drawing.letters)


def bar(drawing: OverviewDrawing, cells: int) -> Line:
    budget = drawing.overview.window.budget
    return window_bar(budget, cells, drawing.styles, letters=drawing.letters) if budget is not None else ()


def stage_line(drawing: OverviewDrawing) -> Line:
    stage = drawing.overview.window.stage
    if stage is None:
        return ()
    return join(show(f"▲ {stage.text}", "severity.warning"), show(stage.detail), gap=": ")


def second_line(drawing: OverviewDrawing) -> Line:
    """The same budget in the unit that the runtime counts."""
    second = drawing.overview.window.second
    if second is None or second.used is None or second.limit is None:
        return ()
    share = f" ({second.percent})" if second.percent else ""
    text = f"the runtime counts {unit_of(second)}: {second.used:,} of {second.limit:,}{share}"
    return show(text.replace("%", " %"), "dim")


def block_counts_line(drawing: OverviewDrawing, cells: int) -> Line:
    blocks = drawing.overview.blocks
    if not blocks.tiers:
        return show("nothing yet", "dim")
    parts = [join((Span("● ", "visible.yes"),), show(f"{blocks.shown:,} shown", "bold"))]
    if blocks.in_part:
        parts[0] = join(parts[0], show(f", ◐ {len(blocks.in_part):,} of them in part", "dim"))
    if blocks.hidden or not blocks.unknown:
        parts.append(join((Span("○ ", "hidden"),), show(f"{blocks.hidden:,} not shown")))
    if blocks.unknown:
        parts.append(show(f"? {blocks.unknown:,} without a record", "dim"))
    line = join(*parts, gap="   ")
    stored = ", still stored" if blocks.hidden and not blocks.unknown else ""
    return join(line, show(stored)) if width(line) + len(stored) <= cells else line


def reason_lines(
    drawing: OverviewDrawing, cells: int, most: int = MOST_REASONS
) -> list[tuple[list[Line], Line]]:
    """The lines of each reason, and the hidden blocks when they have no room beside it; ids are never cut."""
    groups = drawing.overview.blocks.reasons
    shown = groups[:most] if len(groups) <= most else groups[: most - 1]
    digits = max((len(str(len(each.ids))) for each in shown), default=1)
    room = cells - digits - 5
    short = [width(show(each.reason)) for each in shown if width(show(each.reason)) <= room // 2]
    beside = max(short, default=0)
    # Two cells before the names, or one where only that leaves room for all of them.
    is_tight = any(width(show(" ".join(each.ids[:cells]))) == room - beside for each in shown)
    gap = " " if is_tight else "  "
    found: list[tuple[list[Line], Line]] = []
    for each in shown:
        head = join((Span("○ ", "hidden"),), show(f"{len(each.ids):>{digits}}  "))
        reason = show(each.reason)
        reason = pad(reason, beside) if width(reason) < beside else reason
        lines = wrap_to(join(head, reason), cells, 2, " " * (digits + 4))
        names = names_line(each.ids, room + 1 - len(gap) - width(reason))
        if names and len(lines) == 1:
            found.append(([join(lines[0], names, gap=gap)], ()))
        else:
            below = names_line(each.ids, room)
            found.append((lines, join((Span(" " * (digits + 4)),), below) if below else ()))
    if len(groups) > len(shown):
        rest = groups[len(shown) :]
        blocks = sum(len(each.ids) for each in rest)
        found.append(([show(f"  {len(rest)} more reasons, {blocks:,} blocks", "dim")], ()))
    return found


def names_line(names: Sequence[str], cells: int, gap: str = " ") -> Line:
    """As many whole names as fit, then `3 more`; empty when not even that fits."""
    for count in range(min(len(names), max(cells, 0)), -1, -1):
        more = [f"{len(names) - count} more"] if count < len(names) else []
        line = show(gap.join([*names[:count], *more]), "hidden")
        if width(line) <= cells and (count or len(names) > 1):
            return line if count else ()
    return ()


def tier_lines(drawing: OverviewDrawing, cells: int) -> Iterator[Line]:
    """Each tier with a dot per block: shown ones first, then hidden ones."""
    styles = drawing.styles
    tiers = drawing.overview.blocks.tiers
    by_name = tier_styles(drawing.state.tiers)
    widest = min(max((width(show(each.name)) for each in tiers), default=0), cells // 2)
    for each in tiers:
        style = styles[each.name].style if each.name in styles else by_name.get(each.name, "")
        size = f"{each.tokens:,} tok"
        figures = show(f"{each.shown:,} of {each.total:,}{size:>12}")
        room = cells - widest - width(figures) - 4
        if each.total <= min(MOST_DOTS, room):
            dots: Line = (Span("●" * each.shown, style), Span("○" * (each.total - each.shown), "hidden"))
        else:
            cells_shown = round(each.shown * max(0, room) / each.total)
            dots = (Span("█" * cells_shown, style), Span("·" * max(0, room - cells_shown), "faint"))
        yield ends(join(pad(show(each.name, style), widest), dots, gap="  "), figures, cells)
    if counter := drawing.overview.blocks.counter:
        yield ends((), show(f"tok counted by {counter.replace('_base', '')}", "dim"), cells)


def hidden_lines(drawing: OverviewDrawing, cells: int) -> Iterator[Line]:
    """Every hidden block under its reason, with its figure and since when; of many, the names together."""
    known, number = drawing.known, drawing.overview.number
    state = drawing.state.kept
    hidden = {block.id: block for block in state.blocks() if block.visible is False}
    for group in drawing.overview.blocks.reasons:
        yield join((Span("○ ", "hidden"),), show(f"{len(group.ids)} "), show(group.reason, "bold"))
        if len(group.ids) > MOST_LISTED:
            names = show(" ".join(group.ids[: cells * MANY_ROWS]), "hidden")
            yield from (join((Span("    "),), line) for line in wrap_to(names, cells - 4, MANY_ROWS))
            continue
        for name in group.ids:
            block = hidden[name]
            since = hidden_since(known, number, (block.tier, name))
            text = "new" if since == number else f"since {known.names[since].name}"
            if (reason := block.reason) is not None and reason.value is not None and not reason.summary:
                text = f"{figure_text(reason.value)}, {text}"
            head, column = show(f"    {name}"), min(30, cells // 2)
            head = pad(head, column) if width(head) < column else head
            yield fit(join(head, show(text, "dim"), gap=" "), cells)


def worst_line(drawing: OverviewDrawing) -> Line:
    """The worst finding of all revisions with its place."""
    known = drawing.known
    worst = known.worst
    if worst is not None:
        severity = worst.finding.severity
        mark = show(f"{SEVERITY[severity]} {worst.finding.rule} ", f"severity.{severity}")
        return join(mark, show(worst_sentence(known, worst), "bold"))
    if known.is_complete:
        return show("No finding in any revision" if len(known.names) > 1 else "No finding", "ok")
    return show(f"checked {len(known.facts):,} of {len(known.names):,}", "dim")


def finding_counts_line(drawing: OverviewDrawing) -> Line:
    """How many findings there are in all revisions; empty until one is read."""
    known = drawing.known
    total = len(known.names)
    counts = [
        show(
            f"{SEVERITY[each]} {number:,} in {places:,}"
            if number and total > 1
            else f"{SEVERITY[each]} {number:,}",
            f"severity.{each}" if number else "dim",
        )
        for each, (number, places) in known.severities.items()
    ]
    revisions = "this revision" if total == 1 else f"all {total:,} revisions"
    scope = f"of {revisions}: " if known.is_complete else f"checked {len(known.facts):,} of {total:,}: "
    return join(show(scope, "dim"), join(*counts, gap=", ")) if known.facts else ()


def written_again_line(drawing: OverviewDrawing) -> Line:
    """Whether the blocks come back that were lost with the worst finding."""
    known = drawing.known
    if known.worst is None or not known.facts[known.worst.number].removed:
        return ()
    back, never = known.written_again(known.worst.number)
    return show(
        f"{len(back)} of the {len(back) + len(never)} are written again later, {len(never)} never", "dim"
    )


def changed_line(drawing: OverviewDrawing) -> Line:
    """`+ 4  ~ 4  − 6 blocks since round 8; 2 now hidden, 1 now shown`."""
    changes = drawing.overview.changes
    if changes is None or drawing.is_broken:
        return show(_no_changes(drawing), "dim")
    counts = changes.counts
    if not counts.text:
        return show(f"No block changed since {changes.since}", "dim")
    sight = ", ".join(
        f"{number} now {word}"
        for number, word in ((counts.hidden, "hidden"), (counts.shown, "shown"))
        if number
    )
    parts = [
        (Span(f"{sign} {number}", style if number else "dim"),)
        for sign, number, style in (
            ("+", counts.added, "changed.added"),
            ("~", counts.changed + counts.moved, "changed.changed"),
            ("−", counts.removed, "diff.removed"),
        )
    ]
    return join(
        join(*parts, gap="  "), show(f" blocks since {changes.since}"), show(f"; {sight}" if sight else "")
    )


def _no_changes(drawing: OverviewDrawing) -> str:
    if drawing.is_broken:
        return "Nothing can be compared"
    known = drawing.known
    is_named = bool(known.facts) or len(known.names) == 1
    if is_named and known.names[drawing.overview.number].previous is None:
        return "Nothing to compare yet"
    return f"not among the {len(known.facts):,} revisions that are read" if known.is_read else "reading…"


def change_lines(drawing: OverviewDrawing, cells: int) -> list[Line]:
    """Added, changed and removed blocks by name, one line each."""
    changes = drawing.overview.changes
    if changes is None or drawing.is_broken:
        return [show(_no_changes(drawing), "dim")]
    if not changes.counts.text:
        return [show("No block changed", "dim")]
    added = [name for _, name in changes.added]
    changed = [f"{key[1]} {word}".strip() for key, word in changes.changed]
    removed = [name for _, name in changes.removed]
    rows = [
        ("+", "changed.added", changes.counts.added, added, ""),
        ("~", "changed.changed", changes.counts.changed + changes.counts.moved, changed, ""),
        ("−", "diff.removed", changes.counts.removed, removed, _hidden_before(changes)),
    ]
    lines = []
    for sign, style, count, names, note in rows:
        head = (Span(f"{sign} {count:,} ", style if count else "dim"),)
        tail = show(note, "dim")
        shown = names_line(names, cells - width(head) - width(tail) - 2, ", ")
        lines.append(join(head, join(shown, tail, gap=", ")))
    return lines


def _hidden_before(changes: ChangeSummary) -> str:
    if not changes.removed or not changes.hidden_before:
        return ""
    every = changes.hidden_before == len(changes.removed)
    return "all hidden before" if every else f"{changes.hidden_before} hidden before"
