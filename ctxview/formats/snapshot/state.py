"""One file of the snapshot format as neutral state: tiers, todo, budgets, references and gaps together."""

from __future__ import annotations

from ctxview.analysis.tokens import TokenCounter
from ctxview.formats.block_counts import count_blocks
from ctxview.formats.snapshot.forms import cursor_form, snapshot_form
from ctxview.formats.snapshot.model import AgentStore, Role, Snapshot, integer, text
from ctxview.formats.snapshot.profile import Profile
from ctxview.formats.snapshot.read import Kind, SnapshotFile
from ctxview.formats.snapshot.state_blocks import build_tiers
from ctxview.formats.snapshot.state_budget import build_budgets
from ctxview.formats.snapshot.state_gaps import build_gaps
from ctxview.formats.snapshot.state_refs import build_refs
from ctxview.formats.snapshot.versions import declared_version, disagreement, task_of
from ctxview.formats.snapshot.visibility import look
from ctxview.quick_dataclass import dataclass
from ctxview.state import ContextState, Cursor, Event, Origin, Owner, Todo, TodoItem

FORMAT = "snapshot"


@dataclass(frozen=True)
class Setting:
    """What a state is built with beside the file itself."""

    title: str
    source: str
    revision: str
    profile: Profile
    counter: TokenCounter
    store: AgentStore | None = None
    timeline: tuple[Event, ...] = ()


def build_state(file: SnapshotFile, setting: Setting) -> ContextState:
    """Everything there is to show of one file; what cannot be read is among the gaps."""
    snapshot, profile, counter = file.snapshot, setting.profile, setting.counter
    if snapshot is None:
        return _without_snapshot(file, setting)
    writable = may_be_written(file)
    visibility = look(file, snapshot, profile)
    injected = file.log.injected if file.log is not None else None
    tiers = build_tiers(visibility, injected, profile, counter, writable)
    refs = build_refs(snapshot, setting.store, counter)
    return ContextState(
        format=FORMAT,
        title=setting.title,
        source=setting.source,
        revision=setting.revision,
        tiers=tiers,
        todo=_todo(snapshot, setting.store, profile, writable),
        budgets=build_budgets(snapshot, tiers, profile, counter),
        refs=refs,
        missing=build_gaps(file, visibility, tiers, refs, setting.store),
        timeline=setting.timeline,
        counts=count_blocks(tiers, counter),
        form=snapshot_form(snapshot, writable),
        text=_prose(file),
        extra=_extra(file, snapshot, profile),
        written_by=Owner.MODEL if snapshot.role is Role.EMITTED else None,
    )


def may_be_written(file: SnapshotFile) -> bool:
    """Whether any field of the file is a person's to change: not in derived views, not in what is no JSON."""
    if file.snapshot is None or file.document is None or file.salvaged is not None:
        return False
    return file.snapshot.role is not Role.INJECTED and file.kind is not Kind.PROMPT


def _without_snapshot(file: SnapshotFile, setting: Setting) -> ContextState:
    refs = build_refs(None, setting.store, setting.counter)
    return ContextState(
        format=FORMAT,
        title=setting.title,
        source=setting.source,
        revision=setting.revision,
        tiers=(),
        refs=refs,
        missing=build_gaps(file, None, (), refs, setting.store),
        timeline=setting.timeline,
        counts=count_blocks((), setting.counter),
        text=_prose(file),
        extra={"kind": file.kind.value, "profile": setting.profile.name},
    )


def _prose(file: SnapshotFile) -> str | None:
    """A reply's answer; the whole text of what could not be taken apart."""
    if file.prose is not None:
        return file.prose
    if file.kind is Kind.PROMPT or file.snapshot is None:
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


# -- todo --------------------------------------------------------------------------------------------------


def _todo(snapshot: Snapshot, store: AgentStore | None, profile: Profile, writable: bool) -> Todo | None:
    items = todo_items(store)
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


def todo_items(store: AgentStore | None) -> tuple[TodoItem, ...]:
    rows = store.todo_rows if store is not None and store.todo_rows is not None else ()
    current = next((row.id for row in rows if row.status != "done"), None)
    origin = Origin(store.todo_database) if store is not None and store.todo_database else None
    return tuple(TodoItem(row.id, row.title, row.status, row.id == current, origin) for row in rows)
