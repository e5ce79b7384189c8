"""The rules about the channels to child agents (ABI050 to 055).

Examples change a sound session, as in `layout`; its child rev-1 is done, reviewed by the agent reviewer.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxview.analysis.wording import listed, quoted, shown
from ctxview.findings import Effect, Hit, Severity, rule
from ctxview.formats.session.child_uses import uses_by_child
from ctxview.formats.session.folder import EntryKind
from ctxview.formats.session.look import Look
from ctxview.formats.session.model import Child
from ctxview.formats.session.names import EVENTS, MESSAGES, is_name
from ctxview.state import Origin

AT_WORK = ("pending", "active")


@rule("ABI050", name="child-shape", severity=Severity.ERROR, effect=Effect.REJECTED)
def child_shape(look: Look) -> Iterator[Hit]:
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
    required, statuses = look.profile.required, look.profile.words.child_statuses
    for child in look.session.children:
        missing = [name for name in required.child if not child.has(name)]
        missing += [f"{name}/" for name in required.child_folders if not child.has(name, EntryKind.FOLDER)]
        if missing:
            yield Hit(_channel(look, child), f"the channel {shown(child.name)} lacks {listed(missing, 7)}")
        if statuses and child.status is not None and child.status not in statuses:
            message = f"the status is {quoted(child.status)}; it can be {', '.join(statuses)}"
            yield Hit(_file(look, child, "status"), message)
        for name, value in (("agent", child.agent), ("session", child.session)):
            if value is not None and not is_name(value):
                yield Hit(_file(look, child, name), f"the {name} cannot be called {quoted(value)}")


@rule("ABI051", name="child-result", severity=Severity.WARNING)
def child_result(look: Look) -> Iterator[Hit]:
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
    terminal = look.profile.words.terminal_statuses
    for child in look.session.children:
        result = child.result
        origin = _file(look, child, "result.md")
        if child.status in terminal and result.exists and result.is_blank:
            yield Hit(origin, f"the child {shown(child.name)} is {child.status}, but its result is empty")
        elif child.status in AT_WORK and not result.is_blank:
            yield Hit(origin, f"the child {shown(child.name)} is {child.status}, but has a result already")
        elif child.status == "cancelled" and child.agent and child.agent not in result.text:
            message = f"the result does not name the agent {quoted(child.agent)} that was cancelled"
            yield Hit(origin, message)


@rule("ABI052", name="child-history-inside", severity=Severity.ERROR, effect=Effect.LEAKED)
def child_history_inside(look: Look) -> Iterator[Hit]:
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
    for child in look.session.children:
        for name in (MESSAGES, EVENTS):
            if child.has(name) or child.has(name, EntryKind.LINK):
                message = f"{name} does not belong into the channel of {shown(child.name)}"
                yield Hit(_file(look, child, name), message)


@rule("ABI053", name="child-unused", severity=Severity.WARNING)
def child_unused(look: Look) -> Iterator[Hit]:
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
    uses = uses_by_child(look.session)
    terminal = look.profile.words.terminal_statuses
    for child in look.session.children:
        if child.name in uses:
            continue
        if child.status in terminal:
            message = f"the child {shown(child.name)} is {child.status}, but nothing refers to it"
            yield Hit(_channel(look, child), message)
        elif child.status in AT_WORK:
            message = f"nothing refers to the child {shown(child.name)} yet"
            yield Hit(_channel(look, child), message, Severity.INFO)


@rule("ABI054", name="child-session", severity=Severity.WARNING)
def child_session(look: Look) -> Iterator[Hit]:
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
    terminal = look.profile.words.terminal_statuses
    for child in look.session.children:
        if child.own_session is False:
            message = f"there is no session {shown(child.session or '')} of {shown(child.agent or '')}"
            yield Hit(_file(look, child, "session"), message)
        elif child.own_state in terminal and child.status is not None and child.status != child.own_state:
            message = f"the channel says {shown(child.status)}, the child's session {child.own_state}"
            yield Hit(_file(look, child, "status"), message)


@rule("ABI055", name="child-cancel", severity=Severity.WARNING)
def child_cancel(look: Look) -> Iterator[Hit]:
    """A child was cancelled in the events but not in its channel, or the other way round.

    ## Why
    Children die with their parent by default, and the event tells why. When only one side knows, the other
    waits for a child that is gone, or gave up one that works.
    ## Bad
    events.jsonl += {"type":"agent.child.cancel","parent":"coder","child":"rev-1","reason":"parent_dead"}
    ## Good
    context/child/rev-1/status = done
    ## Fix
    Look at the child's own session, and set the channel's status to what that says.
    ## Source
    Runtime: agent.child.cancel is written when a parent's death cancels its children.
    """
    if look.survey is None:
        return
    cancelled = dict(look.survey.cancels)
    for child in look.session.children:
        names = {child.name, child.agent} - {None}
        origin = next((cancelled[name] for name in cancelled if name in names), None)
        if origin is not None and child.status not in ("cancelled", None):
            message = f"the child {shown(child.name)} was cancelled here, but its status is"
            yield Hit(origin, f"{message} {shown(child.status or '')}")
        elif origin is None and child.status == "cancelled" and look.survey.events.records:
            message = f"the child {shown(child.name)} is cancelled, but no event says so"
            yield Hit(_file(look, child, "status"), message)


def _channel(look: Look, child: Child) -> Origin:
    return look.session.origin(f"context/child/{child.name}")


def _file(look: Look, child: Child, name: str) -> Origin:
    origin = look.session.origin(f"context/child/{child.name}/{name}")
    return Origin(origin.file, None, 0, None, 1, 1)
