"""Text search in the loaded items of one reading, and the next step into its history. No toolkit.

A needle in lower case matches both cases; a capital letter makes the search case-sensitive.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

from msgspec import Struct

from ctxview.core.findings import Finding
from ctxview.core.flow import FlowNode
from ctxview.core.origin import JsonValue
from ctxview.core.state import Block, Budget, ContextState, Gap, Ref, Todo, TodoItem
from ctxview.core.transcript import END, Transcript
from ctxview.files.strict_json.values import all_values
from ctxview.tui.model.jobs import Job, JobControl
from ctxview.tui.model.reading_index import ItemId, ItemKind, ItemValue, ReadingIndex, message_id

MOST_HITS = 10_000


class SearchHit(Struct, frozen=True):
    """An item that contains the needle; for a long text also the number of the line."""

    item: ItemId
    line: int | None = None


class SearchHits(Struct, frozen=True):
    """The hits of one search in pane order. `capped`: there are more than `MOST_HITS`."""

    needle: str = ""
    found: tuple[SearchHit, ...] = ()
    capped: bool = False

    def counts(self) -> dict[ItemKind, int]:
        counted: dict[ItemKind, int] = {}
        for hit in self.found:
            counted[hit.item.kind] = counted.get(hit.item.kind, 0) + 1
        return counted

    def next_after(
        self, current: SearchHit | None, item: ItemId | None, *, back: bool = False
    ) -> SearchHit | None:
        """The hit after `current`, else the first one in `item`, else the first of all; wraps around."""
        if not self.found:
            return None
        if current in self.found:
            step = -1 if back else 1
            return self.found[(self.found.index(current) + step) % len(self.found)]
        return next((hit for hit in self.found if hit.item == item), self.found[-1 if back else 0])


def search_reading(needle: str, index: ReadingIndex) -> SearchHits:
    matches = pattern(needle)
    if matches is None:
        return SearchHits(needle)
    found: list[SearchHit] = []
    for hit in _hits(matches, index):
        if len(found) == MOST_HITS:
            return SearchHits(needle, tuple(found), capped=True)
        found.append(hit)
    return SearchHits(needle, tuple(found))


def pattern(needle: str) -> re.Pattern[str] | None:
    """The pattern that finds and marks a needle; None for an empty one."""
    if not needle.strip():
        return None
    return re.compile(re.escape(needle), 0 if needle != needle.lower() else re.IGNORECASE)


def _hits(matches: re.Pattern[str], index: ReadingIndex) -> Iterator[SearchHit]:
    for item, value in index.items.items():
        if item.kind is ItemKind.TEXT and isinstance(value, str):
            for number, line in enumerate(value.split("\n")):
                if matches.search(line):
                    yield SearchHit(item, number)
        elif any(matches.search(word) for word in _words(value) if word):
            yield SearchHit(item)


def _words(value: ItemValue) -> Iterator[str | None]:
    match value:
        case Block():
            yield from (value.id, value.tier, value.type, value.text, value.why, value.state, *value.tags)
        case Todo():
            yield value.summary
            if value.cursor is not None:
                yield from (value.cursor.phase, value.cursor.next, value.cursor.note)
        case TodoItem():
            yield from (value.title, value.status)
        case Budget():
            yield value.target
            yield from (segment.name for segment in value.segments)
        case Ref():
            yield from (value.id, value.kind, value.target, value.status, value.text, *value.used_by)
        case Gap():
            yield from (value.id, value.question, value.severity, value.status, value.why, *value.blocks)
        case FlowNode() if value.block is None:
            yield from (value.id, value.label, value.detail, str(value.text))
        case Finding():
            yield from (value.rule, value.message, str(value.origin), value.origin.pointer)
        case ContextState():
            yield from (value.title, value.revision, *value.extra.values())
            for field in value.form.fields if value.form is not None else ():
                yield field.name
                yield from _strings(field.value)
        case str():
            yield value


def _strings(value: JsonValue) -> Iterator[str]:
    for each in all_values(value):
        if isinstance(each, str):
            yield each
        elif isinstance(each, dict):
            yield from each


class HistorySearch(Struct, frozen=True):
    """A search to run in the history. `around`: continue from its other end, when nothing else was found."""

    needle: str
    start: int
    back: bool
    around: bool


def next_history_search(
    hits: SearchHits,
    hit: SearchHit | None,
    selected: ItemId | None,
    history: Transcript | None,
    *,
    back: bool,
) -> HistorySearch | None:
    """Where in the history to search for the next hit; None when the next hit is a loaded item."""
    if history is None or not hits.needle.strip():
        return None
    around = not hits.found
    current = hit.item if hit is not None else selected
    if current is not None and current.kind is ItemKind.MESSAGE:
        row = int(current.name)
        # The first step of a search may stay at the selected message, every later one moves on.
        start = row if back or hit is None else END if row == -1 else row + 1
        return HistorySearch(hits.needle, start, back, around)
    if hit is None and not back:
        return HistorySearch(hits.needle, 0, back, around) if around else None
    edge = not hits.found or hit is None or hit == hits.found[0 if back else -1]
    return HistorySearch(hits.needle, END if back else 0, back, around) if edge else None


class HistoryHit(Struct, frozen=True):
    """The result of a search in the history; None when nothing was found."""

    hit: SearchHit | None


class FindInHistory(Job, frozen=True, eq=False):
    """Search the history, while a person waits."""

    group: ClassVar[str] = "searching"
    foreground: ClassVar[bool] = True
    history: Transcript
    search: HistorySearch

    def run(self, control: JobControl) -> HistoryHit:
        def is_cancelled() -> bool:
            return control.stopped

        search = self.search
        row = self.history.find(search.needle, search.start, search.back, is_cancelled)
        if row is None and search.around and not control.stopped:
            start = END if search.back else 0
            row = self.history.find(search.needle, start, search.back, is_cancelled)
        return HistoryHit(SearchHit(message_id(row)) if row is not None else None)


class Search:
    """The search of the inspector: its hits, the one that is selected, and the history search that runs."""

    def __init__(self) -> None:
        self.hits = SearchHits()
        self.hit: SearchHit | None = None
        self.job: FindInHistory | None = None
        self._stepped = False

    @property
    def status(self) -> str:
        """The place among the hits, or that the history is searched, for the header."""
        if self.job is not None:
            return "searching the history…"
        if self.hit is None or not self._stepped:
            return ""
        if self.hit not in self.hits.found:
            return f"hit in message {int(self.hit.item.name) + 1:,}"
        more = "+" if self.hits.capped else ""
        return f"hit {self.hits.found.index(self.hit) + 1} of {len(self.hits.found)}{more}"

    def begin(self, needle: str, index: ReadingIndex | None) -> None:
        self.hit = self.job = None
        self.hits = search_reading(needle, index) if index is not None else SearchHits(needle)

    def update(self, index: ReadingIndex) -> None:
        """Search another reading for the same needle."""
        if self.hits.needle:
            self.hits = search_reading(self.hits.needle, index)
        if self.hit is not None and self.hit.item.kind is not ItemKind.MESSAGE:
            # A hit of the reading before; a message of the history needs no reading.
            self.hit = self.hit if self.hit in self.hits.found else None

    def forget(self) -> None:
        """Drop the hits but not the needle."""
        self.hits, self.hit = SearchHits(self.hits.needle), None

    def reading_started(self) -> None:
        """Stop showing the place among the hits: the reading will change them."""
        self._stepped = False

    def step(
        self, selected: ItemId | None, history: Transcript | None, *, back: bool
    ) -> FindInHistory | None:
        """Go to the next hit, or return the job that searches the history for it."""
        search = next_history_search(self.hits, self.hit, selected, history, back=back)
        self._stepped = True
        if history is not None and search is not None:
            self.job = FindInHistory(history, search)
            return self.job
        self.hit = self.hits.next_after(self.hit, selected, back=back)
        return None

    def found(self, job: FindInHistory, hit: SearchHit | None) -> bool:
        """Take the result of a job; False when another search was begun since."""
        if job is not self.job:
            return False
        self.job = None
        loaded = self.hits.found[-1 if job.search.back else 0] if self.hits.found else None
        self.hit = hit or loaded
        return True
