"""The outcome of each item, computed only from the records: selected does not mean injected.

No state is inferred from another. An item is injected when an injection names an assembly of which a block
names the item; a field that only claims so does not count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from math import inf

from msgspec import Struct, field

from ctxview.core.origin import JsonValue
from ctxview.core.state import Reach
from ctxview.formats.envelope.model import EnvelopeRecords, Record, RecordReference, text, texts
from ctxview.formats.envelope.redactions import is_gone, is_redacted
from ctxview.formats.envelope.vocabulary import RecordKind

OUTCOME_WORDS = ("injected", "assembled", "selected", "omitted", "compacted", "redacted", "available")
STILL_PRESENT = ("duplicate", "superseded_by_summary")
"""Omission reasons with which the content is still present in another form."""
SCORES = ("relevance", "score")
"""The signals that rank an item, in order of precedence; other signals do not rank."""


class Omission(Struct, frozen=True):
    """An item that a selection left out; `reason` is None when none was given."""

    selection: Record
    reason: str | None
    reference: RecordReference


class AssemblyPlacement(Struct, frozen=True):
    """An item in a block of an assembly, for one of the targets that the block is visible to."""

    assembly: Record
    block_index: int
    target: str


class InjectedPlacement(Struct, frozen=True):
    """An item in a block of an assembly that was injected, for one of the targets that see the block."""

    injection: Record
    assembly: Record
    block_index: int
    target: str


class Outcome(Struct, frozen=True):
    """The outcome of one item or summary. `item` is None when no record has that id."""

    id: str
    item: Record | None
    surfaces: tuple[Record, ...] = ()
    candidates_in: tuple[Record, ...] = ()
    selected_by: tuple[Record, ...] = ()
    omitted: tuple[Omission, ...] = ()
    assembled: tuple[AssemblyPlacement, ...] = ()
    injected: tuple[InjectedPlacement, ...] = ()
    compacted_into: tuple[Record, ...] = ()
    """The compactions that name the item as a source."""
    redaction: str | None = None


# Several rules and the state use the outcomes of the same records, one after the other.
@lru_cache(maxsize=4)
def outcomes(records: EnvelopeRecords) -> Mapping[str, Outcome]:
    """The outcomes by id: items and summaries with a record first, then those that are only named."""
    return {name: track.outcome(name) for name, track in _Tracks(records).tracks.items()}


def outcome_key(record: Record) -> str:
    """The key of a record in `outcomes`: its id, or its pointer when it has none."""
    return record.id if record.id is not None else record.pointer or "/"


def reach_of(outcome: Outcome, target: str) -> Reach:
    """How far an item came towards one target. An item without a visibility is not judged."""
    stated = outcome.item.value.get("visibility") if outcome.item is not None else None
    allowed = stated if isinstance(stated, list) else None
    if any(each.target == target for each in outcome.injected):
        return Reach.INJECTED if allowed is None or target in allowed else Reach.VIOLATION
    if any(each.target == target for each in outcome.assembled):
        return Reach.ASSEMBLED
    if allowed is None:
        return Reach.UNKNOWN
    return Reach.ALLOWED if target in allowed else Reach.DENIED


def outcome_word(outcome: Outcome) -> str:
    """The last stage an item reached, as one of `OUTCOME_WORDS`."""
    if outcome.injected:
        return "injected"
    if outcome.assembled:
        return "assembled"
    if outcome.selected_by:
        return "selected"
    if is_gone(outcome.redaction):
        return "redacted"
    if outcome.compacted_into:
        return "compacted"
    return "omitted" if outcome.omitted else "available"


def flags(outcome: Outcome) -> tuple[str, ...]:
    """All stages of an item, without those that a later stage implies."""
    injected = dict.fromkeys(each.target for each in outcome.injected)
    assembled = dict.fromkeys(each.target for each in outcome.assembled if each.target not in injected)
    marks = [f"injected@{target or '?'}" for target in injected]
    marks += [f"assembled@{target or '?'}" for target in assembled]
    if outcome.selected_by and not marks:
        marks.append("selected")
    marks += ["omitted"] if outcome.omitted else []
    marks += ["compacted"] if outcome.compacted_into else []
    if is_redacted(outcome.redaction):
        marks.append(outcome.redaction or "")
    return tuple(marks) or (("available",) if outcome.surfaces or outcome.candidates_in else ())


def items_by_block(assembly: Record) -> Mapping[int, Sequence[RecordReference]]:
    """The item references of each block of an assembly, by block index."""
    found: dict[int, list[RecordReference]] = {}
    for reference in assembly.references:
        if reference.path[0] == "ordered_blocks" and reference.name == "item_refs":
            found.setdefault(int(reference.path[1]), []).append(reference)
    return found


def assembled_targets(assembly: Record, index: int | None = None) -> Sequence[str]:
    """The targets of an assembly and of one of its blocks: the `target`, and everyone in a `visibility`."""
    blocks = assembly.value.get("ordered_blocks")
    block = blocks[index] if index is not None and isinstance(blocks, list) else None
    own = texts(block.get("visibility")) if isinstance(block, dict) else ()
    return _targets(assembly.text("target"), (*assembly.texts("visibility"), *own))


def injected_targets(injection: Record, assembly: Record) -> Sequence[str]:
    """The targets that an injection shows an assembly to.

    The draft does not say that a block is hidden from a target that its injection is visible to, so it is
    not. An injection without a `visibility` is seen by its target alone.
    """
    return _targets(injection.text("target") or assembly.text("target"), injection.texts("visibility"))


def _targets(own: str | None, others: Sequence[str]) -> Sequence[str]:
    return tuple(dict.fromkeys(filter(None, (own, *others)))) or ("",)


def injections_by_assembly(records: EnvelopeRecords) -> Mapping[Record, Sequence[Record]]:
    """The injections of each injected assembly."""
    found: dict[Record, list[Record]] = {}
    for injection in records.of(RecordKind.INJECTION):
        for assembly in records.targets_of(
            [each for each in injection.references if each.name == "assembly_id"]
        ):
            found.setdefault(assembly, []).append(injection)
    return found


class RiskyOmission(Struct, frozen=True):
    """An omission, and why it may matter."""

    outcome: Outcome
    omission: Omission
    why: str


def risky_omissions(known_outcomes: Mapping[str, Outcome]) -> Iterator[RiskyOmission]:
    """Yield omitted items that scored at least as high as a selected one, or that a person pinned."""
    lowest: dict[Record, float | None] = {}
    for outcome in known_outcomes.values():
        for omission in outcome.omitted:
            if outcome.injected or outcome.selected_by or omission.reason in STILL_PRESENT:
                continue
            selection = omission.selection
            if selection not in lowest:
                lowest[selection] = lowest_selected(selection)
            if (why := _why(outcome.id, selection, lowest[selection])) is not None:
                yield RiskyOmission(outcome, omission, why)


def score(selection: Record, item: str | None) -> float | None:
    """The score of an item in a selection, or None."""
    signals = selection.object("ranking_signals").get(item or "")
    if isinstance(signals, dict):
        return next((found for name in SCORES if (found := _number(signals.get(name))) is not None), None)
    return _number(signals)


def is_pinned(selection: Record, item: str) -> bool:
    signals = selection.object("ranking_signals").get(item)
    return isinstance(signals, dict) and bool(signals.get("user_pin"))


def lowest_selected(selection: Record) -> float | None:
    """The lowest score of the selected items; None when none has a score."""
    scores = (score(selection, each.id) for each in selection.refs("selected_item_refs"))
    return min((each for each in scores if each is not None), default=None)


class _Track(Struct):
    """The outcome of one id while it is collected; each record counts once."""

    item: Record | None = None
    surfaces: dict[int, Record] = field(default_factory=dict)
    candidates_in: dict[int, Record] = field(default_factory=dict)
    selected_by: dict[int, Record] = field(default_factory=dict)
    omitted: list[Omission] = field(default_factory=list)
    assembled: list[AssemblyPlacement] = field(default_factory=list)
    injected: list[InjectedPlacement] = field(default_factory=list)
    compacted_into: dict[int, Record] = field(default_factory=dict)

    def outcome(self, name: str) -> Outcome:
        return Outcome(
            name,
            self.item,
            tuple(self.surfaces.values()),
            tuple(self.candidates_in.values()),
            tuple(self.selected_by.values()),
            tuple(self.omitted),
            tuple(self.assembled),
            tuple(self.injected),
            tuple(self.compacted_into.values()),
            self.item.redaction if self.item is not None else None,
        )


class _Tracks:
    """Collects the outcomes from the records of one envelope."""

    def __init__(self, records: EnvelopeRecords) -> None:
        self.tracks: dict[str, _Track] = {}
        for kind in (RecordKind.ITEM, RecordKind.SUMMARY):
            for record in records.of(kind):
                track = self._track(outcome_key(record))
                track.item = track.item or record
        for surface in records.of(RecordKind.SURFACE):
            for track in self._named(surface.refs("available_item_refs")):
                track.surfaces[id(surface)] = surface
        for selection in records.of(RecordKind.SELECTION):
            for track in self._named(selection.refs("candidate_item_refs")):
                track.candidates_in[id(selection)] = selection
            for track in self._named(selection.refs("selected_item_refs")):
                track.selected_by[id(selection)] = selection
            for reference in selection.refs("omitted_item_refs"):
                for track in self._named((reference,)):
                    reason = text(reference.members.get("reason"))
                    track.omitted.append(Omission(selection, reason, reference))
        for compaction in records.of(RecordKind.COMPACTION):
            for track in self._named(compaction.refs("source_item_refs")):
                track.compacted_into[id(compaction)] = compaction
        injections = injections_by_assembly(records)
        for assembly in records.of(RecordKind.ASSEMBLY):
            for index, references in items_by_block(assembly).items():
                assembled = [
                    AssemblyPlacement(assembly, index, target)
                    for target in assembled_targets(assembly, index)
                ]
                injected = [
                    InjectedPlacement(injection, assembly, index, target)
                    for injection in injections.get(assembly, ())
                    for target in injected_targets(injection, assembly)
                ]
                for track in self._named(references):
                    track.assembled += assembled
                    track.injected += injected

    def _named(self, references: Iterable[RecordReference]) -> Iterator[_Track]:
        """The tracks of the items that `references` name, each once."""
        names = dict.fromkeys(each.id for each in references)
        return (self._track(name) for name in names if name is not None)

    def _track(self, name: str) -> _Track:
        return self.tracks.setdefault(name, _Track())


def _why(item: str, selection: Record, least: float | None) -> str | None:
    if is_pinned(selection, item):
        return "a person had pinned it"
    own = score(selection, item)
    if own is None or least is None or own < least:
        return None
    return f"it scored {own:g}; the lowest selected item scored {least:g}"


def _number(value: JsonValue) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf
