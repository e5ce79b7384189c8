"""Rules about outcomes that records must not state, and the order of their times (ENV020, ENV021).

Examples change a sound bundle, as in `shape`.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache

from ctxview.analysis.rfc3339 import parse_time
from ctxview.analysis.wording import excerpt, listed, quoted
from ctxview.core.findings import Hit, Severity, rule
from ctxview.core.origin import JsonValue
from ctxview.formats.envelope.model import EnvelopeRecords, Record, text
from ctxview.formats.envelope.outcomes import outcomes
from ctxview.formats.envelope.parser import embedded
from ctxview.formats.envelope.profile import Profile
from ctxview.formats.envelope.rules.lookups import (
    DEEPEST,
    approves,
    is_outcome_event,
    is_outcome_value,
    label,
    names_an_outcome,
    snake_case,
)
from ctxview.formats.envelope.vocabulary import RecordKind
from ctxview.formats.envelope.word_lists import OUTCOME_KINDS, OUTCOME_OF, OUTCOME_PARTS, OUTCOME_WORDS

QUOTED_MATTER = ("content", "external_mappings", "ranking_signals")
"""Members that hold the words or ids of others, not statements of the record."""
VALIDATION = "validation"
"""The member in which a record says who approved its own summary, which is not a permission."""
Path = tuple[str | int, ...]


@rule("ENV020", name="states-an-outcome", severity=Severity.WARNING)
def states_an_outcome(record: Record, profile: Profile) -> Iterator[Hit]:
    """A context record states how a turn, task or tool call ended, or that something was permitted.

    ## Why
    The runtime decides that a turn is over, a tool succeeded, where a task stands and what is permitted. A
    context record that says it too will one day say something else, and a reader that trusts it acts on it: a
    denied tool call runs. An event type of `turn.`, `task.`, `tool.` or `permission.`, or one that names such
    an outcome or an approval further on (`context.turn.completed`), is an error. A member such as
    `turn_status`, `status` inside `turn` or the reverse, `approved: true` or `policy: "allow"` is a warning,
    because only its name or word gives it away.
    ## Bad
    ctx-1.metadata.turn_status = "completed"
    ## Good
    ctx-1.metadata.turn_hint = "completed"
    ## Fix
    Take the statement out and refer to the record of the runtime that makes it.
    ## Source
    Agent Context draft, interoperability contract: the one MUST NOT of the draft. The names are ours.
    """
    kind = record.text("event_type")
    if kind is not None and is_outcome_event(kind):
        message = f"{label(record)}: {quoted(kind)} may only be said by the runtime, not by a context event"
        yield Hit(record.origin("event_type"), message, Severity.ERROR)
    for path, name in _statements(record):
        message = f"{label(record)}: {excerpt(name)} states an outcome, which only the runtime may do"
        yield Hit(record.origin(*path), message)


@rule("ENV021", name="time-order", severity=Severity.WARNING)
def time_order(records: EnvelopeRecords, profile: Profile) -> Iterator[Hit]:
    """A step was recorded before the one it needs, or a surface expired before it was made.

    ## Why
    One can only select from a surface that exists, assemble what is selected, and inject what is assembled.
    Times that say otherwise belong to another attempt, or were guessed later.
    ## Bad
    injection-model.created_at = "2026-05-11T09:00:01Z"
    ## Good
    injection-model.created_at = "2026-05-11T09:00:07Z"
    ## Fix
    Find out which time is wrong; a retry gets records of its own.
    ## Source
    Agent Context draft, the flow on the model page. That times follow it is our reading.
    """
    for selection in records.of(RecordKind.SELECTION):
        surface = records.named(RecordKind.SURFACE, selection.text("surface_id"))
        yield from _check_order(selection, surface, "chooses from")
    for injection in records.of(RecordKind.INJECTION):
        assembly = records.named(RecordKind.ASSEMBLY, injection.text("assembly_id"))
        yield from _check_order(injection, assembly, "injects")
    yield from _assembled_before_selected(records)
    for surface in records.of(RecordKind.SURFACE):
        made, ends = _created_at(surface), parse_time(surface.text("expires_at"))
        if made is not None and ends is not None and ends <= made:
            until = _time(surface, "expires_at")
            message = f"{label(surface)} expires at {until}, not after it was made ({_time(surface)})"
            yield Hit(surface.origin("expires_at"), message)


def _statements(record: Record) -> Iterator[tuple[Path, str]]:
    """Yield members that state an outcome by their name, or by the name or kind of the object around them."""
    embedded_paths = {
        found[2] for reference in record.references if (found := embedded(reference)) is not None
    }
    waiting: list[tuple[Path, JsonValue]] = [((), dict(record.value))]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, list) and len(path) < DEEPEST:
            waiting.extend(
                ((*path, at), each) for at, each in enumerate(value) if (*path, at) not in embedded_paths
            )
        if not isinstance(value, dict) or len(path) >= DEEPEST:
            continue
        kind = snake_case(text(value.get("kind")) or text(value.get("type")) or "")
        holders = [each for each in reversed(path) if isinstance(each, str)]
        nearest = holders[0] if holders else ""
        holder = next((each for each in holders if snake_case(each) not in OUTCOME_PARTS), "")
        about = kind if kind in OUTCOME_KINDS else holder if _is_outcome_of(holder) else ""
        for name, inner in value.items():
            if name in QUOTED_MATTER or (*path, name) in embedded_paths or inner is None:
                continue
            is_about = about != "" and snake_case(name) in OUTCOME_WORDS
            permits = VALIDATION not in path and approves(snake_case(name), inner)
            is_state_of = not isinstance(inner, dict | list) and names_an_outcome(f"{name}_{nearest}")
            is_outcome = names_an_outcome(name) or is_outcome_value(name, inner)
            if is_about or permits or is_outcome or is_state_of:
                yield (*path, name), f"{about} {name}" if is_about else name
            elif isinstance(inner, dict | list):
                waiting.append(((*path, name), inner))


@lru_cache(maxsize=4096)
def _is_outcome_of(name: str) -> bool:
    """Whether the states of an object or list with this name belong to the runtime: `turn`, `toolCalls`."""
    word = snake_case(name)
    return word in OUTCOME_OF or word.removesuffix("s") in OUTCOME_OF or word == "policies"


def _created_at(record: Record) -> datetime | None:
    return parse_time(record.text("created_at"))


def _time(record: Record, name: str = "created_at") -> str:
    return excerpt(record.text(name) or "")


def _check_order(record: Record, needed: Record | None, verb: str) -> Iterator[Hit]:
    mine, theirs = _created_at(record), _created_at(needed) if needed is not None else None
    if needed is not None and mine is not None and theirs is not None and mine < theirs:
        message = f"{label(record)} ({_time(record)}) {verb} {label(needed)}"
        yield Hit(record.origin("created_at"), f"{message}, which is later ({_time(needed)})")


def _assembled_before_selected(records: EnvelopeRecords) -> Iterator[Hit]:
    """Check for assemblies with items that were selected only afterwards."""
    early: dict[Record, list[str]] = {}
    for outcome in outcomes(records).values():
        chosen = [time for each in outcome.selected_by if (time := _created_at(each)) is not None]
        if not chosen or len(chosen) < len(outcome.selected_by):
            continue
        for placed in outcome.assembled:
            made = _created_at(placed.assembly)
            if made is not None and made < min(chosen):
                early.setdefault(placed.assembly, []).append(outcome.id)
    for assembly, names in early.items():
        items = listed(dict.fromkeys(names))
        message = f"{label(assembly)} ({_time(assembly)}) was made before {items} had been selected"
        yield Hit(assembly.origin("created_at"), message)
