"""The state of an `.agent` folder that has no saved logs: what its store alone can tell."""

from __future__ import annotations

from ctxview.analysis.tokens import TokenCounter
from ctxview.formats.block_counts import count_blocks
from ctxview.formats.snapshot.model import AgentStore, MemoryEntry
from ctxview.formats.snapshot.normalise import quality
from ctxview.formats.snapshot.state import FORMAT, todo_items
from ctxview.formats.snapshot.state_gaps import lost_references, unreadable_store
from ctxview.formats.snapshot.state_refs import build_refs
from ctxview.state import Block, ContextState, Origin, Tier, Todo

WAITING = "in the memory store; the runtime recalls it when a task calls for it"


def build_store_state(store: AgentStore, title: str, source: str, counter: TokenCounter) -> ContextState:
    """The stored entries as blocks of the tiers they came from; whether the model sees them is not known."""
    tiers = tuple(
        Tier(
            name,
            tuple(
                _block(store, entry, counter) for entry in store.entries or () if entry.source_tier == name
            ),
        )
        for name in dict.fromkeys(("core", "longterm", *(entry.source_tier for entry in store.entries or ())))
    )
    refs = build_refs(None, store, counter)
    items = todo_items(store)
    return ContextState(
        format=FORMAT,
        title=title,
        source=source,
        revision="memory store",
        tiers=tiers,
        todo=Todo(None, len(items), None, None, items) if items else None,
        refs=refs,
        missing=(*unreadable_store(store), *lost_references(refs)),
        counts=count_blocks(tiers, counter),
        extra={"kind": "memory store"},
    )


def _block(store: AgentStore, entry: MemoryEntry, counter: TokenCounter) -> Block:
    known = entry.decay is not None and entry.confidence is not None
    return Block(
        id=entry.block_id,
        tier=entry.source_tier,
        type=entry.memory_type,
        text=entry.content,
        decay=entry.decay,
        confidence=entry.confidence,
        quality=quality(entry.decay or 0.0, entry.confidence or 0.0) if known else None,
        round=entry.last_seen_round,
        tokens=counter.count(entry.content),
        reason=WAITING,
        state=entry.content_state,
        origin=Origin(store.database or store.folder, pointer=None),
    )
