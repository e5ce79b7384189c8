"""Builds the gaps: hidden blocks, dangling references, and parts that cannot be read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ctxview.core.findings import Severity
from ctxview.core.origin import Origin
from ctxview.core.state import Gap, Ref, RefStatus, Tier
from ctxview.formats.kit.state_parts import make_gap
from ctxview.formats.snapshot.model import TIERS, AgentStore, Snapshot
from ctxview.formats.snapshot.parser import SnapshotFile, SnapshotFileKind
from ctxview.formats.snapshot.runtime.projection import DropReason
from ctxview.formats.snapshot.state.tiers import Visibility
from ctxview.formats.snapshot.toon import ToonDocument

EXPECTED_DROPS = (DropReason.TERMINAL, DropReason.DUPLICATE)
"""The reasons for which blocks are hidden in normal operation; the others deserve a warning."""


def build_gaps(
    file: SnapshotFile,
    visibility: Visibility | None,
    tiers: Sequence[Tier],
    refs: Sequence[Ref],
    store: AgentStore | None,
) -> tuple[Gap, ...]:
    """Build all gaps of a file, the worst first."""
    gaps = [*_unreadable_file(file), *unreadable_store(store), *lost_references(refs)]
    if visibility is not None:
        gaps += _odd_tiers(visibility.snapshot)
        gaps += _hidden_blocks(visibility, tiers)
    return tuple(sorted(gaps, key=lambda each: Severity(each.severity).rank))


def _unreadable_file(file: SnapshotFile) -> Iterator[Gap]:
    """Yield a gap for a file, or a line of a prompt, that could not be read."""
    whole = Origin(file.file, start=0, end=len(file.data), line=1, column=1)
    if file.error is not None:
        place = file.error.place
        origin = Origin(file.file, start=place.offset, end=place.offset, line=place.line, column=place.column)
        lost = "the snapshot of the reply" if file.kind is SnapshotFileKind.REPLY else "the snapshot"
        yield make_gap("json", lost, Severity.ERROR, "unreadable", str(file.error), origin)
    elif file.kind is SnapshotFileKind.API_ERROR:
        why = f"the API returned an error: {file.api_error}"
        yield make_gap("api", "the snapshot", Severity.ERROR, "absent", why, whole)
    elif file.snapshot is None:
        why = (
            "the reply has no separator"
            if file.kind is SnapshotFileKind.REPLY
            else f"the file is {file.kind.value}"
        )
        yield make_gap("snapshot", "the snapshot", Severity.WARNING, "absent", why, whole)
    if isinstance(file.document, ToonDocument):
        for place, reason in file.document.problems:
            origin = Origin(file.file, start=place.offset, line=place.line, column=place.column)
            name = f"line {place.line}"
            yield make_gap(name, "a line of the prompt", Severity.WARNING, "unreadable", reason, origin)


def unreadable_store(store: AgentStore | None) -> Iterator[Gap]:
    if store is None:
        return
    damaged = (
        (file, f"{sum(tables.values()):,} of its texts are not UTF-8")
        for file, tables in store.invalid_texts.items()
        if tables
    )
    for name, reason in (*store.problems, *damaged):
        yield make_gap(
            name, "a part of the agent's store", Severity.ERROR, "unreadable", reason, Origin(name)
        )


def lost_references(refs: Sequence[Ref]) -> Iterator[Gap]:
    for ref in refs:
        if ref.status is RefStatus.DANGLING:
            why = f"{ref.target} does not exist"
            question = "what the reference stands for"
            yield make_gap(ref.id, question, Severity.ERROR, "dangling", why, ref.origin, ref.used_by)
        elif ref.status is RefStatus.ORPHAN:
            why = "nothing refers to this payload, so it is never recalled"
            question = "which block this text belongs to"
            yield make_gap(ref.id, question, Severity.INFO, "orphan", why, ref.origin)
        elif ref.status is RefStatus.UNKNOWN:
            why = "in memory.db, which is not here"
            question = "a recalled text"
            yield make_gap(ref.id, question, Severity.INFO, "unknown", why, ref.origin, ref.used_by)


def _odd_tiers(snapshot: Snapshot) -> Iterator[Gap]:
    for name, items in snapshot.section("memory").items():
        if not isinstance(items, list):
            why = "it is not a list, so the runtime ignores it"
            origin = snapshot.origin("memory", name)
            yield make_gap(name, f"the tier {name}", Severity.ERROR, "unreadable", why, origin)
        elif name not in TIERS and items:
            why = f"the tier {name} is unknown; the runtime ignores it"
            origin = snapshot.origin("memory", name)
            yield make_gap(name, f"the tier {name}", Severity.ERROR, "ignored", why, origin)


def _hidden_blocks(visibility: Visibility, tiers: Sequence[Tier]) -> Iterator[Gap]:
    for tier in tiers:
        for block in tier.blocks:
            if block.visible is not False or tier.name not in TIERS:
                continue
            verdict = visibility.projection.verdict_of(block.origin.pointer or "")
            drop = verdict.drop if verdict is not None else None
            severity = Severity.INFO if drop in EXPECTED_DROPS else Severity.WARNING
            severity = Severity.ERROR if drop is DropReason.INVALID else severity
            status = "dropped" if drop is DropReason.INVALID else "hidden"
            why = block.why or "no reason is recorded"
            question = f"{tier.name} memory"
            yield make_gap(block.id, question, severity, status, why, block.origin, (block.id,))
