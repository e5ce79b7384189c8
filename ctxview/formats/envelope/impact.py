"""Which omissions may have changed the answer: left out, although they scored as high as what was kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import inf

from ctxview.formats.envelope.fates import Fate, Omission
from ctxview.formats.envelope.model import Record
from ctxview.origin import JsonValue
from ctxview.quick_dataclass import dataclass

STILL_THERE = ("duplicate", "superseded_by_summary")
"""Reasons that say the content is there in another form."""
SCORES = ("relevance", "score")
"""The signals that rank, the first that is there; others are reasons beside the rank."""


@dataclass(frozen=True, slots=True)
class Impact:
    """An omission, and why it may matter."""

    fate: Fate
    omission: Omission
    why: str


def high_impact(fates: Mapping[str, Fate]) -> Iterator[Impact]:
    """Omitted items that scored at least as high as the lowest selected one, or that somebody pinned."""
    lowest: dict[Record, float | None] = {}
    for fate in fates.values():
        for omission in fate.omitted:
            if fate.injected or fate.selected_by or omission.reason in STILL_THERE:
                continue
            selection = omission.selection
            if selection not in lowest:
                lowest[selection] = lowest_selected(selection)
            if (why := _why(fate.id, selection, lowest[selection])) is not None:
                yield Impact(fate, omission, why)


def score(selection: Record, item: str | None) -> float | None:
    """How a selection ranked an item; None when it does not say."""
    signals = selection.object("ranking_signals").get(item or "")
    if isinstance(signals, dict):
        return next((found for name in SCORES if (found := _number(signals.get(name))) is not None), None)
    return _number(signals)


def is_pinned(selection: Record, item: str) -> bool:
    signals = selection.object("ranking_signals").get(item)
    return isinstance(signals, dict) and bool(signals.get("user_pin"))


def lowest_selected(selection: Record) -> float | None:
    """The lowest score with which something was selected; None when no selected item has one."""
    scores = (score(selection, each.id) for each in selection.refs("selected_item_refs"))
    return min((each for each in scores if each is not None), default=None)


def _why(item: str, selection: Record, least: float | None) -> str | None:
    if is_pinned(selection, item):
        return "a person had pinned it"
    own = score(selection, item)
    if own is None or least is None or own < least:
        return None
    return f"it scored {own:g}; the lowest that was selected scored {least:g}"


def _number(value: JsonValue) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf
