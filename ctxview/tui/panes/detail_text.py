"""The lines of the detail pane: each kind of item with its facts, text, fields, findings and origin."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from itertools import islice

from ctxview.analysis.gaps import blocked_names
from ctxview.analysis.revisions.reasons import is_shown_in_part
from ctxview.core.fields import Field, Form, Owner
from ctxview.core.findings import Finding
from ctxview.core.flow import FlowIndex, FlowLink, FlowNode
from ctxview.core.origin import JsonValue, Origin
from ctxview.core.state import Block, Budget, ContextState, Gap, Ref, Todo, TodoItem
from ctxview.core.transcript import Row
from ctxview.tui.drawing import glyphs
from ctxview.tui.drawing.block_history import block_lines
from ctxview.tui.drawing.budget import whole_lines
from ctxview.tui.drawing.glyphs import reach_text, tier_styles
from ctxview.tui.drawing.rows import EMPTY_TEXT, finding_row, gap_badge
from ctxview.tui.drawing.text import EMPTY, Line, Span, join, pad, paragraphs, shorten, show, wrap, wrap_all
from ctxview.tui.model.reading_index import ItemId, ItemValue
from ctxview.tui.model.view_state import ViewState
from ctxview.tui.panes.budget import budget_history, budget_style
from ctxview.tui.panes.history import numeral, role_style, row_numeral
from ctxview.tui.panes.references import STYLE as REF_STYLE
from ctxview.tui.panes.todo import cursor_lines, item_line

LONGEST_VALUE = 400
"""Characters of one field's value."""

LONGEST = 2_000
"""Lines of one text; the raw view shows the rest."""

MOST_LINKS = 12
"""Linked records that are listed, in each direction."""

LONGEST_MESSAGE = 32_000
"""Characters of one message: wrapping more would slow down moving from row to row."""


def detail_lines(item: ItemId, view: ViewState, width: int) -> list[Line]:
    value = view.index.value(item)
    lines = list(_body(value, view, width)) if value is not None else []
    lines += _findings(item, view, width)
    origin = view.index.origin(item)
    if origin is not None:
        lines += [EMPTY, *_origin(origin, width)]
    return lines


def _body(value: ItemValue, view: ViewState, width: int) -> Iterator[Line]:
    match value:
        case Block():
            yield from _block(value, view, width)
        case Todo():
            yield from _todo(value, width)
        case TodoItem():
            yield from wrap(item_line(value), width, "  ")
        case Budget():
            yield from _budget(value, view, width)
        case Ref():
            yield from _ref(value, width)
        case Gap():
            yield from _gap(value, width)
        case Row():
            yield from _message(value, width)
        case FlowNode():
            yield from _node(value, view, width)
        case Finding():
            yield from _finding(value, width)
        case ContextState():
            yield from _state(value, width)
        case str():
            yield from _text(value, width)


def _block(block: Block, view: ViewState, width: int) -> Iterator[Line]:
    styles = tier_styles(view.index.reading.state.tiers)
    kind = join(show(block.tier, styles.get(block.tier, "")), show(block.type or "", "rule"), gap=" · ")
    yield from wrap(join(show(block.id, "strong"), kind, gap="  "), width)
    yield from _verdict(block, width)
    yield from wrap_all(reach_text(block), width, "  ")
    yield from block_lines(block, view, width)
    for figure in block.figures:
        if figure.scale is None:
            yield (Span(f"{figure.name:<10} ", "dim"), *show(f"{figure.value:g} {figure.unit}".rstrip()))
    yield from wrap(show(_figures(block, view), "dim"), width)
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
        verdict = f"{glyphs.SHOWN} shown to the model"
        if is_shown_in_part(block):
            verdict = f"{glyphs.IN_PART} shown to the model in part"
        shown: Line = (Span(f"{verdict}{place}", "visible.yes"),)
        how = show(f": {block.why}" if block.why else "", "dim")
        yield from wrap(join(shown, how), width, "  ")
    else:
        reason = show(block.why or "not shown to the model", "warn")
        yield from wrap(join((Span(f"{glyphs.HIDDEN} not shown: ", "hidden"),), reason), width, "  ")


def _figures(block: Block, view: ViewState) -> str:
    from ctxview.analysis.tokens import ESTIMATES

    parts: list[str] = []
    if block.round is not None:
        parts.append(f"round {block.round}")
    if block.age is not None:
        parts.append(f"age {block.age}")
    if block.tokens is not None:
        # The counter of one block; a tag of the block says if the figure was only recorded.
        counter = block.tokens_from or view.index.reading.state.counts.estimator.partition(" and ")[0]
        word = " estimate" if counter in ESTIMATES else ""
        parts.append(f"{glyphs.count_text(block.tokens)} tokens, {counter}{word}")
    if block.state is not None:
        parts.append(f"state {block.state}")
    return " · ".join(parts)


def _todo(todo: Todo, width: int) -> Iterator[Line]:
    yield from wrap(show(todo.summary or "Todo", "strong"), width)
    if todo.total is not None and todo.step is not None:
        yield (Span(f"step {todo.step} of {todo.total}", "dim"),)
    yield from cursor_lines(todo, width)
    if todo.form is not None:
        yield EMPTY
        yield from field_lines(todo.form, width)


def _budget(budget: Budget, view: ViewState, width: int) -> Iterator[Line]:
    yield from whole_lines(budget, budget_style(view, width), budget_history(budget, view))
    yield EMPTY
    if budget.reported and budget.used is not None:
        yield from wrap(show(f"{budget.used:,} used: {budget.reported}.", "dim"), width)
    ways: dict[str, list[str]] = defaultdict(list)
    for segment in budget.segments:
        ways["" if segment.exact else segment.estimator or "an estimate"].append(segment.name)
    for way, names in ways.items():
        text = f"≈ {', '.join(names)}: {way}." if way else f"Exact: {', '.join(names)}."
        yield from wrap(show(text, "dim"), width)


def _ref(ref: Ref, width: int) -> Iterator[Line]:
    yield from wrap(show(ref.id, "strong"), width)
    target = () if ref.names_itself else join((Span("→ ", "dim"),), show(ref.target, "code"))
    yield from wrap(join(show(ref.kind, "dim"), target, gap=" "), width, "  ")
    yield (Span(f"{glyphs.REF[ref.status]} {ref.status}", REF_STYLE[ref.status]),)
    sizes = [f"{glyphs.count_text(ref.tokens)} tokens"] if ref.tokens is not None else []
    sizes += [f"{glyphs.count_text(ref.bytes)} bytes"] if ref.bytes is not None else []
    if sizes:
        yield (Span(" · ".join(sizes), "dim"),)
    if ref.used_by:
        yield from wrap(join((Span("used by ", "dim"),), show(", ".join(ref.used_by))), width, "  ")
    if ref.text is not None:
        yield EMPTY
        yield from _text(ref.text, width)
    if ref.form is not None:
        yield EMPTY
        yield from field_lines(ref.form, width)


def _gap(gap: Gap, width: int) -> Iterator[Line]:
    yield from wrap(show(gap.id, "strong"), width)
    yield from wrap(join(gap_badge(gap), show(gap.status, "dim"), gap=" · "), width)
    yield from wrap_all(paragraphs(gap.question), width)
    if blocks := blocked_names(gap):
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


def _node(node: FlowNode, view: ViewState, width: int) -> Iterator[Line]:
    ways = view.index.flow_index
    stage = ways.stage(node.id) if ways is not None else None
    yield from wrap(show(node.label, "strong"), width)
    yield from wrap(join(show(stage.name if stage else "", "accent"), show(node.detail), gap=" · "), width)
    if ways is not None:
        for word, links in (("from", ways.into(node.id)), ("to", ways.out_of(node.id))):
            yield from _links(word, links, ways, width)
    if text := str(node.text):
        yield EMPTY
        yield from _text(text, width)
    if node.form is not None:
        yield EMPTY
        yield from field_lines(node.form, width, skip=("content", "text"))


def _links(word: str, links: Sequence[FlowLink], ways: FlowIndex, width: int) -> Iterator[Line]:
    """The records a record is linked with, each with the count and label of the link."""
    for at, link in enumerate(links[:MOST_LINKS]):
        other = ways.nodes[link.start if word == "from" else link.end]
        head: Line = (Span(f"{word if at == 0 else '':<5}", "dim"),)
        count = show(f"×{link.count:,}" if link.count > 1 else "", "accent")
        line = join(show(other.label, "link"), count, show(link.label, "dim"), gap=" ")
        yield from wrap(join(head, line), width, "     ")
    if len(links) > MOST_LINKS:
        yield (Span(f"     … and {len(links) - MOST_LINKS:,} more", "dim"),)


def _message(row: Row, width: int) -> Iterator[Line]:
    facts = (f"run {row.run}" if row.run else "", f"{glyphs.count_text(row.size)} bytes")
    uncounted = " from the end, not counted yet" if row.index < 0 else ""
    name = f"message {row_numeral(row)}" if row_numeral(row) else f"blank line {numeral(row.index)}"
    yield from wrap(show(f"{name}{uncounted}", "strong"), width)
    role = show(row.role or "unknown role", role_style(row.role))
    yield from wrap(
        join(role, show(row.kind, "rule"), *(show(each, "dim") for each in facts), gap=" · "), width
    )
    if row.unseen is not None:
        reason = show(f"not shown to the model: {row.unseen}", "warn")
        yield from wrap(join((Span(f"{glyphs.HIDDEN} ", "hidden"),), reason), width, "  ")
    if row.problem is not None and row.problem != row.unseen:
        yield from wrap(show(row.problem, "bad"), width)
    yield EMPTY
    yield from _text(row.text, width, LONGEST_MESSAGE)


def _finding(finding: Finding, width: int) -> Iterator[Line]:
    from ctxview.core.findings import REGISTRY

    style = f"severity.{finding.severity}"
    rule = REGISTRY.get(finding.rule)
    yield from wrap(
        join(show(finding.rule, "strong"), show(rule.name if rule else "", "rule"), gap=" "), width
    )
    effect = f" · the runtime: {finding.effect}" if finding.effect != "none" else ""
    yield (Span(f"{glyphs.SEVERITY[finding.severity]} {finding.severity}", style), Span(effect, "dim"))
    yield from wrap_all(paragraphs(finding.message), width)
    if rule is not None:
        explanation = rule.explanation
        for name, body in (
            ("", explanation.summary),
            ("Why", explanation.why),
            ("Bad", explanation.bad),
            ("Good", explanation.good),
            ("Fix", explanation.fix),
        ):
            if body:
                yield EMPTY
                if name:
                    yield (Span(name, "title"),)
                # Outside examples, the line breaks within a paragraph are only those of the docstring.
                flowing = "\n\n".join(" ".join(part.split()) for part in body.split("\n\n"))
                yield from wrap_all(paragraphs(body if name in {"Bad", "Good"} else flowing, "dim"), width)


def _state(state: ContextState, width: int) -> Iterator[Line]:
    yield from wrap(show(state.title, "strong"), width)
    yield from wrap(show(f"{state.format} · {state.revision}", "dim"), width)
    counts = state.counts
    yield from wrap(
        show(f"{counts.blocks} blocks, {counts.visible} shown, {counts.hidden} hidden", "dim"), width
    )
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


def _findings(item: ItemId, view: ViewState, width: int) -> list[Line]:
    found = view.index.about(item)
    if not found:
        return []
    heading: Line = (Span(f"{len(found)} finding{'s' if len(found) > 1 else ''} about it", "title"),)
    rows = [line for each in found for line in wrap(finding_row(view.index.finding(each)), width, "  ")]
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


def field_lines(form: Form, width: int, skip: Collection[str] = ()) -> Iterator[Line]:
    """A heading with a legend of the owners, then each field with its value, then why fields are locked."""
    owners = list(dict.fromkeys(field.owner for field in form.fields))
    legend = join(
        *((Span(f"{glyphs.OWNER[owner]} {owner}", f"owner.{owner}"),) for owner in owners), gap="  "
    )
    yield from wrap(join((Span("Fields", "title"),), legend, gap="  "), width)
    name_width = min(max((len(field.name) for field in form.fields), default=0), max(8, width // 3))
    reasons: dict[str, list[str]] = {}
    for field in form.fields:
        if field.name in skip and field.shape is not None:
            continue
        yield from _field(field, name_width, width)
        if field.shape is None and field.why:
            reasons.setdefault(field.why, []).append(field.name)
    for why, names in reasons.items():
        line = join(
            (Span(f"{glyphs.OWNER[Owner.SYSTEM]} ", "owner.system"),),
            show(f"{', '.join(names)}: {why}", "dim"),
        )
        yield from wrap(line, width, "  ")


def _field(field: Field, name_width: int, width: int) -> list[Line]:
    glyph: Line = (Span(f"{glyphs.OWNER[field.owner]} ", f"owner.{field.owner}"),)
    name = pad(show(shorten(field.name, name_width), "rule"), name_width)
    text = show(field_value_text(field.value)) or (EMPTY_TEXT,)
    value = text if field.present else (Span("not in the file", "dim"),)
    return wrap(join(glyph, name, (Span(" "),), value), width, " " * (name_width + 3))


def field_value_text(value: JsonValue) -> str:
    """A JSON value on one line, cut with a mark when it is long."""
    if isinstance(value, str):
        text = value
    else:
        try:
            text = json.dumps(value, ensure_ascii=False)
        except (RecursionError, ValueError):
            text = "(nested too deep to show here)"
    return text if len(text) <= LONGEST_VALUE else text[:LONGEST_VALUE] + "…"
