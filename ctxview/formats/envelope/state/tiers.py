"""Build the tiers: items and summaries as blocks, by outcome, with reach and the reason they are hidden."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from ctxview.analysis.wording import listed
from ctxview.core.fields import Move
from ctxview.core.figures import Reason, ReasonKind
from ctxview.core.origin import Origin
from ctxview.core.pauses import give_way
from ctxview.core.state import Block, Reach, Tier
from ctxview.formats.envelope.editing.forms import moves_by_item, new_note_form
from ctxview.formats.envelope.model import Record, text
from ctxview.formats.envelope.outcomes import (
    OUTCOME_WORDS,
    Outcome,
    flags,
    outcome_key,
    outcome_word,
    reach_of,
)
from ctxview.formats.envelope.redactions import is_gone, is_redacted, redaction_label
from ctxview.formats.envelope.state.budgets import cuts_by_item
from ctxview.formats.envelope.state.inputs import NO_TARGET, EnvelopeStateInputs
from ctxview.formats.envelope.vocabulary import TARGETS, RecordKind
from ctxview.formats.envelope.withheld import withheld_label

MODEL = "model"
NOTES = "available"
"""The tier of new notes."""
DUPLICATE_ID = Reason(ReasonKind.DUPLICATE, "another record has the same id, and references lead to that one")
MEANINGS = {
    "injected": "A record says that it was shown.",
    "assembled": "It was assembled to be shown; no record says yet that it was.",
    "omitted": "It was left out: no target is shown it.",
    "compacted": "Only a summary of it is left.",
    "redacted": "It must not be shown to any target.",
}
ORDER = ("redacted", "omitted", "compacted", "available", "selected", "assembled", "injected")
"""The outcomes from redacted to shown."""


def build_tiers(inputs: EnvelopeStateInputs) -> tuple[Tier, ...]:
    """The tiers that hold blocks or can take a note, the furthest outcome first."""
    moves = moves_by_item(inputs.records) if inputs.editor is not None else {}
    shared = _SharedInputs(targets_of(inputs), _ranks(inputs), moves, cuts_by_item(inputs))
    # Every record has a block, also duplicates; then the items that are only named.
    records = (*inputs.records.of(RecordKind.ITEM), *inputs.records.of(RecordKind.SUMMARY))
    blocks = [_block(inputs, inputs.outcome(record), record, shared) for record in records]
    named = (each for each in inputs.known_outcomes.values() if each.item is None)
    blocks += [_block(inputs, outcome, None, shared) for outcome in named]
    new = {NOTES: new_note_form(inputs.records, inputs.taken)} if inputs.editor is not None else {}
    tiers = (
        Tier(
            name,
            tuple(block for block in blocks if block.tier == name),
            new.get(name),
            rank=ORDER.index(name),
            meaning=MEANINGS.get(name, ""),
        )
        for name in OUTCOME_WORDS
    )
    return tuple(tier for tier in tiers if tier.blocks or tier.new is not None)


def targets_of(inputs: EnvelopeStateInputs) -> tuple[str, ...]:
    """The eight targets of the draft, then others that the records name."""
    named = (
        record.text("target")
        for kind in (RecordKind.ASSEMBLY, RecordKind.INJECTION)
        for record in inputs.records.of(kind)
    )
    return tuple(dict.fromkeys((*TARGETS, *(each for each in named if each))))


class _SharedInputs(Struct, frozen=True):
    """Values computed once for all blocks; ranks, moves and the tokens that were cut by item."""

    targets: Sequence[str]
    ranks: Mapping[str, int]
    moves: Mapping[str, tuple[Move, ...]]
    cuts: Mapping[str, int]


def _block(
    inputs: EnvelopeStateInputs, outcome: Outcome, record: Record | None, shared: _SharedInputs
) -> Block:
    give_way()
    is_duplicate = record is not None and outcome.item is not record
    visible = None if is_duplicate else _is_visible(inputs, outcome)
    tokens, counted = inputs.tokens(record) if record is not None else (None, False)
    cut = shared.cuts.get(outcome.id, 0) if visible else 0
    return Block(
        id=inputs.mask(outcome.id),
        tier=outcome_word(outcome),
        type=_type(inputs, record),
        text=block_text(inputs, record),
        tags=(
            *_tags(inputs, record),
            *(("tokens as recorded",) if tokens is not None and (cut or not counted) else ()),
        ),
        tokens=max(0, tokens - cut) if tokens is not None else None,
        cut=cut,
        visible=visible,
        reason=None if visible else DUPLICATE_ID if is_duplicate else _reason(inputs, outcome),
        state=_state(inputs, outcome, record, cut),
        origin=_origin(outcome, record),
        form=inputs.form(record) if record is not None else None,
        rank=shared.ranks.get(outcome.id) if visible else None,
        moves=shared.moves.get(outcome.id, ()) if not is_duplicate else (),
        reach={
            target: Reach.UNKNOWN if is_duplicate else reach_of(outcome, target) for target in shared.targets
        },
        redaction=_redaction(inputs, record) if record is not None else "",
    )


def block_text(inputs: EnvelopeStateInputs, record: Record | None) -> str:
    """The content of an item; its title and address when the content is elsewhere."""
    if record is None:
        return ""
    content = inputs.content(record)
    if content is not None:
        return content
    title = inputs.mask(record.text("title") or "")
    addresses = [inputs.mask(f"content at {each.id}") for each in record.refs("content_ref") if each.id]
    return " ".join(filter(None, (title, *(f"[{each}]" for each in addresses[:1]))))


def _type(inputs: EnvelopeStateInputs, record: Record | None) -> str | None:
    if record is None:
        return None
    if record.kind is RecordKind.SUMMARY:
        return inputs.mask(record.text("summary_kind") or "summary")
    kind = record.text("context_kind")
    return inputs.mask(kind) if kind is not None else None


def _tags(inputs: EnvelopeStateInputs, record: Record | None) -> Iterator[str]:
    if record is None:
        return
    for name, label in (("trust_level", "trust"), ("sensitivity", "sensitivity"), ("freshness", "freshness")):
        value = record.value.get(name)
        found = text(value.get("state") or value.get("status")) if isinstance(value, dict) else text(value)
        if found:
            yield inputs.mask(f"{label} {found}")


def _state(inputs: EnvelopeStateInputs, outcome: Outcome, record: Record | None, cut: int) -> str | None:
    marks = [*flags(outcome)]
    if cut:
        marks.append(f"truncated by {cut:,} tokens")
    if record is None:
        marks.append("no record of it")
    elif outcome.item is not record:
        marks.append("double")
    return inputs.mask(", ".join(marks)) or None


def _redaction(inputs: EnvelopeStateInputs, record: Record) -> str:
    """What a redaction did to a record, by whom and why, in the words of the record."""
    if not is_redacted(record.redaction):
        return ""
    reason = record.text("redaction_reason")
    original = next((each.id for each in record.refs("original_ref") if each.id), None)
    parts = (
        redaction_label(record.value, record.redaction).strip("[]").removeprefix("withheld: "),
        f"because of {reason}" if reason else None,
        f"original in {original}" if original else None,
    )
    return inputs.mask("; ".join(filter(None, parts)))


def _origin(outcome: Outcome, record: Record | None) -> Origin:
    if record is not None:
        return record.origin()
    if outcome.omitted:
        return outcome.omitted[0].reference.origin
    for holder in (*outcome.selected_by, *outcome.candidates_in, *outcome.surfaces, *outcome.compacted_into):
        return next((each.origin for each in holder.references if each.id == outcome.id), holder.origin())
    placed = outcome.assembled[0]
    return placed.assembly.origin("ordered_blocks", placed.block_index)


def _ranks(inputs: EnvelopeStateInputs) -> dict[str, int]:
    """The position of each item in the context of the model."""
    order = {record: place for place, record in enumerate(inputs.records.of(RecordKind.INJECTION))}
    placements = [
        (order[each.injection], each.block_index, outcome.id)
        for outcome in inputs.known_outcomes.values()
        for each in outcome.injected
        if each.target == MODEL
    ]
    names = dict.fromkeys(name for _, _, name in sorted(placements))
    return {name: rank for rank, name in enumerate(names)}


def _is_visible(inputs: EnvelopeStateInputs, outcome: Outcome) -> bool | None:
    """Whether an item was injected for the model; None without an envelope and an injection."""
    if any(each.target == MODEL for each in outcome.injected):
        return True
    return False if inputs.records.envelope is not None or inputs.records.of(RecordKind.INJECTION) else None


def _reason(inputs: EnvelopeStateInputs, outcome: Outcome) -> Reason:
    word = outcome_word(outcome)
    kinds = {"compacted": ReasonKind.COMPACTED, "redacted": ReasonKind.WITHHELD}
    # Omissions of several selections are one group when they give the same reason.
    omitted = f"omitted: {outcome.omitted[0].reason or 'no reason given'}" if word == "omitted" else ""
    text = inputs.mask(why_not_shown(inputs, outcome))
    return Reason(kinds.get(word, ReasonKind.NOT_CHOSEN), text, summary=inputs.mask(omitted))


def why_not_shown(inputs: EnvelopeStateInputs, outcome: Outcome) -> str:
    """Why the model is not shown an item, by the records."""
    injected = [each.target for each in outcome.injected]
    if injected:
        return f"injected for {listed(dict.fromkeys(injected))}, not for the model"
    assembled = [each.target or NO_TARGET for each in outcome.assembled]
    if assembled:
        return f"assembled for {listed(dict.fromkeys(assembled))}; no injection is recorded"
    if outcome.item is not None and is_gone(outcome.redaction):
        return withheld_label(outcome.item).strip("[]")
    if outcome.selected_by:
        chosen = f"selected by {listed(map(outcome_key, outcome.selected_by))}, but"
        return f"{chosen} {_omitted(outcome)}" if outcome.omitted else f"{chosen} in no assembly"
    if outcome.compacted_into:
        return _compacted(inputs, outcome)
    if outcome.omitted:
        return _omitted(outcome)
    if outcome.candidates_in:
        return (
            f"a candidate of {listed(map(outcome_key, outcome.candidates_in))}, neither selected nor omitted"
        )
    return "available, and no selection considered it" if outcome.surfaces else "on no surface"


def _omitted(outcome: Outcome) -> str:
    return "; ".join(
        f"omitted by {outcome_key(each.selection)}: {each.reason or 'no reason given'}"
        for each in outcome.omitted[:3]
    )


def _compacted(inputs: EnvelopeStateInputs, outcome: Outcome) -> str:
    compaction = outcome.compacted_into[0]
    summary = next((each.id for each in compaction.refs("summary_ref") if each.id), None)
    into = f"into {summary} " if summary else ""
    return f"compacted {into}by {inputs.name(compaction)}"
