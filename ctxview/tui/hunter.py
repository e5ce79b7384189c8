"""Walks the inspector from hit to hit; looking for the next one in a history is done in a thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxview.state import Transcript
from ctxview.tui import hunt
from ctxview.tui.layout import Pane
from ctxview.tui.panes.prose import TextPane
from ctxview.tui.search import Hit, hit_counts, pattern
from ctxview.tui.text import Line
from ctxview.tui.threads import cancelled, in_thread

if TYPE_CHECKING:
    from ctxview.tui.screens.inspector import Inspector

GROUP = "searching"
BUSY = "searching the history…"


class Hunter:
    def __init__(self, screen: Inspector) -> None:
        self._screen = screen

    def look_for(self, needle: str) -> Line:
        screen, view = self._screen, self._screen.view
        self._stop()
        view.look_for(needle)
        matches = pattern(needle)
        for pane in screen.panes.values():
            pane.mark(matches)
        screen.refresh_bars()
        return hit_counts(view.hits, len(view.transcript or ()))

    def step(self, *, back: bool) -> None:
        screen, view = self._screen, self._screen.view
        if not view.hits.needle:
            screen.say("Nothing is searched for yet: press / first.")
            return
        transcript = view.transcript
        trail = hunt.trail(view.hits, view.hit, screen.selected, transcript, back=back)
        if transcript is None or trail is None:
            self._show(view.next_hit(screen.selected, back=back))
            return
        screen.header.status = BUSY
        screen.refresh_bars()
        in_thread(screen, lambda: self._hunt(transcript, trail), GROUP)

    def _stop(self) -> None:
        self._screen.workers.cancel_group(self._screen, GROUP)
        if self._screen.header.status == BUSY:
            self._screen.header.status = ""

    def _hunt(self, transcript: Transcript, trail: hunt.Trail) -> None:
        given_up = cancelled()
        with self._screen.precedence.errand():
            hit = hunt.find(transcript, trail, given_up)
        if not given_up():
            self._screen.app.call_from_thread(self._found, trail, hit)

    def _found(self, trail: hunt.Trail, hit: Hit | None) -> None:
        view = self._screen.view
        if trail.needle != view.hits.needle:
            return
        self._screen.header.status = ""
        self._screen.history.grow()
        view.hit = hit or view.first_hit(last=trail.back)
        self._show(view.hit)

    def _show(self, hit: Hit | None) -> None:
        screen, hits = self._screen, self._screen.view.hits
        if hit is None:
            screen.refresh_bars()
            searched = "neither in what is loaded nor in the history"
            where = f", {searched}" if screen.view.transcript else " in what is loaded"
            screen.say(f"“{hits.needle}” is nowhere{where}.", severity="warning")
            return
        screen.go_to(hit.thing, remember=False)
        text = screen.panes[Pane.TEXT]
        if hit.line is not None and isinstance(text, TextPane):
            text.go_to_line(hit.line)
        if hit in hits.found:
            more = "+" if hits.capped else ""
            screen.header.status = f"hit {hits.found.index(hit) + 1} of {len(hits.found)}{more}"
        else:
            screen.header.status = f"hit in message {int(hit.thing.name) + 1:,}"
        screen.refresh_bars()
