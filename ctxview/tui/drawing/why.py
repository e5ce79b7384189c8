"""The life of a block as lines: the answer, a sign for each prompt, and the steps with causes. No toolkit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from ctxview.analysis.revisions.facts import KnownRevisions
from ctxview.analysis.revisions.why_answer import LifePoint, Why, WhyStep
from ctxview.reports.why import short_origin
from ctxview.tui.drawing.boxes import INSIDE, box, ends, filled
from ctxview.tui.drawing.glyphs import share
from ctxview.tui.drawing.text import EMPTY, Line, Span, fit, join, merge, pad, preview, show, width, wrap_to

SIGN_STYLES = {
    "+": "changed.added",
    "●": "visible.yes",
    "~": "changed.changed",
    "○": "hidden",
    "−": "diff.removed",
    "?": "dim",
    "·": "faint",
}
STATUS_STYLES = {"gone": "severity.error", "hidden": "severity.warning", "shown": "ok"}
LEGEND = (("●", "shown"), ("○", "not shown, still stored"), ("−", "gone"), ("?", "no record"))
BOXED = 100
MOST_SOURCE_LINES = 4
LABEL = 17
POINT = 4
"""Cells for one prompt of the life line."""


class WhyLines(Struct, frozen=True):
    """The lines of an answer: those above the steps, the steps, and those below for the chosen step."""

    above: tuple[Line, ...]
    steps: tuple[Line, ...]
    below: tuple[Line, ...]


def draw_why(answer: Why, known: KnownRevisions, cells: int, chosen: int | None = None) -> WhyLines:
    """Return the answer for a width; the origin of every step is shown from 100 columns on."""
    if cells >= BOXED:
        return _boxed(answer, known, cells)
    above = [
        *wrap_to(_sentence(answer), cells - 2, 3),
        preview(f"“{answer.block.text}”", "dim", 300),
        EMPTY,
        *life_lines(answer, known, cells - 1),
        EMPTY,
    ]
    steps = [_step(each, answer, cells - 1, origins=False) for each in answer.steps]
    below = [EMPTY, *_chosen(answer, chosen, cells - 2), *_note(answer, cells - 2)]
    return WhyLines(
        *(tuple(fit(join((Span(" "),), line), cells) for line in part) for part in (above, steps, below))
    )


def life_lines(answer: Why, known: KnownRevisions, cells: int) -> list[Line]:
    """The prompts, the sign of the block in each, and the figure that decided."""
    points, room = answer.life, max(1, cells - LABEL)
    if len(points) * POINT <= room:
        names = [_short(known.names[each.number].label, place) for place, each in enumerate(points)]
        word = (
            "round"
            if all(known.names[each.number].label.startswith("round") for each in points)
            else "revision"
        )
        lines = [
            join(
                pad(show(word, "dim"), LABEL), *(pad(show(name, "dim"), POINT, right=True) for name in names)
            ),
            join(
                pad(show("in the prompt", "dim"), LABEL),
                *(pad((Span(each.sign, SIGN_STYLES[each.sign]),), POINT, right=True) for each in points),
            ),
        ]
        if answer.figure is not None and any(each.value is not None for each in points):
            values = (pad(_value(each), POINT, right=True) for each in points)
            lines.append(join(pad(show(answer.figure, "dim"), LABEL), *values))
        return lines
    signs = _bucketed(points, room)
    spans = tuple(merge(Span(sign, SIGN_STYLES[sign]) for sign in signs))
    ends_of = f"{known.names[points[0].number].label} to {known.names[points[-1].number].label}"
    return [join(pad(show("in the prompt", "dim"), LABEL), spans), show(f"{'':{LABEL}}{ends_of}", "dim")]


def _sentence(answer: Why) -> Line:
    first, dot, rest = answer.sentence.partition(". ")
    style = STATUS_STYLES.get(answer.status, "strong")
    return join(show(first + (dot and "."), f"{style} bold"), show(f" {rest}" if rest else "", "strong"))


def _step(step: WhyStep, answer: Why, cells: int, *, origins: bool) -> Line:
    place = min(max(width(show(each.place)) for each in answer.steps) + 2, cells // 3)
    left = join(
        (Span(f" {step.sign} ", SIGN_STYLES[step.sign]),),
        pad(show(step.place, "" if step.cause else "dim"), place),
        show(step.text, "strong" if step.cause else "dim"),
    )
    cause = show(f"cause {step.cause}", "severity.error") if step.cause else ()
    rule = show(step.rule, "rule") if step.rule is not None else ()
    origin = show(short_origin(step.origin), "link") if origins and step.origin is not None else ()
    # The causes, the rules and the origins of all steps are in columns.
    causes, rules, places = (max(map(len, texts), default=0) for texts in _marks(answer))
    tail = (pad(cause, causes), pad(rule, rules), pad(origin, places, right=True) if origins else ())
    return ends(left, join(*(each for each in tail if each), gap="  "), cells)


def _marks(answer: Why) -> Iterator[list[str]]:
    """The texts of the columns right of the steps: causes, rules, origins."""
    yield [f"cause {each.cause}" for each in answer.steps if each.cause]
    yield [each.rule for each in answer.steps if each.rule is not None]
    yield [short_origin(each.origin) for each in answer.steps if each.origin is not None]


def _chosen(answer: Why, chosen: int | None, cells: int) -> list[Line]:
    """The origin and the rule of the chosen step."""
    if chosen is None or not 0 <= chosen < len(answer.steps):
        return []
    step = answer.steps[chosen]
    if step.origin is None:
        return []
    rule = show(step.rule, "rule") if step.rule is not None else ()
    line = join(show("step  ", "dim"), show(short_origin(step.origin), "link"), (Span("  "),), rule)
    return [ends(line, show("o", "key"), cells)]


def _note(answer: Why, cells: int) -> list[Line]:
    """What the block refers to, and what became of the blocks that left with it."""
    lines = []
    for source in answer.sources:
        place = show(short_origin(source.origin), "link") if source.origin is not None else ()
        lines.append(ends(join(show("from  ", "dim"), show(source.name, "strong")), place, cells))
        for text in source.text.split("\n")[:MOST_SOURCE_LINES]:
            lines += wrap_to(show(f"      {text}", "dim"), cells, 2, "      ")
    note = join(show("kept  ", "dim"), show(answer.note))
    return [*lines, *(wrap_to(note, cells, 2, "      ") if answer.note else [])]


def _boxed(answer: Why, known: KnownRevisions, cells: int) -> WhyLines:
    inside = cells - INSIDE
    used = {each.sign for each in answer.life}
    legend: list[Line] = [
        join((Span(f"{sign} ", SIGN_STYLES[sign]),), show(text, "dim"))
        for sign, text in LEGEND
        if sign in used
    ]
    if answer.figure is not None and answer.limit is not None:
        legend.append(show(f"{answer.figure}: the limit is {answer.limit:g}", "dim"))
    question = {"shown": "Since when is {} shown?", "stored": "Where is {}?"}.get(
        answer.status, "Why is {} not shown?"
    )
    top = [
        EMPTY,
        *wrap_to(_sentence(answer), inside, 2),
        EMPTY,
        *life_lines(answer, known, inside),
        EMPTY,
        *filled(legend, inside),
    ]
    title = show(question.format(answer.name), "title")
    above = box(title, top, cells, end=join(show("W", "key"), show("other name", "dim"), gap=" "))
    rows = [_step(each, answer, inside, origins=True) for each in answer.steps]
    head, *steps, foot = box(
        show("What happened, oldest first", "title"), rows, cells, end=show("origin", "dim")
    )
    text = [preview(answer.block.text, "", 2000)]
    figures = [f"{name} {share(value)}" for name, value in answer.block.figures]
    facts = [answer.tier, answer.block.type or "", *figures]
    block = [
        *wrap_to(join(*text), inside, 4),
        show(" · ".join(filter(None, facts)), "dim"),
        *_note(answer, inside),
    ]
    below = [foot, *box(show("The block, as last written", "title"), block, cells, end=show("Enter", "key"))]
    return WhyLines((*above, head), tuple(steps), tuple(below))


def _value(point: LifePoint) -> Line:
    return show(share(point.value), "severity.warning" if point.is_broken else "")


def _short(label: str, place: int) -> str:
    digits = "".join(letter if letter.isdigit() else " " for letter in label).split()
    return digits[0] if digits and len(digits[0]) < POINT else str(place + 1)


def _bucketed(points: Sequence[LifePoint], cells: int) -> list[str]:
    """One sign per cell: the last of the prompts that share it."""
    if len(points) <= cells:
        return [each.sign for each in points]
    return [points[(cell + 1) * len(points) // cells - 1].sign for cell in range(cells)]
