"""What cannot be done: the actions that open gaps block."""

from __future__ import annotations

from ctxview.analysis.wording import counted
from ctxview.formats.envelope.state_gaps import is_open
from ctxview.formats.envelope.view import View
from ctxview.formats.envelope.vocabulary import Kind
from ctxview.state import Todo, TodoItem


def build_todo(view: View) -> Todo | None:
    """None when no record tells of a gap."""
    records = view.dossier.of(Kind.MISSING)
    if not records:
        return None
    gaps = [record for record in records if is_open(record)]
    items = tuple(
        TodoItem(
            None,
            view.mask(f"{action} (waits for {view.name(gap)})"),
            "blocked",
            False,
            gap.origin("blocked_actions", at),
        )
        for gap in gaps
        for at, action in _actions(gap.value.get("blocked_actions"))
    )
    waiting = counted(len(gaps), "open gap")
    told = (
        f"{counted(len(items), 'action')} blocked by {waiting}" if items else f"{waiting}, no blocked action"
    )
    return Todo(told if gaps else "nothing is blocked", None, None, None, items)


def _actions(value: object) -> list[tuple[int, str]]:
    entries = value if isinstance(value, list) else []
    return [(at, each) for at, each in enumerate(entries) if isinstance(each, str)]
