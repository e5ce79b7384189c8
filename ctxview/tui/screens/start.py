"""Where one is when nothing was named: what lies nearby, what was open last, samples, what can be opened."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.screen import Screen
from textual.worker import get_current_worker

from ctxview.formats.registry import FORMATS
from ctxview.quick_dataclass import dataclass
from ctxview.recents import recent
from ctxview.samples import sample_paths
from ctxview.tui.offers import Offer, nearby, recently, samples
from ctxview.tui.text import EMPTY, Line, Span, fit, join, pad, shorten, show, width, wrap
from ctxview.tui.things import Kind, Thing
from ctxview.tui.widgets.drawing import OneLine
from ctxview.tui.widgets.listing import Chooser
from ctxview.tui.widgets.page import Page

PROMISE = "See what your agent knows, what it was shown, and what it lost."
SECTIONS = ("Nearby", "Recent", "Samples")
LOOKING = "looking …"


class StartScreen(Screen[None]):
    """`open_paths` is called with what was chosen."""

    DEFAULT_CSS = """
    StartScreen { background: $background; layout: vertical; }
    StartScreen _Offers { height: 1fr; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,l,right,o", "choose", "open"),
        Binding("question_mark,f1", "help", "help"),
        Binding("q,escape", "app.quit", "quit"),
    ]

    class Looked(Message):
        """What was found nearby."""

        def __init__(self, offers: list[Offer], told: str) -> None:
            super().__init__()
            self.offers = offers
            self.told = told

    def __init__(self, open_paths: Callable[[Sequence[Path]], None], folder: Path | None = None) -> None:
        super().__init__()
        self._open_paths = open_paths
        self._folder = folder if folder is not None else Path()
        self._found: list[Offer] = []
        self._told = LOOKING
        self._others: list[Offer] = []

    def compose(self) -> ComposeResult:
        yield _Title()
        yield _Offers(self._page)
        yield _Keys()

    def on_mount(self) -> None:
        self._others = [*recently(recent()), *samples(sample_paths())]
        self.chooser.reset()
        self.chooser.move_end(last=False)
        self.chooser.focus()
        self.run_worker(self._look, thread=True, name="looking")

    @property
    def chooser(self) -> Chooser:
        return self.query_one(_Offers)

    @property
    def offers(self) -> list[Offer]:
        """In the order in which they stand."""
        return [*self._found, *self._others]

    def on_start_screen_looked(self, message: Looked) -> None:
        first = self.chooser.thing == _thing(self.offers[0])
        self._found, self._told = message.offers, message.told
        self.chooser.reset()
        if first:
            self.chooser.move_end(last=False)

    def on_virtual_lines_chosen(self) -> None:
        self.action_choose()

    def action_choose(self) -> None:
        chosen = next((each for each in self.offers if _thing(each) == self.chooser.thing), None)
        if chosen is not None:
            self._open_paths(chosen.paths)

    def action_help(self) -> None:
        from ctxview.tui.screens.help import HelpScreen

        self.app.push_screen(HelpScreen())

    def _look(self) -> None:
        offers, told = nearby(self._folder)
        if not get_current_worker().is_cancelled:
            self.post_message(self.Looked(offers, told))

    def _rows(self) -> list[_Row]:
        rows = [_Row(_heading("Nearby", self._told))]
        for section in SECTIONS:
            offers = [each for each in self.offers if each.section == section]
            if offers and section != "Nearby":
                rows += [_Row(EMPTY), _Row(_heading(section))]
            rows += [_Row(EMPTY, each) for each in offers]
        return rows

    def _page(self, cells: int) -> Page:
        rows = self._rows()
        column = min(max((width(show(each.name)) for each in self.offers), default=0), cells // 2)
        lines = [row.line if row.offer is None else _line(row.offer, column, cells) for row in rows]
        return Page.of([*lines, *_formats(cells)], [row.thing for row in rows])


@dataclass(frozen=True, slots=True)
class _Row:
    """An offer, or a line above some."""

    line: Line
    offer: Offer | None = None

    @property
    def thing(self) -> Thing | None:
        return _thing(self.offer) if self.offer is not None else None


class _Offers(Chooser):
    """The cursor goes from offer to offer, over what stands between them."""

    def move_to(self, row: int) -> None:
        row = min(max(row, 0), self.page.rows - 1)
        ahead = range(row, self.page.rows) if row >= self.cursor else range(row, -1, -1)
        back = range(row, -1, -1) if row >= self.cursor else range(row, self.page.rows)
        found = next((each for each in (*ahead, *back) if self.page.thing(each) is not None), row)
        super().move_to(found)
        self._show_heading()

    def on_resize(self) -> None:
        super().on_resize()
        self._show_heading()

    def _show_heading(self) -> None:
        """What stands above the first offer is seen with it."""
        if not any(self.page.thing(row) for row in range(self.cursor)):
            self.show_line(0)


class _Title(OneLine):
    def make_line(self, width: int) -> Line:
        return fit(join((Span(" ctxview ", "brand"),), show(PROMISE), gap="  "), width)


class _Keys(OneLine):
    DEFAULT_CSS = "_Keys { background: $panel; }"

    def make_line(self, width: int) -> Line:
        keys = (
            ("Enter", "open", "choose"),
            ("j k", "move", ""),
            ("?", "help", "help"),
            ("q", "quit", "app.quit"),
        )
        spans = [span for key, told, action in keys for span in _key(key, told, action)]
        return fit((Span(" "), *spans), width)


def _key(key: str, told: str, action: str) -> tuple[Span, ...]:
    link = f"screen.{action}" if action and not action.startswith("app.") else action
    return (Span(key, "key", link), Span(f" {told}   ", "dim", link))


def _thing(offer: Offer) -> Thing:
    return Thing(Kind.WHOLE, f"{offer.section} {offer.name} {offer.paths[0]}")


def _heading(section: str, told: str = "") -> Line:
    return join(show(section, "title"), show(told, "dim"), gap="  ")


def _line(offer: Offer, column: int, cells: int) -> Line:
    name = pad(show(f"  {shorten(offer.name, column)}", "strong"), column + 4)
    return fit(join(name, show(offer.about, "dim")), cells)


def _formats(cells: int) -> list[Line]:
    """What can be opened at all, for somebody who has nothing yet."""
    lines: list[Line] = [EMPTY, show("What ctxview opens", "title")]
    for spec in FORMATS:
        told = join(
            pad(show(f"  {spec.name}", "rule"), 14), show(f"{spec.title}: {spec.recognised_by}", "dim")
        )
        lines += wrap(told, cells, " " * 14)
    return lines
