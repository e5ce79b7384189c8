"""The signs of the inspector, each one cell wide in every terminal, and the spelling of figures.

The signs are from box drawing, block elements, arrows and dingbats without emoji presentation: a padlock
emoji is two cells wide in some terminals and one in others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ctxview.core.fields import Owner
from ctxview.core.figures import Figure
from ctxview.core.findings import Severity
from ctxview.core.lazy import lazy_pattern
from ctxview.core.state import Block, Reach, RefStatus, Tier
from ctxview.tui.drawing.text import MARK, Line, Span, join, merge, show
from ctxview.tui.model.trends import Gauge

SEVERITY = {Severity.ERROR: "✖", Severity.WARNING: "▲", Severity.INFO: "i"}

OWNER = {Owner.MODEL: "✎", Owner.SYSTEM: "⊘", Owner.DERIVED: "∑", Owner.APPEND_ONLY: "⇥"}

REF = {
    RefStatus.RESOLVED: "✓",
    RefStatus.DANGLING: "✗",
    RefStatus.ORPHAN: "○",
    RefStatus.EXTERNAL: "↗",
    RefStatus.MISMATCH: "≠",
    RefStatus.STALE: "±",
    RefStatus.REBUILDABLE: "↺",
    RefStatus.PLACEHOLDER: "◌",
    RefStatus.DUPLICATE: "=",
    RefStatus.CONTRADICTION: "!",
    RefStatus.UNKNOWN: "?",
}

YES, NO, UNSAID = "✓", "✗", "·"

SHOWN, IN_PART, HIDDEN = "●", "◐", "○"

DONE, CURRENT, OPEN, STUCK, DROPPED = "✓", "●", "○", "⊘", "⊖"

MORE, LESS = "↑", "↓"

LEVELS = "▁▂▃▄▅▆▇█"

_TIME = lazy_pattern(
    r"(?P<date>\d{4}-\d\d-\d\d)[T ](?P<clock>\d\d:\d\d:\d\d)(?:\.\d{1,9})?(?P<zone>Z|[+-]\d\d:?\d\d)?"
)


def level(share: float) -> str:
    """A value from 0 to 1 as one cell of a column."""
    return LEVELS[meter_step(share)]


def meter_step(share: float) -> int:
    """A value from 0 to 1 as one of eight steps; a value out of range is the nearest end."""
    return min(7, int(_inside(share) * 8))


def meter_rail(share: float, cells: int) -> tuple[str, str]:
    """A value from 0 to 1 as a thin line: the heavy part in half cells, and the light rest."""
    halves = round(_inside(share) * cells * 2)
    heavy = "━" * (halves // 2) + ("╸" if halves % 2 else "")
    return heavy, "─" * (cells - len(heavy))


def meter_bar(share: float, cells: int) -> tuple[str, str]:
    """A value from 0 to 1 as a bar: the filled part in eighths of a cell, and the empty rest."""
    share = _inside(share)
    eighths = round(share * cells * 8)
    if share > 0 and eighths == 0:
        eighths = 1
    full, part = divmod(eighths, 8)
    filled = "█" * full + ("▏▎▍▌▋▊▉"[part - 1] if part else "")
    return filled, " " * (cells - len(filled))


def share(value: float | None) -> str:
    """A value from 0 to 1 in the fewest cells (.05, 1.0); a value out of range is visible as such."""
    if value is None:
        return ""
    text = f"{value:.2f}"
    if text.startswith("0."):
        return text[1:]
    return "1.0" if text == "1.00" else f"{value:.3g}"


def count_text(number: int | None) -> str:
    """A whole number with separators; empty for None."""
    return "" if number is None else f"{number:,}"


def short_count(number: int | None) -> str:
    """A whole number in at most five cells: 812, 9,412, 41.2k, 3.1M."""
    if number is None:
        return ""
    if abs(number) < 10_000:
        return f"{number:,}"
    for divisor, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(number) >= divisor:
            value = number / divisor
            return f"{value:.0f}{unit}" if value >= 100 else f"{value:.1f}{unit}"
    return str(number)


def time_text(time: str) -> str:
    """A time as it was written, without T and fractions: 2026-03-12 05:24:41Z; other texts are unchanged."""
    found = _TIME.fullmatch(time)
    return f"{found['date']} {found['clock']}{found['zone'] or ''}" if found else time


_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


def day_text(time: str) -> str:
    """A time without year and seconds: 12 Mar 05:24; other texts are unchanged."""
    found = _TIME.fullmatch(time)
    if found is None:
        return time
    _, month, day = found["date"].split("-")
    name = _MONTHS[int(month) - 1] if 1 <= int(month) <= 12 else month
    return f"{int(day)} {name} {found['clock'][:5]}"


def signed(number: int) -> str:
    """A change of a count with its sign."""
    return f"{'−' if number < 0 else '+'}{abs(number):,}"


def _inside(share: float) -> float:
    """The nearest value from 0 to 1; 0 for NaN."""
    return min(1.0, max(0.0, share)) if share == share else 0.0


REACH_GLYPHS: Mapping[Reach, str] = {
    Reach.INJECTED: "●",
    Reach.ASSEMBLED: "◐",
    Reach.ALLOWED: "○",
    Reach.DENIED: "✗",
    Reach.VIOLATION: "✖",
    Reach.UNKNOWN: "·",
}

REACH_WORDS: Mapping[Reach, str] = {
    Reach.INJECTED: "injected",
    Reach.ASSEMBLED: "assembled",
    Reach.ALLOWED: "allowed",
    Reach.DENIED: "denied",
    Reach.VIOLATION: "not allowed",
    Reach.UNKNOWN: "not stated",
}

REACH_SENTENCES: Mapping[Reach, str] = {
    Reach.INJECTED: "injected",
    Reach.ASSEMBLED: "assembled, but not recorded as injected",
    Reach.ALLOWED: "allowed, not included",
    Reach.DENIED: "denied",
    Reach.VIOLATION: "injected although not allowed",
    Reach.UNKNOWN: "not stated",
}


def reach_targets(blocks: Iterable[Block]) -> list[str]:
    """The targets of all blocks, in the order in which they first occur."""
    return list(dict.fromkeys(target for block in blocks for target in block.reach))


def reach_legend() -> Line:
    """The meaning of the signs, on one line; a violation has its own words."""
    return join(
        *(
            (Span(f"{REACH_GLYPHS[each]} ", reach_style(each)), Span(REACH_WORDS[each], "dim"))
            for each in Reach
            if each is not Reach.VIOLATION
        ),
        gap="  ",
    )


def violation_text(block: Block) -> Line:
    """`✖ injected for model although not allowed`; empty for a block without a violation."""
    targets = [target for target, reach in block.reach.items() if reach is Reach.VIOLATION]
    words = f"{REACH_GLYPHS[Reach.VIOLATION]} injected for {', '.join(targets)} although not allowed"
    return show(words, reach_style(Reach.VIOLATION)) if targets else ()


def reach_text(block: Block) -> Iterator[Line]:
    """The targets of one block, with one line for each reach: "model, tool: injected"."""
    for reach in Reach:
        names = [target for target, reached in block.reach.items() if reached is reach]
        if names:
            sign: Line = (Span(f"{REACH_GLYPHS[reach]} ", reach_style(reach)),)
            yield join(sign, show(f"{', '.join(names)}: "), show(REACH_SENTENCES[reach], reach_style(reach)))


def reach_style(reach: Reach) -> str:
    return f"sight.{reach}"


def short_names(names: Sequence[str], cells: int) -> list[str]:
    """Shorten names to `cells`: to their first word, or to as many characters as fit, with a mark."""
    return [_short(name, max(2, cells)) for name in names]


def _short(name: str, cells: int) -> str:
    if len(name) <= cells:
        return name
    first = name.replace("-", "_").partition("_")[0]
    return f"{first if 2 <= len(first) < cells else name[: cells - 1]}{MARK}"


AFTER = "faint"
"""The style of values after the shown revision."""


def gauge_spark(gauges: Sequence[Gauge | None], at: int, cells: int, name: str) -> Line:
    """A figure with a scale over time, in the style of hidden blocks where the block was hidden.

    Empty when the line would be level, so that figures that change are noticed among many that do not.
    """
    figures = [figure for gauge in gauges if gauge and (figure := gauge.figure(name)) is not None]
    if len({meter_step(figure.share) for figure in figures}) < 2:
        return ()

    def cell(place: int, gauge: Gauge | None) -> Span | None:
        figure = gauge.figure(name) if gauge is not None else None
        if gauge is None or figure is None:
            return None
        step = meter_step(figure.share)
        own = "visible.no" if gauge.visible is False else f"{ramp_of(figure)}.{step}"
        return Span(LEVELS[step], AFTER if place > at else own)

    return _in_cells([cell(place, gauge) for place, gauge in enumerate(gauges)], at, cells)


def visibility_spark(gauges: Sequence[Gauge | None], at: int, cells: int) -> Line:
    """Whether the block was shown to the model, over time."""
    signs = {True: Span(SHOWN, "visible.yes"), False: Span(HIDDEN, "hidden")}

    def cell(place: int, gauge: Gauge | None) -> Span | None:
        sign = signs.get(gauge.visible) if gauge is not None and gauge.visible is not None else None
        return Span(sign.text, AFTER) if sign is not None and place > at else sign

    return _in_cells([cell(place, gauge) for place, gauge in enumerate(gauges)], at, cells)


def use_spark(uses: Sequence[int | None], at: int, cells: int) -> Line:
    """A count over time, relative to its maximum; empty when the line would be level."""
    known = [each for each in uses if each is not None]
    most = max(known, default=0) or 1
    if len({meter_step(each / most) for each in known}) < 2:
        return ()
    spans = [
        None if each is None else Span(level(each / most), AFTER if place > at else "budget.used")
        for place, each in enumerate(uses)
    ]
    return _in_cells(spans, at, cells)


def _in_cells(spans: Sequence[Span | None], at: int, cells: int) -> Line:
    """One cell for each span; if too many, each cell has the present or last known span of its range."""
    if len(spans) > cells > 0:
        ends = [(cell + 1) * len(spans) // cells for cell in range(cells)]
        ranges = zip([0, *ends[:-1]], ends, strict=True)
        spans = [_present_or_last(spans[start:end], at - start) for start, end in ranges]
    return tuple(merge(span or Span(" ") for span in spans))


def _present_or_last(spans: Sequence[Span | None], present: int) -> Span | None:
    if 0 <= present < len(spans) and spans[present] is not None:
        return spans[present]
    return next((span for span in reversed(spans) if span is not None), None)


def tier_styles(tiers: Iterable[Tier]) -> dict[str, str]:
    """The style of each tier; tiers without a colour role share eight styles in turn."""
    others = 0
    styles: dict[str, str] = {}
    for tier in tiers:
        if tier.name in styles:
            continue
        styles[tier.name] = f"tier.{tier.role}" if tier.role else f"tiers.{others % 8}"
        others += not tier.role
    return styles


def ramp_of(figure: Figure) -> str:
    """The colours of a gauge: those of decay where low is better, else those of confidence."""
    return "decay" if figure.better == "low" else "confidence"
