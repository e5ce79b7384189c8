"""Masked texts of records: a one-line summary, and all fields."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from ctxview.analysis.wording import counted, listed
from ctxview.formats.envelope.model import Record, text
from ctxview.formats.envelope.outcomes import items_by_block
from ctxview.formats.envelope.state.inputs import EnvelopeStateInputs, spelled_out
from ctxview.formats.envelope.state.tiers import block_text
from ctxview.formats.envelope.vocabulary import RecordKind


def detail(inputs: EnvelopeStateInputs, record: Record) -> str:
    """A one-line summary of a record."""
    describe = _DETAILS.get(record.kind)
    return inputs.mask(" · ".join(filter(None, describe(record)))) if describe is not None else ""


def node_text(inputs: EnvelopeStateInputs, record: Record) -> str:
    """All fields of a record, then its blocks or its summary."""
    parts = [fields_text(inputs, record), *_beyond(inputs, record)]
    return "\n\n".join(part for part in parts if part)


def fields_text(inputs: EnvelopeStateInputs, record: Record) -> str:
    if record not in inputs.record_texts:
        members = inputs.withheld.value(record)
        named = members.items() if isinstance(members, dict) else ()
        inputs.record_texts[record] = "\n".join(f"{name}: {spelled_out(value)}" for name, value in named)
    return inputs.record_texts[record]


def coverage(compaction: Record) -> str:
    """The number of items a compaction replaced, its token counts, and its loss notes."""
    parts = [counted(len(compaction.refs("source_item_refs")), "item")]
    figures = compaction.object("coverage")
    before, after = (figures.get(f"estimated_tokens_{when}") for when in ("before", "after"))
    if isinstance(before, int) and isinstance(after, int):
        parts.append(f"{before:,} → {after:,} tokens")
    if notes := compaction.texts("loss_notes"):
        parts.append(f"lost: {listed(notes)}")
    return ", ".join(parts)


def _surface(record: Record) -> Iterator[str | None]:
    items, sources = record.refs("available_item_refs"), record.refs("available_source_refs")
    yield f"{counted(len(items), 'item')} available"
    yield f"from {counted(len(sources), 'source')}" if sources else None
    yield f"until {record.text('expires_at')}" if record.text("expires_at") else None


def _selection(record: Record) -> Iterator[str | None]:
    candidates, chosen = record.refs("candidate_item_refs"), record.refs("selected_item_refs")
    omitted = record.refs("omitted_item_refs")
    yield f"{len(chosen)} of {len(candidates)} selected" if candidates else f"{len(chosen)} selected"
    yield f"{len(omitted)} left out" if omitted else None
    yield record.text("attempt_id")


def _budget(record: Record) -> Iterator[str | None]:
    yield f"for {record.text('target')}" if record.text("target") else None
    for unit in ("tokens", "bytes", "items"):
        limit, used = record.count(f"max_{unit}"), record.count(f"actual_{unit}")
        if limit is not None or used is not None:
            of = f" of {limit:,}" if limit is not None else ""
            yield f"{'?' if used is None else f'{used:,}'}{of} {unit}"
    reserved, truncated = record.count("reserved_tokens"), record.objects("truncation_records")
    yield f"{reserved:,} reserved" if reserved else None
    yield record.text("overflow_strategy")
    yield f"{len(truncated)} truncated" if truncated else None


def _assembly(record: Record) -> Iterator[str | None]:
    names = {each.id for refs in items_by_block(record).values() for each in refs}
    blocks = record.objects("ordered_blocks")
    yield f"{counted(len(names), 'item')} in {counted(len(blocks), 'block')}"
    yield f"for {record.text('target')}" if record.text("target") else None


def _injection(record: Record) -> Iterator[str | None]:
    yield f"into {record.text('injection_point')}" if record.text("injection_point") else None
    yield f"for {record.text('target')}" if record.text("target") else None


def event_word(event: Record) -> str:
    """The type of an event without the prefix that all listed types have."""
    return (event.text("event_type") or "event").removeprefix("context.")


_DETAILS: Mapping[RecordKind, Callable[[Record], Iterable[str | None]]] = {
    RecordKind.SOURCE: lambda record: (record.text("source_kind"), record.text("uri")),
    RecordKind.SURFACE: _surface,
    RecordKind.SELECTION: _selection,
    RecordKind.BUDGET: _budget,
    RecordKind.WINDOW: lambda record: [counted(len(record.objects("window_segments")), "segment")],
    RecordKind.ASSEMBLY: _assembly,
    RecordKind.INJECTION: _injection,
    RecordKind.COMPACTION: lambda record: (coverage(record), record.text("method")),
    RecordKind.MISSING: lambda record: map(record.text, ("severity", "status", "question")),
    RecordKind.EVENT: lambda record: (event_word(record), *map(record.text, ("subject", "time"))),
}


def _beyond(inputs: EnvelopeStateInputs, record: Record) -> Iterator[str]:
    if record.kind is RecordKind.ASSEMBLY:
        yield from _blocks(inputs, record)
    elif record.kind is RecordKind.INJECTION:
        assembly = inputs.records.named(RecordKind.ASSEMBLY, record.text("assembly_id"))
        yield from _blocks(inputs, assembly) if assembly is not None else ()
    elif record.kind is RecordKind.COMPACTION:
        for summary in inputs.records.targets_of(record.refs("summary_ref")):
            yield f"— the summary {inputs.name(summary)} —\n{inputs.content(summary) or ''}"
            policy = summary.value.get("refresh_policy")
            yield (
                f"refresh: {spelled_out(inputs.withheld.value(summary, ('refresh_policy',)))}"
                if policy
                else ""
            )


def _blocks(inputs: EnvelopeStateInputs, assembly: Record) -> Iterator[str]:
    """The text of each block of an assembly, with the content that the records hold."""
    references = items_by_block(assembly)
    for at, part in assembly.objects("ordered_blocks"):
        named = references.get(at, ())
        name = text(part.get("block_id")) or f"block {at}"
        heading = f"— {name}: {listed((each.id or '?' for each in named), 8)} —"
        contents = (block_text(inputs, record) for record in inputs.records.targets_of(named))
        yield "\n".join([inputs.mask(heading), *contents])
