"""Events of a revision that change what the model knows: a loss, a planned cut, a stage of the runtime."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct

from ctxview.analysis.diff.model import Change, ChangeGroup, ChangeKind, StateDiff
from ctxview.analysis.revisions.window import main_budget, stage_of
from ctxview.analysis.wording import counted, excerpt, listed
from ctxview.core.findings import Effect, Finding
from ctxview.core.state import ContextState

EventKind = Literal["loss", "cut", "stage", "noted", "shown", "broken"]

_NOTED = frozenset(("branch", "resume", "model", "child"))
"""The kinds of events on the timeline of a transcript that are events of a revision."""

_LOSSES = (Effect.WIPED, Effect.DELETED, Effect.DROPPED)


class RevisionEvent(Struct, frozen=True):
    """An event in a few words. `blocks` are the blocks, by tier and id, that left with it."""

    kind: EventKind
    text: str
    detail: str = ""
    blocks: tuple[tuple[str, str], ...] = ()
    rule: str | None = None
    """The rule that the event breaks."""
    word: str = ""
    """What to say where there is room for one word; without it the first one of the text."""


def find_events(
    change: StateDiff | None,
    before: ContextState | None,
    state: ContextState,
    is_reply: bool,
    findings: Sequence[Finding],
) -> Iterator[RevisionEvent]:
    """Yield the events of a revision; `change` is its difference to `before`."""
    if not state.tiers and state.missing:
        yield RevisionEvent("broken", "cannot be read", excerpt(state.missing[0].why, 90))
    if change is None or before is None:
        return
    changes = change.of(ChangeGroup.BLOCKS)
    removed = [each for each in changes if each.kind is ChangeKind.REMOVED]
    stage = None if is_reply else stage_of(main_budget(state.budgets))
    if stage is not None:
        yield RevisionEvent("stage", stage, _stage_effect(removed))
    yield from _compactions(change)
    yield from _noted(before, state) if state.log is not None else ()
    lost = [each for each in removed if not each.why and not each.in_history]
    if lost and not state.shown_only and not before.shown_only:
        yield _loss(lost, removed, is_reply, findings)
    yield from _closed_tiers(before, state) if not is_reply else ()
    again = [each.subject for each in changes if each.visibility == "shown"]
    if again:
        yield RevisionEvent("shown", f"{listed(again, 2)} shown again", word="shown")


def compaction_event(removed: Sequence[Change]) -> RevisionEvent:
    """The event of a revision that is the moment after a compaction."""
    left = f": {counted(len(removed), 'block')} left the window" if removed else ""
    return RevisionEvent("cut", f"compaction{left}")


def _stage_effect(removed: Sequence[Change]) -> str:
    if not removed:
        return "no block was removed"
    shown = sum(not each.why for each in removed)
    blocks = f"{counted(len(removed), 'block')} removed"
    return f"{blocks}, {shown} of them shown before" if shown else f"{blocks}, none was shown"


def _compactions(change: StateDiff) -> Iterator[RevisionEvent]:
    for each in change.of(ChangeGroup.COMPACTIONS):
        if each.kind is ChangeKind.ADDED:
            took = next((delta.after for delta in each.deltas if delta.name == "took"), None)
            count = counted(len(took), "block") if isinstance(took, list) else "no blocks that it names"
            yield RevisionEvent("cut", f"compaction {excerpt(each.subject)} took {count}")


def _noted(before: ContextState, state: ContextState) -> Iterator[RevisionEvent]:
    """What the log of a transcript tells since the revision before."""
    known = Counter((each.kind, each.origin) for each in before.timeline)
    for each in state.timeline:
        key = each.kind, each.origin
        known[key] -= 1
        if each.kind in _NOTED and known[key] < 0:
            yield RevisionEvent(
                "noted", excerpt(each.label, 90), word="sub-agent" if each.kind == "child" else each.kind
            )


def _loss(
    lost: Sequence[Change], removed: Sequence[Change], is_reply: bool, findings: Sequence[Finding]
) -> RevisionEvent:
    tier, _ = Counter(each.place for each in removed).most_common(1)[0]
    where = f" {excerpt(tier)}" if all(each.place == tier for each in removed) else ""
    verb = "erases" if is_reply else "lost"
    text = f"{verb} {len(removed)}{where} {'block' if len(removed) == 1 else 'blocks'}"
    fault = next((each.rule for each in findings if each.effect in _LOSSES), None)
    never = len(removed) - len(lost)
    detail = f"{never} of them were hidden before" if never else ""
    blocks = tuple((each.place, each.subject) for each in removed)
    return RevisionEvent("loss", text, detail, blocks, fault)


def _closed_tiers(before: ContextState, state: ContextState) -> Iterator[RevisionEvent]:
    """Tiers that keep their blocks, none of which the model is shown any more."""
    shown = {tier.name: sum(block.visible is True for block in tier.blocks) for tier in before.tiers}
    for tier in state.tiers:
        hidden = sum(block.visible is False for block in tier.blocks)
        if hidden and hidden == len(tier.blocks) and shown.get(tier.name, 0) > 1:
            text = f"{excerpt(tier.name)} closed: {hidden} not shown any more"
            yield RevisionEvent("cut", text, word="closed")
