"""The rules about two stored snapshots, one after the other (SNP052 to 058).

In the examples the lines above `---` change the earlier snapshot, those below the later one; both start as
the template.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from ctxview.analysis.wording import counted, excerpt, json_excerpt, listed, quoted
from ctxview.core.findings import Effect, Hit, Severity, rule
from ctxview.files.strict_json.values import same_value
from ctxview.formats.snapshot.model import TIERS, MemoryBlock, Snapshot, integer, member_at, text
from ctxview.formats.snapshot.profile import Profile
from ctxview.formats.snapshot.rules.block_state import is_recall
from ctxview.formats.snapshot.rules.lookups import as_object, tier_blocks, was_trimmed
from ctxview.formats.snapshot.rules.todo import read_summary
from ctxview.formats.snapshot.runtime.javascript import trim
from ctxview.formats.snapshot.runtime.normalisation import normalise
from ctxview.formats.snapshot.runtime.projection import past_retention


@rule("SNP052", name="clock-broken", severity=Severity.WARNING)
def clock_broken(previous: Snapshot, following: Snapshot, profile: Profile) -> Iterator[Hit]:
    """Round, time, version or workspace do not follow from the previous snapshot.

    ## Why
    In one process the round never goes back (an error) and rises by one a turn; time moves on; version and
    workspace stay. Otherwise the files are out of order, belong to different sessions, or were edited.
    ## Bad
    runtime.round = 5
    ---
    runtime.round = 4
    ## Good
    runtime.round = 5
    ---
    runtime.round = 6
    ## Fix
    Check the order of the files and where they came from.
    ## Source
    Context Protocol 3.0, structural notes: the round is monotonic and system managed.
    """
    before, now = previous.round, following.round
    origin = following.origin("runtime", "round")
    if before is not None and now is not None and _same_process(previous, following):
        if now < before:
            yield Hit(origin, f"the round goes back from {before} to {now} in one process", Severity.ERROR)
        elif now > before + 1:
            missing = counted(now - before - 1, "turn")
            be = "is" if now == before + 2 else "are"
            yield Hit(origin, f"the round jumps from {before} to {now}: {missing} {be} missing")
    for path in (("version",), ("runtime", "workspace")):
        was, became = (member_at(snapshot.value, path)[1] for snapshot in (previous, following))
        if was is not None and became is not None and not same_value(was, became):
            yield Hit(
                following.origin(*path),
                f"{path[-1]} changes from {json_excerpt(was)} to {json_excerpt(became)}",
            )
    earlier, later = (text(snapshot.runtime.get("datetime")) or "" for snapshot in (previous, following))
    # Times in the same form can be compared as texts.
    if earlier[-1:] == later[-1:] == "Z" and len(earlier) == len(later) and later < earlier:
        origin = following.origin("runtime", "datetime")
        yield Hit(origin, f"the time goes back from {quoted(earlier)} to {quoted(later)}")


@rule("SNP053", name="new-process", severity=Severity.INFO)
def new_process(previous: Snapshot, following: Snapshot, profile: Profile) -> Iterator[Hit]:
    """`startup_at` changed: the agent was started anew.

    ## Why
    A session lives in memory only. After a start the round begins again at 1 or 2, and core is empty or
    holds what was recalled from the memory store; everything else is gone. The message says when that is
    not so.
    ## Bad
    ---
    runtime.startup_at = 1700000999000
    ## Good
    ---
    runtime.startup_at = 1700000000000
    ## Fix
    Nothing; know that blocks which vanish here were lost with the process.
    ## Source
    Runtime: messages and context are not persisted; memory.db is. Context Protocol 3.0: startup_at.
    """
    if previous.startup_at is None or following.startup_at is None or _same_process(previous, following):
        return
    odd = []
    if following.round is not None and following.round > 2:
        odd.append(f"the round is already {following.round}")
    if own := [block.name for block in following.tier("core") if not is_recall(block)]:
        odd.append(f"core already holds {listed(own)}")
    unexpected = f", although {' and '.join(odd)}" if odd else ""
    since = quoted(PurePath(previous.file).name)
    message = f"a new process since {since}: what is not in the memory store is gone{unexpected}"
    yield Hit(following.origin("runtime", "startup_at"), message)


@rule("SNP054", name="block-vanished", severity=Severity.WARNING, effect=Effect.DELETED)
def block_vanished(previous: Snapshot, following: Snapshot, profile: Profile) -> Iterator[Hit]:
    """A stored block is gone, and nothing the runtime does explains it.

    ## Why
    Storage loses a block only by age, by the cap of its tier, when a reply erases the tier, or when the
    budget trims it. A loss without one of these was made by hand or by a bug. Recalled copies come and go
    with every task and are not reported.
    ## Bad
    memory.core += {"id": "core-002"}
    ---
    ## Good
    memory.core += {"id": "core-002"}
    ---
    memory.core = []
    ## Fix
    Look at the reply between the two snapshots, then at who else writes the file.
    ## Source
    Runtime: raw retention and merge. Limits are the profile's tier table.
    """
    if not _same_process(previous, following):
        return
    homes = {(block.tier, trim(block.id or "")) for block in following.blocks}
    for block in tier_blocks(previous):
        name = trim(block.id or "")
        if not name or (block.tier, name) in homes:
            continue
        if _is_explained(block, previous, following, profile):
            continue
        elsewhere = [tier for tier in TIERS if (tier, name) in homes]
        moved = f"; it is now in {listed(elsewhere)}" if elsewhere else ""
        gone = f"{excerpt(name)} is gone from {block.tier} since {quoted(PurePath(previous.file).name)}"
        yield Hit(following.origin("memory", block.tier), f"{gone}, for no known reason{moved}")


@rule("SNP055", name="token-sum", severity=Severity.WARNING)
def token_sum(previous: Snapshot, following: Snapshot, profile: Profile) -> Iterator[Hit]:
    """The running total of tokens falls, or is not the last total plus this turn's.

    ## Why
    The runtime adds each call to the total. Where it does not add up, calls are missing from the files, or
    the record was edited, and costs worked out from it are wrong.
    ## Bad
    runtime.token_usage = {"total_tokens": 50, "cumulative_total_tokens": 100}
    ---
    runtime.token_usage = {"total_tokens": 70, "cumulative_total_tokens": 180}
    ## Good
    runtime.token_usage = {"total_tokens": 50, "cumulative_total_tokens": 100}
    ---
    runtime.token_usage = {"total_tokens": 80, "cumulative_total_tokens": 180}
    ## Fix
    Look for turns between the two files.
    ## Source
    Records of the runtime: token_usage.
    """
    was, now = (as_object(snapshot.runtime.get("token_usage")) for snapshot in (previous, following))
    before, after = (integer(usage.get("cumulative_total_tokens")) for usage in (was, now))
    if before is None or after is None or not _same_process(previous, following) or same_value(was, now):
        return
    origin = following.origin("runtime", "token_usage", "cumulative_total_tokens")
    turn = integer(now.get("total_tokens"))
    if after < before:
        yield Hit(origin, f"the total of tokens falls from {before} to {after}")
    elif turn is not None and after != before + turn:
        yield Hit(origin, f"the total is {after}, but {before} and this turn's {turn} make {before + turn}")


@rule("SNP056", name="task-left-open", severity=Severity.WARNING)
def task_left_open(previous: Snapshot, following: Snapshot, profile: Profile) -> Iterator[Hit]:
    """A new task began, but an open working block of the old one was not cancelled.

    ## Why
    When a task starts, the runtime closes what the last one left open: status cancelled, with `closed_at`.
    A block that stays open leaks into the new task; one that disappears took its content with it.
    ## Bad
    active_task_meta = {"id": "t1", "status": "running"}
    ---
    active_task_meta = {"id": "t2", "status": "running"}
    ## Good
    active_task_meta = {"id": "t1", "status": "running"}
    ---
    active_task_meta = {"id": "t2", "status": "running"}
    memory.working[0].status = "cancelled"
    memory.working[0].closed_at = 1772000000000
    ## Fix
    Close the block by hand, or finish the task properly before the next one starts.
    ## Source
    Runtime: starting a task cancels leftovers.
    """
    if not _task_changed(previous, following) or not _same_process(previous, following):
        return
    after = {trim(block.id or ""): block for block in following.tier("working")}
    tasks = f"task {excerpt(_task(previous) or '')} gave way to {excerpt(_task(following) or '')}"
    for block in previous.tier("working"):
        name = trim(block.id or "")
        if not name or not _is_open(block, previous, profile):
            continue
        successor = after.get(name)
        if successor is None:
            origin = following.origin("memory", "working")
            yield Hit(origin, f"{excerpt(name)} was open and is gone: {tasks}", effect=Effect.DELETED)
        elif _is_open(successor, following, profile):
            yield Hit(following.origin_of(successor.pointer), f"{excerpt(name)} is still open, but {tasks}")


@rule("SNP057", name="cold-content-lost", severity=Severity.WARNING)
def cold_content_lost(previous: Snapshot, following: Snapshot, profile: Profile) -> Iterator[Hit]:
    """A placeholder became active without being restored, or changed its payload.

    ## Why
    Restoring sets `rehydrated_at` and keeps the tag id; a new tag id comes only from tagging an active
    block again. A placeholder whose id changes in place (an error) now leads to another text, and the old
    one is out of reach.
    ## Bad
    memory.longterm[0].content_state = "tag_ref"
    memory.longterm[0].tag_id = "tag:a:1:x"
    ---
    memory.longterm[0].content_state = "active"
    memory.longterm[0].tag_id = "tag:a:1:x"
    ## Good
    memory.longterm[0].content_state = "tag_ref"
    memory.longterm[0].tag_id = "tag:a:1:x"
    ---
    memory.longterm[0].content_state = "active"
    memory.longterm[0].tag_id = "tag:a:1:x"
    memory.longterm[0].rehydrated_at = 1772000000000
    ## Fix
    Find the payload of the old tag id in the memory store and restore the block from it.
    ## Source
    Context Protocol 3.0, structural notes on cold memory.
    """
    before = {(block.tier, trim(block.id or "")): block for block in tier_blocks(previous)}
    for block in tier_blocks(following):
        old = before.get((block.tier, trim(block.id or "")))
        if old is None or old.content_state != "tag_ref":
            continue
        label, ids = excerpt(block.name), f"{quoted(old.tag_id or '')} to {quoted(block.tag_id or '')}"
        origin = following.origin_of(f"{block.pointer}/tag_id")
        if block.content_state == "tag_ref":
            if block.tag_id != old.tag_id:
                message = f"{label}: the tag id changes from {ids} without the text having been restored"
                yield Hit(origin, message, Severity.ERROR)
            continue
        if block.members.get("rehydrated_at") is None:
            place = following.origin_of(f"{block.pointer}/content_state")
            yield Hit(place, f"{label} was a placeholder and is active, but has no rehydrated_at")
        if block.tag_id is not None and block.tag_id != old.tag_id:
            yield Hit(origin, f"{label} was restored, but its tag id changes from {ids}")


@rule("SNP058", name="done-count-fell", severity=Severity.INFO)
def done_count_fell(previous: Snapshot, following: Snapshot, profile: Profile) -> Iterator[Hit]:
    """Fewer todo items are done than before.

    ## Why
    An item was reopened, removed or cleared away. That is allowed; it is worth seeing as an event.
    ## Bad
    todo.summary = "进行中 2/3（当前第3步）"
    ---
    todo.summary = "进行中 1/3（当前第2步）"
    ## Good
    todo.summary = "进行中 1/3（当前第2步）"
    ---
    todo.summary = "进行中 2/3（当前第3步）"
    ## Fix
    Nothing, if it was meant.
    ## Source
    Runtime: the summary is computed from its todo list after every change.
    """
    if profile.todo is None or not _same_process(previous, following):
        return
    summaries = [
        read_summary(text(snapshot.todo.get("summary")) or "", profile.todo)
        for snapshot in (previous, following)
    ]
    before, after = (None if summary is None else summary.done or 0 for summary in summaries)
    if before is not None and after is not None and after < before:
        message = f"{before} todo items were done, now {after}: reopened, removed or cleared"
        yield Hit(following.origin("todo", "summary"), message)


def _same_process(previous: Snapshot, following: Snapshot) -> bool:
    return previous.startup_at == following.startup_at


def _task(snapshot: Snapshot) -> str | None:
    return text(snapshot.section("active_task_meta").get("id"))


def _task_changed(previous: Snapshot, following: Snapshot) -> bool:
    before, after = _task(previous), _task(following)
    return before is not None and after is not None and before != after


def _is_open(block: MemoryBlock, snapshot: Snapshot, profile: Profile) -> bool:
    normal = normalise(block.value, block.tier, snapshot.round, profile)
    return normal is not None and not normal.terminal


def _is_explained(block: MemoryBlock, previous: Snapshot, following: Snapshot, profile: Profile) -> bool:
    """Whether the runtime had a reason to remove this block from storage, or SNP056 reports it."""
    normal = normalise(block.value, block.tier, previous.round, profile)
    if normal is None or is_recall(block):
        return True
    if block.tier == "working" and not normal.terminal and _task_changed(previous, following):
        return True
    policy, left = profile.tier(block.tier), following.tier(block.tier)
    if not left or past_retention(normal, policy, following.round):
        return True
    if policy.raw_cap is not None and len(left) >= policy.raw_cap:
        return True
    return any(was_trimmed(snapshot, block.tier, profile) for snapshot in (previous, following))
