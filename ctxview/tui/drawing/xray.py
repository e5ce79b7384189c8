"""The X-ray as lines: the text of a prompt with tokens and tiers beside it, and boxes about it. No toolkit.

Grey lines stand for content that is not in the text. They have a size and a reason and belong to no prompt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from ctxview.analysis.prompt_tokens import HEADER, TierTokens
from ctxview.analysis.revisions.window import beside_prompt
from ctxview.core.prompt import CutKind, PromptCut
from ctxview.core.state import Budget, Tier
from ctxview.reports.prompt import size_text
from ctxview.reports.why import short_origin
from ctxview.reports.xray import PromptChange, Xray, XrayRow
from ctxview.tui.drawing.boxes import INSIDE, box, ends
from ctxview.tui.drawing.columns import SegmentStyle, segment_styles
from ctxview.tui.drawing.glyphs import short_count, tier_styles
from ctxview.tui.drawing.text import EMPTY, Line, Span, fit, join, pad, show, width, wrap, wrap_to

TOKENS = 6
"""Cells for the tokens of a line."""
TIER = 2
"""Cells for the tier: its letter at the first line of a block, a rule below."""
LEAST_WITH_TOKENS = 60
SIDE_FROM = 100
"""The width from which on boxes stand beside the text; and their share of it."""
SIDE, WIDE_SIDE, WIDE_FROM = 36, 68, 160
FRAME, LINE_ROWS = 2, 9
"""Lines of a frame, and those that are kept for the line at the cursor."""
HANGING = 2
"""How much further in the rest of a long line begins."""
WORDS = {
    CutKind.HIDDEN: "not shown",
    CutKind.SHORTENED: "cut",
    CutKind.WITHHELD: "withheld",
    CutKind.ABSENT: "not in this file",
}
SIGN_STYLES = {"+": "changed.added", "~": "changed.changed", "−": "diff.removed"}
PIECE_STYLES = {"same": "dim", "removed": "diff.removed.word", "added": "diff.added.word"}


TierSigns: TypeAlias = Mapping[str | None, SegmentStyle]
"""The colour and letter of each tier; those of None are for text outside of tiers."""


def tier_signs(xray: Xray, tiers: Sequence[Tier] = ()) -> TierSigns:
    """The colours and letters of the tiers of a prompt, by those of the state; other text has none."""
    names = [tier.name for tier in xray.tiers if tier.name != HEADER]
    names += [row.tier for row in xray.rows if row.tier is not None and row.tier not in names]
    colours = tier_styles([*tiers, *(Tier(name, ()) for name in names)])
    styles = segment_styles(dict.fromkeys(names), colours)
    return {
        None: SegmentStyle("dim", "h"),
        **{name: SegmentStyle(styles[name].style, styles[name].letter) for name in names},
    }


def side_width(cells: int) -> int:
    """The width of the boxes beside the text, 0 without room for them."""
    if cells < SIDE_FROM:
        return 0
    return WIDE_SIDE if cells >= WIDE_FROM else SIDE


def xray_head(xray: Xray, cells: int, window: Budget | None = None) -> list[Line]:
    """The answer in one sentence, and a warning when the text is not proved.

    `window` is the budget of the Overview; when it has another figure, and no grey line says why, it is told.
    """
    unit = f"{xray.counter.replace('_base', '')}{' exact' if xray.counter_exact else ', estimated'}"
    lines, size = f"{xray.lines:,} lines", f"{xray.bytes:,} bytes"
    # The other tokens are in messages beside the text, which stand in the rows below it.
    text = f" ({unit}): {xray.tokens:,} in" if xray.other_tokens else f" here ({unit}),"
    figure = show(f"{xray.tokens + xray.other_tokens:,} tokens", "strong")
    digest = f"  sha256 {xray.sha256[:8]}" if cells >= WIDE_FROM else ""
    answer = join(show("The model reads ", "dim"), figure, show(f"{text} {lines}, {size}{digest}", "dim"))
    if width(answer) > cells:
        answer = join(show("The model reads ", "dim"), figure, show(f"{text} {size}", "dim"))
    found = [fit(answer, cells)]
    if not xray.rows:
        return [show("The prompt of this revision is empty.", "dim")]
    if not xray.names_the_rest:
        other = beside_prompt(window, xray.tokens, xray.other_tokens, xray.counter)
        found += wrap_to(show(other, "dim"), cells, 2, "  ") if other else []
    if not xray.exact:
        why = next(
            iter(xray.notes), "Built by ctxview from the state; the runtime's own text is not on disk."
        )
        found += wrap_to(
            join((Span("▲ ", "severity.warning"),), show(why, "severity.warning")), cells, 2, "  "
        )
    return found


def row_lines(row: XrayRow, signs: TierSigns, cells: int, *, whole: bool = True) -> list[Line]:
    """One row with its gutter; a long line goes on below, further in, unless `whole` is False."""
    has_tokens = cells >= LEAST_WITH_TOKENS
    gutter = (TOKENS if has_tokens else 0) + TIER
    room = max(8, cells - gutter - 1)
    sign = signs.get(row.tier, signs[None])
    if row.heading is not None:
        return [fit(join((Span(" " * gutter),), show(f"── {row.heading} message ", "title")), cells)]
    if row.cut is not None:
        return [_cut_line(row.cut, cells, has_tokens=has_tokens)]
    first = join(
        _amount(row.tokens, sign.style if row.is_content else "dim") if has_tokens else (),
        _tier_mark(row, sign),
        (Span(" "),),
    )
    text = _row_text(row, sign)
    if not whole or width(text) <= room:
        return [join(first, fit(text, room))]
    indent = " " * min(len(row.text) - len(row.text.lstrip(" ")) + HANGING, room // 2)
    rest = join((Span(" " * (gutter - TIER)),), _rule(sign, row), (Span(" "),))
    return [join(first if at == 0 else rest, line) for at, line in enumerate(wrap(text, room, indent))]


def row_height(row: XrayRow, cells: int) -> int:
    """How many lines `row_lines` makes of a row; fast for the usual line, which fits."""
    room = max(8, cells - (TOKENS if cells >= LEAST_WITH_TOKENS else 0) - TIER - 1)
    if row.cut is not None or row.heading is not None or (row.text.isascii() and len(row.text) <= room):
        return 1
    return len(row_lines(row, {None: SegmentStyle("", "")}, cells))


def text_map(xray: Xray, signs: TierSigns, height: int) -> list[str]:
    """The style of each line of a rail that shows the whole text in the colours of its tiers."""
    if not xray.rows or height <= 0:
        return []
    rows = xray.rows
    return [signs.get(rows[at * len(rows) // height].tier, signs[None]).style for at in range(height)]


def side_lines(
    xray: Xray,
    signs: TierSigns,
    row: XrayRow | None,
    facts: Sequence[str],
    cells: int,
    height: int,
) -> list[Line]:
    """The boxes beside the text: sizes by tier, the blocks that are not shown, and the line at the cursor.

    `facts` are sentences about the block of the line. The last box changes with the cursor; no other moves.
    """
    inside = cells - INSIDE
    made = box(show("Map", "title"), _map(xray, signs, inside), cells, end=show("tokens", "dim"))
    room = height - len(made) - FRAME - LINE_ROWS
    if xray.hidden and room > 0:
        lines = _not_shown(xray.hidden, inside, room)
        made += box(show("Not shown", "title"), lines, cells, end=show("W", "key"))
    if row is not None and (row.block is not None or row.origin is not None or row.cut is not None):
        lines = _this_line(xray, signs, row, facts, inside)
        made += box(show("This line", "title"), lines, cells, end=show("Enter", "key"))
    return made


def line_summary(xray: Xray, row: XrayRow | None, cells: int) -> Line:
    """Block, tokens and origin of the line at the cursor on one line, for widths without room for boxes."""
    if row is None or row.block is None:
        return EMPTY
    content, fields = xray.block_tokens(row.block, row.tier)
    size = f" {content + fields:,} tok = text {content:,} + fields {fields:,}" if row.cut is None else ""
    left = join(show(row.block, "strong"), show(size, "dim"))
    return ends(left, show(short_origin(row.origin), "link") if row.origin is not None else (), cells)


def change_lines(changes: Sequence[PromptChange], cells: int) -> list[Line]:
    """The word difference between two prompts: each changed block with its words."""
    if not changes:
        return [show("Both prompts are the same text.", "dim")]
    counts = {sign: sum(each.sign == sign for each in changes) for sign in SIGN_STYLES}
    lines: list[Line] = []
    for each in changes:
        head = join(show(f"{each.sign} ", SIGN_STYLES[each.sign]), show(each.name, "strong"))
        tier = f"  {each.tier}" if each.tier not in (None, each.name) else ""
        lines.append(fit(join(head, show(tier, "dim")), cells))
        if each.why:
            lines += wrap_to(show(f"left the prompt: {each.why}", "dim"), cells - 2, 2)
        for row in _piece_rows(each):
            lines += (join((Span("  "),), line) for line in wrap(row, cells - 2, "  "))
    total = join(
        *(show(f"{sign} {count}", SIGN_STYLES[sign]) for sign, count in counts.items() if count), gap="  "
    )
    return [*lines, EMPTY, join(total, show(" in the prompt", "dim"))]


def _amount(tokens: int | None, style: str) -> Line:
    return join(pad(show(short_count(tokens), style), TOKENS - 1, right=True), (Span(" "),))


def _reason(cut: PromptCut) -> str:
    """The reason of a cut without the word for its kind, which stands before it."""
    return cut.reason.removesuffix(WORDS[cut.kind]).rstrip(", ")


def _tier_mark(row: XrayRow, sign: SegmentStyle) -> Line:
    if row.is_first:
        return (Span(sign.letter, f"brand on:{sign.style}"),)
    return _rule(sign, row)


def _rule(sign: SegmentStyle, row: XrayRow) -> Line:
    return (Span("│", sign.style),) if row.tier is not None else (Span(" "),)


def _row_text(row: XrayRow, sign: SegmentStyle) -> Line:
    """The text of a line: content bright, ids in the colour of the tier, fields faint."""
    if row.lines > 1 or row.text.lstrip(" ").startswith("▸ "):
        return show(row.text, "hidden")
    if row.is_content:
        name, colon, rest = row.text.partition(": ")
        is_member = colon and name.strip() == "content"
        return join(show(f"{name}{colon}", "dim"), show(rest)) if is_member else show(row.text)
    if row.is_first and row.block is not None and row.text.rstrip().endswith(row.block):
        head = row.text[: row.text.rindex(row.block)]
        return join(show(head, "dim"), show(row.block, sign.style))
    return show(row.text, "dim" if row.block is not None else sign.style if row.tier is not None else "dim")


def _cut_line(cut: PromptCut, cells: int, *, has_tokens: bool) -> Line:
    size = "" if cut.tokens is not None and cut.counted_by is None else size_text(cut)
    reason = _reason(cut)
    words = " · ".join(filter(None, (f"{WORDS[cut.kind]}: {cut.what}", reason, size)))
    gutter = join(_amount(cut.tokens, "hidden") if has_tokens else EMPTY, (Span("○", "hidden"), Span("  ")))
    line = join(gutter, (Span("┄┄ ", "faint"),), show(words, "hidden"))
    rest = cells - width(line) - 1
    return fit(join(line, (Span(f" {'┄' * rest}", "faint"),) if rest > 0 else ()), cells)


def _map(xray: Xray, signs: TierSigns, cells: int) -> list[Line]:
    most = max((tier.total for tier in xray.tiers), default=0)
    names = max((len(tier.name) for tier in xray.tiers), default=0)
    lines = [_map_line(tier, signs, most, min(names, 12), cells) for tier in xray.tiers]
    if xray.field_tokens:
        share = round(100 * xray.field_tokens / xray.tokens)
        what = "are fields, not content" if xray.has_fields else "belong to no block"
        words = join(
            show(f"{xray.field_tokens:,} of {xray.tokens:,}", "strong"),
            show(f" {what} ({share} %)", "dim"),
        )
        lines += [EMPTY, *wrap(words, cells)]
    for row in xray.elsewhere[:3]:
        if row.cut is not None and (size := size_text(row.cut)):
            lines += wrap_to(show(f"{WORDS[row.cut.kind]}: {row.cut.what}, {size}", "dim"), cells, 5)
    return lines


def _map_line(tier: TierTokens, signs: TierSigns, most: int, names: int, cells: int) -> Line:
    sign = signs.get(tier.name if tier.name != HEADER else None, signs[None])
    figures = show(f"{tier.content:,} / {tier.fields:,}" if cells >= 60 else f"{tier.total:,}", "")
    room = max(1, cells - names - 5 - width(figures))
    content = tier.content * room // most if most else 0
    whole = max(1, tier.total * room // most) if most and tier.total else 0
    bar: Line = (Span("█" * content, sign.style), Span("▒" * (whole - content), sign.style))
    left = join(
        (Span(sign.letter, f"brand on:{sign.style}"), Span(" ")), pad(show(tier.name, sign.style), names)
    )
    return ends(join(left, (Span(" "),), tuple(span for span in bar if span.text)), figures, cells)


def _this_line(xray: Xray, signs: TierSigns, row: XrayRow, facts: Sequence[str], cells: int) -> list[Line]:
    sign = signs.get(row.tier, signs[None])
    lines: list[Line] = []
    if row.block is not None:
        lines.append(fit(show(row.block, sign.style), cells))
        content, fields = xray.block_tokens(row.block, row.tier)
        if content + fields:
            size = join(
                show(f"{content + fields:,} tok", "strong"),
                show(f" = text {content:,} + fields {fields:,}", "dim"),
            )
            lines.append(fit(size, cells))
    if row.cut is not None:
        about = ": ".join(filter(None, (WORDS[row.cut.kind], _reason(row.cut))))
        lines += wrap_to(show(about, "hidden"), cells, 3)
    for fact in facts:
        lines += wrap_to(show(fact, "dim"), cells, 3, "  ")
    if row.origin is not None:
        lines += [EMPTY, join(show("origin  ", "dim"), show("o", "key"))]
        lines.append(fit(show(short_origin(row.origin), "link"), cells))
    return lines


def _not_shown(hidden: Sequence[XrayRow], cells: int, room: int) -> list[Line]:
    total = sum(row.cut.tokens or 0 for row in hidden if row.cut is not None)
    words = "They stand as grey lines in the text."
    if all(row.cut is not None and row.cut.tokens is not None for row in hidden):
        words = f"{total:,} tok, grey lines in the text."
    below = [EMPTY, *wrap(show(words, "dim"), cells)]
    most = room - len(below) if len(hidden) <= room - len(below) else max(0, room - len(below) - 1)
    lines: list[Line] = []
    names = min(max((width(show(row.cut.what)) for row in hidden[:most] if row.cut), default=0), cells // 2)
    tiers = max((len(row.tier or "") for row in hidden[:most]), default=0)
    for row in hidden[:most]:
        cut = row.cut
        if cut is not None:
            amount = show(f"{cut.tokens:,}" if cut.tokens is not None else "", "dim")
            name, reason = show(cut.what), EMPTY
            if cells >= 60:
                name, reason = pad(name, names), show(f"  {row.tier or '':{tiers}}  {cut.reason}", "dim")
            lines.append(ends(join((Span("○ ", "hidden"),), name, reason), amount, cells))
    if len(hidden) > most:
        lines.append(show(f"and {len(hidden) - most} more", "dim"))
    return [*lines, *below][:room]


def _piece_rows(change: PromptChange) -> list[Line]:
    """The words of a change, in the lines that have any; words between them are cut short."""
    rows: list[Line] = []
    current: list[Span] = []
    is_changed = False
    for piece in change.pieces:
        for at, text in enumerate(piece.text.split("\n")):
            if at:
                rows += [tuple(current)] if is_changed else []
                current, is_changed = [], False
            current += show(text, PIECE_STYLES[piece.side])
            is_changed = is_changed or (piece.side != "same" and bool(text))
    return [*rows, *([tuple(current)] if is_changed else [])]
