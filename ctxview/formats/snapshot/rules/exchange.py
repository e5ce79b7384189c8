"""The rules about the effect of a reply on the received blocks (SNP043 to 047, 050, 051).

In the examples the lines above `---` change the received snapshot, those below the emitted one; both start as
the template. `tampering` has the rules about fields that are not the model's.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxview.analysis.wording import counted, excerpt, json_excerpt, listed, quoted
from ctxview.core.findings import Effect, Hit, Severity, rule
from ctxview.core.origin import JsonValue
from ctxview.files.strict_json.values import same_value
from ctxview.formats.snapshot.model import STATUSES, TIERS, MemoryBlock, Snapshot, utf16_length
from ctxview.formats.snapshot.profile import Profile
from ctxview.formats.snapshot.rules.lookups import tier_blocks
from ctxview.formats.snapshot.runtime.javascript import trim
from ctxview.formats.snapshot.runtime.normalisation import normalise, why_invalid
from ctxview.formats.snapshot.runtime.projection import past_retention


@rule("SNP043", name="tier-wiped", severity=Severity.ERROR, effect=Effect.WIPED)
def tier_wiped(received: Snapshot, emitted: Snapshot, profile: Profile) -> Iterator[Hit]:
    """A tier comes back empty, or with nothing valid in it, and is erased.

    ## Why
    Leaving a tier out keeps it; sending `[]` erases it, and so does an array in which every block is
    invalid. This is the only way in which a model can lose a whole tier, and the runtime does not report it.
    ## Bad
    ---
    memory.core = []
    ## Good
    ---
    memory.core = (absent)
    ## Fix
    Leave the tier out of the reply, or send at least one valid block.
    ## Source
    Runtime: an incoming tier without a valid block replaces the stored one. The protocol document is
    silent.
    """
    for tier, lost in _wiped(received, emitted, profile):
        sent = emitted.tier(tier)
        what = f"only invalid blocks ({len(sent)}) in {tier}" if sent else f"{tier}: []"
        names = listed(block.name for block in lost)
        message = f"the reply sends {what} and erases {counted(len(lost), 'block')}: {names}"
        yield Hit(emitted.origin("memory", tier), message)


@rule("SNP044", name="block-omitted", severity=Severity.INFO, effect=Effect.STORED)
def block_omitted(received: Snapshot, emitted: Snapshot, profile: Profile) -> Iterator[Hit]:
    """Blocks that were received are not in the reply; they stay.

    ## Why
    The runtime merges by id: leaving a block out does not delete it. A model that tries to forget something
    this way will see it again in the next turn.
    ## Bad
    memory.core += {"id": "core-002"}
    ---
    ## Good
    memory.core += {"id": "core-002"}
    ---
    memory.core += {"id": "core-002"}
    ## Fix
    Nothing, if the block may stay. To let one go, send it with a higher decay.
    ## Source
    Runtime: merge by id. The protocol asks to omit low-quality blocks (rule 14), but omission does not
    delete.
    """
    wiped = {tier for tier, _ in _wiped(received, emitted, profile)}
    for tier in TIERS:
        sent = {trim(block.id or "") for block in emitted.tier(tier)}
        kept = [
            block
            for block in received.tier(tier)
            if (normal := normalise(block.value, tier, received.round, profile)) is not None
            and normal.id not in sent
            and past_retention(normal, profile.tier(tier), received.round) is None
        ]
        if kept and tier not in wiped:
            names = listed(block.name for block in kept)
            verb = "stays" if len(kept) == 1 else "stay"
            message = f"{tier}: {counted(len(kept), 'block')} not in the reply {verb} as before: {names}"
            yield Hit(emitted.origin("memory", tier), message)


@rule("SNP045", name="id-churn", severity=Severity.WARNING, effect=Effect.STORED)
def id_churn(received: Snapshot, emitted: Snapshot, profile: Profile) -> Iterator[Hit]:
    """A known content comes back under a new id, or a known id with another content.

    ## Why
    Under a new id the runtime stores a second copy, and the old one stays. Under a reused id the old memory
    is overwritten by something that has nothing to do with it.
    ## Bad
    ---
    memory.core[0].id = "core-9"
    ## Good
    ---
    memory.core[0].content = "长期核心记忆，已更新"
    ## Fix
    Update a block under its own id; give a new memory a new id.
    ## Source
    Context Protocol 3.0, rule 15: prefer updating by stable id. The profile sets the threshold of similarity.
    """
    from ctxview.analysis.similarity import TextIndex, shared_words

    known = {trim(block.id or ""): block for block in tier_blocks(received)}
    texts = TextIndex({name: block.content for name, block in known.items() if block.content})
    for block in tier_blocks(emitted):
        name = trim(block.id or "")
        if not name or not block.content:
            continue
        old = known.get(name)
        if old is not None:
            if old.type != block.type and shared_words(old.content or "", block.content) < profile.unrelated:
                was, now = (
                    f"{quoted(each.type or '')} {quoted(each.content or '', 24)}" for each in (old, block)
                )
                yield Hit(
                    emitted.origin_of(f"{block.pointer}/id"), f"{excerpt(name)} was {was}, now it is {now}"
                )
            continue
        near = texts.closest(block.content, profile.near_duplicate)
        if near is not None:
            how = "the same as" if near.ratio == 1 else f"{near.ratio:.0%} like"
            message = f"{excerpt(name)} is new, but says {how} {excerpt(near.key)}; both will be stored"
            yield Hit(emitted.origin_of(f"{block.pointer}/id"), message)


@rule("SNP046", name="block-moved", severity=Severity.WARNING, effect=Effect.STORED)
def block_moved(received: Snapshot, emitted: Snapshot, profile: Profile) -> Iterator[Hit]:
    """A block comes back in another tier; the old copy stays where it was.

    ## Why
    Tiers are merged one by one. The runtime never removes the copy in the old tier, so the id then exists
    twice and the two drift apart.
    ## Bad
    ---
    memory.working = (absent)
    memory.core += {"id": "work-001"}
    ## Good
    ---
    memory.core += {"id": "core-002"}
    ## Fix
    Give the promoted memory a new id and let the old block expire with a high decay.
    ## Source
    Runtime: no de-duplication across tiers. Context Protocol 3.0, rule 15.
    """
    before, after = _blocks_by_id(received), _blocks_by_id(emitted)
    for name, blocks in after.items():
        for tier, block in blocks.items():
            old_tiers = [old for old in before.get(name, ()) if old not in blocks]
            if old_tiers and tier not in before[name]:
                origin = emitted.origin_of(f"{block.pointer}/id")
                yield Hit(
                    origin, f"{excerpt(name)} moves from {listed(old_tiers)} to {tier}; the old copy stays"
                )


@rule("SNP047", name="silently-reopened", severity=Severity.WARNING, effect=Effect.REOPENED)
def silently_reopened(received: Snapshot, emitted: Snapshot, profile: Profile) -> Iterator[Hit]:
    """A finished working block comes back without its status and is open again.

    ## Why
    In working a missing status means open, and what the reply says overrides what was stored. A model that
    repeats a finished block in its own words puts it back to work.
    ## Bad
    memory.working[0].status = "done"
    ---
    ## Good
    memory.working[0].status = "done"
    ---
    memory.working[0].status = "done"
    ## Fix
    Leave finished blocks out of the reply, or repeat their status.
    ## Source
    Runtime: status is normalised to open on every incoming working block.
    """
    finished = {
        normal.id: normal.status
        for block in received.tier("working")
        if (normal := normalise(block.value, "working", received.round, profile)) and normal.terminal
    }
    for block in emitted.tier("working"):
        name = trim(block.id or "")
        if name in finished and trim(block.status or "") not in STATUSES:
            status = block.members.get("status")
            how = f"with status {json_excerpt(status)}" if "status" in block.members else "without a status"
            message = f"{excerpt(name)} was {finished[name]} and comes back {how}: it will be open again"
            yield Hit(emitted.origin_of(block.pointer), message)


@rule("SNP050", name="self-refresh", severity=Severity.INFO, effect=Effect.STORED)
def self_refresh(received: Snapshot, emitted: Snapshot, profile: Profile) -> Iterator[Hit]:
    """A block's numbers got better without a new content, or its round was lowered.

    ## Why
    Decay and confidence are the model's to set, and raising its own confidence in an unchanged memory is
    how a model keeps something alive without new evidence. A lowered round (a warning) makes a block older
    than it is.
    ## Bad
    ---
    memory.working[0].confidence = 0.95
    ## Good
    ---
    memory.working[0].confidence = 0.95
    memory.working[0].content = "当前任务相关记忆，测试已通过"
    ## Fix
    Change the numbers together with the reason for it, in the content.
    ## Source
    Context Protocol 3.0, memory lifecycle. Runtime: takes the new numbers.
    """
    unchanged = "the content is the same"
    before = _blocks_by_id(received)
    for new in tier_blocks(emitted):
        old = before.get(trim(new.id or ""), {}).get(new.tier)
        if old is None:
            continue
        label = excerpt(new.name)
        if old.round is not None and new.round is not None and new.round < old.round:
            message = f"{label}: round goes back from {old.round} to {new.round}"
            yield Hit(emitted.origin_of(f"{new.pointer}/round"), message, Severity.WARNING)
        if trim(old.content or "") != trim(new.content or ""):
            continue
        if old.confidence is not None and new.confidence is not None and new.confidence > old.confidence:
            message = f"{label}: confidence rises from {old.confidence:g} to {new.confidence:g}, {unchanged}"
            yield Hit(emitted.origin_of(f"{new.pointer}/confidence"), message)
        if old.decay is not None and new.decay is not None and new.decay < old.decay:
            message = f"{label}: decay falls from {old.decay:g} to {new.decay:g}, {unchanged}"
            yield Hit(emitted.origin_of(f"{new.pointer}/decay"), message)


@rule("SNP051", name="block-normalised", severity=Severity.INFO, effect=Effect.REPAIRED)
def block_normalised(received: Snapshot, emitted: Snapshot, profile: Profile) -> Iterator[Hit]:
    """The runtime will not store a block as it was sent: it cuts, clamps or tidies.

    ## Why
    What the model reads in the next turn differs from what it wrote. The message shows each field before
    and after.
    ## Bad
    ---
    memory.core[0].tags = ["agent", " agent "]
    ## Good
    ---
    memory.core[0].tags = ["agent", "identity"]
    ## Fix
    Send what can be stored as it is.
    ## Source
    Runtime: sanitizer of incoming blocks. SNP016 to SNP019 and SNP025 name the limit.
    """
    for block in tier_blocks(emitted):
        normal = normalise(block.value, block.tier, received.round, profile)
        if normal is None:
            continue
        changed = [
            (key, block.members[key], normal.value[key])
            for key in ("id", "type", "decay", "confidence", "round", "tags", "content", "status")
            if key in block.members
            and key in normal.value
            and not same_value(block.members[key], normal.value[key])
        ]
        if changed:
            changes = "; ".join(
                f"{key} {_brief(was)} becomes {_brief(becomes)}" for key, was, becomes in changed
            )
            cut = any(
                key == "content" and len(str(becomes)) < len(trim(str(was))) for key, was, becomes in changed
            )
            effect = Effect.TRUNCATED if cut else None
            yield Hit(
                emitted.origin_of(f"{block.pointer}/{changed[0][0]}"),
                f"{excerpt(block.name)}: {changes}",
                effect=effect,
            )


def _wiped(
    received: Snapshot, emitted: Snapshot, profile: Profile
) -> Iterator[tuple[str, tuple[MemoryBlock, ...]]]:
    """Yield each tier that the reply erases, with the lost blocks."""
    memory = emitted.section("memory")
    for tier in TIERS:
        old = received.tier(tier)
        sent = memory.get(tier)
        if old and isinstance(sent, list) and all(why_invalid(value, profile) for value in sent):
            yield tier, old


def _blocks_by_id(snapshot: Snapshot) -> dict[str, dict[str, MemoryBlock]]:
    """Map id → tier → block."""
    found: dict[str, dict[str, MemoryBlock]] = {}
    for block in tier_blocks(snapshot):
        if block.id and trim(block.id):
            found.setdefault(trim(block.id), {}).setdefault(block.tier, block)
    return found


def _brief(value: JsonValue) -> str:
    if isinstance(value, str) and utf16_length(value) > 40:
        return f"{quoted(value, 24)} ({utf16_length(value)} characters)"
    if isinstance(value, list):
        return f"[{listed((str(item) for item in value), 8)}]"
    return json_excerpt(value)
