"""The rows of the memory: columns for a width, a block in one row, and the heading of a tier."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from msgspec import Struct
from msgspec.structs import replace
from rich.cells import cell_len

from ctxview.analysis.revisions.reasons import is_shown_in_part
from ctxview.core.figures import Figure, Limit
from ctxview.core.findings import Severity
from ctxview.core.state import Block
from ctxview.tui.drawing import glyphs
from ctxview.tui.drawing.boxes import ends
from ctxview.tui.drawing.rows import EMPTY_TEXT, severity_counts
from ctxview.tui.drawing.text import Line, Span, fit, join, pad, preview, shorten, show, width, wrap_to
from ctxview.tui.model.change_marks import ChangeMark
from ctxview.tui.model.query import MODEL_ORDER, TIER_ORDER

LEAST_TEXT = 26
FIGURE, TOKENS = 4, 5
LONGEST_ID, LONGEST_ID_NARROW = 40, 27
ROOMY = 96
MOST_DOTS, FEWER_DOTS = 20, 12
LONGEST_TIER = 16
CHANGED = {ChangeMark.ADDED: "+", ChangeMark.CHANGED: "~", ChangeMark.VERDICT: "~"}
VERDICTS = {True: glyphs.SHOWN, False: glyphs.HIDDEN, None: glyphs.UNSAID}


class MemoryColumns(Struct, frozen=True):
    """Widths in cells, 0 for no column. The first cells are the changes and whether the model is shown it."""

    tier: int
    id: int
    findings: int
    figures: tuple[str, ...]
    age: int
    tokens: int
    text: int = 0
    heading: int = 10
    """The name of a tier in its heading."""
    dots: int = 0
    """The blocks of a tier in its heading."""

    @property
    def taken(self) -> int:
        """Cells of all columns before the text, including gaps."""
        widths = [4, self.tier, self.id, self.findings, *self.figure_widths, self.age, self.tokens]
        return sum(each + 1 for each in widths if each)

    @property
    def figure_widths(self) -> list[int]:
        return [FIGURE] * len(self.figures)

    def header(self, sort: str, reverse: bool) -> Line:
        named: list[tuple[str, int, str | None, bool]] = [
            ("tier", self.tier, TIER_ORDER, False),
            ("", self.id, None, False),
            ("", self.findings, None, False),
            *((short_name(name, FIGURE), FIGURE, name, True) for name in self.figures),
            ("age", self.age, "age", True),
            ("tok", self.tokens, "tokens", True),
            ("text", self.text, MODEL_ORDER, False),
        ]
        cells = [_column_name(*each, sort, reverse) for each in named if each[1]]
        return join((Span(" " * 4),), *cells)


def memory_columns(cells: int, blocks: Sequence[Block], *, grouped: bool) -> MemoryColumns:
    """The columns that fit: the least important ones are left out first, and the text gets the rest."""
    roomy = cells >= ROOMY
    known = {figure.name: figure for block in blocks for figure in block.figures}
    figures = [name for name, each in known.items() if cells >= 140 or not each.derived]
    longest = max((cell_len(block.id) for block in blocks), default=4)
    id_cells = min(longest, LONGEST_ID if roomy else LONGEST_ID_NARROW)
    tier = 0 if grouped else min(12, max((cell_len(block.tier) for block in blocks), default=4))
    age = 4 if cells >= 140 and any(block.age is not None for block in blocks) else 0
    tokens = TOKENS if roomy and any(block.tokens is not None for block in blocks) else 0
    tiers = Counter(block.tier for block in blocks)
    heading = max(10, min(LONGEST_TIER, max(map(cell_len, tiers), default=0)))
    columns = MemoryColumns(tier, max(4, id_cells), 1, tuple(figures), age, tokens, heading=heading)
    while cells - columns.taken < LEAST_TEXT:
        if columns.age or columns.tokens:
            columns = _with(columns, age=0, tokens=0 if not columns.age else columns.tokens)
        elif columns.figures:
            columns = _with(columns, figures=columns.figures[:-1])
        elif columns.id > 14:
            columns = _with(columns, id=14)
        elif columns.tier or columns.findings:
            columns = _with(columns, tier=0, findings=0)
        else:
            break
    dots = min(MOST_DOTS if roomy else FEWER_DOTS, max([columns.id - 7, *tiers.values()]))
    return _with(columns, text=max(0, cells - columns.taken), dots=max(0, dots))


def _with(columns: MemoryColumns, **changed: object) -> MemoryColumns:
    return replace(columns, **changed)


def short_name(name: str, cells: int) -> str:
    """A name in so many cells: `dec` for decay, `conf` for confidence."""
    return name if len(name) <= cells else name[:cells].rstrip("aeiou") or name[:cells]


def _column_name(name: str, cells: int, key: str | None, right: bool, sort: str, reverse: bool) -> Line:
    """The name after a gap, in which a column of numbers has its arrow."""
    action = f"screen.sort_by('{key}')" if key is not None else ""
    current = key == sort and sort != TIER_ORDER
    arrow = ("▴" if reverse else "▾") if current else ""
    if name == "text" and current:
        name = "text, as the model reads"
    style = "link" if current else "dim"
    if right:
        label = name[:cells]
        gap = Span(" " * (cells - len(label)) + (" " if not arrow else ""))
        return gap, Span(arrow, style, action), Span(label, style, action)
    label = (name[: cells - len(arrow)] + arrow)[:cells]
    return Span(" "), Span(label, style, action), Span(" " * (cells - len(label)))


class MemoryRow(Struct, frozen=True):
    """A block as a row draws it."""

    block: Block
    style: str
    """The style of its tier."""
    change: ChangeMark | None = None
    worst: Severity | None = None
    """The worst of its findings."""
    limits: tuple[Limit, ...] = ()


def block_row(row: MemoryRow, columns: MemoryColumns, depth: int) -> list[Line]:
    """One block; its text has at most `depth` lines. A hidden one says its reason where its text was."""
    block, change = row.block, row.change
    hidden = block.visible is False
    quiet = "hidden" if hidden else ""
    sign = Span(glyphs.IN_PART if is_shown_in_part(block) else VERDICTS[block.visible], quiet or row.style)
    cells: list[Line] = [
        (
            Span(" "),
            Span(CHANGED[change] if change else " ", f"changed.{change}" if change else ""),
            Span(" "),
            sign,
        )
    ]
    if columns.tier:
        cells.append(pad(show(shorten(block.tier, columns.tier), row.style), columns.tier))
    cells.append(pad(show(shorten(block.id, columns.id), quiet), columns.id))
    if columns.findings:
        worst = row.worst
        cells.append((Span(glyphs.SEVERITY[worst], f"severity.{worst}") if worst is not None else Span(" "),))
    figures = {figure.name: figure for figure in block.figures}
    cells += [_figure_cell(figures.get(name), row.limits, quiet) for name in columns.figures]
    if columns.age:
        cells.append(pad(show(glyphs.short_count(block.age), quiet or "dim"), columns.age, right=True))
    if columns.tokens:
        cells.append(pad(show(glyphs.short_count(block.tokens), quiet or "dim"), columns.tokens, right=True))
    first, *more = block_text(block, columns.text, depth)
    return [join(*cells, first, gap=" "), *(join((Span(" " * columns.taken),), line) for line in more)]


def _figure_cell(figure: Figure | None, limits: Collection[Limit], quiet: str) -> Line:
    if figure is None:
        return (Span(" " * FIGURE),)
    broken = any(limit.figure == figure.name and limit.is_broken(figure.value) for limit in limits)
    is_count = isinstance(figure.value, int)
    text = glyphs.short_count(int(figure.value)) if is_count else glyphs.share(figure.value)
    if figure.unit == "%":
        text = f"{figure.value:.0f}%"
    return pad(show(text, "severity.warning" if broken else quiet or "dim"), FIGURE, right=True)


def block_text(block: Block, cells: int, depth: int = 1) -> list[Line]:
    """The beginning of the text, in at most `depth` lines; before it why the block is not shown."""
    hidden = block.visible is False
    quiet = "hidden" if hidden else ""
    # The usual states are left out; the others change how the text is to be read.
    is_told = block.state in {None, "active", "open"} or (hidden and str(block.state) in block.why)
    label = () if is_told else show(f"{block.state} ", quiet or "accent")
    text = join(label, preview(block.text, quiet, limit=cells * depth * 2 + 20) or (EMPTY_TEXT,))
    if violation := glyphs.violation_text(block):
        text = join(violation, text, gap=" · ")
    if hidden and block.why:
        reason = join((Span("not shown: ", "dim"),), preview(block.why, "dim"))
        text = join(reason, text, gap=" · ") if width(reason) < cells * 3 // 4 or depth > 1 else reason
    return wrap_to(text, cells, depth) if depth > 1 else [fit(text, cells)]


class TierHeading(Struct, frozen=True):
    """A tier with the numbers of its listed blocks."""

    name: str
    style: str
    is_open: bool
    shown: int
    total: int
    tokens: int | None
    findings: dict[Severity, int]


def heading_line(heading: TierHeading, columns: MemoryColumns, cells: int, number: int) -> Line:
    """`▾ working  ●●●○  3 shown, 1 not  ▲ 2        367 tok`; a click folds or opens it."""
    fold = f"screen.fold_tier({number})"
    sign = Span("▾" if heading.is_open else "▸", "dim", fold)
    name = pad(show(shorten(heading.name, columns.heading), f"bold {heading.style}", fold), columns.heading)
    dots: Line
    hidden = heading.total - heading.shown
    if heading.total <= columns.dots:
        dots = (Span("●" * heading.shown, heading.style), Span("○" * hidden, "hidden"))
    else:
        full = round(heading.shown * columns.dots / heading.total)
        dots = (Span("█" * full, heading.style), Span("·" * (columns.dots - full), "faint"))
    counts = (
        "empty" if not heading.total else f"{heading.shown:,} shown" + (f", {hidden:,} not" if hidden else "")
    )
    left = join(
        (Span(" "), sign),
        name,
        pad(dots, columns.dots),
        pad(show(counts, "dim" if not heading.total else ""), 18),
        severity_counts(heading.findings, gap=" "),
        gap=" ",
    )
    size = show(f"{heading.tokens:,} tok", "dim") if heading.tokens else ()
    return ends(fit(left, cells - width(size) - 1), size, cells)
