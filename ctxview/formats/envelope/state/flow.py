"""Build the flow from sources to injections: the records of each stage, and the links between them.

Items are nodes of the surface stage. Links with the count 0 lead from an item to the records that used it,
for navigation.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property

from ctxview.analysis.rfc3339 import time_sort_key
from ctxview.analysis.wording import counted, listed
from ctxview.core.flow import Flow, FlowLink, FlowNode, FlowStage
from ctxview.core.lazy import LazyText
from ctxview.core.pauses import give_way
from ctxview.core.state import Tier
from ctxview.formats.envelope.model import Record
from ctxview.formats.envelope.outcomes import injections_by_assembly, items_by_block, outcome_key
from ctxview.formats.envelope.state.inputs import EnvelopeStateInputs
from ctxview.formats.envelope.state.record_text import detail, event_word, node_text
from ctxview.formats.envelope.vocabulary import RecordKind

MAIN = (
    ("sources", (RecordKind.SOURCE,)),
    ("surface", (RecordKind.SURFACE,)),
    ("selection", (RecordKind.SELECTION,)),
    ("budget", (RecordKind.BUDGET, RecordKind.WINDOW)),
    ("assembly", (RecordKind.ASSEMBLY,)),
    ("injection", (RecordKind.INJECTION,)),
)
EVIDENCE = "evidence"
BRANCHES = {"selection": ("missing", RecordKind.MISSING), "budget": ("compaction", RecordKind.COMPACTION)}
EVENTS, LAST = "events", "injection"
"""The events are not a stage of the draft: they branch from the last step, and only where there are any."""


def build_flow(inputs: EnvelopeStateInputs, tiers: Sequence[Tier]) -> Flow:
    """The flow with all stages of the draft, also empty ones."""
    return _Flow(inputs, tiers).flow()


class _Flow:
    def __init__(self, inputs: EnvelopeStateInputs, tiers: Sequence[Tier]) -> None:
        self._inputs = inputs
        self._records = inputs.records
        self._blocks = [block for tier in tiers for block in tier.blocks]
        self._ids = _names(inputs)

    def flow(self) -> Flow:
        return Flow(tuple(self._stages()), tuple(self._links()))

    # -- stages --------------------------------------------------------------------------------------------

    def _stages(self) -> Iterator[FlowStage]:
        for name, kinds in MAIN:
            records = [record for kind in kinds for record in self._records.of(kind)]
            nodes = [self._node(record) for record in records]
            yield FlowStage(name, (*nodes, *(self._items() if name == "surface" else ())))
            if name in BRANCHES:
                branch, kind = BRANCHES[name]
                yield FlowStage(branch, tuple(map(self._node, self._records.of(kind))), name)
        events = sorted(self._records.of(RecordKind.EVENT), key=lambda each: time_sort_key(each.text("time")))
        if events:
            yield FlowStage(EVENTS, tuple(map(self._node, events)), LAST)
        yield FlowStage(EVIDENCE, tuple(self._evidence()))

    def _node(self, record: Record) -> FlowNode:
        give_way()
        inputs = self._inputs
        label, text = detail(inputs, record), LazyText(lambda: node_text(inputs, record))
        return FlowNode(
            self._ids[record], inputs.name(record), label, record.origin(), text, None, inputs.form(record)
        )

    def _items(self) -> Iterator[FlowNode]:
        seen: set[str] = set()
        for block in self._blocks:
            if block.id not in seen:
                seen.add(block.id)
                label = " · ".join(filter(None, (block.type, block.state)))
                yield FlowNode(
                    _item_id(block.id), block.id, label, block.origin, block.text, block.id, block.form
                )

    def _evidence(self) -> Iterator[FlowNode]:
        holders = [*filter(None, [self._records.envelope]), *self._records.of(RecordKind.EVENT)]
        seen: set[str] = set()
        for holder in holders:
            for reference in holder.refs("evidence_refs"):
                name = self._inputs.mask(reference.id or "?")
                if name not in seen:
                    seen.add(name)
                    label = f"cites {self._inputs.name(holder)}"
                    yield FlowNode(f"{EVIDENCE}:{name}", name, label, reference.origin, f"{name}\n{label}")

    # -- links ---------------------------------------------------------------------------------------------

    def _links(self) -> Iterator[FlowLink]:
        yield from self._from_sources()
        yield from self._through_selections()
        yield from self._to_gaps()
        yield from self._to_compactions()
        yield from self._to_assemblies()
        yield from self._to_injections()
        yield from self._from_events()

    def _from_sources(self) -> Iterator[FlowLink]:
        for outcome in self._inputs.known_outcomes.values():
            if outcome.item is not None:
                for source in self._records.targets_of(outcome.item.refs("source_refs")):
                    yield FlowLink(self._ids[source], self._item(outcome.id), 1)
        for surface in self._records.of(RecordKind.SURFACE):
            for source in self._records.targets_of(surface.refs("available_source_refs")):
                yield FlowLink(self._ids[source], self._ids[surface], 0)

    def _through_selections(self) -> Iterator[FlowLink]:
        for selection in self._records.of(RecordKind.SELECTION):
            end = self._ids[selection]
            surface = self._records.named(RecordKind.SURFACE, selection.text("surface_id"))
            chosen = {each.id for each in selection.refs("selected_item_refs")}
            among = len(considered(selection))
            # Items that an earlier attempt selected went no further.
            passes = selection not in self._earlier
            if surface is not None:
                label = f"{len(chosen)} of {among} selected"
                yield FlowLink(self._ids[surface], end, among if passes else 0, label)
            for budget in self._budgets_of(selection):
                label = self._inputs.mask(left_out(selection))
                yield FlowLink(end, self._ids[budget], len(chosen) if passes else 0, label)
        for outcome in self._inputs.known_outcomes.values():
            for chosen_by in outcome.selected_by:
                yield FlowLink(self._item(outcome.id), self._ids[chosen_by], 0, "selected")
            for each in outcome.omitted:
                why = self._inputs.mask(f"omitted: {each.reason or 'no reason given'}")
                yield FlowLink(self._item(outcome.id), self._ids[each.selection], 0, why)

    def _to_gaps(self) -> Iterator[FlowLink]:
        times = [_at(each) for each in self._selections]
        for gap in self._records.of(RecordKind.MISSING) if times else ():
            # The last selection before the gap, or the last of all when none was before it.
            last = self._selections[bisect_right(times, _at(gap)) - 1]
            label = self._inputs.mask(gap.text("status") or "")
            yield FlowLink(self._ids[last], self._ids[gap], 1, label)

    def _to_compactions(self) -> Iterator[FlowLink]:
        envelope = self._records.envelope
        own = self._records.targets_of(envelope.refs("budget_ref") if envelope is not None else ())
        budgets = [*own, *self._records.of(RecordKind.BUDGET)]
        for compaction in self._records.of(RecordKind.COMPACTION):
            sources = {each.id for each in compaction.refs("source_item_refs") if each.id is not None}
            if budgets:
                label = self._inputs.mask(detail(self._inputs, compaction))
                yield FlowLink(self._ids[budgets[0]], self._ids[compaction], len(sources), label)
            for name in sources:
                yield FlowLink(self._item(name), self._ids[compaction], 0, "compacted")
            for reference in compaction.refs("summary_ref"):
                if reference.id is not None and reference.id in self._inputs.known_outcomes:
                    yield FlowLink(self._ids[compaction], self._item(reference.id), 0, "its summary")
                    yield from self._to_summary(compaction, reference.id)

    def _to_summary(self, compaction: Record, summary: str) -> Iterator[FlowLink]:
        """Link a summary to the sources of the items it replaces; only the first link counts it."""
        items = self._records.targets_of(compaction.refs("source_item_refs"))
        sources = self._records.targets_of([each for item in items for each in item.refs("source_refs")])
        outcome = self._inputs.known_outcomes[summary]
        if outcome.item is None or not outcome.item.refs("source_refs"):
            for place, source in enumerate(sources):
                yield FlowLink(self._ids[source], self._item(summary), 1 if place == 0 else 0)

    def _to_assemblies(self) -> Iterator[FlowLink]:
        for assembly in self._records.of(RecordKind.ASSEMBLY):
            names = assembled(assembly)
            target = assembly.text("target")
            label = self._inputs.mask(f"for {target}") if target else ""
            for start in self._budgets_of(assembly) or self._selections[-1:]:
                yield FlowLink(self._ids[start], self._ids[assembly], len(names), label)
            for name in names:
                yield FlowLink(self._item(name), self._ids[assembly], 0, "assembled")

    def _to_injections(self) -> Iterator[FlowLink]:
        evidence = [each.id for each in self._evidence()]
        for assembly, injections in injections_by_assembly(self._records).items():
            names = assembled(assembly)
            for injection in injections:
                label = self._inputs.mask(injection.text("injection_point") or "")
                yield FlowLink(self._ids[assembly], self._ids[injection], len(names), label)
                for place, end in enumerate(evidence):
                    # Each evidence cites everything; only the first link counts, to keep the sum right.
                    yield FlowLink(self._ids[injection], end, len(names) if place == 0 else 0)
                for name in names:
                    yield FlowLink(self._item(name), self._ids[injection], 0, "injected")

    def _from_events(self) -> Iterator[FlowLink]:
        """Link events to the records they are about; not the reverse, which would divert the way forward."""
        about: dict[str, list[str]] = {}
        for record, node in self._ids.items():
            if record.id is not None and record.kind not in (RecordKind.EVENT, RecordKind.ENVELOPE):
                is_block = record.kind in (RecordKind.ITEM, RecordKind.SUMMARY)
                about.setdefault(record.id, []).append(self._item(record.id) if is_block else node)
        for event in self._records.of(RecordKind.EVENT):
            for end in dict.fromkeys(about.get(event.text("subject") or "", ())):
                yield FlowLink(self._ids[event], end, 0, self._inputs.mask(event_word(event)))

    def _budgets_of(self, record: Record) -> Sequence[Record]:
        """The budgets a record names, else those for its target, else those of the envelope."""
        named = self._records.targets_of(record.refs("budget_ref"))
        if named:
            return named
        target = record.text("target")
        own = [each for each in self._records.of(RecordKind.BUDGET) if each.text("target") == target]
        envelope = self._records.envelope
        if own or envelope is None or target is not None:
            return own
        return self._records.targets_of(envelope.refs("budget_ref"))

    @cached_property
    def _selections(self) -> Sequence[Record]:
        return sorted(self._records.of(RecordKind.SELECTION), key=_at)

    @cached_property
    def _earlier(self) -> set[Record]:
        """The selections of attempts that a later attempt of the same run replaced."""
        last: dict[tuple[str | None, str | None], str] = {}
        for each in self._selections:
            if name := each.text("attempt_id"):
                last[each.text("task_id"), each.text("run_id")] = name
        return {
            each
            for each in self._selections
            if (name := each.text("attempt_id")) and last[each.text("task_id"), each.text("run_id")] != name
        }

    def _item(self, name: str) -> str:
        return _item_id(self._inputs.mask(name))


def considered(selection: Record) -> set[str]:
    """The candidates of a selection; if not recorded, its selected and omitted items."""
    names = ("candidate_item_refs", "selected_item_refs", "omitted_item_refs")
    candidates = selection.refs(names[0])
    references = candidates or [each for name in names[1:] for each in selection.refs(name)]
    return {each.id for each in references if each.id is not None}


def left_out(selection: Record) -> str:
    """The number and ids of the items that a selection left out, as text."""
    names = [each.id or "?" for each in selection.refs("omitted_item_refs")]
    return f"{counted(len(names), 'item')} left out: {listed(names)}" if names else ""


def assembled(assembly: Record) -> list[str]:
    """The items of an assembly, each once, in the order of its blocks."""
    references = (each for refs in items_by_block(assembly).values() for each in refs)
    return [*dict.fromkeys(each.id for each in references if each.id is not None)]


def _at(record: Record) -> tuple[bool, str]:
    return time_sort_key(record.text("created_at"))


def _item_id(name: str) -> str:
    return f"{RecordKind.ITEM.value}:{name}"


def _names(inputs: EnvelopeStateInputs) -> dict[Record, str]:
    """A unique node id for each record: two records may have the same id."""
    taken: dict[str, int] = {}
    found = {}
    for record in inputs.records.records:
        name = plain = f"{record.kind.value}:{inputs.mask(outcome_key(record))}"
        while name in taken:
            taken[plain] += 1
            name = f"{plain} ({taken[plain]})"
        taken[name] = 1
        found[record] = name
    return found
