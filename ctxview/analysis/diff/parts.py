"""Changes of the cursor, todo, fields, budgets, references and gaps of two states.

Not compared: names of files, titles and revisions (they name the sides), the timeline (it only grows), and
figures of different estimators (they differ although nothing changed).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from ctxview.analysis.diff.model import Change, ChangeGroup, ChangeKind, Delta
from ctxview.analysis.diff.values import (
    canonical,
    delta,
    field_deltas,
    paired,
    same_text,
    value_deltas,
)
from ctxview.core.origin import JsonValue
from ctxview.core.state import Budget, ContextState, Cursor, Gap, Ref, RefStatus, Segment, Todo, TodoItem
from ctxview.files.strict_json.values import same_value

_BROKEN = (RefStatus.DANGLING, RefStatus.MISMATCH)
_PROGRESS = ("step", "total", "summary")
"""Compared with the todo, although a form may list them among the fields of the state."""
_NO_TODO = Todo(None, None, None, None)
_CLOSED = frozenset({"closed", "resolved", "answered", "done", "satisfied", "fixed", "cancelled"})


def cursor_changes(before: ContextState, after: ContextState) -> Iterator[Change]:
    old, new = _cursor(before), _cursor(after)
    names = ("phase", "next", "target", "note")
    deltas = _deltas(*((name, getattr(old, name, None), getattr(new, name, None)) for name in names))
    if old is None and new is not None:
        yield Change(ChangeGroup.CURSOR, ChangeKind.ADDED, "cursor", deltas=deltas)
    elif new is None and old is not None:
        yield Change(ChangeGroup.CURSOR, ChangeKind.REMOVED, "cursor", deltas=deltas)
    elif deltas:
        yield Change(ChangeGroup.CURSOR, ChangeKind.CHANGED, "cursor", deltas=deltas)
    elif old is None and (stated := delta("cursor", _no_cursor(before), _no_cursor(after))) is not None:
        yield Change(ChangeGroup.CURSOR, ChangeKind.CHANGED, "cursor", deltas=(stated,))


def todo_changes(before: ContextState, after: ContextState) -> Iterator[Change]:
    old, new = before.todo or _NO_TODO, after.todo or _NO_TODO
    forms = [
        form for state in (before, after) for form in (state.form, state.todo and state.todo.form) if form
    ]
    owners = {each.name.removeprefix("todo."): each.owner for form in forms for each in form.fields}
    found = (delta(name, getattr(old, name), getattr(new, name), owners.get(name)) for name in _PROGRESS)
    if progress := tuple(each for each in found if each):
        yield Change(ChangeGroup.TODO, ChangeKind.CHANGED, "progress", deltas=progress)
    for left, right in paired(old.items, new.items, _item_key, lambda item: repr((item.title, item.status))):
        if change := _item_change(left, right):
            yield change


def field_changes(before: ContextState, after: ContextState) -> Iterator[Change]:
    """Compare the fields of the whole state, one change each, and the prose beside it."""
    if before.format != after.format:
        yield _field_change(Delta("format", before.format, after.format, "changed"))
    if before.form and after.form:
        progress = {f"todo.{name}" for name in _PROGRESS}
        deltas = field_deltas(before.form.fields, after.form.fields)
        yield from (_field_change(found) for found in deltas if found.name not in progress)
    if prose := delta("text", before.text, after.text):
        yield _field_change(prose)


def budget_changes(before: ContextState, after: ContextState) -> Iterator[Change]:
    for old, new in paired(before.budgets, after.budgets, lambda each: each.key, repr):
        budget = new or old
        if budget is None:
            continue
        kind = ChangeKind.ADDED if old is None else ChangeKind.REMOVED if new is None else ChangeKind.CHANGED
        numbers = _budget_deltas(old or _none_of(budget), new or _none_of(budget))
        deltas = tuple(replace(each, counts=True) for each in numbers)
        if deltas or kind is not ChangeKind.CHANGED:
            yield Change(
                ChangeGroup.BUDGET, kind, budget.target, budget.unit, deltas=deltas, why=_fit(old, new)
            )


def ref_changes(before: ContextState, after: ContextState) -> Iterator[Change]:
    renamed = _renamed(before, after)
    both = paired(
        before.refs, after.refs, lambda ref: (ref.kind, ref.id), lambda ref: canonical(_ref_values(ref))
    )
    for old, new in both:
        ref = new or old
        if ref is None:
            continue
        left, right = _ref_values(old), _ref_values(new)
        names = tuple(right or left)
        if old is not None and new is not None:
            if sorted(renamed.get(user, user) for user in old.used_by) == sorted(new.used_by):
                left["used by"] = right["used by"]
            if _needs_no_text(old, new):
                names = ("status", "target", "used by")
        deltas = _deltas(*((name, left.get(name), right.get(name)) for name in names))
        deltas = tuple(replace(each, counts=each.name == "bytes") for each in deltas)
        if old is not None and new is not None and _leads_to_objects(old, new):
            deltas = (*deltas, *value_deltas(old.meaning, new.meaning))
        if deltas:
            yield Change(ChangeGroup.REFS, _ref_kind(old, new), ref.id, ref.kind, deltas=deltas)


def gap_changes(before: ContextState, after: ContextState) -> Iterator[Change]:
    both = paired(before.missing, after.missing, lambda gap: gap.id, lambda gap: canonical(_gap_values(gap)))
    left_blocks = {block.id for block in after.blocks()}
    for old, new in both:
        gap = new or old
        if gap is None:
            continue
        gone = new is None and bool(gap.blocks) and left_blocks.isdisjoint(gap.blocks)
        left, right = _gap_values(old), _gap_values(new)
        deltas = _deltas(
            *((name, left.get(name), right.get(name)) for name in (*right, *(left if not right else ())))
        )
        if old and new and re.sub(r"[\d.,]+", "#", old.why) != re.sub(r"[\d.,]+", "#", new.why):
            deltas = (*deltas, Delta("why", old.why, new.why, "changed"))
        if deltas:
            # Nothing closed a gap whose block is gone.
            kind = ChangeKind.REMOVED if gone else _gap_kind(old, new)
            was = f"was {gap.why}" if kind is ChangeKind.CLOSED and new is None else gap.why
            why = "its block is gone" if gone else was
            yield Change(ChangeGroup.MISSING, kind, gap.id, deltas=deltas, why=why)


def _deltas(*values: tuple[str, JsonValue, JsonValue]) -> tuple[Delta, ...]:
    return tuple(found for name, left, right in values if (found := delta(name, left, right)))


def _cursor(state: ContextState) -> Cursor | None:
    return state.todo.cursor if state.todo else None


def _no_cursor(state: ContextState) -> str:
    return "cleared" if state.todo is not None and state.todo.cleared else "not stated"


def _item_key(item: TodoItem) -> str:
    return f"#{item.id}" if item.id is not None else item.title


def _item_change(old: TodoItem | None, new: TodoItem | None) -> Change | None:
    item = new or old
    if item is None:
        return None
    kind = ChangeKind.ADDED if old is None else ChangeKind.REMOVED if new is None else ChangeKind.CHANGED
    names = ("title", "status")
    deltas = _deltas(*((name, getattr(old, name, None), getattr(new, name, None)) for name in names))
    return Change(ChangeGroup.TODO, kind, _item_key(item), deltas=deltas) if deltas else None


def _field_change(found: Delta) -> Change:
    kind = (
        ChangeKind.ADDED
        if found.word == "added"
        else ChangeKind.REMOVED
        if found.word == "removed"
        else ChangeKind.CHANGED
    )
    return Change(ChangeGroup.FIELDS, kind, found.name, deltas=(found,))


def _none_of(budget: Budget) -> Budget:
    return Budget(budget.target, budget.unit, None, None, None, ())


def _budget_deltas(old: Budget, new: Budget) -> Iterator[Delta]:
    yield from _deltas(("limit", old.limit, new.limit), ("reserved", old.reserved, new.reserved))
    parts = paired(old.segments, new.segments, lambda each: each.key, repr)
    deltas = [found for left, right in parts for found in _segment_deltas(left, right)]
    comparable = _estimators(old) == _estimators(new) or not (old.segments and new.segments)
    if comparable and (deltas or not any(left and _same_but_spelled(left, right) for left, right in parts)):
        estimated = not all(segment.exact for segment in (*old.segments, *new.segments))
        yield from _figures(("used", old.used, new.used), estimated)
    yield from deltas


def _segment_deltas(old: Segment | None, new: Segment | None) -> Iterator[Delta]:
    segment = new or old
    if segment is None:
        return
    comparable = old is None or new is None or (old.estimator, old.exact) == (new.estimator, new.exact)
    if comparable and not (old and _same_but_spelled(old, new)):
        figures = (segment.name, old.used if old else None, new.used if new else None)
        yield from _figures(figures, not segment.exact)
    yield from _deltas((f"{segment.name} limit", old.limit if old else None, new.limit if new else None))


def _figures(values: tuple[str, JsonValue, JsonValue], estimated: bool) -> Iterator[Delta]:
    return (replace(found, estimate=estimated) for found in _deltas(values))


def _same_but_spelled(old: Segment, new: Segment | None) -> bool:
    return new is not None and old.meaning is not None and old.meaning == new.meaning


def _estimators(budget: Budget) -> set[tuple[str | None, bool]]:
    return {(segment.estimator, segment.exact) for segment in budget.segments}


def _fit(old: Budget | None, new: Budget | None) -> str:
    before, after = (old.over if old else None) or 0, (new.over if new else None) or 0
    if after and new:
        return f"{'still ' if before else ''}over by {after:,} {new.unit}"
    return "fits again" if before and new else ""


def _renamed(before: ContextState, after: ContextState) -> dict[str, str]:
    """Old to new values of renamed fields: the fields report the new name, so references need not."""
    old, new = (
        {each.name: each.value for each in state.form.fields} if state.form is not None else {}
        for state in (before, after)
    )
    return {
        name: now
        for field, name in old.items()
        if isinstance(name, str) and isinstance(now := new.get(field), str) and now != name
    }


def _ref_values(ref: Ref | None) -> dict[str, JsonValue]:
    if ref is None:
        return {}
    return {
        "status": ref.status.value,
        "target": ref.target,
        "used by": [*sorted(ref.used_by)] or None,
        "bytes": ref.bytes,
        "text": ref.text,
    }


def _needs_no_text(old: Ref, new: Ref) -> bool:
    """Whether changed size and text follow from another fact: spelling, members, or a broken target."""
    if new.status in _BROKEN or _leads_to_objects(old, new):
        return True
    if old.meaning is not None and new.meaning is not None:
        return same_value(old.meaning, new.meaning)
    return _is_whole(old) and _is_whole(new) and same_text(old.text or "", new.text or "")


def _leads_to_objects(old: Ref, new: Ref) -> bool:
    return isinstance(old.meaning, dict) and isinstance(new.meaning, dict)


def _is_whole(ref: Ref) -> bool:
    """Whether `text` is the whole target and not a part of it."""
    return ref.text is not None and len(ref.text.encode("utf-8", "surrogatepass")) == ref.bytes


def _ref_kind(old: Ref | None, new: Ref | None) -> ChangeKind:
    if old is None or new is None:
        return ChangeKind.ADDED if new else ChangeKind.REMOVED
    was, became = old.status in _BROKEN, new.status in _BROKEN
    return (
        ChangeKind.BROKEN
        if became and not was
        else ChangeKind.HEALED
        if was and not became
        else ChangeKind.CHANGED
    )


def _gap_values(gap: Gap | None) -> dict[str, JsonValue]:
    if gap is None:
        return {}
    return {
        "question": gap.question,
        "severity": gap.severity,
        "status": gap.status,
        "blocks": [*sorted(gap.blocks)] or None,
    }


def _gap_kind(old: Gap | None, new: Gap | None) -> ChangeKind:
    was, became = _is_open(old), _is_open(new)
    if was == became:
        return ChangeKind.CHANGED if old and new else ChangeKind.ADDED if new else ChangeKind.REMOVED
    return ChangeKind.OPENED if became else ChangeKind.CLOSED


def _is_open(gap: Gap | None) -> bool:
    return gap is not None and gap.status.casefold() not in _CLOSED
