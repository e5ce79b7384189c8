"""Records in words: what one did in a line, and the whole of it for reading, without what is withheld."""

from __future__ import annotations

from collections.abc import Iterator

from ctxview.analysis.wording import counted, listed
from ctxview.formats.envelope.fates import items_by_block
from ctxview.formats.envelope.model import Record, text
from ctxview.formats.envelope.state_tiers import block_text
from ctxview.formats.envelope.view import View, spelled_out
from ctxview.formats.envelope.vocabulary import Kind


def detail(view: View, record: Record) -> str:
    """In one line what a record did."""
    return view.mask(" · ".join(filter(None, _DETAILS.get(record.kind, _nothing)(record))))


def node_text(view: View, record: Record) -> str:
    """Every field of a record, and after it what the record puts together or leads to."""
    parts = [fields_text(view, record), *_beyond(view, record)]
    return "\n\n".join(part for part in parts if part)


def fields_text(view: View, record: Record) -> str:
    if record not in view.told:
        members = view.withheld.value(record)
        named = members.items() if isinstance(members, dict) else ()
        view.told[record] = "\n".join(f"{name}: {spelled_out(value)}" for name, value in named)
    return view.told[record]


def coverage(compaction: Record) -> str:
    """What a compaction replaced, and what was lost."""
    told = [counted(len(compaction.refs("source_item_refs")), "item")]
    figures = compaction.object("coverage")
    before, after = (figures.get(f"estimated_tokens_{when}") for when in ("before", "after"))
    if isinstance(before, int) and isinstance(after, int):
        told.append(f"{before:,} → {after:,} tokens")
    if notes := compaction.texts("loss_notes"):
        told.append(f"lost: {listed(notes)}")
    return ", ".join(told)


# -- in a line ---------------------------------------------------------------------------------------------


def _nothing(record: Record) -> Iterator[str | None]:  # noqa: ARG001 - the others ask it
    yield from ()


def _source(record: Record) -> Iterator[str | None]:
    yield record.text("source_kind")
    yield record.text("uri")


def _surface(record: Record) -> Iterator[str | None]:
    items, sources = record.refs("available_item_refs"), record.refs("available_source_refs")
    yield f"{counted(len(items), 'item')} could be had"
    yield f"from {counted(len(sources), 'source')}" if sources else None
    yield f"until {record.text('expires_at')}" if record.text("expires_at") else None


def _selection(record: Record) -> Iterator[str | None]:
    candidates, chosen = record.refs("candidate_item_refs"), record.refs("selected_item_refs")
    omitted = record.refs("omitted_item_refs")
    yield f"{len(chosen)} of {len(candidates)} chosen" if candidates else f"{len(chosen)} chosen"
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
    yield f"{reserved:,} kept back" if reserved else None
    yield record.text("overflow_strategy")
    yield f"{len(truncated)} truncated" if truncated else None


def _window(record: Record) -> Iterator[str | None]:
    yield counted(len(record.objects("window_segments")), "segment")


def _assembly(record: Record) -> Iterator[str | None]:
    names = {each.id for refs in items_by_block(record).values() for each in refs}
    blocks = record.objects("ordered_blocks")
    yield f"{counted(len(names), 'item')} in {counted(len(blocks), 'block')}"
    yield f"for {record.text('target')}" if record.text("target") else None


def _injection(record: Record) -> Iterator[str | None]:
    yield f"into {record.text('injection_point')}" if record.text("injection_point") else None
    yield f"for {record.text('target')}" if record.text("target") else None


def _compaction(record: Record) -> Iterator[str | None]:
    yield coverage(record)
    yield record.text("method")


def _missing(record: Record) -> Iterator[str | None]:
    yield record.text("severity")
    yield record.text("status")
    yield record.text("question")


_DETAILS = {
    Kind.SOURCE: _source,
    Kind.SURFACE: _surface,
    Kind.SELECTION: _selection,
    Kind.BUDGET: _budget,
    Kind.WINDOW: _window,
    Kind.ASSEMBLY: _assembly,
    Kind.INJECTION: _injection,
    Kind.COMPACTION: _compaction,
    Kind.MISSING: _missing,
}


# -- the whole ---------------------------------------------------------------------------------------------


def _beyond(view: View, record: Record) -> Iterator[str]:
    if record.kind is Kind.ASSEMBLY:
        yield from _blocks(view, record)
    elif record.kind is Kind.INJECTION:
        assembly = view.dossier.named(Kind.ASSEMBLY, record.text("assembly_id"))
        yield from _blocks(view, assembly) if assembly is not None else ()
    elif record.kind is Kind.COMPACTION:
        for summary in view.dossier.targets_of(record.refs("summary_ref")):
            yield f"— the summary {view.name(summary)} —\n{view.content(summary) or ''}"
            policy = summary.value.get("refresh_policy")
            yield (
                f"refresh: {spelled_out(view.withheld.value(summary, ('refresh_policy',)))}" if policy else ""
            )


def _blocks(view: View, assembly: Record) -> Iterator[str]:
    """What was put together, block by block, as far as its content is at hand."""
    references = items_by_block(assembly)
    for at, part in assembly.objects("ordered_blocks"):
        named = references.get(at, ())
        name = text(part.get("block_id")) or f"block {at}"
        heading = f"— {name}: {listed((each.id or '?' for each in named), 8)} —"
        contents = (block_text(view, record) for record in view.dossier.targets_of(named))
        yield "\n".join([view.mask(heading), *contents])
