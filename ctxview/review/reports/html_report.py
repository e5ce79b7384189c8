"""A report as one HTML file that loads nothing and has no script, for browsers, phones and paper."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from itertools import groupby

from ctxview import __version__
from ctxview.analysis.gaps import blocked_names, gap_severity
from ctxview.analysis.revisions.skyline import fullest_sentences
from ctxview.analysis.revisions.window import counter_of, unit_of
from ctxview.analysis.wording import counted, excerpt
from ctxview.core.findings import REGISTRY, Effect, Finding, Severity
from ctxview.core.state import Block, Budget, Gap, Tier
from ctxview.reports.findings import severity_counts_text
from ctxview.review.reports.charts import (
    BAR,
    EVENT_SIGNS,
    FOOT,
    TALL,
    TOP,
    Colours,
    colours_of,
    drawing,
    window_bar,
)
from ctxview.review.reports.charts import skyline_parts as skyline_shapes
from ctxview.review.reports.contents import (
    SIGNS,
    Report,
    answers,
    path_for_others,
    place_for_others,
)
from ctxview.review.reports.html_changes import changes_section, xray_section
from ctxview.review.reports.markup import NOTHING, Child, Markup, element, joined

MOST_IN_GROUP = 40
"""Findings of one rule that are listed, and blocks of one tier."""
FIRST_IN_GROUP = 3
"""Findings of one rule that are not folded."""
MOST_EVENTS = 8
LONGEST_BLOCK = 400
TONES = {Severity.ERROR: "bad", Severity.WARNING: "warn", Severity.INFO: "dim"}


@cache
def style_sheet() -> str:
    """The style sheet of all reports."""
    return files("ctxview.review.reports").joinpath("report.css").read_text("utf-8")


def html_report(report: Report) -> str:
    """Return the whole page."""
    budget = report.overview.window.budget
    names = [each.name for each in budget.segments] if budget is not None else []
    colours = colours_of(report.state.tiers, [*names, *report.skyline.names])
    sections = {
        "Window": _window(report, budget, colours),
        "Skyline": _skyline(report, colours),
        "Findings": _findings(report),
        "Missing": _gaps(report),
        "Changes": changes_section(report.changes, report.since),
        "Blocks": _blocks(report, colours),
        "Todo": _todo(report),
        "X-ray": xray_section(report, colours),
        "Sign-off": _sign_offs(report),
    }
    shown = {name: body for name, body in sections.items() if body}
    links = [element("a", name, href=f"#{_anchor(name)}") for name in shown]
    body = element(
        "body",
        element("header", *_title(report), _answers(report), element("nav", *links, aria_label="Sections")),
        element("main", *(_section(name, body) for name, body in shown.items())),
        element("footer", element("p", *_footer(report))),
    )
    return f"<!DOCTYPE html>\n{element('html', _head(report), body, lang='en').code}\n"


def _head(report: Report) -> Markup:
    sheet = style_sheet()
    digest = base64.b64encode(hashlib.sha256(sheet.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    )
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="referrer", content="no-referrer"),
        element("meta", name="robots", content="noindex"),
        element("title", f"{report.state.title}: context report"),
        # The sheet is ours and is hashed, so it is not text to escape.
        Markup(f"<style>{sheet}</style>"),
    )


def _title(report: Report) -> Iterator[Markup]:
    name = report.known.names[report.number]
    revision = f"{report.state.revision}, {report.number + 1} of {len(report.known.names)} revisions"
    facts = [
        revision if report.name else report.state.revision,
        name.time or "",
        f"tokens counted by {report.counter}",
    ]
    yield element("p", f"Context report · {report.state.format}", class_="kicker")
    yield element("h1", report.state.title)
    yield element("p", " · ".join(filter(None, facts)), class_="dim small")


def _answers(report: Report) -> Markup:
    return element(
        "ul",
        *(
            element(
                "li",
                element("p", each.label, class_="label"),
                element("p", each.sentence, class_="sentence"),
                element("p", each.more, class_="more") if each.more else None,
                class_=each.tone,
            )
            for each in answers(report)
        ),
        class_="answers",
    )


def _footer(report: Report) -> Iterator[Child]:
    yield f"Made by ctxview {__version__} from {path_for_others(report.state.source)}. "
    yield "Secrets are masked, and content that a redaction removed is not in this file. "
    yield "The page has no script and loads nothing."


def _anchor(name: str) -> str:
    return name.casefold().replace("-", "")


def _section(name: str, body: Markup) -> Markup:
    return element("section", element("h2", name), body, id=_anchor(name))


# -- findings and gaps -----------------------------------------------------------------------------------


def _findings(report: Report) -> Markup:
    if not report.findings and not report.elsewhere:
        return element("p", "No rule found a problem.", class_="good")
    parts: list[Child] = [element("div", *_by_rule(report.findings), class_="rules")]
    if not report.findings:
        parts = [element("p", f"No finding in {report.name or 'this revision'}.", class_="good")]
    if report.elsewhere:
        where = "other revisions or the source as a whole" if report.name else "the source as a whole"
        title = f"{severity_counts_text(report.elsewhere)} in {where}"
        parts.append(element("details", element("summary", title), *_by_rule(report.elsewhere)))
    return joined(parts)


def _by_rule(findings: Sequence[Finding]) -> Iterator[Markup]:
    """The findings of each rule, the worst first; of many only the first ones are not folded."""
    ranked = sorted(findings, key=lambda each: (each.severity.rank, each.rule))
    for (severity, rule), group in groupby(ranked, key=lambda each: (each.severity, each.rule)):
        own = list(group)
        known = REGISTRY.get(rule)
        rows = [_finding(each) for each in own[:MOST_IN_GROUP]]
        if len(own) > MOST_IN_GROUP:
            more = f"{len(own) - MOST_IN_GROUP:,} more: ctxview check lists all"
            rows.append(element("li", more, class_="dim"))
        yield element(
            "div",
            element("span", f"{SIGNS[severity]} {rule}", class_=f"badge {TONES[severity]}"),
            " ",
            element("span", " ".join(known.explanation.summary.split()) if known is not None else ""),
            element("ul", *rows[:FIRST_IN_GROUP], class_="plain"),
            _folded(f"{counted(len(own) - FIRST_IN_GROUP, 'more finding')} of {rule}", rows[FIRST_IN_GROUP:]),
            class_="rule",
        )


def _finding(finding: Finding) -> Markup:
    effect = "" if finding.effect is Effect.NONE else f" → {finding.effect.value}"
    place = element("div", element("code", place_for_others(finding.origin)), class_="dim small")
    return element("li", element("bdi", finding.message), effect, place)


def _gaps(report: Report) -> Markup:
    if not report.gaps:
        return element("p", "No missing context is known.", class_="good")
    return element("ul", *map(_gap, report.gaps[:MOST_IN_GROUP]), *_more_gaps(report.gaps), class_="list")


def _more_gaps(gaps: Sequence[Gap]) -> Iterator[Markup]:
    if len(gaps) > MOST_IN_GROUP:
        yield element("li", f"{len(gaps) - MOST_IN_GROUP:,} more", class_="dim")


def _gap(gap: Gap) -> Markup:
    severity = gap_severity(gap.severity)
    blocked = ", ".join(blocked_names(gap))
    facts = [gap.status, f"blocks {blocked}" if blocked else "", gap.why]
    return element(
        "li",
        element("span", f"{SIGNS[severity]} {gap.severity}", class_=f"badge {TONES[severity]}"),
        " ",
        element("strong", gap.id),
        element("div", element("bdi", gap.question)),
        element("div", " · ".join(filter(None, facts)), class_="dim small"),
        element("div", element("code", place_for_others(gap.origin)), class_="dim small"),
    )


def _sign_offs(report: Report) -> Markup:
    rows = []
    for each in reversed(report.sign_offs):
        answer = each.answer
        points = [
            element(
                "li",
                element("bdi", title),
                element("div", ": ".join(filter(None, (decision, reason))), class_="dim small"),
            )
            for title, decision, reason in each.points
        ]
        changes = [element("li", change) for change in each.changes]
        rows.append(
            element(
                "li",
                element("strong", answer.sentence, class_=answer.tone),
                element("div", answer.more, class_="dim small"),
                element("div", element("code", each.record), class_="dim small"),
                _folded(f"{counted(len(changes), 'thing')} changed since", changes),
                _folded(f"{counted(len(points), 'decided point')}", points),
            )
        )
    return element("ul", *rows, class_="list") if rows else NOTHING


# -- window, skyline, blocks, todo -------------------------------------------------------------------------


def _window(report: Report, budget: Budget | None, colours: Colours) -> Markup:
    if budget is None or budget.used is None:
        return NOTHING
    window = report.overview.window
    bar = window_bar(budget, colours)
    counter = counter_of(budget)
    limit = f" of {budget.limit:,}" if budget.limit else ""
    name = f"{budget.target}: {budget.used:,}{limit} {unit_of(budget)}{f' ({counter})' if counter else ''}"
    entries = [(each.name, each.used) for each in budget.segments if each.used > 0]
    legend = [
        element("li", element("span", class_=f"swatch {colours.of(part)}"), f"{part} {used:,}")
        for part, used in entries
    ]
    if budget.reserved:
        legend.append(element("li", element("span", class_="swatch"), f"reserved {budget.reserved:,}"))
    notes: list[Child] = []
    if window.stage is not None:
        notes.append(element("p", f"▲ {window.stage.text}: {window.stage.detail}", class_="warn"))
    elif budget.note:
        notes.append(element("p", budget.note, class_="dim"))
    second = window.second
    if second is not None and second.used is not None and second.limit is not None:
        counted_so = f"Counted in {unit_of(second)}: {second.used:,} of {second.limit:,} ({second.percent})"
        notes.append(element("p", counted_so, class_="dim"))
    if window.growth and window.since:
        grown = ", ".join(f"{each.amount:+,} {each.name}" for each in window.growth[:4])
        notes.append(element("p", f"Since {window.since}: {grown}", class_="dim"))
    picture = drawing(bar, BAR + 12, name, -6.0) if bar else None
    return joined(
        [
            element("figure", element("figcaption", name), picture, element("ul", *legend, class_="legend")),
            *notes,
        ]
    )


def _skyline(report: Report, colours: Colours) -> Markup:
    if len(report.known.names) < 2:
        return NOTHING
    answer, more = fullest_sentences(report.known, report.skyline)
    shapes = skyline_shapes(report.known, report.skyline, colours, report.number)
    used = dict.fromkeys(part for column in report.skyline.columns for part, amount in column.parts if amount)
    legend = [element("li", element("span", class_=f"swatch {colours.of(part)}"), part) for part in used]
    events = report.events
    listed = [
        element(
            "li",
            element("span", EVENT_SIGNS[event.kind][0], class_=f"sign {EVENT_SIGNS[event.kind][1]}"),
            element("strong", name),
            f": {event.text}{f' ({event.rule})' if event.rule else ''}",
            element("div", event.detail, class_="dim small") if event.detail else None,
        )
        for name, event in events
    ]
    return joined(
        [
            element("p", element("strong", answer), element("span", more, class_="dim")),
            element("figure", drawing(shapes, TOP + TALL + FOOT, answer)) if shapes else None,
            element("ul", *legend, class_="legend") if shapes else None,
            element("ul", *listed[:MOST_EVENTS], class_="list") if listed else None,
            _folded(f"{len(listed) - MOST_EVENTS} more events", listed[MOST_EVENTS:]),
        ]
    )


def _folded(title: str, rows: Sequence[Markup]) -> Markup:
    if not rows:
        return NOTHING
    return element("details", element("summary", title), element("ul", *rows, class_="list"))


def _blocks(report: Report, colours: Colours) -> Markup:
    summary = report.overview.blocks
    if not summary.tiers:
        return NOTHING
    rows = [
        element(
            "tr",
            element("td", element("span", class_=f"swatch {colours.of(each.name)}"), each.name),
            element("td", f"{each.shown:,} of {each.total:,} shown", class_="number"),
            element("td", f"{each.tokens:,} tokens", class_="number"),
        )
        for each in summary.tiers
    ]
    hidden = [
        element(
            "li",
            element("strong", f"{len(each.ids):,} not shown"),
            f": {each.reason}",
            element("div", _names(each.ids), class_="dim small"),
        )
        for each in summary.reasons
    ]
    tiers = [_tier(tier) for tier in report.state.kept.tiers if tier.blocks]
    return joined(
        [element("table", *rows), element("ul", *hidden, class_="list") if hidden else None, *tiers]
    )


def _names(names: Iterable[str], most: int = 12) -> str:
    found = list(names)
    return ", ".join(found[:most]) + (f", {len(found) - most} more" if len(found) > most else "")


def _tier(tier: Tier) -> Markup:
    rows = [_block(block) for block in tier.blocks[:MOST_IN_GROUP]]
    if len(tier.blocks) > MOST_IN_GROUP:
        rows.append(element("li", f"{len(tier.blocks) - MOST_IN_GROUP:,} more", class_="dim"))
    return _folded(f"{tier.name}: {counted(len(tier.blocks), 'block')}", rows)


def _block(block: Block) -> Markup:
    signs = {True: "● ", False: "○ ", None: "? "}
    facts = [block.type or "", f"{block.tokens:,} tokens" if block.tokens is not None else ""]
    if block.visible is False:
        facts.append(f"not shown: {block.why}" if block.why else "not shown")
    return element(
        "li",
        signs[block.visible],
        element("strong", block.id),
        element("span", f" {' · '.join(filter(None, facts))}", class_="dim small"),
        element("div", excerpt(block.text, LONGEST_BLOCK), class_="text"),
    )


def _todo(report: Report) -> Markup:
    todo = report.state.kept.todo
    if todo is None:
        return NOTHING
    sentences = [element("p", line) for line in report.overview.todo]
    items = []
    for item in todo.items[:MOST_IN_GROUP]:
        sign = "✓" if item.is_done else "–" if item.is_dropped else "▸" if item.current else "○"
        items.append(element("li", element("span", sign, class_="sign"), element("bdi", item.title)))
    return joined([*sentences, element("ul", *items, class_="list") if items else None])
