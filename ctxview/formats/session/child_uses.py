"""Who in a session refers to a child: the pack, references, the plan, the dedup index, the summary."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from ctxview.formats.session.model import Session
from ctxview.quick_dataclass import dataclass
from ctxview.state import Origin


@dataclass(frozen=True, slots=True)
class ChildUse:
    """Which child, which file of it, by whom; `result` says whether that must be a result that is there."""

    child: str
    name: str
    user: str
    origin: Origin
    result: bool = True


def child_uses(session: Session) -> Iterator[ChildUse]:
    """Every reference to a child that a program can follow."""
    yield from _in_pack(session)
    yield from _in_refs(session)
    yield from _in_plan(session)
    yield from _in_dedup(session)


def uses_by_child(session: Session) -> dict[str, list[str]]:
    """Who uses each child, the summary included, which names children in prose."""
    found: dict[str, list[str]] = defaultdict(list)
    for use in child_uses(session):
        if use.user not in found[use.child]:
            found[use.child].append(use.user)
    summary = session.part("context/summary.md").text
    for child in session.children:
        if child.name in summary:
            found[child.name].append("the summary")
    return {child: users for child, users in found.items() if users}


def _in_pack(session: Session) -> Iterator[ChildUse]:
    for item in session.pack.items:
        child = _child_of(item.source or "")
        if child is not None:
            origin, source = session.pack.origin(item, "source"), item.source or ""
            yield ChildUse(child, source, "the pack", origin, source.endswith("/result.md"))


def _in_refs(session: Session) -> Iterator[ChildUse]:
    for record in session.refs.records:
        path = record.text("path") or ""
        child = _child_of(path)
        if child is not None:
            name = record.text("id") or "?"
            result = path.endswith("/result.md")
            yield ChildUse(child, path, f"the reference {name}", record.origin("path"), result)


def _in_plan(session: Session) -> Iterator[ChildUse]:
    for node in session.plan.nodes:
        if node.child is not None:
            origin = session.plan.json.origin("nodes", node.index, "child")
            # A node without a channel is one that has not begun; a channel without a result is broken.
            begun = session.child(node.child) is not None
            name = f"context/child/{node.child}/result.md"
            yield ChildUse(node.child, name, f"the plan node {node.name}", origin, begun)


def _in_dedup(session: Session) -> Iterator[ChildUse]:
    for record in session.dedup.index.records:
        refs = record.members.get("refs")
        for index, ref in enumerate(refs if isinstance(refs, list) else ()):
            kind, _, name = ref.partition(":") if isinstance(ref, str) else ("", "", "")
            if kind == "child" and name:
                child = name.split("/")[0]
                result = f"context/child/{child}/result.md"
                yield ChildUse(child, result, "the dedup index", record.origin("refs", index))


def _child_of(path: str) -> str | None:
    parts = path.split("/")
    inside = parts[:2] == ["context", "child"] and len(parts) > 3 and ".." not in parts
    return parts[2] if inside else None
