"""The fields of a form with their owners: a glyph and a word each, and why a locked one is locked."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator

from ctxview.state import Field, Form, JsonValue, Owner
from ctxview.tui import glyphs
from ctxview.tui.panes.rows import EMPTY_TEXT
from ctxview.tui.text import Line, Span, join, pad, shorten, show, wrap

LONGEST_VALUE = 400


def field_lines(form: Form, width: int, skip: Collection[str] = ()) -> Iterator[Line]:
    """A heading that explains the glyphs in use, then one field a line with its value wrapped."""
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
        told = join(
            (Span(f"{glyphs.OWNER[Owner.SYSTEM]} ", "owner.system"),),
            show(f"{', '.join(names)}: {why}", "dim"),
        )
        yield from wrap(told, width, "  ")


def _field(field: Field, name_width: int, width: int) -> list[Line]:
    glyph: Line = (Span(f"{glyphs.OWNER[field.owner]} ", f"owner.{field.owner}"),)
    name = pad(show(shorten(field.name, name_width), "rule"), name_width)
    told = show(spelled(field.value)) or (EMPTY_TEXT,)
    value = told if field.present else (Span("not there", "dim"),)
    return wrap(join(glyph, name, (Span(" "),), value), width, " " * (name_width + 3))


def spelled(value: JsonValue) -> str:
    """A JSON value on one line, cut with a mark when it is long."""
    if isinstance(value, str):
        text = value
    else:
        try:
            text = json.dumps(value, ensure_ascii=False)
        except (RecursionError, ValueError):
            text = "(nested too deep to show here)"
    return text if len(text) <= LONGEST_VALUE else text[:LONGEST_VALUE] + "…"
