"""Build the budgets of a state: the recorded use for each target, and whether it is verified."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec.structs import replace

from ctxview.core.origin import JsonValue
from ctxview.core.state import Budget, Segment
from ctxview.formats.envelope.model import Record, RecordReference, count, text
from ctxview.formats.envelope.outcomes import items_by_block, outcome_key
from ctxview.formats.envelope.state.inputs import NO_TARGET, EnvelopeStateInputs
from ctxview.formats.envelope.vocabulary import RecordKind

RECORDED = "recorded"
MOST_CUTS = 6
UNITS = ("tokens", "bytes", "items")


def build_budgets(inputs: EnvelopeStateInputs) -> tuple[Budget, ...]:
    """One budget for each record and unit; windows and assemblies without a budget have one of their own."""
    found = [
        (outcome_key(record), each)
        for record in inputs.records.of(RecordKind.BUDGET)
        for each in _budgets_of(inputs, record)
    ]
    limited = {each.text("target") for each in inputs.records.of(RecordKind.BUDGET)}
    windows = inputs.records.of(RecordKind.WINDOW)
    free = [each for each in windows if each.text("target") not in limited]
    found += [(outcome_key(each), _unlimited(inputs, each, _segments(inputs, each))) for each in free]
    limited |= {each.text("target") for each in windows}
    for assembly in inputs.records.of(RecordKind.ASSEMBLY):
        budgets = inputs.records.targets_of(assembly.refs("budget_ref"))
        if not budgets and assembly.text("target") not in limited:
            blocks = tuple(_blocks(inputs, assembly))
            found.append((outcome_key(assembly), _unlimited(inputs, assembly, blocks)))
    uses = Counter((each.target, each.unit) for _, each in found)
    return tuple(
        replace(each, target=f"{each.target} ({inputs.mask(name)})")
        if uses[each.target, each.unit] > 1
        else each
        for name, each in found
    )


def overflow_facts(inputs: EnvelopeStateInputs) -> dict[str, str]:
    """The overflow strategy and the truncations of each budget."""
    facts = {}
    for record in inputs.records.of(RecordKind.BUDGET):
        parts = [*filter(None, [record.text("overflow_strategy")])]
        if cuts := [*map(_truncated, _truncation_records(record))]:
            parts.append(f"truncated {'; '.join(cuts[:MOST_CUTS])}{'; …' if len(cuts) > MOST_CUTS else ''}")
        if parts:
            facts[f"overflow of {inputs.name(record)}"] = inputs.mask("; ".join(parts))
    return facts


def cut_from_model(inputs: EnvelopeStateInputs) -> int:
    """The number of tokens that were cut from the context of the model, by the records."""
    return sum(_cut(each, "tokens") or 0 for each in _budgets_of_model(inputs))


def cuts_by_item(inputs: EnvelopeStateInputs) -> dict[str, int]:
    """The number of tokens that were cut from each item for the model, where the records name it."""
    cuts: dict[str, int] = {}
    for budget in _budgets_of_model(inputs):
        for entry in _truncation_records(budget):
            name, removed = _name_of_truncated(entry), _removed(entry, "tokens")
            if name is not None and removed:
                cuts[name] = cuts.get(name, 0) + removed
    return cuts


def _budgets_of_model(inputs: EnvelopeStateInputs) -> Iterator[Record]:
    return (each for each in inputs.records.of(RecordKind.BUDGET) if each.text("target") == "model")


def _cut(record: Record, unit: str) -> int | None:
    """The amount that truncation removed; None when no record gives it in this unit."""
    entries = _truncation_records(record)
    found = [removed for each in entries if (removed := _removed(each, unit)) is not None]
    return sum(found) if found else None


def _removed(members: Mapping[str, JsonValue], unit: str) -> int | None:
    before, after = count(members.get(f"{unit}_before")), count(members.get(f"{unit}_after"))
    if before is not None and after is not None:
        return max(0, before - after)
    removed = (count(members.get(key)) for key in (f"{unit}_removed", f"removed_{unit}"))
    return next((each for each in removed if each is not None), None)


def _truncation_records(record: Record) -> Collection[Mapping[str, JsonValue]]:
    """The truncations of a budget and of its segments, each once."""
    entries: list[Mapping[str, JsonValue]] = [each for _, each in record.objects("truncation_records")]
    for _, segment in record.objects("window_segments"):
        inner = segment.get("truncation_records")
        entries += [each for each in inner if isinstance(each, dict)] if isinstance(inner, list) else []
    return {_truncated(each): each for each in entries}.values()


def _truncated(members: Mapping[str, JsonValue]) -> str:
    """A truncation record as text: its name, if any, and its figures; the draft defines no fields."""
    name = _name_of_truncated(members)
    # In an order of ours, because the order of members has no meaning; it puts “before” before “after”.
    figures = [
        f"{key.replace('_', ' ')} {figure:,}"
        for key in sorted(members, reverse=True)
        if (figure := count(members[key])) is not None
    ]
    return f"{name or 'something'} ({', '.join(figures)})" if figures else name or "something"


def _name_of_truncated(members: Mapping[str, JsonValue]) -> str | None:
    names = (text(members.get(key)) for key in ("item_ref", "item_id", "id", "ref"))
    return next((each for each in names if each), None)


def _budgets_of(inputs: EnvelopeStateInputs, record: Record) -> Iterator[Budget]:
    target = inputs.mask(record.text("target") or NO_TARGET)
    segments = _token_segments(inputs, record)
    for unit in UNITS:
        limit, used = record.count(f"max_{unit}"), record.count(f"actual_{unit}")
        parts = segments if unit == "tokens" else ()
        if limit is None and used is None and not parts:
            continue
        if used is None and parts:
            used = sum(each.used for each in parts)
        elif used is not None and not parts:
            parts = (_whole(inputs, record, unit, used),)
        reserved = record.count("reserved_tokens") if unit == "tokens" else None
        # The draft does not say where the reserve is kept: it is read as a part of the limit.
        yield Budget(
            target,
            unit,
            limit,
            used,
            reserved,
            parts,
            _cut(record, unit),
            reported="recorded in the envelope" if record.count(f"actual_{unit}") is not None else "",
            holds_reserve=bool(reserved),
        )


def _whole(inputs: EnvelopeStateInputs, record: Record, unit: str, used: int) -> Segment:
    """The whole use as one segment; exact when the items assembled under the budget give the same count."""
    blocks = (refs for each in _assemblies_under(inputs, record) for refs in items_by_block(each).values())
    names = {each.id for references in blocks for each in references if each.id is not None}
    exact = unit == "items" and used == len(names)
    return Segment("assembled", used, None, exact, None if exact else RECORDED)


def _token_segments(inputs: EnvelopeStateInputs, record: Record) -> tuple[Segment, ...]:
    """The segments of the budget, else of a window for the same target, else the assembled blocks."""
    if segments := _segments(inputs, record):
        return segments
    for window in inputs.records.of(RecordKind.WINDOW):
        if window.text("target") == record.text("target") and (segments := _segments(inputs, window)):
            return segments
    return tuple(segment for each in _assemblies_under(inputs, record) for segment in _blocks(inputs, each))


def _segments(inputs: EnvelopeStateInputs, record: Record) -> tuple[Segment, ...]:
    parts = sorted(record.objects("window_segments"), key=lambda each: _order(each[1]))
    references: dict[int, list[RecordReference]] = {}
    for reference in record.references:
        if reference.path[0] == "window_segments" and reference.name == "item_refs":
            references.setdefault(int(reference.path[1]), []).append(reference)
    return tuple(_segment(inputs, part, references.get(at, [])) for at, part in parts)


def _order(part: Mapping[str, JsonValue]) -> float:
    order = part.get("order")
    return float(order) if isinstance(order, int | float) and not isinstance(order, bool) else float("inf")


def _segment(
    inputs: EnvelopeStateInputs, part: Mapping[str, JsonValue], references: Sequence[RecordReference]
) -> Segment:
    names = [*filter(None, (text(part.get("role")), text(part.get("segment_id"))))]
    name = " ".join(dict.fromkeys(names)) or "segment"
    if reserved := count(part.get("reserved_tokens")):
        name += f", {reserved:,} reserved"
    if part.get("truncation_records"):
        name += ", truncated"
    used = count(part.get("actual_tokens"))
    return replace(
        _measured(inputs, inputs.mask(name), used, references), id=inputs.mask(names[0]) if names else ""
    )


def _blocks(inputs: EnvelopeStateInputs, assembly: Record) -> Iterator[Segment]:
    references = items_by_block(assembly)
    for at, part in assembly.objects("ordered_blocks"):
        name = inputs.mask(text(part.get("block_id")) or f"block {at}")
        yield _measured(inputs, name, count(part.get("token_estimate")), references.get(at, ()))


def _measured(
    inputs: EnvelopeStateInputs, name: str, used: int | None, references: Sequence[RecordReference]
) -> Segment:
    """A segment with the recorded use, verified where all content is present, or with the counted use."""
    counted = [inputs.tokens(each) for each in inputs.records.targets_of(references)]
    complete = bool(counted) and len(counted) == len({each.id for each in references})
    known = sum(tokens or 0 for tokens, _ in counted)
    sure = complete and all(is_counted for _, is_counted in counted)
    if used is None:
        return Segment(name, known, None, sure and inputs.counter.exact, inputs.counter.name)
    exact = sure and inputs.counter.exact and known == used
    return Segment(name, used, None, exact, inputs.counter.name if exact else RECORDED)


def _assemblies_under(inputs: EnvelopeStateInputs, budget: Record) -> Sequence[Record]:
    """The assemblies that name the budget, else those for its target that name none."""
    named = inputs.records.under_budget(RecordKind.ASSEMBLY, budget)
    return named or inputs.free_assemblies.get(budget.text("target"), ())


def _unlimited(inputs: EnvelopeStateInputs, record: Record, segments: tuple[Segment, ...]) -> Budget:
    target = inputs.mask(record.text("target") or NO_TARGET)
    return Budget(target, "tokens", None, sum(each.used for each in segments), None, segments)
