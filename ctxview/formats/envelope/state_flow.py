"""The way from the sources to what was shown: the records of each stage, and what passed between them.

Items stand with the surface that offered them; links of no count lead from an item to where it went, for
walking along.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from ctxview.analysis.rfc3339 import in_time
from ctxview.analysis.wording import counted, listed
from ctxview.flow import Flow, Link, Node, Stage
from ctxview.formats.envelope.fates import injections_by_assembly, items_by_block, key_of
from ctxview.formats.envelope.flow_text import detail, node_text
from ctxview.formats.envelope.model import Record
from ctxview.formats.envelope.view import View
from ctxview.formats.envelope.vocabulary import Kind
from ctxview.state import Tier

MAIN = (
    ("sources", (Kind.SOURCE,)),
    ("surface", (Kind.SURFACE,)),
    ("selection", (Kind.SELECTION,)),
    ("budget", (Kind.BUDGET, Kind.WINDOW)),
    ("assembly", (Kind.ASSEMBLY,)),
    ("injection", (Kind.INJECTION,)),
)
MISSING, COMPACTION, EVIDENCE = "missing", "compaction", "evidence"
BRANCHES = {"selection": (MISSING, Kind.MISSING), "budget": (COMPACTION, Kind.COMPACTION)}


def build_flow(view: View, tiers: Sequence[Tier]) -> Flow:
    """The stages of the draft, also those that nothing is recorded of."""
    return _Flow(view, tiers).flow()


class _Flow:
    def __init__(self, view: View, tiers: Sequence[Tier]) -> None:
        self._view = view
        self._dossier = view.dossier
        self._blocks = [block for tier in tiers for block in tier.blocks]
        self._ids = _names(view)

    def flow(self) -> Flow:
        return Flow(tuple(self._stages()), tuple(self._links()))

    # -- stages --------------------------------------------------------------------------------------------

    def _stages(self) -> Iterator[Stage]:
        for name, kinds in MAIN:
            records = [record for kind in kinds for record in self._dossier.of(kind)]
            nodes = [self._node(record) for record in records]
            yield Stage(name, (*nodes, *(self._items() if name == "surface" else ())))
            if name in BRANCHES:
                branch, kind = BRANCHES[name]
                yield Stage(branch, tuple(map(self._node, self._dossier.of(kind))), name)
        yield Stage(EVIDENCE, tuple(self._evidence()))

    def _node(self, record: Record) -> Node:
        view = self._view
        told, text = detail(view, record), node_text(view, record)
        return Node(
            self._ids[record], view.name(record), told, record.origin(), text, None, view.form(record)
        )

    def _items(self) -> Iterator[Node]:
        seen: set[str] = set()
        for block in self._blocks:
            if block.id not in seen:
                seen.add(block.id)
                told = " · ".join(filter(None, (block.type, block.state)))
                yield Node(_item_id(block.id), block.id, told, block.origin, block.text, block.id, block.form)

    def _evidence(self) -> Iterator[Node]:
        holders = [*filter(None, [self._dossier.envelope]), *self._dossier.of(Kind.EVENT)]
        seen: set[str] = set()
        for holder in holders:
            for reference in holder.refs("evidence_refs"):
                name = self._view.mask(reference.id or "?")
                if name not in seen:
                    seen.add(name)
                    told = f"cites {self._view.name(holder)}"
                    yield Node(f"{EVIDENCE}:{name}", name, told, reference.origin, f"{name}\n{told}")

    # -- links ---------------------------------------------------------------------------------------------

    def _links(self) -> Iterator[Link]:
        yield from self._from_sources()
        yield from self._through_selections()
        yield from self._to_gaps()
        yield from self._to_compactions()
        yield from self._to_assemblies()
        yield from self._to_injections()

    def _from_sources(self) -> Iterator[Link]:
        for fate in self._view.fates.values():
            if fate.item is not None:
                for source in self._dossier.targets_of(fate.item.refs("source_refs")):
                    yield Link(self._ids[source], self._item(fate.id), 1)
        for surface in self._dossier.of(Kind.SURFACE):
            for source in self._dossier.targets_of(surface.refs("available_source_refs")):
                yield Link(self._ids[source], self._ids[surface], 0)

    def _through_selections(self) -> Iterator[Link]:
        for selection in self._dossier.of(Kind.SELECTION):
            end = self._ids[selection]
            surface = self._dossier.named(Kind.SURFACE, selection.text("surface_id"))
            chosen = {each.id for each in selection.refs("selected_item_refs")}
            among = len(considered(selection))
            # What an earlier attempt chose went no further.
            passes = selection not in self._earlier
            if surface is not None:
                told = f"{len(chosen)} of {among} chosen"
                yield Link(self._ids[surface], end, among if passes else 0, told)
            for budget in self._budgets_of(selection):
                told = self._view.mask(left_out(selection))
                yield Link(end, self._ids[budget], len(chosen) if passes else 0, told)
        for fate in self._view.fates.values():
            for chosen_by in fate.selected_by:
                yield Link(self._item(fate.id), self._ids[chosen_by], 0, "selected")
            for each in fate.omitted:
                why = self._view.mask(f"omitted: {each.reason or 'no reason given'}")
                yield Link(self._item(fate.id), self._ids[each.selection], 0, why)

    def _to_gaps(self) -> Iterator[Link]:
        for gap in self._dossier.of(Kind.MISSING):
            before = [each for each in self._selections if _at(each) <= _at(gap)] or self._selections
            if before:
                yield Link(
                    self._ids[before[-1]], self._ids[gap], 1, self._view.mask(gap.text("status") or "")
                )

    def _to_compactions(self) -> Iterator[Link]:
        envelope = self._dossier.envelope
        own = self._dossier.targets_of(envelope.refs("budget_ref") if envelope is not None else ())
        budgets = [*own, *self._dossier.of(Kind.BUDGET)]
        for compaction in self._dossier.of(Kind.COMPACTION):
            sources = {each.id for each in compaction.refs("source_item_refs") if each.id is not None}
            if budgets:
                told = self._view.mask(detail(self._view, compaction))
                yield Link(self._ids[budgets[0]], self._ids[compaction], len(sources), told)
            for name in sources:
                yield Link(self._item(name), self._ids[compaction], 0, "compacted")
            for reference in compaction.refs("summary_ref"):
                if reference.id is not None and reference.id in self._view.fates:
                    yield Link(self._ids[compaction], self._item(reference.id), 0, "its summary")
                    yield from self._to_summary(compaction, reference.id)

    def _to_summary(self, compaction: Record, summary: str) -> Iterator[Link]:
        """A summary comes from the sources of what it replaces, as one thing however many there are."""
        items = self._dossier.targets_of(compaction.refs("source_item_refs"))
        sources = self._dossier.targets_of([each for item in items for each in item.refs("source_refs")])
        fate = self._view.fates[summary]
        if fate.item is None or not fate.item.refs("source_refs"):
            for place, source in enumerate(sources):
                yield Link(self._ids[source], self._item(summary), 1 if place == 0 else 0)

    def _to_assemblies(self) -> Iterator[Link]:
        for assembly in self._dossier.of(Kind.ASSEMBLY):
            names = assembled(assembly)
            starts = self._budgets_of(assembly) or self._selections[-1:]
            for start in starts:
                yield Link(self._ids[start], self._ids[assembly], len(names), self._target(assembly))
            for name in names:
                yield Link(self._item(name), self._ids[assembly], 0, "assembled")

    def _to_injections(self) -> Iterator[Link]:
        evidence = [each.id for each in self._evidence()]
        for assembly, injections in injections_by_assembly(self._dossier).items():
            names = assembled(assembly)
            for injection in injections:
                told = self._view.mask(injection.text("injection_point") or "")
                yield Link(self._ids[assembly], self._ids[injection], len(names), told)
                for place, end in enumerate(evidence):
                    # All of it is cited by each; counting it once keeps the sum true.
                    yield Link(self._ids[injection], end, len(names) if place == 0 else 0)
                for name in names:
                    yield Link(self._item(name), self._ids[injection], 0, "injected")

    def _budgets_of(self, record: Record) -> Sequence[Record]:
        """The budget a record names; else the only one for its target; else the envelope's."""
        named = self._dossier.targets_of(record.refs("budget_ref"))
        if named:
            return named
        target = record.text("target")
        own = [each for each in self._dossier.of(Kind.BUDGET) if each.text("target") == target]
        envelope = self._dossier.envelope
        if own or envelope is None or target is not None:
            return own
        return self._dossier.targets_of(envelope.refs("budget_ref"))

    @cached_property
    def _selections(self) -> Sequence[Record]:
        return sorted(self._dossier.of(Kind.SELECTION), key=_at)

    @cached_property
    def _earlier(self) -> set[Record]:
        """Selections of attempts that a later attempt of the same run took the place of."""
        last: dict[tuple[str | None, str | None], str] = {}
        for each in self._selections:
            if name := each.text("attempt_id"):
                last[each.text("task_id"), each.text("run_id")] = name
        return {
            each
            for each in self._selections
            if (name := each.text("attempt_id")) and last[each.text("task_id"), each.text("run_id")] != name
        }

    def _target(self, record: Record) -> str:
        target = record.text("target")
        return self._view.mask(f"for {target}") if target else ""

    def _item(self, name: str) -> str:
        return _item_id(self._view.mask(name))


def considered(selection: Record) -> set[str]:
    """What a selection chose from; where it does not say, what it chose and left out."""
    names = ("candidate_item_refs", "selected_item_refs", "omitted_item_refs")
    candidates = selection.refs(names[0])
    references = candidates or [each for name in names[1:] for each in selection.refs(name)]
    return {each.id for each in references if each.id is not None}


def left_out(selection: Record) -> str:
    """How many a selection left out, and which."""
    names = [each.id or "?" for each in selection.refs("omitted_item_refs")]
    return f"{counted(len(names), 'item')} left out: {listed(names)}" if names else ""


def assembled(assembly: Record) -> list[str]:
    """The items of an assembly, each once, in the order of its blocks."""
    references = (each for refs in items_by_block(assembly).values() for each in refs)
    return [*dict.fromkeys(each.id for each in references if each.id is not None)]


def _at(record: Record) -> tuple[bool, str]:
    return in_time(record.text("created_at"))


def _item_id(name: str) -> str:
    return f"{Kind.ITEM.value}:{name}"


def _names(view: View) -> dict[Record, str]:
    """A name for each record that no other has: two may claim the same id."""
    taken: set[str] = set()
    found = {}
    for record in view.dossier.records:
        name = plain = f"{record.kind.value}:{view.mask(key_of(record))}"
        number = 1
        while name in taken:
            number += 1
            name = f"{plain} ({number})"
        taken.add(name)
        found[record] = name
    return found
