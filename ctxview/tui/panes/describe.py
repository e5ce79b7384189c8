"""One thing in full, as wrapped lines: what each kind of thing says of itself. Knows no widget."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from ctxview.findings import Finding
from ctxview.flow import Link, Node
from ctxview.state import Block, Budget, ContextState, Counts, Gap, Origin, Ref, Row, Todo, TodoItem
from ctxview.tui import glyphs
from ctxview.tui.budget_picture import whole_lines
from ctxview.tui.panes.budget import drawing_of, earlier
from ctxview.tui.panes.fields import field_lines
from ctxview.tui.panes.history import numeral, role_style
from ctxview.tui.panes.past import block_lines
from ctxview.tui.panes.references import STYLE as REF_STYLE
from ctxview.tui.panes.rows import EMPTY_TEXT, finding_row, gap_badge, what_waits
from ctxview.tui.panes.todo import cursor_lines, item_line
from ctxview.tui.session_view import Shown
from ctxview.tui.sights import in_words
from ctxview.tui.text import EMPTY, Line, Span, join, paragraphs, show, wrap, wrap_all
from ctxview.tui.things import Thing, Value
from ctxview.tui.tiers import tier_styles
from ctxview.tui.ways import Ways

LONGEST = 2_000
"""Lines of one text shown here; the raw view has the rest."""

MOST_LINKS = 12
"""Records one came from, or leads to, that are named."""

LONGEST_MESSAGE = 32_000
"""Characters of one message: wrapping more would be felt when walking from row to row."""


def describe(thing: Thing, shown: Shown, width: int) -> list[Line]:
    value = shown.index.value(thing)
    lines = list(_body(value, shown, width)) if value is not None else []
    lines += _findings(thing, shown, width)
    origin = shown.index.origin(thing)
    if origin is not None:
        lines += [EMPTY, *_origin(origin, width)]
    return lines


def _body(value: Value, shown: Shown, width: int) -> Iterator[Line]:
    match value:
        case Block():
            yield from _block(value, shown, width)
        case Todo():
            yield from _todo(value, width)
        case TodoItem():
            yield from wrap(item_line(value), width, "  ")
        case Budget():
            yield from _budget(value, shown, width)
        case Ref():
            yield from _ref(value, width)
        case Gap():
            yield from _gap(value, width)
        case Row():
            yield from _message(value, width)
        case Node():
            yield from _node(value, shown, width)
        case Finding():
            yield from _finding(value, width)
        case ContextState():
            yield from _whole(value, width)
        case str():
            yield from _text(value, width)


def _block(block: Block, shown: Shown, width: int) -> Iterator[Line]:
    styles = tier_styles(tier.name for tier in shown.index.reading.state.tiers)
    yield from wrap(show(block.id, "strong"), width)
    yield from wrap(
        join(show(block.tier, styles.get(block.tier, "")), show(block.type or "", "rule"), gap=" · "), width
    )
    yield from _verdict(block, width)
    yield from wrap_all(in_words(block), width, "  ")
    yield from block_lines(block, shown, width)
    if block.quality is not None:
        yield (Span(f"{'quality':<11}", "dim"), Span(f"{block.quality:g}"))
    yield from wrap(show(_figures(block, shown), "dim"), width)
    if block.tags:
        tags = join(*(show(tag, "accent") for tag in block.tags), gap=" · ")
        yield from wrap(join((Span("tags ", "dim"),), tags), width, "     ")
    yield EMPTY
    yield from _text(block.text, width)
    if block.form is not None:
        yield EMPTY
        yield from field_lines(block.form, width, skip=("content", "text"))


def _verdict(block: Block, width: int) -> Iterator[Line]:
    if block.visible is None:
        return
    if block.visible:
        place = f", position {block.rank + 1}" if block.rank is not None else ""
        yield from wrap(
            (Span(f"{glyphs.YES} ", "visible.yes"), Span(f"shown to the model{place}", "visible.yes")), width
        )
    else:
        reason = show(block.reason or "not shown to the model", "warn")
        yield from wrap(join((Span(f"{glyphs.NO} hidden: ", "visible.no"),), reason), width, "  ")


def _figures(block: Block, shown: Shown) -> str:
    counts = shown.index.reading.state.counts
    parts: list[str] = []
    if block.round is not None:
        parts.append(f"round {block.round}")
    if block.age is not None:
        parts.append(f"age {block.age}")
    if block.tokens is not None:
        parts.append(f"{glyphs.count(block.tokens)} tokens, {_manner(counts)}")
    if block.state is not None:
        parts.append(f"state {block.state}")
    return " · ".join(parts)


def _manner(counts: Counts) -> str:
    """How one block was counted; whether its figure was only recorded is among its tags."""
    from ctxview.analysis.tokens import ESTIMATES

    counter = counts.estimator.partition(" and ")[0]
    return f"{counter} estimate" if counter in ESTIMATES else counter


def _todo(todo: Todo, width: int) -> Iterator[Line]:
    yield from wrap(show(todo.summary or "Todo", "strong"), width)
    if todo.total is not None:
        yield (Span(f"step {todo.step} of {todo.total}", "dim"),)
    yield from cursor_lines(todo, width)
    if todo.form is not None:
        yield EMPTY
        yield from field_lines(todo.form, width)


def _budget(budget: Budget, shown: Shown, width: int) -> Iterator[Line]:
    yield from whole_lines(budget, drawing_of(shown, width), earlier(budget, shown))
    yield EMPTY
    estimators = sorted(
        {segment.estimator for segment in budget.segments if segment.estimator and not segment.exact}
    )
    exact = [segment.name for segment in budget.segments if segment.exact]
    if estimators:
        yield from wrap(show(f"≈ marks an estimate, by {', '.join(estimators)}.", "dim"), width)
    if exact:
        yield from wrap(show(f"Exact: {', '.join(exact)}.", "dim"), width)


def _ref(ref: Ref, width: int) -> Iterator[Line]:
    yield from wrap(show(ref.id, "strong"), width)
    target = () if ref.names_itself else join((Span("→ ", "dim"),), show(ref.target, "code"))
    yield from wrap(join(show(ref.kind, "dim"), target, gap=" "), width, "  ")
    yield (Span(f"{glyphs.REF[ref.status]} {ref.status}", REF_STYLE[ref.status]),)
    sizes = [f"{glyphs.count(ref.tokens)} tokens"] if ref.tokens is not None else []
    sizes += [f"{glyphs.count(ref.bytes)} bytes"] if ref.bytes is not None else []
    if sizes:
        yield (Span(" · ".join(sizes), "dim"),)
    if ref.used_by:
        yield from wrap(join((Span("used by ", "dim"),), show(", ".join(ref.used_by))), width, "  ")
    if ref.text is not None:
        yield EMPTY
        yield from _text(ref.text, width)


def _gap(gap: Gap, width: int) -> Iterator[Line]:
    yield from wrap(show(gap.id, "strong"), width)
    yield from wrap(join(gap_badge(gap), show(gap.status, "dim"), gap=" · "), width)
    yield from wrap_all(paragraphs(gap.question), width)
    if blocks := what_waits(gap):
        yield EMPTY
        yield (Span("It blocks", "title"),)
        for each in blocks:
            yield from wrap(join((Span(f"{glyphs.STUCK} ", "bad"),), show(each)), width, "  ")
    if gap.why:
        yield EMPTY
        yield from wrap_all(paragraphs(gap.why, "dim"), width)
    if gap.form is not None:
        yield EMPTY
        yield from field_lines(gap.form, width)


def _node(node: Node, shown: Shown, width: int) -> Iterator[Line]:
    ways = shown.index.ways
    stage = ways.stage(node.id) if ways is not None else None
    yield from wrap(show(node.label, "strong"), width)
    yield from wrap(join(show(stage.name if stage else "", "accent"), show(node.detail), gap=" · "), width)
    if ways is not None:
        for word, links in (("from", ways.into(node.id)), ("to", ways.out_of(node.id))):
            yield from _links(word, links, ways, width)
    if node.text:
        yield EMPTY
        yield from _text(node.text, width)
    if node.form is not None:
        yield EMPTY
        yield from field_lines(node.form, width, skip=("content", "text"))


def _links(word: str, links: Sequence[Link], ways: Ways, width: int) -> Iterator[Line]:
    """What a record came from or leads to, with how much passed and what is said of it."""
    for at, link in enumerate(links[:MOST_LINKS]):
        other = ways.nodes[link.start if word == "from" else link.end]
        head: Line = (Span(f"{word if at == 0 else '':<5}", "dim"),)
        count = show(f"×{link.count:,}" if link.count > 1 else "", "accent")
        told = join(show(other.label, "link"), count, show(link.label, "dim"), gap=" ")
        yield from wrap(join(head, told), width, "     ")
    if len(links) > MOST_LINKS:
        yield (Span(f"     … and {len(links) - MOST_LINKS:,} more", "dim"),)


def _message(row: Row, width: int) -> Iterator[Line]:
    facts = (f"run {row.run}" if row.run else "", f"{glyphs.count(row.size)} bytes")
    uncounted = " from the end, not counted yet" if row.index < 0 else ""
    yield from wrap(show(f"message {numeral(row.index)}{uncounted}", "strong"), width)
    who = show(row.role or "nobody knows who", role_style(row.role))
    yield from wrap(
        join(who, show(row.kind, "rule"), *(show(each, "dim") for each in facts), gap=" · "), width
    )
    if row.unseen is not None:
        told = show(f"never shown to the model: {row.unseen}", "warn")
        yield from wrap(join((Span(f"{glyphs.NO} ", "visible.no"),), told), width, "  ")
    if row.problem is not None and row.problem != row.unseen:
        yield from wrap(show(row.problem, "bad"), width)
    yield EMPTY
    yield from _text(row.text, width, LONGEST_MESSAGE)


def _finding(finding: Finding, width: int) -> Iterator[Line]:
    from ctxview.findings import REGISTRY

    style = f"severity.{finding.severity}"
    rule = REGISTRY.get(finding.rule)
    yield from wrap(
        join(show(finding.rule, "strong"), show(rule.name if rule else "", "rule"), gap=" "), width
    )
    effect = f" · the runtime: {finding.effect}" if finding.effect != "none" else ""
    yield (Span(f"{glyphs.SEVERITY[finding.severity]} {finding.severity}", style), Span(effect, "dim"))
    yield from wrap_all(paragraphs(finding.message), width)
    if rule is not None:
        told = rule.explanation
        for name, body in (
            ("", told.summary),
            ("Why", told.why),
            ("Bad", told.bad),
            ("Good", told.good),
            ("Fix", told.fix),
        ):
            if body:
                yield EMPTY
                if name:
                    yield (Span(name, "title"),)
                yield from wrap_all(
                    paragraphs(_flowing(body) if name not in {"Bad", "Good"} else body, "dim"), width
                )


def _flowing(body: str) -> str:
    """A docstring's paragraphs without their line breaks."""
    return "\n\n".join(" ".join(part.split()) for part in body.split("\n\n"))


def _whole(state: ContextState, width: int) -> Iterator[Line]:
    yield from wrap(show(state.title, "strong"), width)
    yield from wrap(show(f"{state.format} · {state.revision}", "dim"), width)
    counts = state.counts
    told = f"{counts.blocks} blocks, {counts.visible} shown, {counts.hidden} hidden"
    yield from wrap(show(told, "dim"), width)
    for name, fact in state.extra.items():
        yield from wrap(join(show(f"{name} ", "dim"), show(fact)), width, "  ")
    if state.form is not None:
        yield EMPTY
        yield from field_lines(state.form, width)


def _text(text: str, width: int, most: int | None = None) -> Iterator[Line]:
    if not text.strip():
        yield (EMPTY_TEXT,)
        return
    most = min(most or LONGEST * width, LONGEST * width)
    lines = wrap_all(paragraphs(text[:most]), width)
    yield from islice(lines, LONGEST)
    if len(lines) > LONGEST or len(text) > most:
        yield (Span("… the rest is in the raw view (o)", "warn"),)


def _findings(thing: Thing, shown: Shown, width: int) -> list[Line]:
    found = shown.index.about(thing)
    if not found:
        return []
    heading: Line = (Span(f"{len(found)} finding{'s' if len(found) > 1 else ''} about it", "title"),)
    rows = [line for each in found for line in wrap(finding_row(shown.index.finding(each)), width, "  ")]
    return [EMPTY, heading, *rows]


def _origin(origin: Origin, width: int) -> list[Line]:
    place = (
        ""
        if origin.line is None
        else f":{origin.line}" + ("" if origin.column is None else f":{origin.column}")
    )
    name = origin.file.rpartition("/")[2]
    lines = wrap(
        join((Span("origin ", "dim"),), show(f"{name}{place}", "code"), (Span("  o opens it", "dim"),)),
        width,
    )
    if origin.pointer:
        lines += wrap(show(f"       {origin.pointer}", "dim"), width, "       ")
    return lines
