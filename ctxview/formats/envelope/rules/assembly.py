"""Rules about assemblies: their blocks, and the sources of their items (ENV053 to ENV056, 62, 63).

Examples change a sound bundle, as in `shape`. The rules about injections are in `injection`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxview.analysis.wording import excerpt, listed
from ctxview.core.findings import Hit, Severity, rule
from ctxview.formats.envelope.model import EnvelopeRecords, Record, RecordReference, text
from ctxview.formats.envelope.outcomes import (
    assembled_targets,
    injected_targets,
    injections_by_assembly,
    items_by_block,
)
from ctxview.formats.envelope.profile import Profile
from ctxview.formats.envelope.redactions import is_redacted
from ctxview.formats.envelope.references import Digest, RefResolution, resolve_reference
from ctxview.formats.envelope.rules.lookups import (
    SizedPart,
    assembled_items,
    blocks,
    id_of,
    ids,
    is_blank,
    label,
    selected,
    summary_ids,
)
from ctxview.formats.envelope.vocabulary import RecordKind

PLAIN_WRAPPERS = (None, "", "none", "plain")
"""Wrappers that add nothing to the text of a block."""


@rule("ENV053", name="block-order", severity=Severity.WARNING)
def block_order(record: Record, profile: Profile) -> Iterator[Hit]:
    """Two blocks of an assembly have one id, or their positions do not rise.

    ## Why
    Blocks are shown in the order of the list. Where the positions give another order, it is unknown
    what the target read first; where two have one id, a reference to it means either.
    ## Bad
    assembly-model.ordered_blocks[1].position = 1
    ## Good
    assembly-model.ordered_blocks[1].position = (absent)
    ## Fix
    Number the blocks again in the order in which they are shown.
    ## Source
    Agent Context draft, assembly contract: ordered blocks.
    """
    if record.kind is not RecordKind.ASSEMBLY:
        return
    seen: set[str] = set()
    before: tuple[str, float] | None = None
    for block in blocks(record):
        name = block.text("block_id")
        if name is not None and name in seen:
            yield Hit(
                block.origin("block_id"), f"another block of {id_of(record)} also has the id {excerpt(name)}"
            )
        seen.update([name] if name is not None else ())
        position = block.number("position")
        if position is None:
            continue
        if before is not None and position <= before[1]:
            message = (
                f"the block {block.id} has the position {position:g} after {before[0]} with {before[1]:g}"
            )
            yield Hit(block.origin("position"), message)
        before = (block.id, position)


@rule("ENV054", name="source-items", severity=Severity.WARNING)
def source_items(record: Record, profile: Profile) -> Iterator[Hit]:
    """The items in the blocks of an assembly are not those it lists as its sources.

    ## Why
    A reader of the list alone believes that something was shown which was not, or misses what was. Where
    a block does not say what it holds, only items that the list lacks are reported.
    ## Bad
    assembly-model.source_item_refs = ["item-goal"]
    ## Good
    assembly-model.source_item_refs = (absent)
    ## Fix
    Make the list again from the blocks.
    ## Source
    Our inference from the assembly contract of the Agent Context draft.
    """
    if record.kind is not RecordKind.ASSEMBLY or not isinstance(record.value.get("source_item_refs"), list):
        return
    sources, held = ids(record.refs("source_item_refs")), assembled_items(record)
    origin = record.origin("source_item_refs")
    if unlisted := [each for each in held if each not in sources]:
        yield Hit(origin, f"{listed(unlisted)} in the blocks of {id_of(record)} is not listed as a source")
    vague = any(each.refs is None for each in blocks(record))
    if not vague and (unused := [each for each in sources if each not in held]):
        yield Hit(
            origin, f"{listed(unused)} is listed as a source of {id_of(record)}, but in none of its blocks"
        )


@rule("ENV055", name="assembled-unselected", severity=Severity.WARNING)
def assembled_unselected(records: EnvelopeRecords, profile: Profile) -> Iterator[Hit]:
    """An item was assembled that no selection selected.

    ## Why
    It bypassed the selection: it was not compared with other items, and no reason is recorded. Summaries may
    replace the items they were made of. Without a selection that says what it selected, nothing is known.
    ## Bad
    assembly-model.ordered_blocks[1].item_refs = ["item-extra"]
    ## Good
    assembly-model.ordered_blocks[1].item_refs = ["summary-1"]
    ## Fix
    Select the item with a reason, or take it out of the block.
    ## Source
    Our inference from the assembly contract of the Agent Context draft.
    """
    chosen = selected(records)
    if chosen is None:
        return
    allowed = chosen | summary_ids(records)
    for assembly in records.of(RecordKind.ASSEMBLY):
        for block in blocks(assembly):
            for reference in block.refs or ():
                if reference.id is not None and reference.id not in allowed:
                    message = (
                        f"the block {block.id} holds {excerpt(reference.id)}, which no selection selected"
                    )
                    yield Hit(reference.origin, message)


@rule("ENV056", name="not-for-this-target", severity=Severity.ERROR)
def not_for_this_target(records: EnvelopeRecords, profile: Profile) -> Iterator[Hit]:
    """An assembly or an injection shows an item to a target that may not see it.

    ## Why
    An item's visibility lists who may see it. An item for a tool alone must not be in an
    assembly for the model. The targets of an assembly are its `target` and everyone in its `visibility` and
    that of the block; those of an injection likewise. An item that only `source_item_refs` names is checked
    too. Items without a visibility are not checked.
    ## Bad
    assembly-model.ordered_blocks[1].item_refs = ["item-log"]
    ## Good
    assembly-tool.ordered_blocks[0].item_refs = ["item-log"]
    ## Fix
    Take the item out, or let its owner widen its visibility.
    ## Source
    Agent Context draft, item contract and visibility targets.
    """
    injections = injections_by_assembly(records)
    for assembly in records.of(RecordKind.ASSEMBLY):
        shown_by = [
            (id_of(each), "shows it to", injected_targets(each, assembly))
            for each in injections.get(assembly, ())
        ]
        for index, reference in _held(assembly):
            item = records.resolve(reference)
            allowed = item.value.get("visibility") if item is not None else None
            if item is None or not isinstance(allowed, list):
                continue
            who = listed(item.texts("visibility")) or "no target"
            made_for = (id_of(assembly), "is for", assembled_targets(assembly, index))
            known = {"", *item.texts("visibility")}
            for holder, verb, targets in (made_for, *shown_by):
                if others := [each for each in targets if each not in known]:
                    known.update(others)
                    message = f"{label(item)} may be seen by {who}, but {holder} {verb} {listed(others)}"
                    yield Hit(reference.origin, message)


@rule("ENV062", name="no-source", severity=Severity.WARNING)
def no_source(records: EnvelopeRecords, profile: Profile) -> Iterator[Hit]:
    """An assembled item cannot be traced to a source.

    ## Why
    It is then unknown where the content of the target comes from. An item needs a source reference that
    leads to a source of the bundle or carries its address; a summary needs the items it was made of. Where
    the bundle holds no sources at all, references may lead to sources elsewhere.
    ## Bad
    item-plan.source_refs = []
    ## Good
    item-plan.source_refs = [{"uri": "file:///work/plan.md"}]
    ## Fix
    Add a context_source_ref with the address, the part and the digest, and refer to it.
    ## Source
    Agent Context draft, runtime profile ACTX-AR-ASM-001.
    """
    made = frozenset(
        name for each in records.of(RecordKind.COMPACTION) for name in ids(each.refs("summary_ref"))
    )
    for assembly in records.of(RecordKind.ASSEMBLY):
        for block in blocks(assembly):
            for reference in block.refs or ():
                item = records.resolve(reference)
                if item is not None and item.id not in made and not _traceable(records, item):
                    message = f"{label(item)} in the block {block.id} of {id_of(assembly)} leads to no source"
                    yield Hit(item.origin("source_refs"), message)


@rule("ENV063", name="wrong-hash", severity=Severity.WARNING)
def wrong_hash(records: EnvelopeRecords, profile: Profile) -> Iterator[Hit]:
    """The hash of a block or an injection is not that of its content.

    ## Why
    The hash proves what a target was shown. When it does not match, either was changed later. It is
    checked where the text is present: in the block or the injection itself, inside its reference, or
    as the whole inline text of the one item that a block holds without a wrapper. Everywhere else, and for
    hashes not written as an algorithm and digits, nothing is known.
    ## Bad
    injection-model.content = "ok"
    injection-model.hash = "sha256:2689367b205c16ce32ed4200942b8b8b1e262dfc70d9bc9fbc77c49699a4f1de"
    ## Good
    injection-model.content = "ok"
    injection-model.hash = "sha256:2689367b205c16ce32ed4200942b8b8b1e262dfc70d9bc9fbc77c49699a4f1df"
    ## Fix
    Find out which of the two was changed; never just compute the hash again.
    ## Source
    Our inference from the `hash` of blocks and injections in the Agent Context draft.
    """
    for assembly in records.of(RecordKind.ASSEMBLY):
        for block in blocks(assembly):
            content = _block_text(records, block)
            if content is not None and _contradicts(block.text("hash"), content):
                message = f"the hash of the block {block.id} of {id_of(assembly)} is not that of its text"
                yield Hit(block.origin("hash"), message)
    for injection in records.of(RecordKind.INJECTION):
        final = injection.object("final_ref").get("content")
        content = injection.text("content") if "content" in injection.value else text(final)
        if content is not None and _contradicts(injection.text("hash"), content):
            message = f"the hash of the injection {id_of(injection)} is not that of its text"
            yield Hit(injection.origin("hash"), message)


def _held(assembly: Record) -> Iterator[tuple[int | None, RecordReference]]:
    """Yield the items of an assembly with their block, then those that only its list of sources names."""
    held = items_by_block(assembly)
    yield from ((index, each) for index, references in held.items() for each in references)
    known = {each.id for references in held.values() for each in references}
    yield from ((None, each) for each in assembly.refs("source_item_refs") if each.id not in known)


def _traceable(records: EnvelopeRecords, item: Record) -> bool:
    if item.kind is RecordKind.SUMMARY and item.refs("source_item_refs"):
        return True
    references = item.refs("source_refs")
    if any(resolve_reference(each, records) is not RefResolution.BROKEN for each in references):
        return True
    return bool(ids(references)) and not records.of(RecordKind.SOURCE)


def _block_text(records: EnvelopeRecords, block: SizedPart) -> str | None:
    """The text of a block, if it is certain; else None."""
    for holder in (block.members, block.object("content_ref")):
        if "content" in holder:
            return text(holder["content"])
    refs = block.refs or ()
    item = records.resolve(refs[0]) if len(refs) == 1 else None
    if (
        item is None
        or block.members.get("wrapper") not in PLAIN_WRAPPERS
        or not is_blank(block.members.get("content_ref"))
    ):
        return None
    held, whole = block.count("token_estimate"), item.count("token_estimate")
    is_part = held is not None and whole is not None and held < whole
    is_masked = is_redacted(block.text("redaction_state")) and not is_redacted(item.redaction)
    return None if is_part or is_masked else item.text("content")


def _contradicts(written: str | None, content: str) -> bool:
    """Whether a hash is certainly not that of `content`; False when it cannot be verified."""
    found = Digest.parse(written or "")
    return found.fault is None and found.matches(content.encode("utf-8", "surrogatepass")) is False
