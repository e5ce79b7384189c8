"""What became of each item, computed through the records only: being chosen is not being shown.

Nothing is inferred from one state to another. An item is injected when an injection names an assembly, a
block of which names the item; a field that merely says so counts for nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import lru_cache

from ctxview.formats.envelope.model import Dossier, Record, Reference, text
from ctxview.formats.envelope.vocabulary import Kind
from ctxview.quick_dataclass import dataclass
from ctxview.state import Sight

NOT_REDACTED = ("none", "unknown")
GONE = ("removed", "policy_blocked", "encrypted_ref")
"""Redactions that leave nothing to show."""
FATES = ("injected", "assembled", "selected", "omitted", "compacted", "redacted", "available")


@dataclass(frozen=True, slots=True)
class Omission:
    """A selection left it out; `reason` is None when none was given."""

    selection: Record
    reason: str | None
    reference: Reference


@dataclass(frozen=True, slots=True)
class Placed:
    """A block of an assembly names it."""

    assembly: Record
    block_index: int
    target: str


@dataclass(frozen=True, slots=True)
class Shown:
    """An injection names the assembly whose block names it."""

    injection: Record
    assembly: Record
    block_index: int
    target: str


@dataclass(frozen=True, slots=True)
class Fate:
    """One item, or a summary that stands in for items. `item` is None when no record has that id."""

    id: str
    item: Record | None
    surfaces: tuple[Record, ...] = ()
    candidates_in: tuple[Record, ...] = ()
    selected_by: tuple[Record, ...] = ()
    omitted: tuple[Omission, ...] = ()
    assembled: tuple[Placed, ...] = ()
    injected: tuple[Shown, ...] = ()
    compacted_into: tuple[Record, ...] = ()
    """The compactions that name it as a source."""
    redaction: str | None = None


# Several rules and the state ask about the same dossier, one after the other.
@lru_cache(maxsize=4)
def fates(dossier: Dossier) -> Mapping[str, Fate]:
    """By id: every item and summary there is a record of, then those that are only named."""
    found = _Tracks(dossier)
    return {name: track.fate(name) for name, track in found.tracks.items()}


def key_of(record: Record) -> str:
    """How an item is called among the fates: its id, or its place when it has none."""
    return record.id if record.id is not None else record.pointer or "/"


def sight(fate: Fate, target: str) -> Sight:
    """How far it came on its way to one target."""
    if any(each.target == target for each in fate.injected):
        return Sight.INJECTED
    if any(each.target == target for each in fate.assembled):
        return Sight.ASSEMBLED
    allowed = fate.item.value.get("visibility") if fate.item is not None else None
    if not isinstance(allowed, list):
        return Sight.UNKNOWN
    return Sight.ALLOWED if target in allowed else Sight.DENIED


def word(fate: Fate) -> str:
    """The furthest it came, in one word of `FATES`."""
    if fate.injected:
        return "injected"
    if fate.assembled:
        return "assembled"
    if fate.selected_by:
        return "selected"
    if fate.redaction in GONE:
        return "redacted"
    if fate.compacted_into:
        return "compacted"
    return "omitted" if fate.omitted else "available"


def flags(fate: Fate) -> tuple[str, ...]:
    """Everything that is true of it, apart from what a further step already says."""
    shown = dict.fromkeys(each.target for each in fate.injected)
    placed = dict.fromkeys(each.target for each in fate.assembled if each.target not in shown)
    marks = [f"injected@{target or '?'}" for target in shown]
    marks += [f"assembled@{target or '?'}" for target in placed]
    if fate.selected_by and not marks:
        marks.append("selected")
    marks += ["omitted"] if fate.omitted else []
    marks += ["compacted"] if fate.compacted_into else []
    if is_redacted(fate.redaction):
        marks.append(fate.redaction or "")
    return tuple(marks) or (("available",) if fate.surfaces or fate.candidates_in else ())


def items_by_block(assembly: Record) -> Mapping[int, Sequence[Reference]]:
    """The items that each block of an assembly names, by its index."""
    found: dict[int, list[Reference]] = {}
    for reference in assembly.references:
        if reference.path[0] == "ordered_blocks" and reference.name == "item_refs":
            found.setdefault(int(reference.path[1]), []).append(reference)
    return found


def injections_by_assembly(dossier: Dossier) -> Mapping[Record, Sequence[Record]]:
    """The injections of each assembly that has any."""
    found: dict[Record, list[Record]] = {}
    for injection in dossier.of(Kind.INJECTION):
        for assembly in dossier.targets_of(
            [each for each in injection.references if each.name == "assembly_id"]
        ):
            found.setdefault(assembly, []).append(injection)
    return found


def is_redacted(state: str | None) -> bool:
    return state is not None and state not in NOT_REDACTED


@dataclass(slots=True)
class _Track:
    """What is known of one id so far; each record counts once."""

    item: Record | None = None
    surfaces: dict[int, Record] = field(default_factory=dict)
    candidates_in: dict[int, Record] = field(default_factory=dict)
    selected_by: dict[int, Record] = field(default_factory=dict)
    omitted: list[Omission] = field(default_factory=list)
    assembled: list[Placed] = field(default_factory=list)
    injected: list[Shown] = field(default_factory=list)
    compacted_into: dict[int, Record] = field(default_factory=dict)

    def fate(self, name: str) -> Fate:
        return Fate(
            name,
            self.item,
            tuple(self.surfaces.values()),
            tuple(self.candidates_in.values()),
            tuple(self.selected_by.values()),
            tuple(self.omitted),
            tuple(self.assembled),
            tuple(self.injected),
            tuple(self.compacted_into.values()),
            self.item.text("redaction_state") if self.item is not None else None,
        )


class _Tracks:
    """Follows the records of one dossier."""

    def __init__(self, dossier: Dossier) -> None:
        self.tracks: dict[str, _Track] = {}
        for kind in (Kind.ITEM, Kind.SUMMARY):
            for record in dossier.of(kind):
                track = self._track(key_of(record))
                track.item = track.item or record
        for surface in dossier.of(Kind.SURFACE):
            for track in self._named(surface.refs("available_item_refs")):
                track.surfaces[id(surface)] = surface
        for selection in dossier.of(Kind.SELECTION):
            self._follow_selection(selection)
        for compaction in dossier.of(Kind.COMPACTION):
            for track in self._named(compaction.refs("source_item_refs")):
                track.compacted_into[id(compaction)] = compaction
        injections = injections_by_assembly(dossier)
        for assembly in dossier.of(Kind.ASSEMBLY):
            self._follow_assembly(assembly, injections.get(assembly, ()))

    def _follow_selection(self, selection: Record) -> None:
        for track in self._named(selection.refs("candidate_item_refs")):
            track.candidates_in[id(selection)] = selection
        for track in self._named(selection.refs("selected_item_refs")):
            track.selected_by[id(selection)] = selection
        for reference in selection.refs("omitted_item_refs"):
            for track in self._named((reference,)):
                reason = text(reference.members.get("reason"))
                track.omitted.append(Omission(selection, reason, reference))

    def _follow_assembly(self, assembly: Record, injections: Sequence[Record]) -> None:
        target = assembly.text("target") or ""
        for index, references in items_by_block(assembly).items():
            for track in self._named(references):
                track.assembled.append(Placed(assembly, index, target))
                for injection in injections:
                    where = injection.text("target") or target
                    track.injected.append(Shown(injection, assembly, index, where))

    def _named(self, references: Iterable[Reference]) -> Iterator[_Track]:
        """The tracks of what is named, each once."""
        names = dict.fromkeys(each.id for each in references)
        return (self._track(name) for name in names if name is not None)

    def _track(self, name: str) -> _Track:
        return self.tracks.setdefault(name, _Track())
