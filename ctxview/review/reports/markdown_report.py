"""A report as Markdown, for pull requests and wikis. Text from files is plain words or code, never markup."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from ctxview import __version__
from ctxview.analysis.diff.report import NOTHING as NO_DIFFERENCE
from ctxview.analysis.diff.report import SIGNS as CHANGE_SIGNS
from ctxview.analysis.diff.report import TITLES, change_counts, headline
from ctxview.analysis.gaps import blocked_names
from ctxview.analysis.revisions.skyline import column_labels, fullest_sentences
from ctxview.analysis.revisions.window import unit_of
from ctxview.core.findings import Finding
from ctxview.reports.findings import severity_counts_text
from ctxview.review.reports.charts import EVENT_SIGNS
from ctxview.review.reports.contents import SIGNS, Report, answers, path_for_others, place_for_others
from ctxview.review.reports.html_changes import MOST_CHANGES, cut_sentence, masked, xray_sentence
from ctxview.review.reports.html_report import MOST_IN_GROUP
from ctxview.review.reports.markup import shown_text

MOST_LINES = 400
"""Lines of a prompt; `ctxview prompt` prints all."""
_PROSE = re.compile(r"(?!\d+[.)])[^\W_](?:[^\W_]|[ ,;:%()'’≈+×·–−-](?!//)|\.(?=[\s\d)]|$))*")
_LINKED = re.compile(r"www\.|\bGH-\d|[0-9a-f]{7}", re.IGNORECASE)
LEVELS = "▁▂▃▄▅▆▇█"


def markdown_report(report: Report) -> str:
    """Return the whole page."""
    name = report.known.names[report.number]
    facts = [report.state.format, report.state.revision, name.time or "", f"tokens by {report.counter}"]
    about = " · ".join(map(code_or_prose, filter(None, facts)))
    lines = [f"# {code_or_prose(report.state.title)}", "", about]
    for answer in answers(report):
        more = f" {code_or_prose(answer.more)}" if answer.more else ""
        lines += ["", f"- **{answer.label}**: {code_or_prose(answer.sentence)}.{more}"]
    sections: dict[str, Iterator[str]] = {
        "Window": _window(report),
        "Skyline": _skyline(report),
        "Findings": _findings(report),
        "Missing": _gaps(report),
        "Changes": _changes(report),
        "Blocks": _blocks(report),
        "X-ray": _xray(report),
        "Sign-off": _sign_offs(report),
    }
    for title, body in sections.items():
        found = list(body)
        lines += ["", f"## {title}", "", *found] if found else []
    lines += [
        "",
        "---",
        "",
        f"Made by ctxview {__version__} from {code_or_prose(path_for_others(report.state.source))}.",
    ]
    lines.append("Secrets are masked, and content that a redaction removed is not in this file.")
    return "\n".join(lines) + "\n"


def code_or_prose(text: str) -> str:
    """Return a text of plain words as it is and any other as code, in which no character is markup."""
    shown = shown_text(text)
    if _PROSE.fullmatch(shown) and not _LINKED.search(shown):
        return shown
    return _code(shown) if shown.strip() else ""


def _code(shown: str) -> str:
    longest = max(map(len, re.findall(r"`+", shown)), default=0)
    fence = "`" * (longest + 1)
    space = " " if shown[:1] in "` " or shown[-1:] in "` " else ""
    return f"{fence}{space}{shown}{space}{fence}"


def _window(report: Report) -> Iterator[str]:
    budget = report.overview.window.budget
    if budget is None or budget.used is None:
        return
    limit = f" of {budget.limit:,}" if budget.limit else ""
    yield f"- {code_or_prose(budget.target)}: {budget.used:,}{limit} {code_or_prose(unit_of(budget))}"
    for each in budget.segments:
        if each.used > 0:
            yield f"  - {code_or_prose(each.name)}: {each.used:,}"
    if budget.reserved:
        yield f"  - reserved: {budget.reserved:,}"


def _skyline(report: Report) -> Iterator[str]:
    skyline = report.skyline
    top = max([skyline.limit or 0, *(each.used or 0 for each in skyline.columns)])
    if len(report.known.names) < 2 or not top:
        return
    answer, more = fullest_sentences(report.known, skyline)
    yield ". ".join(filter(None, (code_or_prose(answer), code_or_prose(more.lstrip(".; ")))))
    labels = column_labels(report.known, skyline)
    strip = "".join(LEVELS[min(7, (each.used or 0) * 8 // top)] for each in skyline.columns)
    yield ""
    yield f"`{strip}` {labels[0]} to {labels[-1]}"
    for place, (name, event) in enumerate(report.events):
        if not place:
            yield ""
        yield f"- {EVENT_SIGNS[event.kind][0]} {code_or_prose(name)}: {code_or_prose(event.text)}"


def _findings(report: Report) -> Iterator[str]:
    if not report.findings:
        yield "No finding in this revision."
    yield from _by_rule(report.findings)
    if report.elsewhere:
        yield ""
        yield f"<details><summary>{severity_counts_text(report.elsewhere)} elsewhere in the source</summary>"
        yield ""
        yield from _by_rule(report.elsewhere)
        yield ""
        yield "</details>"


def _by_rule(findings: Sequence[Finding]) -> Iterator[str]:
    ranked = sorted(findings, key=lambda each: (each.severity.rank, each.rule))
    for (severity, rule), group in groupby(ranked, key=lambda each: (each.severity, each.rule)):
        own = list(group)
        yield f"- {SIGNS[severity]} **{rule}** {severity.value}"
        for each in own[:MOST_IN_GROUP]:
            yield f"  - {code_or_prose(each.message)} ({code_or_prose(place_for_others(each.origin))})"
        if len(own) > MOST_IN_GROUP:
            yield f"  - {len(own) - MOST_IN_GROUP:,} more"


def _gaps(report: Report) -> Iterator[str]:
    if not report.gaps:
        yield "No missing context is known."
    for gap in report.gaps[:MOST_IN_GROUP]:
        blocked = ", ".join(blocked_names(gap))
        facts = [gap.question, gap.status, f"blocks {blocked}" if blocked else "", gap.why]
        shown = " · ".join(map(code_or_prose, filter(None, facts)))
        yield f"- **{code_or_prose(gap.severity)}** {code_or_prose(gap.id)}: {shown}"


def _changes(report: Report) -> Iterator[str]:
    changes = report.changes
    if changes is None:
        return
    yield f"Compared with {code_or_prose(report.since)}." if changes else NO_DIFFERENCE
    for group, found in masked(changes).groups():
        yield ""
        yield f"**{TITLES[group]}**: {change_counts(found)}"
        yield ""
        for change in found[:MOST_CHANGES]:
            sign = CHANGE_SIGNS.get(change.kind, "~")
            yield f"- `{sign}` {code_or_prose(' '.join(headline(change).split()))}"
        if len(found) > MOST_CHANGES:
            yield f"- {len(found) - MOST_CHANGES:,} more"


def _blocks(report: Report) -> Iterator[str]:
    summary = report.overview.blocks
    for tier in summary.tiers:
        yield f"- {code_or_prose(tier.name)}: {tier.shown:,} of {tier.total:,} shown, {tier.tokens:,} tokens"
    for reason in summary.reasons:
        names = ", ".join(reason.ids[:MOST_IN_GROUP])
        yield f"- {len(reason.ids):,} not shown, {code_or_prose(reason.reason)}: {code_or_prose(names)}"


def _sign_offs(report: Report) -> Iterator[str]:
    for each in reversed(report.sign_offs):
        answer = each.answer
        more, record = code_or_prose(answer.more), code_or_prose(each.record)
        yield f"- **{code_or_prose(answer.sentence)}** {more} ({record})"
        yield from (f"  - {code_or_prose(change)}" for change in each.changes[:MOST_IN_GROUP])
        for title, decision, reason in each.points[:MOST_IN_GROUP]:
            why = f", {code_or_prose(reason)}" if reason else ""
            yield f"  - {code_or_prose(title)}: {decision}{why}"


def _xray(report: Report) -> Iterator[str]:
    xray = report.xray
    if xray is None:
        yield f"{code_or_prose(report.no_xray)}."
        return
    yield f"<details><summary>{xray_sentence(xray)}</summary>"
    yield ""
    lines = []
    for row in xray.rows[:MOST_LINES]:
        is_text = row.cut is None and row.heading is None
        lines.append(shown_text(row.text if is_text else f"[{row.heading or cut_sentence(row)}]"))
    longest = max((len(run) for line in lines for run in re.findall(r"`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    yield f"{fence}text"
    yield from lines
    yield fence
    if len(xray.rows) > MOST_LINES:
        yield ""
        yield f"{len(xray.rows) - MOST_LINES:,} more lines: `ctxview prompt` prints all."
    yield ""
    yield "</details>"
