"""The rules about what may be collected, and what must stay (ABI047 to 049).

Examples change a sound session, as in `layout`; `delete NAME` is a step of a collection plan.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ctxview.analysis.wording import listed, quoted, shown
from ctxview.findings import Effect, Hit, Severity, rule
from ctxview.formats.session.child_uses import child_uses, uses_by_child
from ctxview.formats.session.folder import EntryKind
from ctxview.formats.session.look import Look
from ctxview.formats.session.names import EVENTS, MESSAGES, duration

DURATIONS = ("pack_ttl", "swap_ttl")
SWITCHES = ("keep_messages", "keep_events")
COUNTS = ("dedup_min_refs",)


@rule("ABI047", name="gc-policy", severity=Severity.WARNING)
def gc_policy(look: Look) -> Iterator[Hit]:
    """A line of gc.policy is unknown, cannot be read, or allows the history to be deleted.

    ## Why
    A collector that does not understand a line may keep too much or delete too early. keep_messages=0 and
    keep_events=0 permit what can never be undone; this program asks before it acts on them.
    ## Bad
    context/gc.policy = swap_ttl=soon
    ## Good
    context/gc.policy = swap_ttl=30d
    ## Fix
    Durations are a number and one of s, m, h, d, w; keep_messages and keep_events are 0 or 1.
    ## Source
    Source document, Context GC: the example policy.
    """
    policy, known = look.session.gc, look.profile.words.gc_keys
    for setting in policy.settings:
        key, value = setting.key, setting.value
        origin = policy.origin(setting)
        if not key:
            yield Hit(origin, f"{quoted(value)} is no line of the form key=value")
        elif known and key not in known:
            yield Hit(origin, f"nothing knows the key {quoted(key)}", effect=Effect.IGNORED)
        elif key in DURATIONS and duration(value) is None:
            yield Hit(origin, f"{key} is {quoted(value)}, not a duration such as 30d")
        elif key in SWITCHES and value not in ("0", "1"):
            yield Hit(origin, f"{key} is {quoted(value)}, not 0 or 1")
        elif key in SWITCHES and value == "0":
            yield Hit(origin, f"{key}=0 permits the history itself to be deleted", effect=Effect.DELETED)
        elif key in COUNTS and not (value.isascii() and value.isdigit()):
            yield Hit(origin, f"{key} is {quoted(value)}, not a number")


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


@rule("ABI049", name="child-result-gone", severity=Severity.ERROR)
def child_result_gone(look: Look) -> Iterator[Hit]:
    """Something refers to the result of a child, and that result is gone.

    ## Why
    A child's result must not be deleted while the parent's context refers to it. Here it was: what the pack,
    the references, the plan or the dedup index point to cannot be had any more.
    ## Bad
    context/child/rev-1/result.md (absent)
    ## Good
    context/child/rev-1/result.md = All good.
    ## Fix
    Ask the child again, or remove what refers to it.
    ## Source
    Source document, Context GC: must not delete a child result while parent context references it.
    """
    for use in child_uses(look.session):
        if use.result and look.session.folder.entry(use.name).kind is not EntryKind.FILE:
            yield Hit(use.origin, f"{shown(use.user)} refers to {quoted(use.name, 60)}, which is gone")
