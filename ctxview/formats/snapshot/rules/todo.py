"""The rules about todo numbers, summary and cursor (SNP028 to 031).

Each line of an example sets one member of the template snapshot; `(absent)` takes it away.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from functools import cache

from msgspec import Struct

from ctxview.analysis.wording import json_excerpt, listed, quoted
from ctxview.core.findings import Effect, Hit, Severity, rule
from ctxview.core.origin import JsonValue
from ctxview.formats.snapshot.model import (
    ACTIONS_WITH_TARGET,
    PHASES,
    Snapshot,
    SnapshotRole,
    integer,
    text,
    utf16_length,
)
from ctxview.formats.snapshot.profile import Profile, TodoGrammar
from ctxview.formats.snapshot.rules.lookups import as_written, expected_layout
from ctxview.formats.snapshot.runtime.javascript import trim
from ctxview.formats.snapshot.runtime.normalisation import ACTIONS, CURSOR_FIELDS


class SummaryWording(StrEnum):
    """The sentences of the grammar."""

    EMPTY = "empty"
    FINISHED = "finished"
    RUNNING = "running"
    SKIPPED = "running_skipped"


class TodoSummary(Struct, frozen=True):
    """A parsed summary; a number that the sentence does not have is None."""

    wording: SummaryWording
    done: int | None
    total: int | None
    step: int | None


def read_summary(written: str, grammar: TodoGrammar) -> TodoSummary | None:
    """Parse a summary; None when it is not one of the grammar's sentences."""
    for wording in SummaryWording:
        if found := _pattern(getattr(grammar, wording)).fullmatch(written.strip()):
            numbers = {name: int(value) for name, value in found.groupdict().items()}
            return TodoSummary(wording, numbers.get("done"), numbers.get("total"), numbers.get("step"))
    return None


def contradictions(summary: TodoSummary, total: int | None, step: int | None) -> Iterator[str]:
    """Yield each contradiction between a summary and `total` and `step`, or inside the summary."""
    if summary.total is not None and total is not None and summary.total != total:
        yield f"it counts {summary.total} items, but total is {total}"
    if summary.step is not None and step is not None and summary.step != step:
        yield f"it is at step {summary.step}, but step is {step}"
    now = summary.step if summary.step is not None else step
    match summary.wording:
        case SummaryWording.EMPTY:
            if total:
                yield f"it says there is nothing to do, but total is {total}"
        case SummaryWording.FINISHED:
            if summary.done != summary.total or summary.total == 0:
                yield f"it says all is done, but counts {summary.done} of {summary.total}"
            elif step is not None and step != summary.total:
                yield f"it says all is done, then step is {summary.total}, not {step}"
        case SummaryWording.RUNNING if summary.done is not None and now is not None:
            if summary.done != now - 1:
                yield f"at step {now} without a skip {now - 1} items are done, not {summary.done}"
        case SummaryWording.SKIPPED if None not in (summary.done, summary.total, now):
            done, items, current = summary.done or 0, summary.total or 0, now or 0
            if not current <= done < items:
                bounds = f"from {current} to {items - 1}"
                yield f"with a skip at step {current} {bounds} items are done, not {done}"


@cache
def _pattern(template: str) -> re.Pattern[str]:
    """Return a pattern for a template of the grammar, with the numbers as groups."""
    parts = re.split(r"\{(done|total|step)\}", template)
    groups = [
        re.escape(part) if index % 2 == 0 else rf"(?P<{part}>\d{{1,9}})" for index, part in enumerate(parts)
    ]
    return re.compile("".join(groups), re.ASCII)


@rule("SNP028", name="todo-numbers", severity=Severity.ERROR)
def todo_numbers(snapshot: Snapshot, profile: Profile) -> Iterator[Hit]:
    """`todo.total` and `todo.step` are not whole numbers with 0 <= step <= total.

    ## Why
    They are the system's view of its todo list: how many items there are, and which one is current. Numbers
    that cannot be true mean that something else wrote them.
    ## Bad
    todo.step = 4
    ## Good
    todo.step = 3
    todo.summary = "已完成 3/3"
    ## Fix
    Copy both from the snapshot that was received; only the cursor is the model's.
    ## Source
    Context Protocol 3.0, rules 8 and 9. Runtime: computed from its todo list, a model's values are
    discarded.
    """
    if not expected_layout(snapshot).has_todo:
        return
    effect = Effect.RESTORED if snapshot.role is SnapshotRole.EMITTED else None
    if not isinstance(snapshot.value.get("todo"), dict):
        found = (
            f"{json_excerpt(snapshot.value['todo'])}, not an object"
            if "todo" in snapshot.value
            else "missing"
        )
        yield Hit(
            snapshot.origin("todo"), f"todo is {found}: summary, total and step are unknown", effect=effect
        )
        return
    known = True
    for name in ("total", "step"):
        value = snapshot.todo.get(name)
        count = integer(value)
        if count is None or count < 0:
            known = False
            says = (
                as_written(snapshot, snapshot.at("todo", name), value) if name in snapshot.todo else "missing"
            )
            yield Hit(
                snapshot.origin("todo", name),
                f"todo.{name} is {says}, not a whole number from 0",
                effect=effect,
            )
    total, step = integer(snapshot.todo.get("total")) or 0, integer(snapshot.todo.get("step")) or 0
    if known and step > total:
        items = "there are no items" if total == 0 else f"there are only {total} items"
        yield Hit(snapshot.origin("todo", "step"), f"todo.step is {step}, but {items}", effect=effect)


@rule("SNP029", name="todo-summary", severity=Severity.WARNING)
def todo_summary(snapshot: Snapshot, profile: Profile) -> Iterator[Hit]:
    """`todo.summary` is not the system's wording, or contradicts total and step.

    ## Why
    The summary is computed, always in the same few sentences. Another wording, or a count that cannot go
    with the step, shows that it was edited or that the file was put together by hand.
    ## Bad
    todo.summary = "进行中 2/3（当前第2步）"
    ## Good
    todo.summary = "进行中 1/3（当前第2步）"
    ## Fix
    Copy the summary from the snapshot that was received.
    ## Source
    Context Protocol 3.0, rule 8; the wording is the profile's todo grammar: without a skip done = step - 1.
    """
    if profile.todo is None or not expected_layout(snapshot).has_todo or not snapshot.todo:
        return
    effect = Effect.RESTORED if snapshot.role is SnapshotRole.EMITTED else None
    todo, written = snapshot.todo, text(snapshot.todo.get("summary"))
    if written is None:
        faults = [f"is {json_excerpt(todo['summary'])}, not a text" if "summary" in todo else "is missing"]
    elif (summary := read_summary(written, profile.todo)) is None:
        faults = [f"{quoted(written)} is not worded as the runtime words it"]
    else:
        found = contradictions(summary, integer(todo.get("total")), integer(todo.get("step")))
        faults = [f"{quoted(written)}: {contradiction}" for contradiction in found]
    for fault in faults:
        yield Hit(snapshot.origin("todo", "summary"), f"todo.summary {fault}", effect=effect)


@rule("SNP030", name="cursor-invalid", severity=Severity.ERROR, effect=Effect.IGNORED)
def cursor_invalid(snapshot: Snapshot, profile: Profile) -> Iterator[Hit]:
    """The todo cursor does not have its strict shape.

    ## Why
    The cursor is the only part of todo a model may write, and the runtime takes it whole or not at all: one
    extra key, a missing `targetId` or a target that does not fit `next` and the old cursor stays. A note
    that is too long is cut; a blank or long note is a warning.
    ## Bad
    todo.cursor.targetId = null
    ## Good
    todo.cursor.next = "todo_list"
    todo.cursor.targetId = null
    ## Fix
    `v` 1, a phase, a next action, a `targetId` (a positive number for update, complete, reopen and remove,
    null for the others) and at most a short note; nothing else.
    ## Source
    Context Protocol 3.0, rule 9 and structural notes on todo. Runtime: strict, an invalid cursor is
    discarded.
    """
    cursor = snapshot.todo.get("cursor")
    if cursor is None:
        return
    if not isinstance(cursor, dict):
        yield Hit(
            snapshot.origin("todo", "cursor"), f"todo.cursor is {json_excerpt(cursor)}, not an object or null"
        )
        return
    for key, message in _cursor_faults(cursor):
        path = ("todo", "cursor", key) if key in cursor else ("todo", "cursor")
        yield Hit(snapshot.origin(*path), f"{message}; the whole cursor is ignored")
    note, limit = text(cursor.get("note")), profile.limits.note
    if note is not None and not trim(note):
        message = "todo.cursor.note is blank: leave it out"
        yield Hit(snapshot.origin("todo", "cursor", "note"), message, Severity.WARNING)
    elif note is not None and limit is not None and (length := utf16_length(trim(note))) > limit:
        message = f"todo.cursor.note has {length} characters and is cut to {limit}"
        yield Hit(snapshot.origin("todo", "cursor", "note"), message, Severity.WARNING, Effect.TRUNCATED)


@rule("SNP031", name="cursor-pointless", severity=Severity.INFO)
def cursor_pointless(snapshot: Snapshot, profile: Profile) -> Iterator[Hit]:
    """The cursor aims at an item of an empty list, or changes the list while blocked.

    ## Why
    Both are allowed and neither can be meant: there is nothing to aim at, or an agent that cannot go on
    announces that it will.
    ## Bad
    todo.cursor.phase = "blocked"
    ## Good
    todo.cursor.phase = "blocked"
    todo.cursor.next = "none"
    todo.cursor.targetId = null
    ## Fix
    Clear the cursor (null), or say what the agent will really do next.
    ## Source
    Context Protocol 3.0, structural notes on todo.
    """
    cursor = snapshot.todo.get("cursor")
    if not isinstance(cursor, dict):
        return
    target, action = integer(cursor.get("targetId")), text(cursor.get("next"))
    if target is not None and integer(snapshot.todo.get("total")) == 0:
        origin = snapshot.origin("todo", "cursor", "targetId")
        yield Hit(origin, f"the cursor aims at item {target}, but the todo list is empty")
    if cursor.get("phase") == "blocked" and action in ("todo_add", "todo_clear_done", *ACTIONS_WITH_TARGET):
        origin = snapshot.origin("todo", "cursor", "next")
        yield Hit(origin, f"the phase is blocked, but the next action {action} changes the list")


def _cursor_faults(cursor: dict[str, JsonValue]) -> Iterator[tuple[str, str]]:
    """Yield (key, fault) for every reason why the runtime discards the cursor."""
    for key in cursor:
        if key not in CURSOR_FIELDS:
            yield key, f"todo.cursor has the extra key {quoted(key)}"
    if integer(cursor.get("v")) != 1:
        yield "v", f"todo.cursor.v is {_found(cursor, 'v')}, not 1"
    if cursor.get("phase") not in PHASES:
        yield "phase", f"todo.cursor.phase is {_found(cursor, 'phase')}, not one of {', '.join(PHASES)}"
    action = cursor.get("next")
    if action not in ACTIONS:
        yield "next", f"todo.cursor.next is {_found(cursor, 'next')}, not one of {listed(ACTIONS, 8)}"
    elif fault := _target_fault(cursor, str(action)):
        yield "targetId", fault
    elif "targetId" not in cursor:
        yield "targetId", "todo.cursor.targetId is missing"
    if "note" in cursor and text(cursor["note"]) is None:
        yield "note", f"todo.cursor.note is {json_excerpt(cursor['note'])}, not a text"


def _target_fault(cursor: dict[str, JsonValue], action: str) -> str | None:
    target = cursor.get("targetId")
    if action in ACTIONS_WITH_TARGET:
        found = integer(target)
        fine = found is not None and found > 0
        return None if fine else f"{action} needs a positive targetId, found {_found(cursor, 'targetId')}"
    return None if target is None else f"{action} needs targetId null, found {json_excerpt(target)}"


def _found(cursor: dict[str, JsonValue], key: str) -> str:
    return json_excerpt(cursor[key]) if key in cursor else "missing"
