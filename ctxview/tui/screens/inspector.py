"""The main screen: puts the panes together, starts the workers, and passes on what they found.

What is shown lives in `SessionView` and in one reactive; the panes only draw it. What commands do is told in
`ctxview.tui.acts`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from textual import events
from textual.reactive import reactive
from textual.widget import Widget
from textual.worker import Worker, WorkerState

from ctxview.tui import background, bars, loading
from ctxview.tui.commands import bindings
from ctxview.tui.drafts import Drafts
from ctxview.tui.errands import LONG_WORK, Errands
from ctxview.tui.following import LOOKING_AGAIN, Following
from ctxview.tui.homes import HOME
from ctxview.tui.hunter import Hunter
from ctxview.tui.jumps import Jumps
from ctxview.tui.layout import Pane
from ctxview.tui.layouts import Layouts
from ctxview.tui.panes.detail import DetailPane
from ctxview.tui.panes.every import every_pane
from ctxview.tui.panes.history import HistoryPane
from ctxview.tui.panes.lifecycle import LifecyclePane
from ctxview.tui.panes.memory import MemoryPane
from ctxview.tui.panes.pane import PaneLines
from ctxview.tui.player import Show
from ctxview.tui.playing import Playing, Told
from ctxview.tui.precedence import Precedence
from ctxview.tui.query import Query
from ctxview.tui.screens.command_screen import CommandScreen
from ctxview.tui.selecting import first_of, is_in_sight
from ctxview.tui.session_view import SessionView, Shown, Sort
from ctxview.tui.text import Line, content
from ctxview.tui.things import Index, Kind, Thing, words_of
from ctxview.tui.threads import cancelled, in_thread
from ctxview.tui.trending import READING_PAST, Trended, Trending
from ctxview.tui.watching import OnDisk
from ctxview.tui.widgets.deck import Deck
from ctxview.tui.widgets.header import Header
from ctxview.tui.widgets.kept import Kept
from ctxview.tui.widgets.key_bar import KeyBar
from ctxview.tui.widgets.player_bar import PlayerBar
from ctxview.tui.widgets.said import Said
from ctxview.tui.widgets.timeline import Timeline
from ctxview.tui.widgets.virtual_lines import VirtualLines


class Inspector(Kept, CommandScreen[None]):
    BINDINGS = bindings()  # type: ignore[assignment]  # the toolkit asks for a list of three kinds of binding
    AUTO_FOCUS = ""  # else the toolkit brings the first pane, the sources, to the front

    DEFAULT_CSS = """
    Inspector { background: $background; layout: vertical; }
    Inspector #banner { background: $panel; }
    """

    shown: reactive[Shown | None] = reactive(None, repaint=False)
    selected: reactive[Thing | None] = reactive(None, repaint=False)

    def __init__(
        self,
        opener: loading.Opener,
        manner: loading.Manner,
        profile: str | None = None,
        precedence: Precedence | None = None,
        show: Show | None = None,
        ended: Callable[[], None] | None = None,
        *,
        watching: bool = True,
        layouts: Layouts | None = None,
    ) -> None:
        """With a `show` its revisions are played from the first on; `ended` is told when that is over.

        Without `watching` nothing is looked at again unless asked for, without `layouts` sizes are forgotten.
        """
        super().__init__()
        self.precedence = precedence or Precedence()
        self.view = SessionView(profile)
        self.deck = Deck(every_pane(self.view), layouts)
        self.drafts = Drafts(manner, self.view)
        self.jumps = Jumps(self)
        self.finding: Thing | None = None
        """The finding that was stepped to last."""
        self._awaited: Thing | None = None
        self._told: Line = ()
        self._placed: Index | None = None
        self._opener = opener
        self._manner = manner
        self._problem: str | None = None
        self._reading: Worker[None] | None = None
        self.errands = Errands(self, manner)
        self.following = Following(self, manner, opener, watching_alone=watching)
        self._hunter = Hunter(self)
        self.playing = Playing(self, manner, show, ended)
        self.trending = Trending(self, manner)

    def compose(self) -> Iterator[Widget]:
        yield Header(self.view)
        yield Said(id="banner")
        yield self.deck
        yield PlayerBar(self.view, self.playing)
        yield Timeline(self.view)
        yield KeyBar()

    def on_mount(self) -> None:
        self.header = self.query_one(Header)
        self.timeline, self.keys = self.query_one(Timeline), self.query_one(KeyBar)
        self.memory, self.detail = self.query_one(MemoryPane), self.query_one(DetailPane)
        self.history, self.lifecycle = self.query_one(HistoryPane), self.query_one(LifecyclePane)
        self.captions, self._banner = self.query_one(PlayerBar), self.query_one(Said)
        self.header.status = "opening…"
        self.deck.front.focus()
        self.call_after_refresh(self._open)
        self.following.start()

    def on_unmount(self) -> None:
        self.following.stop()

    # -- work in threads -------------------------------------------------------------------------------------

    def _open(self) -> None:
        job = partial(loading.open_all, self._opener, self.post_message)
        in_thread(self, lambda: job(cancelled()), "opening", alone=False)

    def read(self, *, quick: bool = True) -> None:
        """Starts reading what is looked at now; the answer to an older question is dropped."""
        self.view.count_revisions()
        source, look = self.view.source, self.view.look
        if source is None:
            return
        self._problem = None
        self.header.status = "reading…"
        if self.shown is None:
            self.watch_shown(None)
        self.refresh_bars()
        overlay = self.drafts.overlay(look.source)
        self.precedence.paint_first()
        job = partial(loading.read, source, look, self._manner, overlay, self.precedence, self.post_message)
        self._reading = in_thread(self, lambda: job(cancelled(), quick=quick), "reading")

    def on_progressed(self, message: background.Progressed) -> None:
        if self.errands.progressed(message.told):
            self.history.grow()
            self.refresh_bars()

    def on_worked(self, message: background.Worked) -> None:
        if self.errands.worked(message.look):
            self.read(quick=False)

    def on_found(self, message: loading.Found) -> None:
        first = not self.view.sources
        self.view.found(message.sources, message.problems)
        if first and self.view.sources:
            self.playing.found()
            self.read()
        elif message.last and not self.view.sources:
            self._problem = "Nothing here could be opened."
            self.header.status = ""
            self.watch_shown(None)
        self.list_sources()
        self.following.turn()

    def on_ready(self, message: loading.Ready) -> None:
        shown = self.view.take(message.look, message.index, draft=self.drafts.dirty(message.look))
        if shown is None:
            return
        self.header.status = "" if message.final else "counting…"
        self.header.refresh()
        self.shown = shown
        self.call_after_refresh(self.precedence.painted)
        self.following.turn()
        if message.final:
            self.errands.go_on()
            self.playing.arrived()
            self.following.go_on()

    def on_on_disk(self, message: OnDisk) -> None:
        self.following.take(message.seen)

    def on_told(self, message: Told) -> None:
        self.playing.heard(message)

    def on_trended(self, message: Trended) -> None:
        self.trending.take(message)

    async def action_command(self, name: str) -> None:
        self.playing.asked_for(name)
        before = self._pointed_at
        await super().action_command(name)
        now = self._pointed_at
        if now is not None and now != before:
            # Not left to the message about it: cursor and detail are to come in one picture.
            self.selected = now

    def on_key(self, event: events.Key) -> None:
        """A key that means nothing makes the player pause, too."""
        if self.playing.player.playing and event.key not in self.active_bindings:
            self.playing.pause()

    def on_totalled(self, message: loading.Totalled) -> None:
        self.view.totals.update(message.totals)
        self.panes[Pane.SOURCES].reset()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """The one place where work that went wrong is told."""
        if event.state is not WorkerState.ERROR:
            return
        reason = str(event.worker.error) or type(event.worker.error).__name__
        if event.worker.group == LONG_WORK:
            self.errands.stop()
        if event.worker.group == LOOKING_AGAIN:
            self.following.failed()
        if event.worker.group == READING_PAST:
            self.trending.failed()
        if event.worker.name in {"opening", "reading"} and (
            event.worker is self._reading or not self.view.sources
        ):
            self._problem = f"This could not be read: {reason}"
            self.header.status = ""
            self.clear()
            self.watch_shown(None)
        else:
            self.say(reason, severity="error", title=f"{event.worker.name} went wrong")

    # -- one state, many panes -------------------------------------------------------------------------------

    @property
    def panes(self) -> dict[Pane, PaneLines]:
        return self.deck.panes

    def watch_shown(self, shown: Shown | None) -> None:
        if not self.is_mounted:
            return
        with self.app.batch_update():
            status, others = bars.status(self.view, self._problem), bars.elsewhere(self._problem)
            self.memory.sort, self.memory.reverse = self.view.sort, self.view.reverse
            changed = [
                pane
                for pane in self.panes.values()
                if pane.take(shown, status if pane.pane is Pane.MEMORY else others)
            ]
            self._keep_selection(shown)
            if shown is None or shown.index is not self._placed:
                self._placed = shown.index if shown is not None else None
                self.deck.place(len(self.view.sources) + len(self.view.problems))
            for pane in changed:
                pane.reset()
            self.refresh_bars()

    @property
    def _pointed_at(self) -> Thing | None:
        """What the cursor is on in the pane that has the keys."""
        pane = self.focused
        return pane.thing if isinstance(pane, PaneLines) and pane.has_cursor else None

    def watch_selected(self, selected: Thing | None) -> None:
        self.detail.select(selected)

    def on_virtual_lines_moved(self, event: VirtualLines.Moved) -> None:
        if event.widget.has_focus and event.widget is not self.detail:
            self.selected = event.thing

    async def on_virtual_lines_chosen(self) -> None:
        await self.action_command("enter")

    def on_descendant_focus(self) -> None:
        pane = self.focused
        if isinstance(pane, PaneLines):
            if pane is not self.deck.front:
                self.deck.choose(pane.pane)
            self.trending.turn()
            if pane.has_cursor and pane.thing is not None:
                self.selected = pane.thing

    def keep_shown(self, shown: Shown) -> None:
        """Something is shown already, by whoever calls this."""
        self.set_reactive(Inspector.shown, shown)
        self._placed = shown.index

    def rearrange(self) -> None:
        """After another filter or order: the same reading, other rows."""
        self.shown = self.view.rearranged()

    def reordered(self) -> None:
        """After another order: one wants to see what comes first now."""
        self.rearrange()
        self.memory.move_end(last=False)

    def go_to(self, thing: Thing, *, remember: bool = True) -> None:
        """Brings a thing into sight in its own pane."""
        pane = HOME[thing.kind]
        if remember and self.selected is not None and (self.deck.front.pane, self.selected) != (pane, thing):
            self.jumps.remember(self.selected)
        if thing.kind is Kind.BLOCK and self.shown is not None and thing not in self.shown.blocks:
            self.view.query = Query()
            self.rearrange()
            self.say("The filter was cleared, since it hides what you go to.")
        self.deck.choose(pane)
        self.panes[pane].go_to(thing)
        self.selected = thing

    def clear(self) -> None:
        """What was shown belongs to another source, or cannot be read any more."""
        self.view.forget()
        self.finding = None
        self.shown = None

    def drafted(self) -> None:
        """A draft took a step, or was saved: what is shown is to be read again."""
        self.view.edited(self.drafts.steps(self.view.look.source))
        self.read()

    def follow(self, thing: Thing) -> None:
        """Selects a thing as soon as a reading has it."""
        self._awaited = thing

    def list_sources(self) -> None:
        self.panes[Pane.SOURCES].reset()
        self.deck.place(len(self.view.sources) + len(self.view.problems))

    def look_again(self) -> None:
        """Another source, revision or profile was chosen."""
        self.errands.stop_unless(self.view.look)
        self.read()
        self.panes[Pane.SOURCES].reset()

    def try_budget(self, budget: int | None) -> None:
        """What if the budget were this; None for the source's own."""
        if self.view.try_budget(budget):
            self.read()

    # -- search ----------------------------------------------------------------------------------------------

    def look_for(self, needle: str) -> Line:
        return self._hunter.look_for(needle)

    def step_hit(self, *, back: bool) -> None:
        self._hunter.step(back=back)

    def copied_text(self) -> str:
        value = self.shown.index.value(self.selected) if self.shown is not None else None
        return words_of(value) if value is not None else ""

    # -- actions of clicks -----------------------------------------------------------------------------------

    def action_sort_by(self, name: str) -> None:
        self.view.sort_by(Sort[name])
        self.reordered()

    def action_go_to_stage(self, number: int) -> None:
        self.deck.choose(Pane.LIFECYCLE)
        self.lifecycle.show_stage(number)

    def action_go_to_revision(self, number: int) -> None:
        self.stepping = True
        if self.view.go_to_revision(number):
            self.look_again()

    # -- helpers ---------------------------------------------------------------------------------------------

    def _keep_selection(self, shown: Shown | None) -> None:
        if shown is None:
            return
        if self._awaited is not None and shown.index.value(self._awaited) is not None:
            awaited, self._awaited = self._awaited, None
            self.call_after_refresh(self.go_to, awaited, remember=False)
        if is_in_sight(self.selected, shown):
            self.detail.reset()
        else:
            pane = self.deck.front
            self.selected = (pane.thing if pane.has_cursor else None) or first_of(shown)

    def refresh_bars(self) -> None:
        """What stands around the panes: title, timeline, tabs, keys."""
        view = self.view
        self.timeline.display = view.last_revision > 0
        self.deck.set_class(view.as_of is not None, "-past")
        self.captions.display = self.playing.on
        if self.playing.on:
            self.captions.refresh()
        self._banner.say(*bars.banner(self.drafts.overtaken(view.look)))
        self.header.live = self.following.state()
        self.header.refresh_changes()
        self.timeline.refresh_changes()
        self.deck.retitle()
        subtitle = bars.subtitle(view)
        if subtitle != self._told:
            self._told = subtitle
            self.memory.border_subtitle = content(subtitle)
        draft, playing = self.drafts.dirty(view.look), self.playing.player.playing
        self.keys.offer(bars.offers(view, draft=draft, player=self.playing.on, playing=playing))
        self.trending.turn()
