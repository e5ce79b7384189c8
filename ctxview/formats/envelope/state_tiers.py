"""Items and summaries as blocks, in tiers by the furthest they came, with who can see them and why not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ctxview.analysis.wording import listed
from ctxview.formats.envelope.fates import FATES, GONE, Fate, flags, key_of, sight, word
from ctxview.formats.envelope.forms import moves_by_item, new_note_form
from ctxview.formats.envelope.model import Record, text
from ctxview.formats.envelope.view import View
from ctxview.formats.envelope.vocabulary import TARGETS, Kind
from ctxview.formats.envelope.withheld import label
from ctxview.origin import Origin
from ctxview.quick_dataclass import dataclass
from ctxview.state import Block, Move, Sight, Tier

MODEL = "model"
NOTES = "available"
"""Where a note stands that nobody has chosen yet."""
TAKEN = "another record has the same id, and references lead to that one"


def build_tiers(view: View) -> tuple[Tier, ...]:
    """Only those that hold something or can take a note, the furthest come first."""
    moves = moves_by_item(view.dossier) if view.editor is not None else {}
    beside = _Beside(targets_of(view), _ranks(view), moves)
    blocks = [_block(view, *each, beside) for each in _items(view)]
    new = {NOTES: new_note_form(view.dossier)} if view.editor is not None else {}
    tiers = (
        Tier(name, tuple(block for block in blocks if block.tier == name), new.get(name)) for name in FATES
    )
    return tuple(tier for tier in tiers if tier.blocks or tier.new is not None)


def targets_of(view: View) -> tuple[str, ...]:
    """The eight of the draft, then whatever else the records name."""
    named = (
        record.text("target") for kind in (Kind.ASSEMBLY, Kind.INJECTION) for record in view.dossier.of(kind)
    )
    return tuple(dict.fromkeys((*TARGETS, *(each for each in named if each))))


def _items(view: View) -> Iterator[tuple[Fate, Record | None]]:
    """Every record of an item or summary, also of one whose id another has; then those only named."""
    for kind in (Kind.ITEM, Kind.SUMMARY):
        for record in view.dossier.of(kind):
            yield view.fate(record), record
    yield from ((fate, None) for fate in view.fates.values() if fate.item is None)


@dataclass(frozen=True, slots=True)
class _Beside:
    """What is worked out for all blocks together; ranks and moves by item."""

    targets: Sequence[str]
    ranks: Mapping[str, int]
    moves: Mapping[str, tuple[Move, ...]]


def _block(view: View, fate: Fate, record: Record | None, beside: _Beside) -> Block:
    twin = record is not None and fate.item is not record
    visible = None if twin else _is_visible(view, fate)
    tokens, counted = view.tokens(record) if record is not None else (None, False)
    return Block(
        id=view.mask(fate.id),
        tier=word(fate),
        type=_type(view, record),
        text=block_text(view, record),
        tags=(*_tags(view, record), *(("tokens as recorded",) if tokens is not None and not counted else ())),
        tokens=tokens,
        visible=visible,
        reason=None if visible else view.mask(TAKEN if twin else why_not_shown(view, fate)),
        state=_state(view, fate, record),
        origin=_origin(fate, record),
        form=view.form(record) if record is not None else None,
        rank=beside.ranks.get(fate.id) if visible else None,
        moves=beside.moves.get(fate.id, ()) if not twin else (),
        sights={target: _sight(fate, record, target) for target in beside.targets},
    )


def block_text(view: View, record: Record | None) -> str:
    """What can be read of an item; what stands for it when its content lies elsewhere."""
    if record is None:
        return ""
    content = view.content(record)
    if content is not None:
        return content
    where = _where(view, record)
    title = view.mask(record.text("title") or "")
    return " ".join(part for part in (title, f"[{where}]" if where else "") if part)


def _where(view: View, record: Record) -> str | None:
    reference = next((each.id for each in record.refs("content_ref") if each.id), None)
    return view.mask(f"content at {reference}") if reference is not None else None


def _type(view: View, record: Record | None) -> str | None:
    if record is None:
        return None
    if record.kind is Kind.SUMMARY:
        return view.mask(record.text("summary_kind") or "summary")
    kind = record.text("context_kind")
    return view.mask(kind) if kind is not None else None


def _tags(view: View, record: Record | None) -> Iterator[str]:
    if record is None:
        return
    for name, told in (("trust_level", "trust"), ("sensitivity", "sensitivity"), ("freshness", "freshness")):
        value = record.value.get(name)
        found = text(value.get("state") or value.get("status")) if isinstance(value, dict) else text(value)
        if found:
            yield view.mask(f"{told} {found}")


def _state(view: View, fate: Fate, record: Record | None) -> str | None:
    marks = [*flags(fate)]
    if record is None:
        marks.append("no record of it")
    elif fate.item is not record:
        marks.append("double")
    return view.mask(", ".join(marks)) or None


def _sight(fate: Fate, record: Record | None, target: str) -> Sight:
    return sight(fate, target) if record is None or fate.item is record else Sight.UNKNOWN


def _origin(fate: Fate, record: Record | None) -> Origin:
    if record is not None:
        return record.origin()
    if fate.omitted:
        return fate.omitted[0].reference.origin
    for holder in (*fate.selected_by, *fate.candidates_in, *fate.surfaces, *fate.compacted_into):
        return next((each.origin for each in holder.references if each.id == fate.id), holder.origin())
    placed = fate.assembled[0]
    return placed.assembly.origin("ordered_blocks", placed.block_index)


def _ranks(view: View) -> dict[str, int]:
    """The order in which injected blocks stand before the model, by item."""
    order = {record: place for place, record in enumerate(view.dossier.of(Kind.INJECTION))}
    shown = [
        (order[each.injection], each.block_index, fate.id)
        for fate in view.fates.values()
        for each in fate.injected
        if each.target == MODEL
    ]
    names = dict.fromkeys(name for _, _, name in sorted(shown))
    return {name: rank for rank, name in enumerate(names)}


# -- shown or not ------------------------------------------------------------------------------------------


def _is_visible(view: View, fate: Fate) -> bool | None:
    """Injected for the model; unknown where there is neither an envelope nor an injection."""
    if sight(fate, MODEL) is Sight.INJECTED:
        return True
    return False if view.dossier.envelope is not None or view.dossier.of(Kind.INJECTION) else None


def why_not_shown(view: View, fate: Fate) -> str:
    """Why the model is not shown an item, by the records."""
    shown = [each.target for each in fate.injected]
    if shown:
        return f"injected for {listed(dict.fromkeys(shown))}, not for the model"
    placed = [each.target or "nobody named" for each in fate.assembled]
    if placed:
        return f"assembled for {listed(dict.fromkeys(placed))}; no injection is recorded"
    if fate.item is not None and fate.redaction in GONE:
        return label(fate.item).strip("[]")
    if fate.selected_by:
        chosen = f"selected by {listed(map(key_of, fate.selected_by))}, but"
        return f"{chosen} {_omitted(fate)}" if fate.omitted else f"{chosen} in no assembly"
    if fate.compacted_into:
        return _compacted(view, fate)
    if fate.omitted:
        return _omitted(fate)
    if fate.candidates_in:
        return f"a candidate of {listed(map(key_of, fate.candidates_in))}, neither selected nor omitted"
    return "available, and no selection considered it" if fate.surfaces else "on no surface"


def _omitted(fate: Fate) -> str:
    return "; ".join(
        f"omitted by {key_of(each.selection)}: {each.reason or 'no reason given'}"
        for each in fate.omitted[:3]
    )


def _compacted(view: View, fate: Fate) -> str:
    compaction = fate.compacted_into[0]
    summary = next((each.id for each in compaction.refs("summary_ref") if each.id), None)
    into = f"into {summary} " if summary else ""
    return f"compacted {into}by {view.name(compaction)}"
