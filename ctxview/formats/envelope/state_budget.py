"""Where the window goes, target by target: what the records say was used, and whether that is verified."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ctxview.formats.envelope.fates import items_by_block, key_of
from ctxview.formats.envelope.model import Record, Reference, count, text
from ctxview.formats.envelope.view import View
from ctxview.formats.envelope.vocabulary import Kind
from ctxview.origin import JsonValue
from ctxview.state import Budget, Segment

RECORDED = "recorded"
MOST_CUTS = 6
UNITS = ("tokens", "bytes", "items")


def build_budgets(view: View) -> tuple[Budget, ...]:
    """One for each budget and each unit it limits or measures; assemblies without a budget by themselves."""
    found = [(key_of(record), each) for record in view.dossier.of(Kind.BUDGET) for each in _of(view, record)]
    found += [(key_of(each), _window(view, each)) for each in _free_windows(view)]
    found += [(key_of(each), _unlimited(view, each)) for each in _free_assemblies(view)]
    uses = Counter((each.target, each.unit) for _, each in found)
    return tuple(
        replace(each, target=f"{each.target} ({view.mask(name)})")
        if uses[each.target, each.unit] > 1
        else each
        for name, each in found
    )


def overflow_facts(view: View) -> dict[str, str]:
    """What happens, and what happened, when something does not fit."""
    facts = {}
    for record in view.dossier.of(Kind.BUDGET):
        told = [*filter(None, [record.text("overflow_strategy")]), *_truncations(record)]
        if told:
            facts[f"overflow of {view.name(record)}"] = view.mask("; ".join(told))
    return facts


def cut_from_model(view: View) -> int:
    """How many tokens of what the model was shown were cut off, by the records."""
    budgets = (each for each in view.dossier.of(Kind.BUDGET) if each.text("target") == "model")
    return sum(_cut(each, "tokens") or 0 for each in budgets)


def _cut(record: Record, unit: str) -> int | None:
    """How much truncation took away; None when no record tells it in this unit."""
    entries = {_truncated(each): each for each in _truncation_records(record)}.values()
    found = [taken for each in entries if (taken := _taken(each, unit)) is not None]
    return sum(found) if found else None


def _taken(members: Mapping[str, JsonValue], unit: str) -> int | None:
    before, after = count(members.get(f"{unit}_before")), count(members.get(f"{unit}_after"))
    if before is not None and after is not None:
        return max(0, before - after)
    removed = (count(members.get(key)) for key in (f"{unit}_removed", f"removed_{unit}"))
    return next((each for each in removed if each is not None), None)


def _truncation_records(record: Record) -> list[Mapping[str, JsonValue]]:
    entries: list[Mapping[str, JsonValue]] = [each for _, each in record.objects("truncation_records")]
    for _, segment in record.objects("window_segments"):
        inner = segment.get("truncation_records")
        entries += [each for each in inner if isinstance(each, dict)] if isinstance(inner, list) else []
    return entries


def _truncations(record: Record) -> Iterator[str]:
    if entries := _truncation_records(record):
        told = dict.fromkeys(map(_truncated, entries))
        yield f"truncated {'; '.join([*told][:MOST_CUTS])}{'; …' if len(told) > MOST_CUTS else ''}"


def _truncated(members: Mapping[str, JsonValue]) -> str:
    """The shape of these records is nobody's: a name, if there is one, and the figures as they stand."""
    name = next(
        (found for key in ("item_ref", "item_id", "id", "ref") if (found := text(members.get(key)))), None
    )
    counts = {key.replace("_", " "): count(value) for key, value in members.items()}
    figures = [f"{key} {each:,}" for key, each in counts.items() if each is not None]
    return f"{name or 'something'} ({', '.join(figures)})" if figures else name or "something"


# -- one budget --------------------------------------------------------------------------------------------


def _of(view: View, record: Record) -> Iterator[Budget]:
    target = view.mask(record.text("target") or "nobody named")
    segments = _token_segments(view, record)
    for unit in UNITS:
        limit, used = record.count(f"max_{unit}"), record.count(f"actual_{unit}")
        parts = segments if unit == "tokens" else ()
        if limit is None and used is None and not parts:
            continue
        if used is None and parts:
            used = sum(each.used for each in parts)
        elif used is not None and not parts:
            parts = (_whole(view, record, unit, used),)
        reserved = record.count("reserved_tokens") if unit == "tokens" else None
        yield Budget(target, unit, limit, used, reserved, parts, _cut(record, unit))


def _whole(view: View, record: Record, unit: str, used: int) -> Segment:
    """The one figure a record has; exact when what was assembled under the budget gives the same."""
    exact = unit == "items" and used == len(_items_under(view, record))
    return Segment("assembled", used, None, exact, None if exact else RECORDED)


def _token_segments(view: View, record: Record) -> tuple[Segment, ...]:
    """The segments of the window; else those of a window for the same target; else the blocks."""
    if segments := _segments(view, record):
        return segments
    for window in view.dossier.of(Kind.WINDOW):
        if window.text("target") == record.text("target") and (segments := _segments(view, window)):
            return segments
    return tuple(segment for each in _assemblies_under(view, record) for segment in _blocks(view, each))


def _segments(view: View, record: Record) -> tuple[Segment, ...]:
    parts = sorted(record.objects("window_segments"), key=lambda each: _order(each[1]))
    references: dict[int, list[Reference]] = {}
    for reference in record.references:
        if reference.path[0] == "window_segments" and reference.name == "item_refs":
            references.setdefault(int(reference.path[1]), []).append(reference)
    return tuple(_segment(view, part, references.get(at, [])) for at, part in parts)


def _order(part: Mapping[str, JsonValue]) -> float:
    order = part.get("order")
    return float(order) if isinstance(order, int | float) and not isinstance(order, bool) else float("inf")


def _segment(view: View, part: Mapping[str, JsonValue], references: Sequence[Reference]) -> Segment:
    names = [*filter(None, (text(part.get("role")), text(part.get("segment_id"))))]
    name = " ".join(dict.fromkeys(names)) or "segment"
    if reserved := count(part.get("reserved_tokens")):
        name += f", {reserved:,} reserved"
    if part.get("truncation_records"):
        name += ", truncated"
    used = count(part.get("actual_tokens"))
    return _measured(view, view.mask(name), used, references)


def _blocks(view: View, assembly: Record) -> Iterator[Segment]:
    references = items_by_block(assembly)
    for at, part in assembly.objects("ordered_blocks"):
        name = view.mask(text(part.get("block_id")) or f"block {at}")
        yield _measured(view, name, count(part.get("token_estimate")), references.get(at, ()))


def _measured(view: View, name: str, used: int | None, references: Sequence[Reference]) -> Segment:
    """What a record says, verified where all content is at hand; counted here where it says nothing."""
    counted = [view.tokens(each) for each in view.dossier.targets_of(references)]
    complete = bool(counted) and len(counted) == len({each.id for each in references})
    known = sum(tokens or 0 for tokens, _ in counted)
    sure = complete and all(is_counted for _, is_counted in counted)
    if used is None:
        return Segment(name, known, None, sure and view.counter.exact, view.counter.name)
    exact = sure and view.counter.exact and known == used
    return Segment(name, used, None, exact, view.counter.name if exact else RECORDED)


# -- what has no budget ------------------------------------------------------------------------------------


def _assemblies_under(view: View, budget: Record) -> list[Record]:
    """Those that name the budget; where nobody names one, those for its target."""
    assemblies = view.dossier.of(Kind.ASSEMBLY)
    named = [each for each in assemblies if budget in view.dossier.targets_of(each.refs("budget_ref"))]
    free = [each for each in assemblies if not each.refs("budget_ref")]
    return named or [each for each in free if each.text("target") == budget.text("target")]


def _items_under(view: View, budget: Record) -> set[str]:
    blocks = (refs for each in _assemblies_under(view, budget) for refs in items_by_block(each).values())
    return {each.id for references in blocks for each in references if each.id is not None}


def _free_windows(view: View) -> Iterator[Record]:
    targets = {each.text("target") for each in view.dossier.of(Kind.BUDGET)}
    return (each for each in view.dossier.of(Kind.WINDOW) if each.text("target") not in targets)


def _window(view: View, window: Record) -> Budget:
    segments = _segments(view, window)
    target = view.mask(window.text("target") or "nobody named")
    return Budget(target, "tokens", None, sum(each.used for each in segments), None, segments)


def _free_assemblies(view: View) -> Iterator[Record]:
    targets = {each.text("target") for kind in (Kind.BUDGET, Kind.WINDOW) for each in view.dossier.of(kind)}
    for assembly in view.dossier.of(Kind.ASSEMBLY):
        budgets = view.dossier.targets_of(assembly.refs("budget_ref"))
        if not budgets and assembly.text("target") not in targets:
            yield assembly


def _unlimited(view: View, assembly: Record) -> Budget:
    segments = tuple(_blocks(view, assembly))
    target = view.mask(assembly.text("target") or "nobody named")
    return Budget(target, "tokens", None, sum(each.used for each in segments), None, segments)
