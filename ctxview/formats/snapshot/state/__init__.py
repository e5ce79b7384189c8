"""Builds the state of one snapshot file or memory store: tiers, todo, budgets, references and gaps."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from ctxview.analysis.tokens import TokenCounter
from ctxview.core.fields import Owner
from ctxview.core.figures import Reason, ReasonKind
from ctxview.core.lazy import LazySequence
from ctxview.core.origin import Origin
from ctxview.core.prompt import Prompt, PromptError
from ctxview.core.state import Block, ContextState, Cursor, Event, Todo, TodoItem
from ctxview.formats.kit.state_parts import count_blocks
from ctxview.formats.snapshot.forms import cursor_form, snapshot_form
from ctxview.formats.snapshot.model import AgentStore, MemoryEntry, Snapshot, SnapshotRole, integer, text
from ctxview.formats.snapshot.parser import SnapshotFile, SnapshotFileKind
from ctxview.formats.snapshot.profile import Profile
from ctxview.formats.snapshot.prompt import PromptOptions, file_prompt, snapshot_prompt
from ctxview.formats.snapshot.state.budgets import RECORDED, build_budgets
from ctxview.formats.snapshot.state.gaps import build_gaps, lost_references, unreadable_store
from ctxview.formats.snapshot.state.references import build_refs
from ctxview.formats.snapshot.state.tiers import block_figures, block_visibility, build_tiers, tier_of
from ctxview.formats.snapshot.versions import declared_version, disagreement, task_of

FORMAT = "snapshot"


class SnapshotStateOptions(Struct, frozen=True):
    """The inputs of a state in addition to the file."""

    title: str
    source: str
    revision: str
    profile: Profile
    counter: TokenCounter
    store: AgentStore | None = None
    limited_by: Snapshot | None = None
    """The snapshot whose token limit holds when the file states none."""
    timeline: tuple[Event, ...] = ()
    agent_folder: Path | None = None
    """The `.agent` folder, when it is of the same time; it holds the base prompt."""
    received: Snapshot | None = None
    """The snapshot that a reply answers, where it is known."""


def build_state(file: SnapshotFile, options: SnapshotStateOptions) -> ContextState:
    """Build the state of one file; parts that cannot be read are among the gaps."""
    state = _build(file, options) if file.snapshot is not None else _without_snapshot(file, options)
    if options.received is None:
        return state
    return replace(state, outcome=LazySequence(lambda: _outcome_states(file, options)))


def _outcome_states(file: SnapshotFile, options: SnapshotStateOptions) -> tuple[ContextState, ContextState]:
    """Build the two whole states of `ContextState.outcome`."""
    from ctxview.formats.snapshot.runtime.merge import outcome_of

    assert options.received is not None
    emitted = file.snapshot if file.error is None else None
    outcome = outcome_of(options.received, emitted, options.profile)
    kept = _build(replace(file, reply=None, salvaged=None, snapshot=outcome.kept), options)
    # The runtime recorded the input with the received snapshot, not with this one.
    kept = replace(kept, budgets=tuple(each for each in kept.budgets if each.target != RECORDED))
    # A forged round must not age the blocks: only the fields themselves are as the reply states them.
    stated = replace(
        kept,
        form=snapshot_form(outcome.stated, writable=False),
        todo=_todo(outcome.stated, options.store, options.profile, writable=False),
        written_by=Owner.MODEL,
    )
    return stated, kept


def _build(file: SnapshotFile, options: SnapshotStateOptions) -> ContextState:
    snapshot, profile, counter = file.snapshot, options.profile, options.counter
    assert snapshot is not None
    writable = may_be_written(file)
    visibility = block_visibility(file, snapshot, profile)
    injected = file.log.injected if file.log is not None else None
    tiers = build_tiers(visibility, injected, profile, counter, writable)
    refs = build_refs(snapshot, options.store, counter)
    return ContextState(
        format=FORMAT,
        title=options.title,
        source=options.source,
        revision=options.revision,
        tiers=tiers,
        todo=_todo(snapshot, options.store, profile, writable),
        budgets=build_budgets(
            snapshot, _prompt(file, snapshot, options), tiers, profile, counter, options.limited_by
        ),
        refs=refs,
        missing=build_gaps(file, visibility, tiers, refs, options.store),
        timeline=options.timeline,
        counts=count_blocks(tiers, counter),
        form=snapshot_form(snapshot, writable),
        text=_prose(file),
        extra=_extra(file, snapshot, profile),
        written_by=Owner.MODEL if snapshot.role is SnapshotRole.EMITTED else None,
        shown_only=snapshot.role is SnapshotRole.INJECTED,
    )


def _prompt(file: SnapshotFile, snapshot: Snapshot, options: SnapshotStateOptions) -> Prompt:
    """Return what the file is as a prompt, by which it is measured; of a reply, its own blocks."""
    how = PromptOptions(options.profile, options.counter, options.agent_folder, has_origins=False)
    try:
        return file_prompt(file, None, how)
    except PromptError:
        # The runtime would make none of it; it is measured as if the missing member were empty.
        whole = replace(snapshot, value={**snapshot.value, "runtime": snapshot.value.get("runtime") or {}})
        return replace(snapshot_prompt(whole, how), exact=False)


def may_be_written(file: SnapshotFile) -> bool:
    """Whether any field of the file may be edited: not in derived views, prompts and invalid JSON."""
    if file.snapshot is None or file.document is None or file.salvaged is not None:
        return False
    return file.snapshot.role is not SnapshotRole.INJECTED and file.kind is not SnapshotFileKind.PROMPT


def _without_snapshot(file: SnapshotFile, options: SnapshotStateOptions) -> ContextState:
    refs = build_refs(None, options.store, options.counter)
    return ContextState(
        format=FORMAT,
        title=options.title,
        source=options.source,
        revision=options.revision,
        tiers=(),
        refs=refs,
        missing=build_gaps(file, None, (), refs, options.store),
        timeline=options.timeline,
        counts=count_blocks((), options.counter),
        text=_prose(file),
        extra={"kind": file.kind.value, "profile": options.profile.name},
    )


def _prose(file: SnapshotFile) -> str | None:
    """Return the prose of a reply, or the whole text of a prompt or of a file without a snapshot."""
    if file.prose is not None:
        return file.prose
    if file.kind is SnapshotFileKind.PROMPT or file.snapshot is None:
        return file.data.decode("utf-8", "replace")
    return None


def _extra(file: SnapshotFile, snapshot: Snapshot, profile: Profile) -> dict[str, str]:
    facts = {
        "kind": file.kind.value,
        "profile": profile.name,
        "version": declared_version(snapshot) or "none",
        "role": snapshot.role.value,
    }
    task = task_of(snapshot)
    if isinstance(task, str) and task:
        facts["task"] = task
    if (contradiction := disagreement(snapshot)) is not None:
        facts["shape"] = contradiction
    if file.salvaged is not None:
        facts["salvaged"] = file.salvaged
    return facts


def _todo(snapshot: Snapshot, store: AgentStore | None, profile: Profile, writable: bool) -> Todo | None:
    items = _todo_items(store)
    if "todo" not in snapshot.value and not items:
        return None
    todo = snapshot.todo
    return Todo(
        summary=text(todo.get("summary")),
        total=integer(todo.get("total")),
        step=integer(todo.get("step")),
        cursor=_cursor(snapshot),
        items=items,
        form=cursor_form(snapshot, profile, writable),
        cleared="cursor" in todo and todo["cursor"] is None,
    )


def _cursor(snapshot: Snapshot) -> Cursor | None:
    value = snapshot.todo.get("cursor")
    if not isinstance(value, dict):
        return None
    return Cursor(
        phase=text(value.get("phase")),
        next=text(value.get("next")),
        target=integer(value.get("targetId")),
        note=text(value.get("note")),
        origin=snapshot.origin("todo", "cursor"),
    )


def _todo_items(store: AgentStore | None) -> tuple[TodoItem, ...]:
    rows = store.todo_rows if store is not None and store.todo_rows is not None else ()
    origin = Origin(store.todo_database) if store is not None and store.todo_database else None
    items = [TodoItem(row.id, row.title, row.status, origin=origin) for row in rows]
    current = next((item for item in items if not item.is_done and not item.is_dropped), None)
    return tuple(replace(item, current=item is current) for item in items)


def build_store_state(store: AgentStore, title: str, source: str, counter: TokenCounter) -> ContextState:
    """Build blocks from the entries, in the tiers they came from; whether the model sees them is unknown."""
    tiers = tuple(
        tier_of(
            name,
            tuple(
                _block(store, entry, counter) for entry in store.entries or () if entry.source_tier == name
            ),
        )
        for name in dict.fromkeys(("core", "longterm", *(entry.source_tier for entry in store.entries or ())))
    )
    refs = build_refs(None, store, counter)
    items = _todo_items(store)
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
    return Block(
        id=entry.block_id,
        tier=entry.source_tier,
        type=entry.memory_type,
        text=entry.content,
        figures=block_figures(entry.decay, entry.confidence),
        round=entry.last_seen_round,
        tokens=counter.count(entry.content),
        reason=Reason(ReasonKind.STORED, "in the memory store; the runtime recalls it when a task needs it"),
        state=entry.content_state,
        origin=Origin(store.database or store.folder, pointer=None),
    )
