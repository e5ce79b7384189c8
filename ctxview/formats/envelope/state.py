"""One envelope as neutral state: tiers, todo, budgets, references, gaps, timeline and flow together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ctxview.analysis.wording import listed
from ctxview.formats.block_counts import count_blocks
from ctxview.formats.envelope.flow_text import coverage
from ctxview.formats.envelope.masking import masked_state
from ctxview.formats.envelope.model import Record, text
from ctxview.formats.envelope.read import RecordFile
from ctxview.formats.envelope.state_budget import build_budgets, cut_from_model, overflow_facts
from ctxview.formats.envelope.state_flow import build_flow
from ctxview.formats.envelope.state_gaps import build_gaps
from ctxview.formats.envelope.state_refs import build_refs
from ctxview.formats.envelope.state_tiers import build_tiers
from ctxview.formats.envelope.state_todo import build_todo
from ctxview.formats.envelope.view import View
from ctxview.formats.envelope.vocabulary import Kind
from ctxview.quick_dataclass import dataclass
from ctxview.state import Compaction, ContextState, Counts, Event, Tier

FORMAT = "envelope"
RUNTIME_KINDS = ("session", "thread", "turn", "task", "run", "attempt")


@dataclass(frozen=True)
class Setting:
    """What a state is built with beside the records."""

    title: str
    source: str
    revision: str
    files: Sequence[RecordFile]
    timeline: tuple[Event, ...]


def build_state(view: View, setting: Setting) -> ContextState:
    """Everything there is to show of one envelope at one moment."""
    tiers = build_tiers(view)
    state = ContextState(
        format=FORMAT,
        title=setting.title,
        source=setting.source,
        revision=setting.revision,
        tiers=tiers,
        todo=build_todo(view),
        budgets=build_budgets(view),
        refs=build_refs(view),
        missing=build_gaps(view, setting.files),
        timeline=setting.timeline,
        counts=_counts(view, tiers),
        form=view.form(view.dossier.envelope) if view.dossier.envelope is not None else None,
        extra=_extra(view),
        flow=build_flow(view, tiers),
        compactions=tuple(_compaction(view, each) for each in view.dossier.of(Kind.COMPACTION)),
    )
    return masked_state(state, view.withheld)


def _compaction(view: View, record: Record) -> Compaction:
    return Compaction(
        id=view.name(record),
        summary=next((view.mask(each.id) for each in record.refs("summary_ref") if each.id), None),
        covers=tuple(view.mask(each.id) for each in record.refs("source_item_refs") if each.id),
        lost=tuple(view.mask(note) for note in record.texts("loss_notes")),
        origin=record.origin(),
    )


def _counts(view: View, tiers: Sequence[Tier]) -> Counts:
    """Totals of what the model is shown, without what was cut off; some figures may only be recorded."""
    counts = count_blocks(tiers, view.counter)
    shown = [record for record in view.dossier.records if _is_shown(view, record)]
    cut = cut_from_model(view) if shown else 0
    if not cut and all(view.tokens(record)[1] for record in shown):
        return counts
    told = f"{view.counter.name} and recorded"
    return replace(counts, tokens=max(0, counts.tokens - cut), tokens_exact=False, estimator=told)


def _is_shown(view: View, record: Record) -> bool:
    if record.kind not in (Kind.ITEM, Kind.SUMMARY):
        return False
    return any(each.target == "model" for each in view.fate(record).injected)


def _extra(view: View) -> dict[str, str]:
    envelope, dossier = view.dossier.envelope, view.dossier
    facts: dict[str, str] = {}
    if envelope is not None:
        words = ("lifecycle", "scope", "created_at")
        facts |= {name.removesuffix("_at"): found for name in words if (found := envelope.text(name))}
        if producer := _producer(envelope):
            facts["producer"] = producer
        facts |= _runtime(envelope)
        facts["version"] = envelope.text("schema_version") or "none"
    facts["records"] = f"{len(dossier.records):,}"
    for compaction in dossier.of(Kind.COMPACTION):
        facts[f"compaction {view.name(compaction)}"] = coverage(compaction)
    return facts | overflow_facts(view)


def _producer(envelope: Record) -> str | None:
    value = envelope.value.get("producer")
    if not isinstance(value, dict):
        return text(value)
    return " ".join(filter(None, (text(value.get("id")), text(value.get("version"))))) or None


def _runtime(envelope: Record) -> dict[str, str]:
    """Which session, thread, turn, task, run and attempts the envelope belongs to."""
    own = [(kind, envelope.text(f"{kind}_id")) for kind in RUNTIME_KINDS]
    named = [(text(each.members.get("kind")), each.id) for each in envelope.refs("runtime_refs")]
    found: dict[str, list[str]] = {}
    for kind, name in (*own, *named):
        if kind and name:
            found.setdefault(kind, []).append(name)
    return {kind: listed(dict.fromkeys(names)) for kind, names in found.items()}
