"""How far the nodes of a plan are, by what their children say. Judges nothing."""

from __future__ import annotations

from ctxview.formats.session.model import Plan, PlanNode, Session


def node_states(session: Session) -> dict[int, str]:
    """One word for each node by index: done, error, cancelled, active, pending, ready or blocked.

    A node without a child is the session's own work: nothing records that it was done, so it is ready when
    all it depends on is done, and blocked before.
    """
    own = {node.index: _own_state(session, node) for node in session.plan.nodes}
    done = {node.id for node in session.plan.nodes if own[node.index] == "done" and node.id is not None}
    return {
        node.index: own[node.index] or ("ready" if all(dep in done for dep in node.deps) else "blocked")
        for node in session.plan.nodes
    }


def in_a_cycle(plan: Plan) -> list[PlanNode]:
    """The nodes that wait for each other; empty when the plan can be carried out."""
    waiting = {node.id: set(node.deps) for node in plan.nodes if node.id is not None}
    known = set(waiting)
    free = [name for name, deps in waiting.items() if not deps & known]
    while free:
        name = free.pop()
        known.discard(name)
        free += [other for other in known if name in waiting[other] and not waiting[other] & known]
    return [node for node in plan.nodes if node.id in known]


def _own_state(session: Session, node: PlanNode) -> str | None:
    child = session.child(node.child) if node.child is not None else None
    return child.status if child is not None else None
