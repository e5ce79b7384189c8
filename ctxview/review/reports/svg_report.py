"""A report as one SVG picture: the answers, the window and the skyline."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ctxview.analysis.revisions.skyline import fullest_sentences
from ctxview.analysis.wording import excerpt
from ctxview.core.state import Segment
from ctxview.review.reports.charts import (
    BAR,
    FOOT,
    TALL,
    TOP,
    WIDE,
    Colours,
    colours_of,
    skyline_parts,
    window_bar,
)
from ctxview.review.reports.contents import Report, answers
from ctxview.review.reports.html_report import style_sheet
from ctxview.review.reports.markup import Markup, element

_COLOUR = re.compile(r"--([\w-]+): (#[0-9a-f]+);")
_VARIABLE = re.compile(r"var\(--([\w-]+)\)")
MARGIN, LINE = 30.0, 34.0
LONGEST = 92
"""Characters of a line of text in the picture."""
COLUMN = WIDE / 4
MOST_ENTRIES = 12


def svg_report(report: Report) -> str:
    """Return the whole picture."""
    at = 34.0
    facts = " · ".join(filter(None, (report.state.format, report.name, f"tokens by {report.counter}")))
    parts = [
        element("text", excerpt(report.state.title, 50), x=0, y=at, class_="title"),
        element("text", excerpt(facts, LONGEST), x=0, y=at + LINE),
    ]
    at += LINE * 1.4
    for answer in answers(report):
        at += LINE
        parts.append(element("text", answer.label, x=0, y=at))
        parts.append(element("text", excerpt(answer.sentence, 76), x=110, y=at, class_=f"said {answer.tone}"))
    budget = report.overview.window.budget
    segments = [each for each in budget.segments if each.used > 0] if budget is not None else []
    colours = colours_of(report.state.tiers, [*(each.name for each in segments), *report.skyline.names])
    at += LINE
    if budget is not None and (bar := window_bar(budget, colours, at)):
        parts += bar
        at += BAR + LINE
        parts += _legend(segments[:MOST_ENTRIES], colours, at)
        at += LINE * (-(-min(len(segments), MOST_ENTRIES) // 4))
    shapes = skyline_parts(report.known, report.skyline, colours, report.number, at + LINE)
    if shapes and len(report.known.names) > 1:
        sentence, _ = fullest_sentences(report.known, report.skyline)
        parts.append(element("text", excerpt(sentence, LONGEST), x=0, y=at + LINE, class_="said"))
        parts += shapes
        at += LINE + TOP + TALL + FOOT
    wide, tall = WIDE + 2 * MARGIN, at + MARGIN
    picture = element(
        "svg",
        element("title", f"{report.state.title}: context report"),
        # The sheet is ours; it has no character that XML would read as markup.
        Markup(f"<style>{_style()}</style>"),
        element("rect", x=-MARGIN, y=0, width=wide, height=tall, class_="page"),
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"{-MARGIN:g} 0 {wide:g} {tall:g}",
        width=wide,
        height=tall,
        role="img",
        class_="chart picture",
    )
    return f"{picture.code}\n"


def _style() -> str:
    """The rules of charts with the colours themselves, since many viewers of pictures know no variables."""
    sheet = style_sheet()
    light, dark = (dict(_COLOUR.findall(part)) for part in sheet.split("* {")[0].split("@media"))
    rules = sheet[sheet.index(".chart {") : sheet.index(".legend {")]
    rules = rules.replace('rect[class^="part"] { fill: var(--c); }\n', "").replace("{ --c:", "{ fill:")
    day, night = (_coloured(rules, colours) for colours in (light, dark))
    return f"{day}@media (prefers-color-scheme: dark) {{\n{night}}}\n"


def _coloured(rules: str, colours: Mapping[str, str]) -> str:
    return _VARIABLE.sub(lambda match: colours[match[1]], rules)


def _legend(segments: Sequence[Segment], colours: Colours, top: float) -> list[Markup]:
    parts = []
    for place, each in enumerate(segments):
        x, y = COLUMN * (place % 4), top + LINE * (place // 4)
        parts.append(element("rect", x=x, y=y - 13, width=14, height=14, rx=3, class_=colours.of(each.name)))
        parts.append(element("text", f"{excerpt(each.name, 16)} {each.used:,}", x=x + 22, y=y))
    return parts
