"""The rule about what a collection must never delete (ABI048).

In the examples `delete NAME` is a step of a collection plan for a sound session.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ctxview.analysis.wording import listed, shown
from ctxview.findings import Effect, Hit, Severity, rule
from ctxview.formats.session.child_uses import uses_by_child
from ctxview.formats.session.look import Look
from ctxview.formats.session.names import EVENTS, MESSAGES


@rule("ABI048", name="gc-plan", severity=Severity.ERROR, effect=Effect.DELETED)
def gc_plan(look: Look, deletions: Sequence[str]) -> Iterator[Hit]:
    """A plan to collect would delete the history, or a child's result that is still referred to.

    ## Why
    Only what can be rebuilt may go: the pack, blobs nobody refers to, chunks whose lines are still in the
    history. Everything else in a session is protected, whatever its age.
    ## Bad
    delete messages.jsonl
    ## Good
    delete context/pack.json
    ## Fix
    Take the step out of the plan. To archive a whole session, move its folder.
    ## Source
    Source document, Context GC: the rules of what may and must not be deleted.
    """
    uses = uses_by_child(look.session)
    for name in deletions:
        parts = name.split("/")
        origin = look.session.origin(name)
        if parts[0] in (MESSAGES, EVENTS, ".store"):
            yield Hit(origin, f"{shown(name, 60)} is the history itself")
        elif parts[:2] == ["context", "child"] and (used := uses.get(parts[2] if len(parts) > 2 else "")):
            yield Hit(origin, f"{shown(name, 60)} is still used by {listed(used)}")
