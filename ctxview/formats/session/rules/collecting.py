"""The rules about how collecting is set up, and what is gone that should have stayed (ABI047, 049).

Examples change a sound session, as in `layout`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxview.analysis.wording import quoted, shown
from ctxview.findings import Effect, Hit, Severity, rule
from ctxview.formats.session.child_uses import child_uses
from ctxview.formats.session.folder import EntryKind
from ctxview.formats.session.look import Look
from ctxview.formats.session.names import duration

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
