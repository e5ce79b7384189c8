"""The lifecycle pane: a picture of the stages from sources to injection, and the records of one stage."""

from __future__ import annotations

from rich.cells import cell_len

from ctxview.core.flow import FlowIndex, FlowStage
from ctxview.core.state import Block
from ctxview.tui.drawing.flow import flow_picture
from ctxview.tui.drawing.glyphs import tier_styles
from ctxview.tui.drawing.page import Page
from ctxview.tui.drawing.text import Line, Span, fit, join, pad, preview, shorten, show, width, wrap_to
from ctxview.tui.model.inspector import InspectorModel
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.reading_index import ItemId, ItemKind
from ctxview.tui.model.view_state import ViewState
from ctxview.tui.widgets.pane import PaneWidget, empty_page

LEAST_ROWS = 4
"""Lines that the records always get, even if the picture could use them."""


class LifecyclePane(PaneWidget):
    pane = Pane.LIFECYCLE

    def __init__(self, model: InspectorModel) -> None:
        super().__init__(model)
        self._stage = ""
        self._came_from = ""

    def draw(self, view: ViewState, width: int, room: int) -> Page:
        index = view.index.flow_index
        if not view.index.reading.linked:
            return empty_page(width, "Following the records…")
        if index is None or not index.flow.stages:
            return empty_page(width, self.pane.absent)
        stage = self._chosen(index)
        drawn = flow_picture(index, stage.name, width, max(1, room - LEAST_ROWS - 1))
        header = [*drawn, _heading(stage, width)]
        items = [item for item in view.index.of(ItemKind.NODE) if item.within == stage.name]
        if not items:
            lines = (show("  No records in this stage.", "dim"),)
            return Page(1, lambda _: lines, header=header)
        nodes = stage.nodes
        labels = min(max(cell_len(node.label) for node in nodes[:500]), max(12, width // 3))
        styles = tier_styles(view.index.reading.state.tiers)
        linked = {link.end for link in index.out_of(self._came_from)}
        linked.update(each.id for each in index.backward(self._came_from))

        def draw(row: int, depth: int) -> list[Line]:
            node = nodes[row]
            mark = (Span("↳ " if node.id in linked else "  ", "accent"),)
            block = view.index.value(view.index.block_named(node.block)) if node.block else None
            tier = show(block.tier, styles[block.tier]) if isinstance(block, Block) else ()
            label = pad(show(shorten(node.label, labels), "strong"), labels)
            line = join(mark, label, (Span("  "),), join(tier, preview(node.detail), gap=" · "))
            return wrap_to(line, width, depth, " " * (labels + 4))

        return Page.roomy(len(nodes), draw, lambda row: items[row], room, header=header)

    def count(self, view: ViewState) -> str:
        if not view.index.reading.linked:
            return "…"
        return str(len(view.index.of(ItemKind.NODE)) or "")

    def go_to(self, item: ItemId) -> bool:
        """Show the stage of a record, with the cursor on the record."""
        self._show_stage(item.within, "")
        return super().go_to(item)

    def walk_to(self, item: ItemId, came_from: str) -> None:
        """Go to a record, and mark the records of its stage that are linked with the record `came_from`."""
        self._show_stage(item.within, came_from)
        super().go_to(item)

    def step(self, steps: int) -> None:
        """Show the stage `steps` further, or the first or last one."""
        index = self.view.index.flow_index if self.view is not None else None
        if index is not None and index.flow.stages:
            at = index.flow.stages.index(self._chosen(index)) + steps
            self.show_stage(min(max(at, 0), len(index.flow.stages) - 1))

    def show_stage(self, number: int) -> None:
        index = self.view.index.flow_index if self.view is not None else None
        if index is not None and 0 <= number < len(index.flow.stages):
            self._show_stage(index.flow.stages[number].name, "")

    def _show_stage(self, name: str, came_from: str) -> None:
        if (name, came_from) == (self._stage, self._came_from):
            return
        self._stage, self._came_from = name, came_from
        self.reset()
        self.move_to(0)
        self.post_message(self.Moved(self, self.item))

    def _chosen(self, index: FlowIndex) -> FlowStage:
        """The stage chosen last if the flow has it, else the first."""
        return next((stage for stage in index.flow.stages if stage.name == self._stage), index.flow.stages[0])


def _heading(stage: FlowStage, cells: int) -> Line:
    number = len(stage.nodes)
    title = join(
        show(stage.name, "title"), show(f"{number:,} record{'' if number == 1 else 's'}", "dim"), gap="  "
    )
    head = join((Span("── ", "faint"),), fit(title, cells - 4), (Span(" "),))
    keys: Line = (Span(" ←→ stage · Enter forward · Backspace back ", "dim"),)
    if width(head) + width(keys) + 4 > cells:
        return fit(join(head, (Span("─" * max(0, cells - width(head)), "faint"),)), cells)
    return join(head, (Span("─" * (cells - width(head) - width(keys)), "faint"),), keys)
