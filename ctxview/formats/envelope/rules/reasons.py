"""Whether the reason for leaving an item out is borne out by the records; unknown counts as borne out."""

from __future__ import annotations

from functools import cached_property

from ctxview.analysis.wording import shown
from ctxview.formats.envelope.model import Dossier, Record, Reference, text
from ctxview.formats.envelope.our_words import FRESH
from ctxview.formats.envelope.rules.lookup import ids, is_blank, strings
from ctxview.formats.envelope.vocabulary import Kind


class Backing:
    """What the records of a dossier say for and against such reasons."""

    def __init__(self, dossier: Dossier) -> None:
        self._dossier = dossier

    def why_not(self, selection: Record, omission: Reference, reason: str) -> str | None:
        """What speaks against a reason, as the end of a sentence; None when nothing does."""
        match reason:
            case "budget_limit":
                homes = (selection.value, omission.members)
                is_named = not all(is_blank(each.get("budget_ref")) for each in homes)
                return None if is_named else "no budget_ref says which budget that was"
            case "superseded_by_summary":
                return None if omission.id in self._covered else "no compaction or summary covers it"
            case "policy_blocked" | "permission_missing":
                return None if self._has_policy(selection, omission) else "no policy and no gap says so"
            case "not_visible_to_target":
                return self._why_visible(selection, omission)
            case "stale":
                item = self._dossier.resolve(omission)
                return _why_fresh(item) if item is not None else None
            case _:
                return None

    @cached_property
    def _covered(self) -> frozenset[str]:
        """The items that a summary stands for."""
        makers = (*self._dossier.of(Kind.COMPACTION), *self._dossier.of(Kind.SUMMARY))
        return frozenset(name for each in makers for name in ids(each.refs("source_item_refs")))

    @cached_property
    def _asked_for(self) -> frozenset[str]:
        return words_of_gaps(self._dossier)

    def _has_policy(self, selection: Record, omission: Reference) -> bool:
        item = self._dossier.resolve(omission)
        homes = (selection.value, omission.members, item.value if item is not None else {})
        if any(not is_blank(each.get(name)) for each in homes for name in ("policy_refs", "policy_ref")):
            return True
        return omission.id in self._asked_for

    def _why_visible(self, selection: Record, omission: Reference) -> str | None:
        """The target of the selection may see the item after all."""
        item = self._dossier.resolve(omission)
        budgets = self._dossier.targets_of(selection.refs("budget_ref"))
        targets = [text(omission.members.get("target")), *(each.text("target") for each in budgets)]
        target = next((each for each in targets if each), None)
        if item is None or target is None or target not in item.texts("visibility"):
            return None
        return f"it is visible to {shown(target)}"


def words_of_gaps(dossier: Dossier) -> frozenset[str]:
    """Every text in the records of missing context: what is named there was asked for."""
    return frozenset(word for gap in dossier.of(Kind.MISSING) for _, word in strings(gap.value))


def _why_fresh(item: Record) -> str | None:
    freshness = item.value.get("freshness")
    if is_blank(freshness):
        return "its freshness is not recorded"
    members = freshness if isinstance(freshness, dict) else {}
    word = (text(freshness) or text(members.get("status")) or "").casefold()
    return f"its freshness is {word}" if word in FRESH else None
