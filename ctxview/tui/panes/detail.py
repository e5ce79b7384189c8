"""The selected thing, whole: every field with its owner, where it comes from, and what is wrong with it."""

from __future__ import annotations

from ctxview.tui import glyphs
from ctxview.tui.layout import Pane
from ctxview.tui.panes.describe import describe
from ctxview.tui.panes.pane import PaneLines, nothing
from ctxview.tui.session_view import SessionView, Shown
from ctxview.tui.text import show, wrap_all
from ctxview.tui.things import WHOLE, Kind, Thing
from ctxview.tui.widgets.page import Page


class DetailPane(PaneLines):
    pane = Pane.DETAIL
    has_cursor = False

    def __init__(self, view: SessionView) -> None:
        super().__init__()
        self._view = view
        self._about: Thing | None = None

    def select(self, thing: Thing | None) -> None:
        """Shows another thing, from its beginning."""
        if thing == self._about:
            return
        self._about = thing
        self._wanted = None
        self.reset()
        self.show_line(0)

    def differs(self, before: Shown, after: Shown) -> bool:  # noqa: ARG002
        """It is told separately, when it is known what is selected."""
        return False

    def holds(self, _: Shown) -> bool:
        return True

    def draw(self, shown: Shown, width: int, _: int) -> Page:
        thing = self._about
        if thing is not None and thing.kind in {Kind.SOURCE, Kind.REVISION}:
            return self._source(thing, shown, width)
        if thing is None or shown.index.value(thing) is None:
            return nothing(
                width, "Nothing is selected.", "Move to a row with j and k; all about it is said here."
            )
        return Page.of(describe(thing, shown, width))

    def _source(self, thing: Thing, shown: Shown, width: int) -> Page:
        """The source that is open is told whole; of another one where it is and how to open it."""
        number = int(thing.name if thing.kind is Kind.SOURCE else thing.within)
        look = self._view.look
        here = thing.kind is Kind.SOURCE or int(thing.name) == look.revision
        if here and number == look.source:
            return Page.of(describe(WHOLE, shown, width))
        source = self._view.sources[number]
        lines = [show(source.title, "strong"), show(source.format, "dim"), show(str(source.path), "code")]
        if thing.kind is Kind.REVISION:
            revision = source.revisions[int(thing.name)]
            lines += [
                show(revision.label, "accent"),
                show(glyphs.moment(revision.time or ""), "dim"),
                show(revision.file.name, "code"),
            ]
        total = self._view.totals.get(number)
        if total is not None and total.partly:
            lines += [
                (),
                show("It is large: its history is read through for findings once it is opened.", "warn"),
            ]
        return Page.of(wrap_all([*lines, (), show("Enter opens it.", "dim")], width))
