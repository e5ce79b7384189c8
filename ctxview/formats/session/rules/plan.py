"""The rule about the schedule of a session and its children (ABI056).

Examples change a sound session, as in `layout`; `FILE.nodes[0].kind = "dag"` changes one member of a file.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxview.analysis.wording import counted, quoted, shown, spelled
from ctxview.findings import Effect, Hit, Severity, rule
from ctxview.formats.session.look import Look
from ctxview.formats.session.model import PlanNode, Session, whole
from ctxview.formats.session.names import is_name
from ctxview.formats.session.planning import in_a_cycle, node_states
from ctxview.state import Origin

KINDS = ("dag", "react")


@rule("ABI056", name="plan", severity=Severity.ERROR, effect=Effect.REJECTED)
def plan(look: Look) -> Iterator[Hit]:
    """The plan cannot be carried out, or a child's channel is not what its node says.

    ## Why
    A plan is version 1, mode dag-react, with 1 to 1024 nodes of kind dag or react that depend on each other
    without a circle. A react node has a bound of steps; a node with a child has a handoff. The runtime takes
    the plan as a whole or not at all. A channel that differs from its node is warned about: the child was
    told something else. What each node waits for is mentioned.
    ## Bad
    context/plan.json.nodes[1].deps = ["nobody"]
    ## Good
    context/plan.json (absent)
    ## Fix
    Mend the named node; let the runtime write the channel again.
    ## Source
    Runtime: schedule inspection.
    """
    session = look.session
    json = session.plan.json
    if json.error is not None:
        yield Hit(json.origin(), f"plan.json is not JSON: {json.error.reason}")
    if json.document is None:
        return
    if not json.is_object:
        yield Hit(json.origin(), "plan.json is not an object")
        return
    yield from _whole_faults(look)
    seen: dict[str, set[str]] = {"node": set(), "child": set()}
    for node in session.plan.nodes:
        origin = json.origin("nodes", node.index)
        yield from (Hit(origin, message) for message in _node_faults(look, node, seen))
        yield from _channel_faults(session, node)
    yield from _dependencies(session)
    yield from _states(look)


def _whole_faults(look: Look) -> Iterator[Hit]:
    json, most = look.session.plan.json, look.profile.limits.plan_nodes
    members = json.members
    version = whole(members.get("version"))
    if version != 1:
        yield Hit(json.origin("version"), f"the version is {spelled(members.get('version'))}, not 1")
    if members.get("mode") != "dag-react":
        yield Hit(json.origin("mode"), f"the mode is {spelled(members.get('mode'))}, not dag-react")
    nodes = members.get("nodes")
    if not isinstance(nodes, list) or not nodes:
        yield Hit(json.origin("nodes"), "there are no nodes")
    elif most is not None and len(nodes) > most:
        yield Hit(json.origin("nodes"), f"{counted(len(nodes), 'node')}; a plan has {most} at most")


def _node_faults(look: Look, node: PlanNode, seen: dict[str, set[str]]) -> Iterator[str]:
    if not isinstance(node.value, dict):
        yield f"node {node.index + 1} is {spelled(node.value)}, not an object"
        return
    name = shown(node.name)
    if node.id is None or not is_name(node.id):
        yield f"node {node.index + 1} has no proper id"
    for what, value in (("node", node.id), ("child", node.child)):
        if value is not None and value in seen[what]:
            yield f"{name}: the {what} {quoted(value)} stands twice"
        seen[what].add(value or "")
    kind = node.members.get("kind")
    if kind not in KINDS:
        yield f"{name}: the kind is {spelled(kind)}; it can be dag or react"
    most = look.profile.limits.react_steps
    steps = whole(node.members.get("max_steps"))
    if kind == "react" and (steps is None or steps < 1 or (most is not None and steps > most)):
        bound = f"from 1 to {most}" if most is not None else "of at least 1"
        yield f"{name}: max_steps is {spelled(node.members.get('max_steps'))}, not a bound {bound}"
    yield from _delegation_faults(node, name)


def _delegation_faults(node: PlanNode, name: str) -> Iterator[str]:
    if node.child is not None:
        if not is_name(node.child):
            yield f"{name}: a child cannot be called {quoted(node.child)}"
        if not (node.word("handoff") or "").strip():
            yield f"{name}: there is a child, but no handoff for it"
    else:
        for field in ("session", "handoff"):
            if field in node.members:
                yield f"{name}: there is a {field}, but no child"


def _dependencies(session: Session) -> Iterator[Hit]:
    known = {node.id for node in session.plan.nodes}
    for node in session.plan.nodes:
        for place, dep in enumerate(node.deps):
            if dep not in known:
                origin = session.plan.json.origin("nodes", node.index, "deps", place)
                yield Hit(origin, f"{shown(node.name)} depends on {quoted(dep)}, which is no node")
    circle = in_a_cycle(session.plan)
    if circle:
        names = " → ".join(shown(node.name) for node in circle[:6])
        origin = session.plan.json.origin("nodes", circle[0].index, "deps")
        yield Hit(origin, f"these nodes wait for each other: {names}")


def _channel_faults(session: Session, node: PlanNode) -> Iterator[Hit]:
    child = session.child(node.child) if node.child is not None else None
    if child is None:
        return
    told = (
        ("agent", node.word("agent"), child.agent),
        ("session", node.word("session"), child.session),
        ("handoff", node.word("handoff"), child.part("handoff.md").text or None),
    )
    for name, wanted, found in told:
        if wanted is not None and found is not None and wanted.strip() != found.strip():
            origin = session.plan.json.origin("nodes", node.index, name)
            message = f"the {name} of {shown(node.name)} is not that of the channel {shown(child.name)}"
            yield Hit(origin, message, Severity.WARNING, Effect.NONE)


def _states(look: Look) -> Iterator[Hit]:
    session = look.session
    states = node_states(session)
    told = [f"{shown(node.name)} {shown(states[node.index])}" for node in session.plan.nodes[:8]]
    more = f" and {len(session.plan.nodes) - 8} more" if len(session.plan.nodes) > 8 else ""
    unfinished = [state for state in states.values() if state not in ("done", "ready")]
    if told and unfinished:
        origin: Origin = session.plan.json.origin("nodes")
        yield Hit(origin, f"the nodes: {', '.join(told)}{more}", Severity.INFO, Effect.NONE)
