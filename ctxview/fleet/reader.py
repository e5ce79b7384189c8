"""Read many sources into the tables: walk, run batches, count. The next run goes on where this one ended."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from msgspec import Struct

from ctxview.fleet.engines import Engine, run_batches
from ctxview.fleet.jobs import Batch
from ctxview.fleet.queries import known_sources
from ctxview.fleet.storage import storage_at
from ctxview.fleet.walk import Walk


class FleetRequest(Struct, frozen=True):
    """What to read, and where the rows go; paths are absolute."""

    places: tuple[str, ...]
    into: str
    batch: int
    verify: bool = False
    messages: bool = True


class FleetProgress(Struct):
    """The counts of a run: `looked_at` of the `found` paths, and the sources among them."""

    looked_at: int = 0
    found: int = 0
    sources: int = 0
    errors: int = 0
    unchanged: int = 0
    bytes: int = 0


def read_fleet(
    request: FleetRequest, engine: Engine, report: Callable[[FleetProgress], None]
) -> FleetProgress:
    """Read everything new and changed. Raises `StorageError`, `EngineError` and `OtherVersion`."""
    walk = Walk(known_sources(storage_at(request.into)), request.into, verify=request.verify)
    walk.begin(request.places)
    day = datetime.now(UTC).date().isoformat()
    progress = FleetProgress()

    smallest = max(1, request.batch // 10)

    def next_batch(idle: bool) -> Batch | None:
        if not walk.items or (len(walk.items) < request.batch and not idle):
            return None
        # The last batches are shared out, so that no worker is long at work when the others have ended.
        share = max(smallest, -(-len(walk.items) // engine.workers))
        items = tuple(walk.items.popleft() for _ in range(min(request.batch, share, len(walk.items))))
        return Batch(items, request.into, day, request.messages)

    def update() -> None:
        progress.unchanged = walk.unchanged
        progress.found = walk.found
        report(progress)

    update()
    if walk.items:
        for batch, result in run_batches(engine, next_batch):
            progress.looked_at += len(batch.items)
            progress.sources += result.sources
            progress.errors += result.errors
            progress.bytes += result.bytes
            for folder, below in result.below:
                walk.go_below(folder, below)
            update()
    return progress
