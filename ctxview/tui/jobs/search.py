"""The search of the inspector: goes from hit to hit, and searches the history in a thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxview.core.transcript import END, Transcript
from ctxview.tui.drawing.rows import hit_count_line
from ctxview.tui.drawing.text import Line
from ctxview.tui.jobs.runner import Cancelled, cancel_check, start_thread
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.reading_index import message_id
from ctxview.tui.model.search import HistorySearch, SearchHit, next_history_search, pattern
from ctxview.tui.panes.text import TextPane

if TYPE_CHECKING:
    from ctxview.tui.screens.inspector import InspectorScreen


def find_hit(history: Transcript, search: HistorySearch, cancelled: Cancelled) -> SearchHit | None:
    """Run a search in the history."""
    row = history.find(search.needle, search.start, search.back, cancelled)
    if row is None and search.around and not cancelled():
        row = history.find(search.needle, END if search.back else 0, search.back, cancelled)
    return SearchHit(message_id(row)) if row is not None else None


GROUP = "searching"
BUSY = "searching the history…"


class SearchController:
    def __init__(self, screen: InspectorScreen) -> None:
        self._screen = screen

    def search_for(self, needle: str) -> Line:
        screen, model = self._screen, self._screen.model
        screen.workers.cancel_group(screen, GROUP)
        if screen.header.status == BUSY:
            screen.header.status = ""
        model.search_for(needle)
        matches = pattern(needle)
        for pane in screen.panes.values():
            pane.mark(matches)
        screen.refresh_bars()
        return hit_count_line(model.hits, len(model.transcript or ()))

    def step(self, *, back: bool) -> None:
        screen, model = self._screen, self._screen.model
        if not model.hits.needle:
            screen.say("There is no search yet: press / first.")
            return
        transcript = model.transcript
        search = next_history_search(model.hits, model.hit, screen.selected, transcript, back=back)
        if transcript is None or search is None:
            self._show(model.next_hit(screen.selected, back=back))
            return
        screen.header.status = BUSY
        screen.refresh_bars()
        start_thread(screen, lambda: self._search_history(transcript, search), GROUP)

    def _search_history(self, transcript: Transcript, search: HistorySearch) -> None:
        cancelled = cancel_check()
        with self._screen.priority.foreground():
            hit = find_hit(transcript, search, cancelled)
        if not cancelled():
            self._screen.app.call_from_thread(self._found, search, hit)

    def _found(self, search: HistorySearch, hit: SearchHit | None) -> None:
        model = self._screen.model
        if search.needle != model.hits.needle:
            return
        self._screen.header.status = ""
        self._screen.history.grow()
        model.hit = hit or model.first_hit(last=search.back)
        self._show(model.hit)

    def _show(self, hit: SearchHit | None) -> None:
        screen, hits = self._screen, self._screen.model.hits
        if hit is None:
            screen.refresh_bars()
            where = "in what is loaded or in the history" if screen.model.transcript else "in what is loaded"
            screen.say(f"“{hits.needle}” was not found {where}.", severity="warning")
            return
        screen.go_to(hit.item, remember=False)
        text = screen.panes[Pane.TEXT]
        if hit.line is not None and isinstance(text, TextPane):
            text.go_to_line(hit.line)
        if hit in hits.found:
            more = "+" if hits.capped else ""
            screen.header.status = f"hit {hits.found.index(hit) + 1} of {len(hits.found)}{more}"
        else:
            screen.header.status = f"hit in message {int(hit.item.name) + 1:,}"
        screen.refresh_bars()
