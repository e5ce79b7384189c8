"""The review as lines: the verdict, the points worst first, who gets what, and the decision. No toolkit."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from ctxview.analysis.wording import listed
from ctxview.core.findings import Severity
from ctxview.reports.xray import Xray
from ctxview.review.points import Point
from ctxview.review.review import Review
from ctxview.review.targets import TargetShare
from ctxview.tui.drawing.boxes import INSIDE, box, ends, side_by_side
from ctxview.tui.drawing.glyphs import SEVERITY
from ctxview.tui.drawing.text import EMPTY, Line, Span, fit, join, pad, show, width, wrap_to
from ctxview.tui.drawing.xray import row_lines, tier_signs
from ctxview.tui.model.review_desk import ReviewDesk

BOXED, LEAST_BOXED = 100, 28
"""The size from which on the parts are boxes."""
LEAST_STATUS = 10
"""Cells of a line of a point beside its title."""
ACCEPTING = "with a reason, which becomes part of the sign-off"
MOST_TARGETS = 8
MOST_DETAIL = 4
"""Lines of detail of the chosen point."""


class ReviewLines(Struct, frozen=True):
    """The drawn lines, and the point that each of them is about."""

    lines: tuple[Line, ...]
    points: tuple[int | None, ...]


class ReviewContext(Struct, frozen=True):
    """What is known beside the review: what changed since the revision before, and what is missing."""

    since: str = ""
    changes: Sequence[Line] = ()
    missing: Sequence[str] = ()
    latest: str = ""
    """The reviewed revision, when another one is on the screen."""


def draw_review(
    desk: ReviewDesk, review: Review, context: ReviewContext, cells: int, rows: int
) -> ReviewLines:
    """Return the review for a size; the list of points gets the room that is left."""
    banner = _banner(review, desk.changed, cells)
    if context.latest:
        banner.append(
            fit(show(f"  The review is about the latest revision, {context.latest}.", "dim"), cells)
        )
    if cells < BOXED or rows < LEAST_BOXED:
        return _narrow(desk, review, banner, cells, rows)
    left = cells // 2 + 4
    right = cells - left
    decision = _decision_box(review, cells)
    below = _changed_box(review, context, left), _missing_box(context, right)
    height = max(map(len, below))
    second = side_by_side(
        (_stretched(below[0], left, height), left), (_stretched(below[1], right, height), right)
    )
    top = rows - len(banner) - len(second) - len(decision)
    drawn, places = _point_lines(desk, review, left - INSIDE, top - 2)
    shares = _share_lines(desk, right - INSIDE)
    sized = min(len(shares) + 2, max(4, top // 2))
    who = box(show("Who gets what", "title"), shares, right, end=_key("p", "next target"), height=sized)
    points = box(_heading(review), drawn, left, end=_progress(review), height=top)
    preview = _preview_box(desk, right, top - sized)
    middle = side_by_side((points, left), ([*who, *preview], right))
    lines = [*banner, *middle, *second, *decision]
    offset = len(banner) + 1
    about = [None] * offset + places
    return ReviewLines(tuple(lines), tuple(about + [None] * (len(lines) - len(about))))


def _narrow(desk: ReviewDesk, review: Review, banner: Sequence[Line], cells: int, rows: int) -> ReviewLines:
    shares = [*_share_lines(desk, cells - 2)]
    head = [*banner, ends(join((Span(" "),), _heading(review)), join(_progress(review), (Span(" "),)), cells)]
    least = min(len(desk.points), 6) + MOST_DETAIL
    room = rows - len(head)
    targets = [EMPTY, show(" Who gets what", "title"), *shares] if room - len(shares) - 2 >= least else []
    room -= len(targets)
    preview: list[Line] = []
    if room >= least + 4:
        preview = [
            EMPTY,
            ends(_preview_title(desk), join(_preview_size(desk), (Span(" "),)), cells),
            *_preview_lines(desk, cells - 1, 2),
        ]
        room -= len(preview)
    drawn, places = _point_lines(desk, review, cells - 1, room)
    drawn += [EMPTY] * (room - len(drawn)) if targets else []
    places += [None] * (len(drawn) - len(places))
    lines = [*head, *drawn, *targets, *preview]
    about = [None] * len(head) + places
    return ReviewLines(tuple(lines), tuple(about + [None] * (len(lines) - len(about))))


def _banner(review: Review, changed: Sequence[str], cells: int) -> list[Line]:
    """The verdict in words on at most two lines, and a line about what changed while it was reviewed."""
    verdict = review.verdict
    word = (Span(f" {verdict.word} ", f"banner.{verdict.tone}"),)
    sentence = f"{verdict.sentence[:1].upper()}{verdict.sentence[1:]}."
    lines = wrap_to(join((Span(" "),), word, show(f"  {sentence}", "strong")), cells - 1, 2, "  ")
    if changed:
        text = f" {SEVERITY[Severity.WARNING]} Changed on disk while you reviewed: {listed(changed, 4)}"
        lines.append(fit(show(text, "severity.warning"), cells))
    return lines


def _heading(review: Review) -> Line:
    number = len(review.points)
    return show(f"{number} {'point' if number == 1 else 'points'}, worst first", "title")


def _progress(review: Review) -> Line:
    fixed = f", {len(review.fixed)} fixed" if review.fixed else ""
    return show(f"{review.decided} of {len(review.points)} decided{fixed}", "dim")


def _point_lines(
    desk: ReviewDesk, review: Review, cells: int, rows: int
) -> tuple[list[Line], list[int | None]]:
    """The points around the chosen one, each on a line with as much detail as there are rows.

    The detail of the chosen one comes first.
    """
    points = desk.points
    if not points:
        return [show(" Nothing has to be decided: no errors, no gaps, nothing masked.", "ok")], [None]
    chosen = _detail_lines(points[desk.chosen], review, cells)
    chosen = chosen[: max(0, min(MOST_DETAIL, rows - 2))]
    details = {desk.chosen: chosen}
    free = rows - len(points) - len(chosen)
    for at, point in enumerate(points[:rows] if free > 0 else ()):
        if at != desk.chosen:
            details[at] = _detail_lines(point, review, cells, chosen=False)[: min(MOST_DETAIL, free)]
            free -= len(details[at])
    room = max(1, rows - len(chosen))
    first = max(0, min(desk.chosen - room // 2, len(points) - room))
    lines: list[Line] = []
    places: list[int | None] = []
    for at in range(first, min(first + room, len(points))):
        is_last = at == first + room - 1 and at < len(points) - 1 and at != desk.chosen
        if is_last:
            lines.append(show(f"    {len(points) - at} more", "dim"))
            places.append(at)
            break
        lines.append(_point_line(points[at], review, cells, chosen=at == desk.chosen))
        places.append(at)
        lines += details.get(at, ())
        places += [at] * len(details.get(at, ()))
    return lines, places


def _point_line(point: Point, review: Review, cells: int, *, chosen: bool) -> Line:
    style = f"severity.{point.severity}"
    sign = "✖" if point.leak else SEVERITY[point.severity]
    status = fit(show(review.status(point), _status_style(point, review)), max(8, cells // 3))
    rule = show(f"{point.rule} ", style) if point.rule else ()
    bar = (Span("▌" if chosen else " ", "accent"),)
    title = join(bar, (Span(f" {sign} ", style),), rule, show(point.title, "bold" if chosen else ""))
    return ends(title, status, cells)


def _status_style(point: Point, review: Review) -> str:
    if point.id in review.decisions:
        return "ok"
    return "severity.error" if point.leak else "severity.warning" if point.blocks else "dim"


def _detail_lines(point: Point, review: Review, cells: int, *, chosen: bool = True) -> list[Line]:
    """The decision, the whole title when it was cut, and what is known about the point."""
    bar = (Span("▌" if chosen else " ", "accent"),)
    decision = review.decisions.get(point.id)
    decided = f"{decision.words} ({decision.by}, {decision.at[:10]})" if decision is not None else ""
    rule = f"{point.rule} " if point.rule else ""
    is_cut = len(rule) + len(point.title) > cells - LEAST_STATUS
    texts = [text for text in ([point.title] if is_cut else []) + point.detail.split("\n") if text]
    if point.origin is not None and point.origin.line is not None:
        texts.append(f"{point.origin.file.rpartition('/')[2]}:{point.origin.line}")
    wrapped = wrap_to(show(decided, "ok"), cells - 5, 2) if decided else []
    wrapped += [line for text in texts for line in wrap_to(show(text, "dim"), cells - 5, 2)]
    return [join(bar, (Span("    "),), line) for line in wrapped]


def _share_lines(desk: ReviewDesk, cells: int) -> list[Line]:
    """A table of targets: what each gets, and in red what it sees although it may not."""
    shares = desk.shares
    name = min(max((width(show(each.target)) for each in shares), default=6), max(10, cells - 37))
    head = f"  {'target':<{name}} {'items':>5} {'tok':>6} {'masked':>6}  violations"
    lines = [fit(show(head, "dim"), cells)]
    first = max(0, min(desk.target - MOST_TARGETS + 1, len(shares) - MOST_TARGETS))
    shown = range(first, min(first + MOST_TARGETS, len(shares)))
    return [*lines, *(_share_line(shares[at], name, cells, chosen=at == desk.target) for at in shown)]


def _share_line(share: TargetShare, name: int, cells: int, *, chosen: bool) -> Line:
    """The items that a target was given, or may see when it was given none."""
    bar = (Span("▌ " if chosen else "  ", "dim"),)
    figures = f" {len(share.items):>5,} {share.tokens:>6,} {share.masked:>6,}  "
    target = pad(show(share.target, "bold" if chosen else ""), name)
    seen = show("none" if share.given else "not given yet", "dim")
    if share.violations:
        seen = show(f"✖ {share.violation_text}", "severity.error")
    return fit(join(bar, target, show(figures), seen), cells)


def _preview_title(desk: ReviewDesk) -> Line:
    shares = desk.shares
    target = shares[desk.target].target if shares else "model"
    return join(show("Preview: what ", "title"), show(target, "title"), show(" gets", "title"))


def _preview_size(desk: ReviewDesk) -> Line:
    """How large the whole text of the preview is, of which the first lines are shown."""
    xray = _preview(desk)
    if xray is None:
        return EMPTY
    about = "" if xray.exact and xray.counter_exact else "≈"
    return show(f"{about}{xray.tokens:,} tokens ({xray.counter.replace('_base', '')})", "dim")


def _preview(desk: ReviewDesk) -> Xray | None:
    return desk.previews[desk.target] if desk.target < len(desk.previews) else None


def _preview_lines(desk: ReviewDesk, cells: int, rows: int) -> list[Line]:
    """What the chosen target would see; masked and withheld text stays so."""
    shares = desk.shares
    xray = _preview(desk)
    if xray is None:
        why = shares[desk.target].no_preview if shares else ""
        return wrap_to(show(why or "There is no preview.", "dim"), cells, rows)
    signs = tier_signs(xray)
    lines: list[Line] = []
    texts: list[int] = []
    for row in xray.rows:
        if row.is_first and row.block is not None:
            tokens = sum(xray.block_tokens(row.block, row.tier))
            lines.append(join(show(row.block, signs[row.tier].style), show(f" {tokens:,}", "dim")))
        texts.append(len(lines))
        lines += row_lines(replace(row, is_first=False), signs, cells, whole=False)
        if len(lines) >= rows:
            break
    if len(lines) > rows or len(texts) < len(xray.rows):
        hidden = len(xray.rows) - sum(at < rows - 1 for at in texts)
        lines = [*lines[: rows - 1], show(f" {hidden:,} more lines: X", "dim")]
    return lines[:rows]


def _preview_box(desk: ReviewDesk, cells: int, height: int) -> list[Line]:
    if height < 3:
        return [EMPTY] * height
    lines = _preview_lines(desk, cells - INSIDE, height - 2)
    return box(_preview_title(desk), lines, cells, end=_preview_size(desk), height=height)


def _changed_box(review: Review, context: ReviewContext, cells: int) -> list[Line]:
    last = review.last
    if last is None:
        signed = show("nothing was signed before", "dim")
        title = f"Changed since {context.since}" if context.since else "Changed"
        return box(show(title, "title"), [*context.changes[:3], signed], cells, end=show("d", "key"))
    who = f"{last.decision} by {last.reviewer} on {last.time[:10]}"
    lines = [show("no file changed" if last.same_files else "", "ok")] if last.same_files else []
    lines += [fit(show(change), cells - INSIDE) for change in last.changes[:3]]
    if len(last.changes) > 3:
        lines.append(show(f"{len(last.changes) - 3} more", "dim"))
    heading = show("Changed since the last sign-off", "title")
    return box(heading, [*lines, show(who, "dim")], cells, end=show("d", "key"))


def _missing_box(context: ReviewContext, cells: int) -> list[Line]:
    texts = context.missing or ("Nothing is missing",)
    lines = [line for text in texts[:3] for line in wrap_to(show(text), cells - INSIDE, 2)]
    return box(show("What is missing", "title"), lines[:4], cells, end=show("6", "key"))


def _stretched(lines: Sequence[Line], cells: int, height: int) -> list[Line]:
    """A box with empty lines up to a height."""
    empty = join((Span("│", "faint"),), (Span(" " * (cells - 2)),), (Span("│", "faint"),))
    return [*lines[:-1], *([empty] * (height - len(lines))), lines[-1]]


def _decision_box(review: Review, cells: int) -> list[Line]:
    subject = review.subject
    why = review.why_not_approved
    approve = show("writes a record beside the file, and says how to sign that with your SSH key", "dim")
    if why is not None:
        approve = show(f"not possible yet: {why}", "severity.warning")
    rows = (
        ("a", "Accept the point", show(f"{ACCEPTING}; Space is enough for what does not block", "dim")),
        (
            "c",
            "Ask for context",
            show("the point goes back with your question; the review stays open", "dim"),
        ),
        ("A", "Approve", approve),
        ("D", "Reject", show("with a reason; recorded beside the file, which itself does not change", "dim")),
    )
    lines = [
        fit(join(pad(show(key, "key"), 3), pad(show(name, "bold"), 20), text), cells - INSIDE)
        for key, name, text in rows
    ]
    bound = show(f"bound to sha256 {subject.digest[:12]} · {subject.bytes:,} bytes", "dim")
    return box(show("Decision", "title"), lines, cells, end=bound)


def _key(key: str, text: str) -> Line:
    return join(show(key, "key"), show(text, "dim"), gap=" ")
