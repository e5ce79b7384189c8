"""Build the state of one envelope, and mask every text in it once more.

The parts mask record texts before they cut or join them; the last step catches any text they missed. Files
and byte spans are not masked: the bytes they lead to are withheld themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from typing import cast

from msgspec import Struct
from msgspec.structs import replace

from ctxview.analysis.wording import listed
from ctxview.core.fields import Field, Form, Move, Owner
from ctxview.core.findings import Finding, worst_first
from ctxview.core.flow import Flow
from ctxview.core.lazy import LazySequence
from ctxview.core.origin import Origin
from ctxview.core.pauses import give_way
from ctxview.core.state import (
    CompactionRecord,
    ContextState,
    Counts,
    Event,
    Gap,
    Reach,
    RefStatus,
    Tier,
    map_parts,
)
from ctxview.formats.envelope.format import NAME
from ctxview.formats.envelope.model import Record, text
from ctxview.formats.envelope.parser import RecordFile
from ctxview.formats.envelope.state.budgets import build_budgets, cut_from_model, cuts_by_item, overflow_facts
from ctxview.formats.envelope.state.flow import build_flow
from ctxview.formats.envelope.state.gaps import build_gaps, build_todo
from ctxview.formats.envelope.state.inputs import EnvelopeStateInputs
from ctxview.formats.envelope.state.record_text import coverage
from ctxview.formats.envelope.state.references import build_refs
from ctxview.formats.envelope.state.tiers import build_tiers
from ctxview.formats.envelope.vocabulary import RecordKind
from ctxview.formats.envelope.withheld import WithheldContent
from ctxview.formats.kit.state_parts import count_blocks, left_out_gap

WITHHELD = "It holds withheld content, so it cannot be edited."
_WITHOUT_TEXT = frozenset((type(None), int, float, bool, RefStatus, Reach))
RUNTIME_KINDS = ("session", "thread", "turn", "task", "run", "attempt")


class EnvelopeStateOptions(Struct, frozen=True):
    """The parts of a state that do not come from the records of one revision."""

    title: str
    source: str
    revision: str
    files: Sequence[RecordFile]
    timeline: tuple[Event, ...]
    left_out: str | None = None
    """What was not read because there are too many files."""


def build_state(
    inputs: EnvelopeStateInputs, options: EnvelopeStateOptions, *, linked: bool = True
) -> ContextState:
    """Return the masked state of one revision; unless `linked`, references and flow are left for later."""
    tiers = build_tiers(inputs)
    state = ContextState(
        format=NAME,
        title=options.title,
        source=options.source,
        revision=options.revision,
        tiers=tiers,
        todo=build_todo(inputs),
        budgets=build_budgets(inputs),
        refs=build_refs(inputs) if linked else (),
        missing=(*build_gaps(inputs, options.files, linked=linked), *_left_out(options)),
        timeline=options.timeline,
        counts=_counts(inputs, tiers),
        form=inputs.form(inputs.records.envelope) if inputs.records.envelope is not None else None,
        extra=_extra(inputs),
        flow=build_flow(inputs, tiers) if linked else Flow((), ()),
        compactions=tuple(_compaction(inputs, each) for each in inputs.records.of(RecordKind.COMPACTION)),
    )
    return masked_state(state, inputs.withheld)


def _left_out(options: EnvelopeStateOptions) -> Iterator[Gap]:
    if options.left_out is not None:
        yield left_out_gap("files", options.left_out, Origin(options.source))


def masked_state(state: ContextState, withheld: WithheldContent) -> ContextState:
    if not withheld:
        return state
    masked = cast(ContextState, _masked(state, withheld))
    return replace(masked, source=state.source, format=state.format)


def masked_findings(findings: Iterable[Finding], withheld: WithheldContent) -> tuple[Finding, ...]:
    """Return masked findings, worst first, each once: a record of two envelopes is checked in both."""
    if not withheld:
        return worst_first(dict.fromkeys(findings))
    masked = (
        replace(each, message=withheld.mask(each.message), origin=withheld.origin(each.origin))
        for each in findings
    )
    return worst_first(dict.fromkeys(masked))


def _masked(value: object, withheld: WithheldContent) -> object:
    # The commonest kinds come first: a large bundle has half a million parts.
    kind = type(value)
    if kind is str:
        return withheld.mask(cast(str, value))
    if kind in _WITHOUT_TEXT or isinstance(value, Enum | Move):
        return value
    if isinstance(value, Origin):
        return withheld.origin(value)
    if isinstance(value, Form):
        give_way()
        form = value
        # The fields are masked when they are first read.
        fields = LazySequence(lambda: [_field(each, form.file, withheld) for each in form.fields])
        return replace(form, fields=fields)
    return map_parts(value, lambda part: _masked(part, withheld))


def _field(field: Field, file: str, withheld: WithheldContent) -> Field:
    """Mask a field and lock it if it holds withheld content: an editor could not see what it overwrites."""
    masked = withheld.masked_value(file, field.pointer, field.value)
    if masked == field.value:
        return field
    return replace(field, value=masked, owner=Owner.SYSTEM, shape=None, why=WITHHELD)


def _compaction(inputs: EnvelopeStateInputs, record: Record) -> CompactionRecord:
    return CompactionRecord(
        id=inputs.name(record),
        summary=next((inputs.mask(each.id) for each in record.refs("summary_ref") if each.id), None),
        covers=tuple(inputs.mask(each.id) for each in record.refs("source_item_refs") if each.id),
        lost=tuple(inputs.mask(note) for note in record.texts("loss_notes")),
        origin=record.origin(),
    )


def _counts(inputs: EnvelopeStateInputs, tiers: Sequence[Tier]) -> Counts:
    """The totals of the context of the model, without truncated tokens; some figures may be as recorded."""
    counts = count_blocks(tiers, inputs.counter)
    items = (*inputs.records.of(RecordKind.ITEM), *inputs.records.of(RecordKind.SUMMARY))
    shown = [item for item in items if any(each.target == "model" for each in inputs.outcome(item).injected)]
    cut = cut_from_model(inputs) if shown else 0
    by_item = cuts_by_item(inputs)
    if not cut and all(inputs.tokens(item)[1] for item in shown):
        return counts
    estimator = f"{inputs.counter.name} and recorded"
    # The sizes of the blocks are already those that got through.
    rest = cut - sum(by_item.get(inputs.outcome(item).id, 0) for item in shown)
    return replace(counts, tokens=max(0, counts.tokens - rest), tokens_exact=False, estimator=estimator)


def _extra(inputs: EnvelopeStateInputs) -> dict[str, str]:
    envelope, records = inputs.records.envelope, inputs.records
    facts: dict[str, str] = {}
    if envelope is not None:
        words = ("lifecycle", "scope", "created_at")
        facts |= {name.removesuffix("_at"): found for name in words if (found := envelope.text(name))}
        producer = envelope.value.get("producer")
        parts = [producer.get("id"), producer.get("version")] if isinstance(producer, dict) else [producer]
        if found := " ".join(filter(None, map(text, parts))):
            facts["producer"] = found
        # The ids of the session, thread, turn, task, run and attempts.
        own = [(kind, envelope.text(f"{kind}_id")) for kind in RUNTIME_KINDS]
        named = [(text(each.members.get("kind")), each.id) for each in envelope.refs("runtime_refs")]
        runtime: dict[str, list[str]] = {}
        for kind, name in (*own, *named):
            if kind and name:
                runtime.setdefault(kind, []).append(name)
        facts |= {kind: listed(dict.fromkeys(names)) for kind, names in runtime.items()}
        facts["version"] = envelope.text("schema_version") or "none"
    facts["records"] = f"{len(records.records):,}"
    for compaction in records.of(RecordKind.COMPACTION):
        facts[f"compaction {inputs.name(compaction)}"] = coverage(compaction)
    return facts | overflow_facts(inputs)
