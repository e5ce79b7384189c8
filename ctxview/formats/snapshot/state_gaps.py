"""What is not there: blocks the model does not see, references to nowhere, parts that cannot be read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ctxview.findings import Severity
from ctxview.formats.gaps import gap
from ctxview.formats.snapshot.model import TIERS, AgentStore, Snapshot
from ctxview.formats.snapshot.projection import Drop
from ctxview.formats.snapshot.read import Kind, SnapshotFile
from ctxview.formats.snapshot.toon import ToonDocument
from ctxview.formats.snapshot.visibility import Visibility
from ctxview.state import Gap, Origin, Ref, RefStatus, Tier

EXPECTED_DROPS = (Drop.TERMINAL, Drop.DUPLICATE)
"""Hidden in the ordinary course of things; the others are worth a look."""


def build_gaps(
    file: SnapshotFile,
    visibility: Visibility | None,
    tiers: Sequence[Tier],
    refs: Sequence[Ref],
    store: AgentStore | None,
) -> tuple[Gap, ...]:
    """The worst first."""
    gaps = [*unreadable_file(file), *unreadable_store(store), *lost_references(refs)]
    if visibility is not None:
        gaps += _odd_tiers(visibility.snapshot)
        gaps += _hidden_blocks(visibility, tiers)
    return tuple(sorted(gaps, key=lambda each: Severity(each.severity).rank))


def unreadable_file(file: SnapshotFile) -> Iterator[Gap]:
    """Why a file, or a part of it, could not be read."""
    whole = Origin(file.file, start=0, end=len(file.data), line=1, column=1)
    if file.error is not None:
        place = file.error.place
        origin = Origin(file.file, start=place.offset, end=place.offset, line=place.line, column=place.column)
        lost = "the snapshot of the reply" if file.kind is Kind.REPLY else "the snapshot"
        yield gap("json", lost, Severity.ERROR, "unreadable", str(file.error), origin)
    elif file.kind is Kind.API_ERROR:
        why = f"the API answered with an error: {file.api_error}"
        yield gap("api", "the snapshot", Severity.ERROR, "absent", why, whole)
    elif file.snapshot is None:
        why = "the reply has no separator" if file.kind is Kind.REPLY else f"the file is {file.kind.value}"
        yield gap("snapshot", "the snapshot", Severity.WARNING, "absent", why, whole)
    if isinstance(file.document, ToonDocument):
        for place, reason in file.document.problems:
            origin = Origin(file.file, start=place.offset, line=place.line, column=place.column)
            name = f"line {place.line}"
            yield gap(name, "a line of the prompt", Severity.WARNING, "unreadable", reason, origin)


def unreadable_store(store: AgentStore | None) -> Iterator[Gap]:
    for name, reason in store.problems if store is not None else ():
        yield gap(name, "a part of the agent's store", Severity.ERROR, "unreadable", reason, Origin(name))


def lost_references(refs: Sequence[Ref]) -> Iterator[Gap]:
    for ref in refs:
        if ref.status is RefStatus.DANGLING:
            why = f"{ref.target} does not exist"
            question = "what the reference stands for"
            yield gap(ref.id, question, Severity.ERROR, "dangling", why, ref.origin, ref.used_by)
        elif ref.status is RefStatus.UNKNOWN:
            why = "no memory.db is at hand to look it up"
            question = "what the reference stands for"
            yield gap(ref.id, question, Severity.INFO, "unknown", why, ref.origin, ref.used_by)


def _odd_tiers(snapshot: Snapshot) -> Iterator[Gap]:
    for name, items in snapshot.section("memory").items():
        if not isinstance(items, list):
            why = "it is not a list, so the runtime ignores it"
            origin = snapshot.origin("memory", name)
            yield gap(name, f"the tier {name}", Severity.ERROR, "unreadable", why, origin)
        elif name not in TIERS and items:
            why = f"nothing reads a tier called {name}"
            origin = snapshot.origin("memory", name)
            yield gap(name, f"the tier {name}", Severity.ERROR, "ignored", why, origin)


def _hidden_blocks(visibility: Visibility, tiers: Sequence[Tier]) -> Iterator[Gap]:
    for tier in tiers:
        for block in tier.blocks:
            if block.visible is not False or tier.name not in TIERS:
                continue
            verdict = visibility.projection.verdict_of(block.origin.pointer or "")
            drop = verdict.drop if verdict is not None else None
            severity = Severity.INFO if drop in EXPECTED_DROPS else Severity.WARNING
            severity = Severity.ERROR if drop is Drop.INVALID else severity
            status = "dropped" if drop is Drop.INVALID else "hidden"
            why = block.reason or "no reason is recorded"
            question = f"{tier.name} memory"
            yield gap(block.id, question, severity, status, why, block.origin, (block.id,))
