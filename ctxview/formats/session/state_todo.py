"""What is left to do: the boxes of todo.md and the nodes of the plan."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from ctxview.formats.session.forms import text_form
from ctxview.formats.session.planning import node_states
from ctxview.formats.session.view import View
from ctxview.state import Origin, Todo, TodoItem

MOST_ITEMS = 2000
_BOX = re.compile(
    r"^[ \t]{0,32}(?:[-*+]|\d{1,4}[.)])[ \t]{1,8}\[(?P<mark>[ xX~/-])\][ \t]{1,8}(?P<title>\S.{0,1000})"
)
_STATUS = {" ": "open", "x": "done", "X": "done", "~": "doing", "/": "doing", "-": "dropped"}
FINISHED = ("done", "dropped", "cancelled")


def build_todo(view: View) -> Todo | None:
    """The list; None when there is neither a todo file nor a plan."""
    part = view.look.session.part("context/todo.md")
    items = [*_boxes(view), *_nodes(view)][:MOST_ITEMS]
    form = text_form(part)
    if not items and form is None:
        return None
    finished = sum(item.status in FINISHED for item in items)
    current = next((place for place, item in enumerate(items) if item.status not in FINISHED), None)
    marked = tuple(replace(item, current=place == current) for place, item in enumerate(items))
    return Todo(
        summary=f"{finished} of {len(items)} done" if items else "nothing to do",
        total=len(items),
        step=None if current is None else current + 1,
        cursor=None,
        items=marked,
        form=form,
    )


def _boxes(view: View) -> Iterator[TodoItem]:
    part = view.look.session.part("context/todo.md")
    offset = 0
    for number, line in enumerate(part.text.split("\n"), 1):
        size = len(line.encode("utf-8", "surrogatepass"))
        found = _BOX.match(line)
        if found is not None:
            origin = Origin(part.file, None, offset, offset + size, number, 1)
            yield TodoItem(
                None, found["title"].rstrip(), _STATUS[found["mark"]], origin=origin, kept_in="todo.md"
            )
        offset += size + 1


def _nodes(view: View) -> Iterator[TodoItem]:
    session = view.look.session
    states = node_states(session)
    for node in session.plan.nodes[:MOST_ITEMS]:
        waits = f" after {', '.join(node.deps)}" if node.deps else ""
        told = node.word("handoff") or node.word("agent") or ""
        title = f"{node.name}{waits}: {told}" if told else f"{node.name}{waits}"
        origin = session.plan.json.origin("nodes", node.index)
        yield TodoItem(None, title[:1000], states[node.index], origin=origin, kept_in="plan")
