"""The window and the skyline as SVG elements. Colours are classes, so that one style sheet serves all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from ctxview.analysis.revisions.events import EventKind
from ctxview.analysis.revisions.facts import KnownRevisions
from ctxview.analysis.revisions.skyline import Skyline, column_labels
from ctxview.analysis.revisions.window import ELSEWHERE, unit_of
from ctxview.core.state import Budget, Tier
from ctxview.review.reports.markup import Markup, element

WIDE = 1000.0
"""Units across a drawing."""
BAR = 30.0
TOP, TALL, FOOT, LEFT, RIGHT = 46.0, 220.0, 40.0, 84.0, 30.0
"""The room above the columns, their height, the room below, and the room left of the axis and at its end."""
COLOURS = 8
EVENT_SIGNS: Mapping[EventKind, tuple[str, str]] = {
    "broken": ("✖", "bad"),
    "loss": ("▼", "bad"),
    "stage": ("▲", "warn"),
    "cut": ("▼", "dim"),
    "noted": ("•", "dim"),
    "shown": ("", ""),
}
"""The sign and the class of each kind of event, the worst first."""
_ROLES = {"core": 0, "working": 1, "ephemeral": 2, "longterm": 3}


class Colours(Struct, frozen=True):
    """The class of each segment: tiers have the same colour in all drawings."""

    classes: Mapping[str, str]

    def of(self, name: str) -> str:
        return "part-elsewhere" if name == ELSEWHERE else self.classes.get(name, "part-0")


def colours_of(tiers: Iterable[Tier], names: Iterable[str]) -> Colours:
    """Return a colour for each tier and segment; tiers with a role have the colour of the role."""
    tiers = list(tiers)
    classes = {tier.name: f"part-{_ROLES[tier.role]}" for tier in tiers if tier.role in _ROLES}
    for name in (*names, *(tier.name for tier in tiers)):
        if name not in classes and name != ELSEWHERE:
            whole = name.partition(", ")[0]  # "change, truncated" is a "change"
            if whole not in classes:
                free = [place for place in range(COLOURS) if f"part-{place}" not in classes.values()]
                classes[whole] = f"part-{free[0] if free else len(classes) % COLOURS}"
            classes[name] = classes[whole]
    return Colours(classes)


def window_bar(budget: Budget, colours: Colours, top: float = 0.0) -> Sequence[Markup]:
    """The use by segment, the limit, what is beyond it, and the reserve; empty without a limit."""
    if not budget.limit or budget.used is None:
        return []
    reserved = budget.reserved or 0
    end = max(budget.used, budget.limit)
    # A reserve is a part of the limit, or is kept beside it.
    first = max(budget.used, budget.limit - reserved) if budget.holds_reserve else end
    whole = end if budget.holds_reserve else end + reserved
    scale = WIDE / whole
    parts = [(each.name, each.used) for each in budget.segments if each.used > 0]
    parts.sort(key=lambda part: part[0] != ELSEWHERE)
    rest = budget.used - sum(used for _, used in parts)
    parts += [("", rest)] if rest > 0 else []
    found = [element("rect", x=0.0, y=top, width=WIDE, height=BAR, rx=4, class_="track")]
    at = 0.0
    for name, used in parts:
        wide = min(used * scale, max(0.0, budget.used * scale - at))
        tip = element("title", f"{name or 'other'}: {used:,} {unit_of(budget)}")
        found.append(element("rect", tip, x=at, y=top, width=wide, height=BAR, class_=colours.of(name)))
        at += wide
    limit = budget.limit * scale
    if budget.over:
        over = budget.over * scale
        found.append(element("rect", x=limit, y=top, width=over, height=BAR, class_="over"))
    if reserved and first < whole:
        tip = element("title", f"reserved: {reserved:,}")
        wide = (whole - first) * scale
        found.append(element("rect", tip, x=first * scale, y=top, width=wide, height=BAR, class_="reserved"))
    at = min((budget.line or budget.limit) * scale, WIDE - 2)
    found.append(element("line", x1=at, x2=at, y1=top - 5, y2=top + BAR + 5, class_="limit"))
    return found


def skyline_parts(
    known: KnownRevisions, skyline: Skyline, colours: Colours, number: int, top: float = 0.0
) -> Sequence[Markup]:
    """The window over time: stacked columns, the limit, signs of events; the revision `number` is marked."""
    most = max((each.used or 0 for each in skyline.columns), default=0)
    scale = max(most, skyline.limit or 0)
    if not scale:
        return []
    base = top + TOP + TALL
    found = []
    for share in (0.0, 0.5, 1.0):
        y = base - TALL * share
        found.append(element("line", x1=LEFT, x2=WIDE - RIGHT, y1=y, y2=y, class_="grid"))
        label = f"{round(scale * share):,}"
        found.append(element("text", label, x=LEFT - 10, y=y + 5, text_anchor="end", class_="axis"))
    per = (WIDE - LEFT - RIGHT) / len(skyline.columns)
    labels = column_labels(known, skyline)
    every, sparse = _steps(len(labels))
    here = known.window_revision(number)
    for place, column in enumerate(skyline.columns):
        left, wide = LEFT + per * place + per * 0.1, per * 0.8
        is_here = column.first <= here <= column.last
        name = known.names[column.number].name
        shapes = [element("title", f"{name}: {column.used or 0:,}")]
        y = base
        parts = column.parts or (("", column.used or 0),)
        total = sum(max(0, used) for _, used in parts)
        for part, used in sorted(parts, key=lambda each: each[0] == ELSEWHERE):
            # The segments of some budgets do not add up to what is used.
            tall = TALL * max(0, used) * (column.used or 0) / (scale * total) if total else 0.0
            y -= tall
            shapes.append(element("rect", x=left, y=y, width=wide, height=tall, class_=colours.of(part)))
        kinds = sorted({event.kind for event in column.events}, key=list(EVENT_SIGNS).index)
        if kinds and EVENT_SIGNS[kinds[0]][0]:
            sign, style = EVENT_SIGNS[kinds[0]]
            shapes.append(_label(sign, left + wide / 2, y - 8, f"event {style}"))
        if is_here:
            shapes.append(
                element("rect", x=left - 3, y=y - 3, width=wide + 6, height=base - y + 6, class_="here")
            )
        found.append(element("g", *shapes))
        if place % every == 0 or is_here:
            shown = "axis now" if is_here else "axis" if place % sparse == 0 else "axis wide"
            found.append(_label(labels[place], left + wide / 2, base + 26, shown))
    if skyline.limit:
        y = base - TALL * skyline.limit / scale
        found.append(element("line", x1=LEFT, x2=WIDE - RIGHT, y1=y, y2=y, class_="limit"))
        found.append(
            element("text", "limit", x=WIDE - RIGHT, y=y - 8, text_anchor="end", class_="axis limit-name")
        )
    return found


def _steps(count: int) -> tuple[int, int]:
    """Every how many columns have a label, on a wide screen and on a narrow one."""
    steps = (1, 2, 5, 10, 20, 50)
    return next((each for each in steps if count / each <= 30), 100), next(
        (each for each in steps if count / each <= 8), 100
    )


def _label(text: str, x: float, y: float, style: str) -> Markup:
    return element("text", text, x=x, y=y, text_anchor="middle", class_=style)


def drawing(parts: Sequence[Markup], tall: float, name: str, top: float = 0.0) -> Markup:
    """An SVG element that scales with the page; `name` says in words what it shows."""
    box = f"0 {top:g} {WIDE:g} {tall:g}"
    return element("svg", element("title", name), *parts, viewBox=box, role="img", class_="chart")
