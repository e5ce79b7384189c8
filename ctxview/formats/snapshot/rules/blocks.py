"""The rules about the fields of memory blocks (SNP015 to 020).

Each line of an example sets one member of the template snapshot; `(absent)` takes it away.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxview.analysis.text_copies import holds_redaction_mark
from ctxview.analysis.wording import excerpt, json_excerpt, listed, quoted
from ctxview.core.findings import Effect, Hit, Severity, rule
from ctxview.core.origin import JsonValue
from ctxview.formats.snapshot.model import MemoryBlock, Snapshot, number, text, utf16_length
from ctxview.formats.snapshot.profile import Profile
from ctxview.formats.snapshot.rules.lookups import as_written, expected_layout, tier_blocks
from ctxview.formats.snapshot.runtime.javascript import finite_number, trim
from ctxview.formats.snapshot.runtime.normalisation import normalise
from ctxview.formats.snapshot.runtime.projection import preferred_in_storage


@rule("SNP015", name="block-incomplete", severity=Severity.ERROR, effect=Effect.DROPPED)
def block_incomplete(snapshot: Snapshot, profile: Profile) -> Iterator[Hit]:
    """A block is not an object, or one of its seven required fields is absent.

    ## Why
    Without id, type, decay or content the runtime drops the block. A missing confidence, round or tags it
    fills in: 0.5, the current round, none; the memory survives, but not as it was meant.
    ## Bad
    memory.working[0].decay = (absent)
    ## Good
    memory.working[0].decay = 0.4
    ## Fix
    Write all seven fields: id, type, decay, confidence, round, tags, content.
    ## Source
    Context Protocol 3.0, rule 11: all seven are mandatory. Runtime: three of them are defaulted.
    """
    required = expected_layout(snapshot).block_fields
    defaulted = ("round", "tags") if profile.default_confidence is None else ("round", "tags", "confidence")
    for block in tier_blocks(snapshot):
        if any(map(holds_redaction_mark, block.members)):
            continue
        if not isinstance(block.value, dict):
            message = f"{block.name} is {json_excerpt(block.value)}, not a block; it will be dropped"
            yield Hit(snapshot.origin_of(block.pointer), message)
        elif missing := [name for name in required if name not in block.value]:
            fatal = [name for name in missing if name not in defaulted]
            outcome = "the block will be dropped" if fatal else "the runtime fills it in"
            message = f"{excerpt(block.name)}: no {' and no '.join(missing)}; {outcome}"
            yield Hit(snapshot.origin_of(block.pointer), message, effect=None if fatal else Effect.REPAIRED)


@rule("SNP016", name="block-field-invalid", severity=Severity.ERROR, effect=Effect.DROPPED)
def block_field_invalid(snapshot: Snapshot, profile: Profile) -> Iterator[Hit]:
    """A block's text is blank, or its decay or confidence is not a number from 0 to 1.

    ## Why
    The runtime drops a block with a blank text or with something that is not a number. A number outside 0
    to 1 is moved to the nearest end, which may hide the block. A number in quotes is only a warning: it is
    converted.
    ## Bad
    memory.working[0].decay = 1.7
    ## Good
    memory.working[0].decay = 1.0
    ## Fix
    Write texts that are not blank, and numbers between 0 and 1 without quotes. Decay 0 matters most.
    ## Source
    Context Protocol 3.0, rules 11 to 13. Runtime: clamps, converts numeric strings, drops the rest.
    """
    for block in tier_blocks(snapshot):
        for name in ("id", "type", "content"):
            if name in block.members and not trim(text(block.members[name]) or ""):
                value = block.members[name]
                found = "blank" if isinstance(value, str) else f"{json_excerpt(value)}, not a text"
                message = f"{excerpt(block.name)}: {name} is {found}; the block is dropped"
                yield Hit(snapshot.origin_of(f"{block.pointer}/{name}"), message)
        for name in ("decay", "confidence"):
            if name in block.members:
                yield from _check_measure(snapshot, block, name)


@rule("SNP017", name="block-round-invalid", severity=Severity.ERROR, effect=Effect.REPAIRED)
def block_round_invalid(snapshot: Snapshot, profile: Profile) -> Iterator[Hit]:
    """A block's round is not a positive whole number, or lies in the future.

    ## Why
    The round is the block's date: its age decides how long it is shown and kept. The runtime replaces a bad
    one by the current round, so an old block looks new; a future one (a warning) is moved back to the
    current round.
    ## Bad
    memory.working[0].round = 0
    ## Good
    memory.working[0].round = 1
    ## Fix
    Write the round in which the block was made or last confirmed, never more than `runtime.round`.
    ## Source
    Context Protocol 3.0, rule 11 and template. Runtime: defaults and clamps to the current round.
    """
    now = snapshot.round
    for block in tier_blocks(snapshot):
        if "round" not in block.members:
            continue
        if block.round is None or block.round < 1:
            severity, fault = None, "is not a whole number from 1; the current round is taken"
        elif now is not None and now >= 1 and block.round > now:
            severity, fault = Severity.WARNING, f"is after the current round {now}; it is set to {now}"
        else:
            continue
        pointer = f"{block.pointer}/round"
        found = as_written(snapshot, pointer, block.members["round"])
        yield Hit(snapshot.origin_of(pointer), f"{excerpt(block.name)}: round {found} {fault}", severity)


@rule("SNP018", name="tags-irregular", severity=Severity.WARNING, effect=Effect.REPAIRED)
def tags_irregular(snapshot: Snapshot, profile: Profile) -> Iterator[Hit]:
    """Tags are not a list of different, short texts, or there are too many.

    ## Why
    The runtime trims tags, drops those that are blank, repeated or not a text, cuts long ones and keeps
    only the first few. A later search may need one that was lost.
    ## Bad
    memory.core[0].tags = ["a", "b", "c", "d", "e", "f", "g", "h", "i"]
    ## Good
    memory.core[0].tags = ["a", "b", "c", "d", "e", "f", "g", "h"]
    ## Fix
    Keep the tags that tell blocks apart.
    ## Source
    Context Protocol 3.0, rule 11 (tags are mandatory); limits of the runtime: 8 tags of 32 characters.
    """
    for block in tier_blocks(snapshot):
        tags = block.members.get("tags")
        if isinstance(tags, list):
            for place, fault, effect in _odd_tags(tags, profile):
                origin = snapshot.origin_of(f"{block.pointer}/{place}")
                yield Hit(origin, f"{excerpt(block.name)}: {fault}", effect=effect)
        elif "tags" in block.members:
            message = f"{excerpt(block.name)}: tags is {json_excerpt(tags)}, not an array; no tag is kept"
            yield Hit(snapshot.origin_of(f"{block.pointer}/tags"), message)


@rule("SNP019", name="content-too-long", severity=Severity.WARNING, effect=Effect.TRUNCATED)
def content_too_long(snapshot: Snapshot, profile: Profile) -> Iterator[Hit]:
    """A block's content is longer than the runtime keeps.

    ## Why
    The runtime cuts it, in the middle of a word if it must, and what was cut off is gone. Lengths are
    counted in UTF-16 units: most emoji count as two.
    ## Bad
    memory.core[0].content = "x" * 513
    ## Good
    memory.core[0].content = "x" * 512
    ## Fix
    Shorten it, or make two blocks of it.
    ## Source
    Limit of the runtime: 512 units. The protocol names no limit, but asks for state and not for narrative
    (rule 7).
    """
    limit = profile.limits.content
    if limit is None:
        return
    for block in tier_blocks(snapshot):
        length = utf16_length(trim(block.content or ""))
        if length > limit:
            message = f"{excerpt(block.name)}: content has {length} characters and is cut to {limit}"
            yield Hit(snapshot.origin_of(f"{block.pointer}/content"), message)


@rule("SNP020", name="duplicate-id", severity=Severity.ERROR, effect=Effect.DROPPED)
def duplicate_id(snapshot: Snapshot, profile: Profile) -> Iterator[Hit]:
    """Two blocks have the same id: an error inside one tier, a warning across tiers.

    ## Why
    Inside a tier the runtime keeps one of them, the one of better quality, and drops the other with all it
    says. Across tiers it keeps both for good, and they drift apart.
    ## Bad
    memory.working += {"id": "work-001", "content": "another task"}
    ## Good
    memory.working += {"id": "work-002", "content": "another task"}
    ## Fix
    Update the existing block instead of adding one, or give the new one its own id.
    ## Source
    Context Protocol 3.0, rule 15. Runtime: collapses copies inside a tier only.
    """
    seen: dict[str, list[MemoryBlock]] = {}
    for block in tier_blocks(snapshot):
        if block.id is not None and trim(block.id):
            seen.setdefault(trim(block.id), []).append(block)
    for name, copies in seen.items():
        if len(copies) > 1:
            yield from _copies(snapshot, name, copies, profile)


def _check_measure(snapshot: Snapshot, block: MemoryBlock, name: str) -> Iterator[Hit]:
    pointer, value = f"{block.pointer}/{name}", block.members[name]
    meant = finite_number(value)
    if meant is not None and number(value) is not None and 0 <= meant <= 1:
        return
    found, label = as_written(snapshot, pointer, value), excerpt(block.name)
    origin = snapshot.origin_of(pointer)
    if meant is None:
        yield Hit(origin, f"{label}: {name} is {found}, not a number; the block is dropped")
        return
    if number(value) is None:
        message = f"{label}: {name} is the text {found}, not a number; the runtime converts it"
        yield Hit(origin, message, Severity.WARNING, Effect.REPAIRED)
    if not 0 <= meant <= 1:
        message = f"{label}: {name} {found} is outside 0 to 1; it is set to {0 if meant < 0 else 1}"
        yield Hit(origin, message, effect=Effect.REPAIRED)


def _odd_tags(tags: list[JsonValue], profile: Profile) -> Iterator[tuple[str, str, Effect | None]]:
    """Yield (path below the block, fault, effect) for each change that the runtime makes to tags."""
    seen: set[str] = set()
    most, longest = profile.limits.tags, profile.limits.tag
    for index, tag in enumerate(tags):
        word = trim(tag) if isinstance(tag, str) else None
        if word is None:
            yield f"tags/{index}", f"the tag {json_excerpt(tag)} is not a text; it is dropped", None
        elif not word:
            yield f"tags/{index}", "a tag is blank; it is dropped", None
        elif word in seen:
            yield f"tags/{index}", f"the tag {quoted(word)} appears twice; one is dropped", None
        elif longest is not None and (length := utf16_length(word)) > longest:
            message = f"the tag {quoted(word)} has {length} characters, {longest} are kept"
            yield f"tags/{index}", message, Effect.TRUNCATED
        seen.add(word or "")
    distinct = len(seen - {""})
    if most is not None and distinct > most:
        yield "tags", f"{distinct} different tags, but only the first {most} are kept", Effect.TRUNCATED


def _copies(snapshot: Snapshot, name: str, copies: list[MemoryBlock], profile: Profile) -> Iterator[Hit]:
    first_in: dict[str, MemoryBlock] = {}
    for block in copies:
        origin = snapshot.origin_of(f"{block.pointer}/id")
        twin = first_in.setdefault(block.tier, block)
        if twin is not block:
            kept = _better(snapshot, twin, block, profile)
            places = f"as element {twin.index} and {block.index} of {block.tier}"
            yield Hit(origin, f"{excerpt(name)} appears twice, {places}; {kept}")
        elif len(first_in) > 1:
            others = listed(tier for tier in first_in if tier != block.tier)
            message = f"{excerpt(name)} is in {others} and in {block.tier}; both copies are kept"
            yield Hit(origin, message, Severity.WARNING, Effect.STORED)


def _better(snapshot: Snapshot, one: MemoryBlock, other: MemoryBlock, profile: Profile) -> str:
    """Return a sentence about which of two copies in one tier the runtime keeps."""
    first = normalise(one.value, one.tier, snapshot.round, profile)
    second = normalise(other.value, other.tier, snapshot.round, profile)
    if first is None or second is None:
        return "only a valid one is kept"
    kept = one if preferred_in_storage(one.tier, first, second) is first else other
    return f"element {kept.index} is kept, the other dropped"
