"""The rule about files that a collection must never delete (ABI048).

In the examples `delete NAME` is a step of a collection plan for a sound session.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ctxview.analysis.wording import excerpt, listed
from ctxview.core.findings import Effect, Hit, Severity, rule
from ctxview.formats.session import EVENTS, MESSAGES
from ctxview.formats.session.store.blobs import uses_by_child
from ctxview.formats.session.survey.facts import SessionFacts


@rule("ABI048", name="gc-plan", severity=Severity.ERROR, effect=Effect.DELETED)
def gc_plan(facts: SessionFacts, deletions: Sequence[str]) -> Iterator[Hit]:
    """A plan to collect would delete the history, or a child's result that is still referred to.

    ## Why
    Only files that can be rebuilt may be deleted: the pack, unreferenced blobs, and chunks whose lines are
    still in the history. Everything else in a session is protected, however old it is.
    ## Bad
    delete messages.jsonl
    ## Good
    delete context/pack.json
    ## Fix
    Take the step out of the plan. To archive a whole session, move its folder.
    ## Source
    Source document, Context GC: the rules of what may and must not be deleted.
    """
    uses = uses_by_child(facts.session)
    for name in deletions:
        parts = name.split("/")
        origin = facts.session.origin(name)
        if parts[0] in (MESSAGES, EVENTS, ".store"):
            yield Hit(origin, f"{excerpt(name, 60)} is the history itself")
        elif parts[:2] == ["context", "child"] and (used := uses.get(parts[2] if len(parts) > 2 else "")):
            yield Hit(origin, f"{excerpt(name, 60)} is still used by {listed(used)}")
