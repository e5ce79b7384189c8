"""The text of one block of an assembly: the contents of its items, proved by the hash of the block.

Content by reference counts only when the hash proves it. A block with withheld content has no text at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from msgspec import Struct
from msgspec.structs import replace

from ctxview.analysis.tokens import byte_size
from ctxview.core.origin import JsonValue, Origin
from ctxview.core.prompt import CutKind, PromptCut, PromptPart
from ctxview.formats.envelope.model import EnvelopeRecords, Record, count, text
from ctxview.formats.envelope.outcomes import items_by_block, outcome_key, outcome_word, outcomes
from ctxview.formats.envelope.redactions import is_gone, redaction_label, redaction_state
from ctxview.formats.envelope.references import Digest, SiblingFiles
from ctxview.formats.envelope.vocabulary import RecordKind
from ctxview.formats.envelope.withheld import WithheldContent

SEPARATORS = ("\n\n", "\n", "")
"""The texts that may stand between two items or blocks, the likeliest first."""
INLINE_MODES = ("inline", "summary", "embedded_resource")
PLAIN_WRAPPERS = (None, "", "none", "plain")
AS_RECORDED = "as recorded"


class EnvelopePromptInputs(Struct, frozen=True):
    """The records of one revision, what is withheld of them, and the files beside them."""

    records: EnvelopeRecords
    withheld: WithheldContent
    siblings: SiblingFiles


class AssembledBlock(Struct, frozen=True):
    """The parts of one block. `is_whole` is False when content, or the way it was wrapped, is unknown."""

    parts: tuple[PromptPart, ...]
    is_whole: bool = True
    is_withheld: bool = False

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts)


class _Content(Struct, frozen=True):
    """The content of one item: its text and the text that a truncation leaves of it; None when elsewhere."""

    item: Record
    part: PromptPart
    text: str | None
    left: str | None
    by_reference: bool


def assembled_blocks(inputs: EnvelopePromptInputs, assembly: Record) -> list[AssembledBlock]:
    """Return the blocks in the order of the assembly."""
    removed = dict(_bytes_removed(inputs.records, assembly))
    items = items_by_block(assembly)
    return [
        _block(inputs, assembly, at, members, inputs.records.targets_of(items.get(at, ())), removed)
        for at, members in assembly.objects("ordered_blocks")
    ]


def has_digest(data: str | bytes, written: JsonValue) -> bool:
    """Whether the text has the hash that a record gives; without an algorithm it is SHA-256."""
    if not isinstance(written, str):
        return False
    digest = Digest.parse(written if ":" in written else f"sha256:{written}")
    return digest.matches(data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass")) is True


def _block(
    inputs: EnvelopePromptInputs,
    assembly: Record,
    at: int,
    members: Mapping[str, JsonValue],
    items: Sequence[Record],
    removed: Mapping[str, int],
) -> AssembledBlock:
    name = inputs.withheld.mask(text(members.get("block_id")) or f"block {at + 1}")
    origin = assembly.origin("ordered_blocks", at)
    holders = [(members, redaction_state(members)), *((item.value, item.redaction) for item in items)]
    for holder, state in holders:
        if is_gone(state):
            return _withheld(inputs, name, members, redaction_label(holder, state), origin)
    if not items and "content_ref" in members:
        parts, is_whole = _referenced(inputs, name, members, origin)
    else:
        contents = [_content(inputs, item, removed.get(item.id or "")) for item in items]
        proved = _proved(contents, members.get("hash"))
        parts = proved if proved is not None else [*_unproved(inputs, contents)]
        is_whole = proved is not None or all(part.cut is None for part in parts)
    held = any(inputs.withheld.holds(item, ("content",)) for item in items)
    if held or inputs.withheld.copies("".join(part.text for part in parts)):
        return _withheld(inputs, name, members, "it holds content that a redaction removed", origin)
    wrapper = members.get("wrapper")
    if wrapper in PLAIN_WRAPPERS:
        return AssembledBlock(tuple(parts), is_whole)
    word = inputs.withheld.mask(f"wrapper {wrapper}")
    cut = PromptCut(kind=CutKind.ABSENT, what=word, reason="the draft defines no wrappers")
    return AssembledBlock((PromptPart(cut=cut, origin=origin), *parts), is_whole=False)


def _referenced(
    inputs: EnvelopePromptInputs, name: str, members: Mapping[str, JsonValue], origin: Origin
) -> tuple[list[PromptPart], bool]:
    """Return a block that names a file instead of items, and whether its hash proves the file."""
    reference = text(members.get("content_ref"))
    found = inputs.siblings.find(reference)
    if found is not None and has_digest(found.data, members.get("hash")):
        return [PromptPart(text=found.text, block=name, origin=origin)], True
    return [_elsewhere(inputs, name, members, reference, origin)], False


def _content(inputs: EnvelopePromptInputs, item: Record, removed: int | None) -> _Content:
    outcome = outcomes(inputs.records).get(outcome_key(item))
    tier = outcome_word(outcome) if outcome is not None else None
    part = PromptPart(block=inputs.withheld.mask(outcome_key(item)), tier=tier, origin=item.origin())
    is_inline = item.kind is RecordKind.SUMMARY or item.text("content_mode") in INLINE_MODES
    found: str | None = None
    if is_inline and "content" in item.value:
        content = item.value["content"]
        # Other JSON is as in the file.
        literal = "" if isinstance(content, str) else item.document.literal(f"{item.inner}/content").decode()
        found = content if isinstance(content, str) else literal
        part = replace(part, origin=item.origin("content"))
    elif not is_inline and item.text("content_mode") != "opaque":
        file = inputs.siblings.find(_reference(item))
        found = file.text if file is not None else None
    left = _without_tail(found, removed) if found is not None and removed else None
    return _Content(item, part, found, left, not is_inline)


def _proved(contents: Sequence[_Content], digest: JsonValue) -> list[PromptPart] | None:
    """Return the texts of the items with which the block has its hash, or None."""
    texts = [[each for each in (content.left, content.text) if each is not None] for content in contents]
    if not contents or not all(texts):
        return None
    # Truncations were applied to all items or to none; trying each combination would not end.
    for which, between in product((0, -1), SEPARATORS):
        chosen = [options[which] for options in texts]
        if has_digest(between.join(chosen), digest):
            pieces = [
                [replace(content.part, text=each), *_tail_cut(content, each, "cut at its end, as recorded")]
                for content, each in zip(contents, chosen, strict=True)
            ]
            return [*_joined(pieces, between)]
    return None


def _tail_cut(content: _Content, shown: str, reason: str) -> Iterator[PromptPart]:
    """Yield the cut for the end of a content that the shown text lacks."""
    size = byte_size(content.text or "") - byte_size(shown)
    if size > 0:
        name = content.part.block or ""
        cut = PromptCut(kind=CutKind.SHORTENED, what=name, reason=reason, bytes=size)
        yield replace(content.part, cut=cut)


def _unproved(inputs: EnvelopePromptInputs, contents: Sequence[_Content]) -> Iterator[PromptPart]:
    """Yield inline contents whole; content by reference, and cuts that cannot be applied, as cuts."""
    pieces: list[list[PromptPart]] = []
    for content in contents:
        if content.text is None or content.by_reference:
            reference = _reference(content.item)
            name = content.part.block or ""
            cut = _elsewhere(inputs, name, content.item.value, reference, content.part.origin)
            pieces.append([replace(cut, block=content.part.block, tier=content.part.tier)])
            continue
        reason = "a truncation is recorded; no hash proves where it cut"
        cuts = _tail_cut(content, content.left, reason) if content.left is not None else ()
        pieces.append([replace(content.part, text=content.text), *cuts])
    yield from _joined(pieces, SEPARATORS[0])


def _joined(pieces: Sequence[Sequence[PromptPart]], between: str) -> Iterator[PromptPart]:
    """Yield the parts of all pieces, with `between` added where text follows text."""
    has_text = False
    for piece in pieces:
        if has_text and between and any(part.text for part in piece):
            yield PromptPart(text=between)
        has_text = has_text or any(part.text for part in piece)
        yield from piece


def joined_blocks(blocks: Sequence[AssembledBlock], between: str) -> tuple[PromptPart, ...]:
    return tuple(_joined([block.parts for block in blocks], between))


def _withheld(
    inputs: EnvelopePromptInputs, name: str, members: Mapping[str, JsonValue], label: str, origin: Origin
) -> AssembledBlock:
    reason = inputs.withheld.mask(label).strip("[]")
    tokens = count(members.get("token_estimate"))
    by = AS_RECORDED if tokens is not None else None
    cut = PromptCut(kind=CutKind.WITHHELD, what=name, reason=reason, tokens=tokens, counted_by=by)
    return AssembledBlock((PromptPart(cut=cut, origin=origin),), is_whole=False, is_withheld=True)


def _elsewhere(
    inputs: EnvelopePromptInputs,
    name: str,
    members: Mapping[str, JsonValue],
    reference: str | None,
    origin: Origin | None,
) -> PromptPart:
    place = inputs.withheld.mask(f"content at {reference}") if reference else "the content is opaque"
    tokens, size = count(members.get("token_estimate")), count(members.get("byte_size"))
    by = AS_RECORDED if tokens is not None or size is not None else None
    cut = PromptCut(
        kind=CutKind.ABSENT,
        what=name,
        reason=f"{place}; no hash proves it",
        tokens=tokens,
        bytes=size,
        counted_by=by,
    )
    return PromptPart(cut=cut, origin=origin)


def _reference(item: Record) -> str | None:
    return next((each.id for each in item.refs("content_ref") if each.id), None)


def _bytes_removed(records: EnvelopeRecords, assembly: Record) -> Iterator[tuple[str, int]]:
    """Yield the items that a truncation shortened at their end, and by how many bytes."""
    for budget in records.targets_of(assembly.refs("budget_ref")):
        homes = [budget.value, *(segment for _, segment in budget.objects("window_segments"))]
        for home in homes:
            found = home.get("truncation_records")
            for each in found if isinstance(found, list) else ():
                if not isinstance(each, dict) or each.get("strategy") != "truncate_tail":
                    continue
                named = each.get("item_ref")
                name = named.get("item_id", named.get("id")) if isinstance(named, dict) else named
                removed = count(each.get("bytes_removed"))
                if isinstance(name, str) and removed:
                    yield name, removed


def _without_tail(content: str, removed: int) -> str:
    data = content.encode("utf-8", "surrogatepass")
    return data[: max(0, len(data) - removed)].decode("utf-8", "replace")
