"""The rules about the channels to child agents, and about the plan (ABI050 to 056).

Examples change a sound session, as in `layout`; its child rev-1 is done, reviewed by the agent reviewer.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxview.analysis.wording import counted, excerpt, json_excerpt, listed, quoted
from ctxview.core.findings import Effect, Hit, Severity, rule
from ctxview.core.origin import Origin
from ctxview.files.strict_json.values import whole_number
from ctxview.formats.kit.folder import EntryKind
from ctxview.formats.session import EVENTS, MESSAGES
from ctxview.formats.session.grammar import is_name
from ctxview.formats.session.model import ChildChannel, PlanNode, Session, node_states, nodes_in_cycle
from ctxview.formats.session.store.blobs import unread_naming, uses_by_child
from ctxview.formats.session.survey.facts import SessionFacts

AT_WORK = ("pending", "active")
KINDS = ("dag", "react")


@rule("ABI050", name="child-shape", severity=Severity.ERROR, effect=Effect.REJECTED)
def child_shape(facts: SessionFacts) -> Iterator[Hit]:
    """A child's channel lacks one of its parts, or one of them holds a word it cannot hold.

    ## Why
    A channel has the files agent, session, status, handoff.md, result.md and refs.jsonl and the folder
    artifact. The runtime records nothing in a channel that is not complete, so the child's work is lost.
    ## Bad
    context/child/rev-1/status = finished
    ## Good
    context/child/rev-1/status = done
    ## Fix
    Complete the channel; an empty result.md and refs.jsonl are right for a child at work.
    ## Source
    Runtime: required parts of a child channel, child status words.
    """
    required, statuses = facts.profile.required, facts.profile.words.child_statuses
    for child in facts.session.children:
        missing = [name for name in required.child if not child.has(name)]
        missing += [f"{name}/" for name in required.child_folders if not child.has(name, EntryKind.FOLDER)]
        if missing and f"context/child/{child.name}" not in facts.session.closed:
            yield Hit(_channel(facts, child), f"the channel {excerpt(child.name)} lacks {listed(missing, 7)}")
        if statuses and child.part("status").readable and child.status not in statuses:
            message = f"the status is {quoted(child.status or '')}; it can be {', '.join(statuses)}"
            yield Hit(_file(facts, child, "status"), message)
        for name, value in (("agent", child.agent), ("session", child.session)):
            if child.part(name).readable and not is_name(value or ""):
                yield Hit(_file(facts, child, name), f"the {name} cannot be called {quoted(value or '')}")


@rule("ABI051", name="child-result", severity=Severity.WARNING)
def child_result(facts: SessionFacts) -> Iterator[Hit]:
    """A child has finished without a result, or has a result before it has finished.

    ## Why
    The result is the only thing the parent learns. A blank one makes the work worthless; one that is there
    too early may still change. The result of a cancelled child should name the agent that was cancelled.
    ## Bad
    context/child/rev-1/result.md (empty)
    ## Good
    context/child/rev-1/result.md = Nothing found.
    ## Fix
    Look into the child's own session for what it did.
    ## Source
    Runtime: results are recorded together with a terminal status.
    """
    terminal = facts.profile.words.terminal_statuses
    for child in facts.session.children:
        result = child.result
        origin = _file(facts, child, "result.md")
        if not result.readable:
            continue
        if child.status in terminal and result.is_blank:
            yield Hit(origin, f"the child {excerpt(child.name)} is {child.status}, but its result is empty")
        elif child.status in AT_WORK and not result.is_blank:
            yield Hit(origin, f"the child {excerpt(child.name)} is {child.status}, but has a result already")
        elif child.status == "cancelled" and child.agent and child.agent not in result.text:
            message = f"the result does not name the agent {quoted(child.agent)} that was cancelled"
            yield Hit(origin, message)


@rule("ABI052", name="child-history-inside", severity=Severity.ERROR, effect=Effect.LEAKED)
def child_history_inside(facts: SessionFacts) -> Iterator[Hit]:
    """A history lies in a child's channel.

    ## Why
    Parent and child do not read each other's histories: the child's stays in its own session. A copy in the
    channel can end up in the parent's prompt.
    ## Bad
    context/child/rev-1/messages.jsonl = {"role": "user", "content": "hello"}
    ## Good
    context/child/rev-1/artifact/notes.md = hello
    ## Fix
    Move it to the child's own session, or delete the copy.
    ## Source
    Runtime: child context isolation.
    """
    for child in facts.session.children:
        for name in (MESSAGES, EVENTS):
            if child.has(name) or child.has(name, EntryKind.LINK):
                message = f"{name} does not belong in the channel of {excerpt(child.name)}"
                yield Hit(_file(facts, child, name), message)


@rule("ABI053", name="child-unused", severity=Severity.WARNING)
def child_unused(facts: SessionFacts) -> Iterator[Hit]:
    """Nothing in the parent's context refers to a child that has finished.

    ## Why
    Its result reaches no prompt: the work was done for nothing, and nothing protects it from collection. A
    child still at work is only mentioned.
    ## Bad
    context/child/rev-2/status = done
    ## Good
    context/child/rev-1/status = done
    ## Fix
    Build the pack anew, or add a reference to the result.
    ## Source
    Source document, Dedup: child results should be merged as result refs, summaries and artifacts.
    """
    # A file that cannot be read may refer to any child.
    if any(unread_naming(facts.session)):
        return
    uses = uses_by_child(facts.session)
    terminal = facts.profile.words.terminal_statuses
    for child in facts.session.children:
        if child.name in uses:
            continue
        if child.status in terminal:
            message = f"the child {excerpt(child.name)} is {child.status}, but nothing refers to it"
            yield Hit(_channel(facts, child), message)
        elif child.status in AT_WORK:
            message = f"nothing refers to the child {excerpt(child.name)} yet"
            yield Hit(_channel(facts, child), message, Severity.INFO)


@rule("ABI054", name="child-session", severity=Severity.WARNING)
def child_session(facts: SessionFacts) -> Iterator[Hit]:
    """The child's own session is not there, or is in another state than its channel.

    ## Why
    The channel repeats what the child's session knows better. Temporary children may be gone, so this is a
    warning; a channel that says done while the child says error hides a failure.
    ## Bad
    ../../../reviewer/session/rev-1-s/state = error
    ## Good
    ../../../reviewer/session/rev-1-s/state = done
    ## Fix
    Believe the child's session; record its result again.
    ## Source
    Runtime: a child's session lies beside its parent's, under its own agent.
    """
    terminal = facts.profile.words.terminal_statuses
    for child in facts.session.children:
        if child.own_session is False:
            message = f"there is no session {excerpt(child.session or '')} of {excerpt(child.agent or '')}"
            yield Hit(_file(facts, child, "session"), message)
        elif child.own_state in terminal and child.status is not None and child.status != child.own_state:
            message = f"the channel says {excerpt(child.status)}, the child's session {child.own_state}"
            yield Hit(_file(facts, child, "status"), message)


@rule("ABI055", name="child-cancel", severity=Severity.WARNING)
def child_cancel(facts: SessionFacts) -> Iterator[Hit]:
    """A child was cancelled in the events but not in its channel, or the other way round.

    ## Why
    Children end with their parent by default, and the event gives the reason. When only one side has it, the
    other waits for a child that is gone, or has given up one that works.
    ## Bad
    events.jsonl += {"type":"agent.child.cancel","parent":"coder","child":"rev-1","reason":"parent_dead"}
    ## Good
    context/child/rev-1/status = done
    ## Fix
    Look at the child's own session, and set the channel's status to what that says.
    ## Source
    Runtime: agent.child.cancel is written when a parent's death cancels its children.
    """
    if facts.survey is None:
        return
    cancelled = dict(facts.survey.cancels)
    for child in facts.session.children:
        names = {child.name, child.agent} - {None}
        origin = next((cancelled[name] for name in cancelled if name in names), None)
        if origin is not None and child.status not in ("cancelled", None):
            message = f"the child {excerpt(child.name)} was cancelled here, but its status is"
            yield Hit(origin, f"{message} {excerpt(child.status or '')}")
        elif origin is None and child.status == "cancelled" and facts.survey.events.records:
            message = f"the child {excerpt(child.name)} is cancelled, but no event says so"
            yield Hit(_file(facts, child, "status"), message)


def _channel(facts: SessionFacts, child: ChildChannel) -> Origin:
    return facts.session.origin(f"context/child/{child.name}")


def _file(facts: SessionFacts, child: ChildChannel, name: str) -> Origin:
    origin = facts.session.origin(f"context/child/{child.name}/{name}")
    return Origin(origin.file, None, 0, None, 1, 1)


@rule("ABI056", name="plan", severity=Severity.ERROR, effect=Effect.REJECTED)
def plan_rule(facts: SessionFacts) -> Iterator[Hit]:
    """The plan cannot be carried out, or a child's channel is not what its node says.

    ## Why
    A plan is version 1, mode dag-react, with 1 to 1024 nodes of kind dag or react that depend on each other
    without a circle. A react node has a bound of steps; a node with a child has a handoff. The runtime takes
    the plan as a whole or not at all. A channel that differs from its node is warned about: the child got
    other instructions. What each node waits for is mentioned.
    ## Bad
    context/plan.json.nodes[1].deps = ["nobody"]
    ## Good
    context/plan.json (absent)
    ## Fix
    Mend the named node; let the runtime write the channel again.
    ## Source
    Runtime: schedule inspection.
    """
    session = facts.session
    json = session.plan.json
    if json.error is not None:
        yield Hit(json.origin(), f"plan.json is not JSON: {json.error.reason}")
    if json.document is None:
        return
    if not json.is_object:
        yield Hit(json.origin(), "plan.json is not an object")
        return
    yield from _whole_faults(facts)
    seen: dict[str, set[str]] = {"node": set(), "child": set()}
    for node in session.plan.nodes:
        origin = json.origin("nodes", node.index)
        yield from (Hit(origin, message) for message in _node_faults(facts, node, seen))
        yield from _channel_faults(session, node)
    yield from _dependencies(session)
    yield from _states(facts)


def _whole_faults(facts: SessionFacts) -> Iterator[Hit]:
    json, most = facts.session.plan.json, facts.profile.limits.plan_nodes
    members = json.members
    version = whole_number(members.get("version"))
    if version != 1:
        yield Hit(json.origin("version"), f"the version is {json_excerpt(members.get('version'))}, not 1")
    if members.get("mode") != "dag-react":
        yield Hit(json.origin("mode"), f"the mode is {json_excerpt(members.get('mode'))}, not dag-react")
    nodes = members.get("nodes")
    if not isinstance(nodes, list) or not nodes:
        yield Hit(json.origin("nodes"), "there are no nodes")
    elif most is not None and len(nodes) > most:
        yield Hit(json.origin("nodes"), f"{counted(len(nodes), 'node')}; a plan has {most} at most")


def _node_faults(facts: SessionFacts, node: PlanNode, seen: dict[str, set[str]]) -> Iterator[str]:
    if not isinstance(node.value, dict):
        yield f"node {node.index + 1} is {json_excerpt(node.value)}, not an object"
        return
    name = excerpt(node.name)
    if node.id is None or not is_name(node.id):
        yield f"node {node.index + 1} has no valid id"
    for what, value in (("node", node.id), ("child", node.child)):
        if value is not None and value in seen[what]:
            yield f"{name}: the {what} {quoted(value)} occurs twice"
        seen[what].add(value or "")
    kind = node.members.get("kind")
    if kind not in KINDS:
        yield f"{name}: the kind is {json_excerpt(kind)}; it can be dag or react"
    most = facts.profile.limits.react_steps
    steps = whole_number(node.members.get("max_steps"))
    if kind == "react" and (steps is None or steps < 1 or (most is not None and steps > most)):
        bound = f"from 1 to {most}" if most is not None else "of at least 1"
        yield f"{name}: max_steps is {json_excerpt(node.members.get('max_steps'))}, not a bound {bound}"
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
                yield Hit(origin, f"{excerpt(node.name)} depends on {quoted(dep)}, which is not a node")
    circle = nodes_in_cycle(session.plan)
    if circle:
        names = " → ".join(excerpt(node.name) for node in circle[:6])
        origin = session.plan.json.origin("nodes", circle[0].index, "deps")
        yield Hit(origin, f"these nodes wait for each other: {names}")


def _channel_faults(session: Session, node: PlanNode) -> Iterator[Hit]:
    child = session.child(node.child) if node.child is not None else None
    if child is None:
        return
    pairs = (
        ("agent", node.word("agent"), child.agent),
        ("session", node.word("session"), child.session),
        ("handoff", node.word("handoff"), child.part("handoff.md").text or None),
    )
    for name, wanted, found in pairs:
        if wanted is not None and found is not None and wanted.strip() != found.strip():
            origin = session.plan.json.origin("nodes", node.index, name)
            message = f"the {name} of {excerpt(node.name)} is not that of the channel {excerpt(child.name)}"
            yield Hit(origin, message, Severity.WARNING, Effect.NONE)


def _states(facts: SessionFacts) -> Iterator[Hit]:
    session = facts.session
    states = node_states(session)
    shown_states = [f"{excerpt(node.name)} {excerpt(states[node.index])}" for node in session.plan.nodes[:8]]
    more = f" and {len(session.plan.nodes) - 8} more" if len(session.plan.nodes) > 8 else ""
    unfinished = [state for state in states.values() if state not in ("done", "ready")]
    if shown_states and unfinished:
        origin: Origin = session.plan.json.origin("nodes")
        yield Hit(origin, f"the nodes: {', '.join(shown_states)}{more}", Severity.INFO, Effect.NONE)
