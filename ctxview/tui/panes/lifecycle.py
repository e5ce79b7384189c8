"""The way from the sources to what was shown: a picture of the stages, and the records of one of them."""

from __future__ import annotations

from rich.cells import cell_len

from ctxview.flow import Stage
from ctxview.state import Block
from ctxview.tui.flow_picture import BOXES, picture
from ctxview.tui.layout import Pane
from ctxview.tui.panes.pane import PaneLines, nothing
from ctxview.tui.session_view import Shown
from ctxview.tui.text import Line, Span, fit, join, pad, preview, shorten, show, width, wrap_to
from ctxview.tui.things import Kind, Thing
from ctxview.tui.tiers import tier_styles
from ctxview.tui.ways import Ways
from ctxview.tui.widgets.page import Page

LEAST_ROWS = 4
"""So many lines are kept for records, however large the picture could be."""

KEYS = "←→ stage · Enter onward · Backspace came from"


class LifecyclePane(PaneLines):
    pane = Pane.LIFECYCLE

    def __init__(self) -> None:
        super().__init__()
        self._stage = ""
        self._walked_from = ""

    def draw(self, shown: Shown, width: int, room: int) -> Page:
        ways = shown.index.ways
        if ways is None or not ways.flow.stages:
            return nothing(width, self.pane.absent)
        stage = self._chosen(ways)
        drawn = picture(ways, stage.name, width, max(1, room - LEAST_ROWS - 1))
        header = [*drawn, _heading(stage, width)]
        things = [thing for thing in shown.index.of(Kind.NODE) if thing.within == stage.name]
        if not things:
            lines = (show("  No record of this stage.", "dim"),)
            return Page(1, lambda _: lines, header=header)
        nodes = stage.nodes
        labels = min(max(cell_len(node.label) for node in nodes[:500]), max(12, width // 3))
        styles = tier_styles(tier.name for tier in shown.index.reading.state.tiers)
        came = {link.end for link in ways.out_of(self._walked_from)}
        came.update(each.id for each in ways.backward(self._walked_from))

        def draw(row: int, depth: int) -> list[Line]:
            node = nodes[row]
            mark = (Span("↳ " if node.id in came else "  ", "accent"),)
            block = shown.index.value(shown.index.block_named(node.block)) if node.block else None
            tier = show(block.tier, styles[block.tier]) if isinstance(block, Block) else ()
            label = pad(show(shorten(node.label, labels), "strong"), labels)
            told = join(mark, label, (Span("  "),), join(tier, preview(node.detail), gap=" · "))
            return wrap_to(told, width, depth, " " * (labels + 4))

        return Page.roomy(len(nodes), draw, lambda row: things[row], room, header=header)

    def holds(self, shown: Shown) -> bool:
        return shown.index.ways is not None and any(stage.nodes for stage in shown.index.ways.flow.stages)

    def lines_wanted(self, width: int) -> int:  # noqa: ARG002 - the picture wants its height in any width
        """Boxes and the records of the fullest stage: the same whichever stage is chosen."""
        ways = self.shown.index.ways if self.shown is not None else None
        if self.shown is None or ways is None or not self.holds(self.shown):
            return 0
        return BOXES + 1 + max(LEAST_ROWS, *(len(stage.nodes) for stage in ways.flow.stages))

    def count(self, shown: Shown) -> str:
        return str(len(shown.index.of(Kind.NODE)) or "")

    def go_to(self, thing: Thing) -> bool:
        """Shows the stage of a record, with the cursor on it."""
        self._show_stage(thing.within, "")
        return super().go_to(thing)

    def walk_to(self, thing: Thing, came_from: str) -> None:
        """Like `go_to`; whatever of this stage leads from there or to there is marked."""
        self._show_stage(thing.within, came_from)
        super().go_to(thing)

    def step(self, steps: int) -> None:
        """To another stage; at the ends it stays."""
        ways = self.shown.index.ways if self.shown is not None else None
        if ways is not None and ways.flow.stages:
            at = ways.flow.stages.index(self._chosen(ways)) + steps
            self.show_stage(min(max(at, 0), len(ways.flow.stages) - 1))

    def show_stage(self, number: int) -> None:
        ways = self.shown.index.ways if self.shown is not None else None
        if ways is not None and 0 <= number < len(ways.flow.stages):
            self._show_stage(ways.flow.stages[number].name, "")

    def _show_stage(self, name: str, came_from: str) -> None:
        if (name, came_from) == (self._stage, self._walked_from):
            return
        self._stage, self._walked_from = name, came_from
        self.reset()
        self.move_to(0)
        self.post_message(self.Moved(self, self.thing))

    def _chosen(self, ways: Ways) -> Stage:
        """The stage last chosen, while the flow has it; else the first."""
        return next((stage for stage in ways.flow.stages if stage.name == self._stage), ways.flow.stages[0])


def _heading(stage: Stage, cells: int) -> Line:
    number = len(stage.nodes)
    told = join(
        show(stage.name, "title"), show(f"{number:,} record{'' if number == 1 else 's'}", "dim"), gap="  "
    )
    head = join((Span("── ", "faint"),), fit(told, cells - 4), (Span(" "),))
    keys: Line = (Span(f" {KEYS} ", "dim"),)
    if width(head) + width(keys) + 4 > cells:
        return fit(join(head, (Span("─" * max(0, cells - width(head)), "faint"),)), cells)
    return join(head, (Span("─" * (cells - width(head) - width(keys)), "faint"),), keys)
