"""Finding a string in everything that is loaded of one reading. Knows things and their words, no screen.

Small letters find both cases; a capital letter in the needle makes the search exact.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ctxview.findings import Finding
from ctxview.flow import Node
from ctxview.quick_dataclass import dataclass
from ctxview.state import Block, Budget, ContextState, Gap, JsonValue, Ref, Todo, TodoItem
from ctxview.tui.text import Line, Span, join, show
from ctxview.tui.things import Index, Kind, Thing, Value

LIMIT = 10_000


@dataclass(frozen=True, slots=True)
class Hit:
    """A thing that holds the needle; of a long text also which of its lines does."""

    thing: Thing
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Hits:
    """The hits of one search in pane order. `capped` says that there are more."""

    needle: str = ""
    found: tuple[Hit, ...] = ()
    capped: bool = False

    def counts(self) -> dict[Kind, int]:
        counted: dict[Kind, int] = {}
        for hit in self.found:
            counted[hit.thing.kind] = counted.get(hit.thing.kind, 0) + 1
        return counted

    def next_after(self, current: Hit | None, thing: Thing | None, *, back: bool = False) -> Hit | None:
        """The hit after the one shown, else the first at or after the selected thing; wraps around."""
        if not self.found:
            return None
        if current in self.found:
            step = -1 if back else 1
            return self.found[(self.found.index(current) + step) % len(self.found)]
        return next((hit for hit in self.found if hit.thing == thing), self.found[-1 if back else 0])


def search(needle: str, index: Index) -> Hits:
    matches = pattern(needle)
    if matches is None:
        return Hits(needle)
    found: list[Hit] = []
    for hit in _hits(matches, index):
        if len(found) == LIMIT:
            return Hits(needle, tuple(found), capped=True)
        found.append(hit)
    return Hits(needle, tuple(found))


def pattern(needle: str) -> re.Pattern[str] | None:
    """How a needle is looked for, here and where it is marked; None when there is nothing to find."""
    if not needle.strip():
        return None
    return re.compile(re.escape(needle), 0 if needle != needle.lower() else re.IGNORECASE)


def hit_counts(hits: Hits, messages: int = 0) -> Line:
    """How much was found, and where; messages are searched only when one steps to them."""
    if not hits.needle.strip():
        return show("searches blocks, todo, references, missing, findings, text and history", "dim")
    more = show(f"Enter and n go on through {messages:,} messages", "dim") if messages else ()
    if not hits.found:
        return more or show("nowhere", "warn")
    total: Line = (Span(f"{len(hits.found)}{'+' if hits.capped else ''} found", "ok"),)
    parts = (show(f"{kind} {number}", "dim") for kind, number in hits.counts().items())
    return join(total, *parts, more, gap=" · ")


def _hits(matches: re.Pattern[str], index: Index) -> Iterator[Hit]:
    for thing, value in index.things.items():
        if thing.kind is Kind.TEXT and isinstance(value, str):
            for number, line in enumerate(value.split("\n")):
                if matches.search(line):
                    yield Hit(thing, number)
        elif any(matches.search(word) for word in _words(value) if word):
            yield Hit(thing)


def _words(value: Value) -> Iterator[str | None]:
    match value:
        case Block():
            yield from (value.id, value.tier, value.type, value.text, value.reason, value.state, *value.tags)
        case Todo():
            yield value.summary
            if value.cursor is not None:
                yield from (value.cursor.phase, value.cursor.next, value.cursor.note)
        case TodoItem():
            yield from (value.title, value.status)
        case Budget():
            yield value.target
            yield from (segment.name for segment in value.segments)
        case Ref():
            yield from (value.id, value.kind, value.target, value.status, value.text, *value.used_by)
        case Gap():
            yield from (value.id, value.question, value.severity, value.status, value.why, *value.blocks)
        case Node() if value.block is None:
            yield from (value.id, value.label, value.detail, value.text)
        case Finding():
            yield from (value.rule, value.message, str(value.origin), value.origin.pointer)
        case ContextState():
            yield from (value.title, value.revision, *value.extra.values())
            for field in value.form.fields if value.form is not None else ():
                yield field.name
                yield from _strings(field.value)
        case str():
            yield value


def _strings(value: JsonValue) -> Iterator[str]:
    """Every string in a value. Iterative: a file may nest deeper than Python recurses."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, list):
            waiting.extend(each)
        elif isinstance(each, dict):
            yield from each
            waiting.extend(each.values())
