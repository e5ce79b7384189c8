"""Lookups that several rules share: blocks and segments, selected items, summaries, omissions, names.

A lookup returns None where the records do not say; nothing is reported here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import TypeAlias

from msgspec import Struct

from ctxview.analysis.wording import excerpt
from ctxview.core.origin import JsonValue, Origin
from ctxview.files.strict_json.values import path_keys, walk
from ctxview.formats.envelope.model import EnvelopeRecords, Record, RecordReference, count, text
from ctxview.formats.envelope.vocabulary import RecordKind
from ctxview.formats.envelope.word_lists import (
    APPROVAL_KEYS,
    APPROVAL_WORDS,
    FRESH,
    OUTCOME_EVENTS,
    OUTCOME_OF,
    OUTCOME_WORDS,
    PERMISSION_VERBS,
    STATE_KEYS,
)

Path: TypeAlias = tuple[str | int, ...]
Value: TypeAlias = JsonValue | Mapping[str, JsonValue]
DEEPEST = 60
"""How deep rules look into a value: no real record is deeper, but a hostile one may be."""
_OUTCOME = re.compile(rf"(?:is_|has_)?(?:{'|'.join(OUTCOME_OF)})_(?:{'|'.join(OUTCOME_WORDS)})")
_ENDED = tuple(word for word in OUTCOME_WORDS if word not in STATE_KEYS)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class SizedPart(Struct, frozen=True):
    """One block of an assembly, or one segment of a window."""

    record: Record
    name: str
    """The list that holds it."""
    at: int
    members: Mapping[str, JsonValue]
    refs: tuple[RecordReference, ...] | None
    """Its item references; None when it does not list any."""

    @property
    def id(self) -> str:
        """The id or number for messages."""
        own = self.text("block_id") or self.text("segment_id")
        return excerpt(own) if own else f"number {self.at + 1}"

    def text(self, name: str) -> str | None:
        return text(self.members.get(name))

    def count(self, name: str) -> int | None:
        return count(self.members.get(name))

    def number(self, name: str) -> float | None:
        value = self.members.get(name)
        return value if isinstance(value, int | float) and not isinstance(value, bool) else None

    def object(self, name: str) -> Mapping[str, JsonValue]:
        value = self.members.get(name)
        return value if isinstance(value, dict) else {}

    def origin(self, *path: str | int) -> Origin:
        return self.record.origin(self.name, self.at, *path)


def blocks(assembly: Record) -> tuple[SizedPart, ...]:
    return tuple(_parts(assembly, "ordered_blocks"))


def segments(budget: Record) -> tuple[SizedPart, ...]:
    return tuple(_parts(budget, "window_segments"))


def _parts(record: Record, name: str) -> Iterator[SizedPart]:
    found: dict[str | int, list[RecordReference]] = {}
    for reference in record.references:
        if reference.path[0] == name and reference.name == "item_refs":
            found.setdefault(reference.path[1], []).append(reference)
    for at, members in record.objects(name):
        has_list = isinstance(members.get("item_refs"), list)
        yield SizedPart(record, name, at, members, tuple(found.get(at, ())) if has_list else None)


def truncations(budget: Record) -> list[JsonValue]:
    """The truncation records of a budget and of its segments, of any shape."""
    homes = (budget.value, *(each.members for each in segments(budget)))
    lists = (home.get("truncation_records") for home in homes)
    return [each for found in lists if isinstance(found, list) for each in found if not is_blank(each)]


def ids(references: Iterable[RecordReference]) -> tuple[str, ...]:
    """The ids that `references` name, each once, in order."""
    return tuple(dict.fromkeys(each.id for each in references if each.id is not None))


def assembled_items(assembly: Record) -> tuple[str, ...]:
    """The ids of the items in the blocks of an assembly."""
    return ids(each for block in blocks(assembly) for each in block.refs or ())


def selected(records: EnvelopeRecords) -> frozenset[str] | None:
    """The ids of all selected items; None when no selection lists any."""
    selections = [each for each in records.of(RecordKind.SELECTION) if "selected_item_refs" in each.value]
    if not selections:
        return None
    return frozenset(name for each in selections for name in ids(each.refs("selected_item_refs")))


def summary_ids(records: EnvelopeRecords) -> frozenset[str]:
    """The ids of the summaries, which may replace the items they were made of."""
    summaries = (each.id for each in records.of(RecordKind.SUMMARY) if each.id is not None)
    made = (name for each in records.of(RecordKind.COMPACTION) for name in ids(each.refs("summary_ref")))
    return frozenset((*summaries, *made))


def omissions(selections: Iterable[Record], *reasons: str) -> Iterator[RecordReference]:
    """Yield the omissions with one of these reasons."""
    for selection in selections:
        for reference in selection.refs("omitted_item_refs"):
            if reference.members.get("reason") in reasons:
                yield reference


def id_of(record: Record) -> str:
    """The id of a record for a message that has named its kind."""
    return excerpt(record.id) if record.id else "without an id"


def label(record: Record) -> str:
    """The id of a record for a message, with its kind when it has no id."""
    return excerpt(record.id) if record.id else f"a {record.kind} without an id"


def members(value: Value) -> Iterator[tuple[Path, Value]]:
    """Yield everything inside a value with its path, in order."""
    inside = walk(dict(value) if isinstance(value, Mapping) else value, DEEPEST - 1)
    yield from ((path_keys(path), found) for path, found in inside if path is not None)


def member_strings(value: Value) -> Iterator[tuple[Path, str]]:
    """Yield every text inside a value with its path."""
    if isinstance(value, str):
        yield (), value
    for path, found in members(value):
        if isinstance(found, str):
            yield path, found


def approves(key: str, value: Value) -> bool:
    """Whether a member grants a permission: it has a name such as `approved`, and its value says yes."""
    key = re.sub(r"^(?:is|was|has|has_been)_", "", key)
    if key not in APPROVAL_KEYS:
        return False
    word = value.strip().casefold() if isinstance(value, str) else ""
    return value is True or word in (*APPROVAL_WORDS, "yes", "true") or (key.endswith("_by") and word != "")


def is_approval_word(value: Value) -> bool:
    return isinstance(value, str) and value.strip().casefold() in APPROVAL_WORDS


# The same names occur in every record.
@lru_cache(maxsize=4096)
def names_an_outcome(name: str) -> bool:
    """Whether a name such as `turn_status` or `toolSucceeded` states an outcome."""
    return _OUTCOME.fullmatch(snake_case(name)) is not None


def is_outcome_event(type_: str) -> bool:
    """Whether an event type states an outcome: `turn.…`, or `….turn.completed` or `….approved` in it."""
    parts = type_.lower().split(".")
    pairs = (f"{one}_{two}" for one, two in pairwise(parts))
    # The approval of a summary is its validation, and not a permission.
    if "summary" not in parts and any(part in APPROVAL_WORDS for part in parts):
        return True
    return type_.lower().startswith(OUTCOME_EVENTS) or any(map(names_an_outcome, (*parts, *pairs)))


def is_outcome_value(name: str, value: Value) -> bool:
    """Whether a member such as `"policy": "allow"` says by its value how something of the runtime ended."""
    return (
        snake_case(name) in OUTCOME_OF
        and isinstance(value, str)
        and value.strip().casefold() in (*_ENDED, *APPROVAL_WORDS, *PERMISSION_VERBS)
    )


def snake_case(name: str) -> str:
    return _HUMP.sub("_", name).lower().replace("-", "_")


def is_blank(value: JsonValue) -> bool:
    """Whether a value is absent, empty, or only spaces."""
    return value is None or value in ({}, []) or (isinstance(value, str) and not value.strip())


class ReasonEvidence:
    """Checks omission reasons against the records of an envelope."""

    def __init__(self, records: EnvelopeRecords) -> None:
        self._records = records
        # Without an envelope, the record that supports a reason may be elsewhere.
        self._is_part = records.envelope is None

    def why_not(self, selection: Record, omission: RecordReference, reason: str) -> str | None:
        """Why the records do not support `reason`, as the end of a sentence, or None."""
        match reason:
            case "budget_limit":
                homes = (selection.value, omission.members)
                is_named = not all(is_blank(each.get("budget_ref")) for each in homes)
                return None if is_named or self._is_part else "no budget_ref names the budget"
            case "superseded_by_summary":
                is_covered = omission.id in self._covered
                return None if is_covered or self._is_part else "no compaction or summary covers it"
            case "policy_blocked" | "permission_missing":
                has_policy = self._has_policy(selection, omission)
                return None if has_policy or self._is_part else "no policy and no gap says so"
            case "not_visible_to_target":
                return self._why_visible(selection, omission)
            case "stale":
                item = self._records.resolve(omission)
                return _why_fresh(item) if item is not None else None
        return None

    @cached_property
    def _covered(self) -> frozenset[str]:
        """The ids of items that a summary covers."""
        makers = (*self._records.of(RecordKind.COMPACTION), *self._records.of(RecordKind.SUMMARY))
        return frozenset(name for each in makers for name in ids(each.refs("source_item_refs")))

    @cached_property
    def _asked_for(self) -> frozenset[str]:
        return words_of_gaps(self._records)

    def _has_policy(self, selection: Record, omission: RecordReference) -> bool:
        item = self._records.resolve(omission)
        homes = (selection.value, omission.members, item.value if item is not None else {})
        if any(not is_blank(each.get(name)) for each in homes for name in ("policy_refs", "policy_ref")):
            return True
        return omission.id in self._asked_for

    def _why_visible(self, selection: Record, omission: RecordReference) -> str | None:
        """Why the target of the selection may see the item, or None."""
        item = self._records.resolve(omission)
        budgets = self._records.targets_of(selection.refs("budget_ref"))
        targets = [text(omission.members.get("target")), *(each.text("target") for each in budgets)]
        target = next((each for each in targets if each), None)
        if item is None or target is None or target not in item.texts("visibility"):
            return None
        return f"it is visible to {excerpt(target)}"


def words_of_gaps(records: EnvelopeRecords) -> frozenset[str]:
    """All texts in the records of missing context: an id among them was asked for."""
    return frozenset(word for gap in records.of(RecordKind.MISSING) for _, word in member_strings(gap.value))


def _why_fresh(item: Record) -> str | None:
    freshness = item.value.get("freshness")
    if is_blank(freshness):
        return "its freshness is not recorded"
    members = freshness if isinstance(freshness, dict) else {}
    word = (text(freshness) or text(members.get("status")) or "").casefold()
    return f"its freshness is {word}" if word in FRESH else None
