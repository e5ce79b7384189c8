"""The rules about assemblies: their blocks, and where the items in them come from (ENV053 to ENV056, 62, 63).

Examples change a sound bundle, as in `shape`. What is injected is asked about in `injection`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxview.analysis.wording import listed, shown
from ctxview.findings import Hit, Severity, rule
from ctxview.formats.envelope.digests import Digest
from ctxview.formats.envelope.fates import is_redacted
from ctxview.formats.envelope.model import Dossier, Record, text
from ctxview.formats.envelope.profile import Profile
from ctxview.formats.envelope.rules.lookup import (
    Part,
    assembled,
    blocks,
    called,
    ids,
    is_blank,
    named,
    selected,
    stand_ins,
)
from ctxview.formats.envelope.standing import Standing, standing
from ctxview.formats.envelope.vocabulary import Kind

PLAIN_WRAPPERS = (None, "", "none", "plain")
"""Wrappers that add nothing to the text of a block."""


@rule("ENV053", name="block-order", severity=Severity.WARNING)
def block_order(record: Record, profile: Profile) -> Iterator[Hit]:
    """Two blocks of an assembly have one id, or their positions do not rise.

    ## Why
    Blocks are shown in the order in which they stand. Where the positions tell another order, nobody
    knows what the target read first; where two have one id, a reference to it means either.
    ## Bad
    assembly-model.ordered_blocks[1].position = 1
    ## Good
    assembly-model.ordered_blocks[1].position = (absent)
    ## Fix
    Number the blocks anew in the order in which they are shown.
    ## Source
    Agent Context draft, assembly contract: ordered blocks.
    """
    if record.kind is not Kind.ASSEMBLY:
        return
    seen: set[str] = set()
    before: tuple[str, float] | None = None
    for block in blocks(record):
        name = block.text("block_id")
        if name is not None and name in seen:
            yield Hit(
                block.origin("block_id"), f"another block of {called(record)} is called {shown(name)}, too"
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
    Whoever reads only the list believes that something was shown which was not, or misses what was. Where
    a block does not say what it holds, only what the list lacks is told.
    ## Bad
    assembly-model.source_item_refs = ["item-goal"]
    ## Good
    assembly-model.source_item_refs = (absent)
    ## Fix
    Make the list anew from the blocks.
    ## Source
    Our inference from the assembly contract of the Agent Context draft.
    """
    if record.kind is not Kind.ASSEMBLY or not isinstance(record.value.get("source_item_refs"), list):
        return
    sources, held = ids(record.refs("source_item_refs")), assembled(record)
    origin = record.origin("source_item_refs")
    if unlisted := [each for each in held if each not in sources]:
        yield Hit(origin, f"{listed(unlisted)} in the blocks of {called(record)} is no listed source")
    vague = any(each.refs is None for each in blocks(record))
    if not vague and (unused := [each for each in sources if each not in held]):
        yield Hit(
            origin, f"{listed(unused)} is listed as a source of {called(record)}, but in none of its blocks"
        )


@rule("ENV055", name="assembled-unselected", severity=Severity.WARNING)
def assembled_unselected(dossier: Dossier, profile: Profile) -> Iterator[Hit]:
    """An item was assembled that no selection selected.

    ## Why
    It came in past the selection: nobody weighed it, and no reason is recorded. Summaries may stand in for
    the items they were made of. Without a selection that says what it selected, nothing is known.
    ## Bad
    assembly-model.ordered_blocks[1].item_refs = ["item-extra"]
    ## Good
    assembly-model.ordered_blocks[1].item_refs = ["summary-1"]
    ## Fix
    Select the item with a reason, or take it out of the block.
    ## Source
    Our inference from the assembly contract of the Agent Context draft.
    """
    chosen = selected(dossier)
    if chosen is None:
        return
    allowed = chosen | stand_ins(dossier)
    for assembly in dossier.of(Kind.ASSEMBLY):
        for block in blocks(assembly):
            for reference in block.refs or ():
                if reference.id is not None and reference.id not in allowed:
                    message = f"the block {block.id} holds {shown(reference.id)}, which no selection selected"
                    yield Hit(reference.origin, message)


@rule("ENV056", name="not-for-this-target", severity=Severity.ERROR)
def not_for_this_target(dossier: Dossier, profile: Profile) -> Iterator[Hit]:
    """An assembly holds an item that its target may not see.

    ## Why
    An item's visibility lists who may see it. What may be seen by a tool alone must not stand in
    what is made for the model. Items without a visibility are not judged.
    ## Bad
    assembly-model.ordered_blocks[1].item_refs = ["item-log"]
    ## Good
    assembly-tool.ordered_blocks[0].item_refs = ["item-log"]
    ## Fix
    Take the item out, or let its owner widen its visibility.
    ## Source
    Agent Context draft, item contract and visibility targets.
    """
    for assembly in dossier.of(Kind.ASSEMBLY):
        target = assembly.text("target")
        for block in blocks(assembly) if target else ():
            for reference in block.refs or ():
                item = dossier.resolve(reference)
                allowed = item.value.get("visibility") if item is not None else None
                if item is None or not isinstance(allowed, list) or target in allowed:
                    continue
                who = listed(item.texts("visibility")) or "nobody"
                message = f"{named(item)} may be seen by {who}, but {called(assembly)} is for"
                yield Hit(reference.origin, f"{message} {shown(target or '')}")


@rule("ENV062", name="no-source", severity=Severity.WARNING)
def no_source(dossier: Dossier, profile: Profile) -> Iterator[Hit]:
    """An assembled item cannot be traced to a source.

    ## Why
    Whoever asks where the target has something from gets no answer. An item needs a source reference that
    leads to a source of the bundle or carries its address; a summary needs the items it was made of. Where
    the bundle holds no sources at all, references to them may lead elsewhere.
    ## Bad
    item-plan.source_refs = []
    ## Good
    item-plan.source_refs = [{"uri": "file:///work/plan.md"}]
    ## Fix
    Add a context_source_ref with the address, the part and the digest, and refer to it.
    ## Source
    Agent Context draft, runtime profile ACTX-AR-ASM-001.
    """
    made = frozenset(name for each in dossier.of(Kind.COMPACTION) for name in ids(each.refs("summary_ref")))
    for assembly in dossier.of(Kind.ASSEMBLY):
        for block in blocks(assembly):
            for reference in block.refs or ():
                item = dossier.resolve(reference)
                if item is not None and item.id not in made and not _traceable(dossier, item):
                    message = (
                        f"{named(item)} in the block {block.id} of {called(assembly)} leads to no source"
                    )
                    yield Hit(item.origin("source_refs"), message)


@rule("ENV063", name="wrong-hash", severity=Severity.WARNING)
def wrong_hash(dossier: Dossier, profile: Profile) -> Iterator[Hit]:
    """The hash of a block or an injection is not that of its content.

    ## Why
    The hash proves what a target was shown. When it does not match, either was changed later. It is
    checked where the very text is at hand: in the block or the injection itself, inside its reference, or
    as the whole inline text of the one item that a block holds without a wrapper. Everywhere else, and for
    hashes not written as an algorithm and digits, nothing is known.
    ## Bad
    injection-model.content = "ok"
    injection-model.hash = "sha256:2689367b205c16ce32ed4200942b8b8b1e262dfc70d9bc9fbc77c49699a4f1de"
    ## Good
    injection-model.content = "ok"
    injection-model.hash = "sha256:2689367b205c16ce32ed4200942b8b8b1e262dfc70d9bc9fbc77c49699a4f1df"
    ## Fix
    Find out which of the two was changed; never just compute the hash anew.
    ## Source
    Our inference from the `hash` of blocks and injections in the Agent Context draft.
    """
    for assembly in dossier.of(Kind.ASSEMBLY):
        for block in blocks(assembly):
            content = _block_text(dossier, block)
            if content is not None and _contradicts(block.text("hash"), content):
                message = f"the hash of the block {block.id} of {called(assembly)} is not that of its text"
                yield Hit(block.origin("hash"), message)
    for injection in dossier.of(Kind.INJECTION):
        final = injection.object("final_ref").get("content")
        content = injection.text("content") if "content" in injection.value else text(final)
        if content is not None and _contradicts(injection.text("hash"), content):
            message = f"the hash of the injection {called(injection)} is not that of its text"
            yield Hit(injection.origin("hash"), message)


def _traceable(dossier: Dossier, item: Record) -> bool:
    if item.kind is Kind.SUMMARY and item.refs("source_item_refs"):
        return True
    references = item.refs("source_refs")
    if any(standing(each, dossier) is not Standing.BROKEN for each in references):
        return True
    return bool(ids(references)) and not dossier.of(Kind.SOURCE)


def _block_text(dossier: Dossier, block: Part) -> str | None:
    """What the block shows, where that is beyond doubt."""
    for holder in (block.members, block.object("content_ref")):
        if "content" in holder:
            return text(holder["content"])
    refs = block.refs or ()
    item = dossier.resolve(refs[0]) if len(refs) == 1 else None
    if (
        item is None
        or block.members.get("wrapper") not in PLAIN_WRAPPERS
        or not is_blank(block.members.get("content_ref"))
    ):
        return None
    held, whole = block.count("token_estimate"), item.count("token_estimate")
    is_part = held is not None and whole is not None and held < whole
    is_masked = is_redacted(block.text("redaction_state")) and not is_redacted(item.text("redaction_state"))
    return None if is_part or is_masked else item.text("content")


def _contradicts(written: str | None, content: str) -> bool:
    """Whether a hash is certainly not that of a text; one that cannot be read contradicts nothing."""
    found = Digest.parse(written or "")
    return found.fault is None and found.matches(content.encode("utf-8", "surrogatepass")) is False
