"""The changes since the previous revision and the text of the prompt, as parts of an HTML report."""

from __future__ import annotations

from collections.abc import Iterator

from ctxview.analysis.diff.model import Change, ChangeGroup, Delta, StateDiff
from ctxview.analysis.diff.report import (
    NOTHING as NO_DIFFERENCE,
)
from ctxview.analysis.diff.report import (
    SIGNS,
    TITLES,
    change_counts,
    delta_text,
    details,
    headline,
    shortened,
)
from ctxview.analysis.secrets import mask_secrets
from ctxview.core.state import map_parts
from ctxview.reports.xray import Xray, XrayRow
from ctxview.review.reports.charts import Colours
from ctxview.review.reports.contents import Report
from ctxview.review.reports.markup import NOTHING, Child, Markup, element, joined, text_markup

MOST_CHANGES = 60
MOST_ROWS = 5_000
"""Lines of a prompt in a report; `ctxview prompt` prints all."""
_TONES = {"+": "good", "-": "bad", "!": "bad"}


def changes_section(changes: StateDiff | None, since: str) -> Markup:
    """All changes by group, with the words that changed."""
    if changes is None:
        return NOTHING
    if not changes:
        return element("p", f"{NO_DIFFERENCE.rstrip('.')} since {since}.")
    parts: list[Child] = [element("p", f"Compared with {since}, by meaning.", class_="dim")]
    for group, found in masked(changes).groups():
        parts.append(
            element("h3", TITLES[group], element("span", f" {change_counts(found)}", class_="count"))
        )
        rows = [_change(each) for each in found[:MOST_CHANGES]]
        if len(found) > MOST_CHANGES:
            rows.append(
                element("li", f"{len(found) - MOST_CHANGES:,} more: ctxview diff lists all", class_="dim")
            )
        parts.append(element("ul", *rows, class_="list"))
    return joined(parts)


def masked(changes: StateDiff) -> StateDiff:
    """Return the changes with the secrets of whole values masked, before any value is shortened."""
    found = _masked(changes)
    assert isinstance(found, StateDiff)
    return found


def _masked(value: object) -> object:
    # Words of an enumeration are texts too; they hold no secret and keep their type.
    return mask_secrets(value) if type(value) is str else map_parts(value, _masked)


def _change(change: Change) -> Markup:
    sign = SIGNS.get(change.kind, "~")
    mark = element("span", "−" if sign == "-" else sign, class_=f"sign {_TONES.get(sign, 'warn')}")
    if change.group is ChangeGroup.FIELDS:
        return element("li", mark, *_delta(change.deltas[0]))
    if change.one_sided or change.in_history:
        lines = [element("div", line, class_="delta") for line in details(change)]
    else:
        lines = [element("div", *_delta(each), class_="delta") for each in change.deltas]
    about = headline(change).removeprefix(change.name)
    return element("li", mark, element("strong", change.name), element("bdi", about), *lines)


def _delta(delta: Delta) -> Iterator[Child]:
    if not delta.pieces:
        yield delta_text(delta)
        return
    yield f"{delta.name} "
    names = {"added": "ins", "removed": "del"}
    for piece, text in shortened(delta.pieces):
        yield element(names[piece.side], text) if piece.side in names else text


def xray_section(report: Report, colours: Colours) -> Markup:
    """The literal text that the model is given, folded."""
    xray = report.xray
    if xray is None:
        return element("p", f"{report.no_xray}.", class_="dim")
    rows = [_row(row, colours) for row in xray.rows[:MOST_ROWS]]
    if len(xray.rows) > MOST_ROWS:
        rows.append(element("p", f"{len(xray.rows) - MOST_ROWS:,} more lines: ctxview prompt prints all"))
    notes = [element("p", note, class_="dim") for note in xray.notes]
    return element(
        "details",
        element("summary", xray_sentence(xray)),
        *notes,
        element("div", *rows, class_="prompt mono"),
        class_="long",
    )


def xray_sentence(xray: Xray) -> str:
    """The size of the prompt, and what it lacks."""
    about = "" if xray.counter_exact else "≈"
    size = f"{about}{xray.tokens:,} tokens ({xray.counter}), {xray.lines:,} lines, {xray.bytes:,} bytes"
    absent = f"; {len(xray.elsewhere)} parts are not in this file" if xray.elsewhere else ""
    return f"The model reads {size}{absent}"


def _row(row: XrayRow, colours: Colours) -> Markup:
    kind = ""
    text = row.text
    tokens = f"{row.tokens:,}" if row.tokens else ""
    if row.heading is not None:
        kind, text = " heading", row.heading
    elif row.cut is not None:
        kind, text = " cut", cut_sentence(row)
        tokens = f"{row.cut.tokens:,}" if row.cut.tokens else ""
    tier = colours.of(row.tier) if row.tier else ""
    return element(
        "div",
        element("span", tokens, class_="tokens"),
        element("span", class_=f"tier {tier}".strip()),
        element("span", text_markup(text), class_="text"),
        class_=f"row{kind}",
    )


def cut_sentence(row: XrayRow) -> str:
    """`hidden: h3-replica-lag, confidence 0.40 < 0.55`."""
    cut = row.cut
    return f"{cut.kind.value}: {cut.what}, {cut.reason}" if cut is not None else ""
