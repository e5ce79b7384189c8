"""The actions of moving and searching: rows, panes, items, the search line, the filter line, findings."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from ctxview.core.flow import FlowNode
from ctxview.core.state import Block, Gap, Ref, TodoItem
from ctxview.tui.configured_keys import key_label
from ctxview.tui.drawing.text import Line, Span, join, show
from ctxview.tui.model.action_table import ACTIONS_BY_ID
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.query import Query, QueryError, completions, parse_query
from ctxview.tui.model.reading_index import ItemId, ItemKind, ReadingIndex
from ctxview.tui.panes.lifecycle import LifecyclePane
from ctxview.tui.panes.memory import MemoryPane
from ctxview.tui.panes.skyline import SkylinePane
from ctxview.tui.panes.sources import SourcesPane
from ctxview.tui.panes.why import WhyPane
from ctxview.tui.panes.xray import XrayPane
from ctxview.tui.screens.action_screen import ActionScreen, OpenPath, StartOver
from ctxview.tui.screens.inspector import InspectorScreen


async def search(screen: ActionScreen[object]) -> None:
    from ctxview.tui.widgets.bars import InputLine

    lines = screen.lines

    def done(text: str | None) -> None:
        screen.set_focus(lines)
        if text is None:
            screen.search_for("")
        elif text.strip():
            screen.step_hit(back=False)

    hint = (
        "text in ids, blocks and messages of all revisions" if isinstance(screen, InspectorScreen) else "text"
    )
    await screen.ask(InputLine(show(" search /", "key"), "", screen.search_for, done, placeholder=hint))


def next_hit(screen: ActionScreen[object]) -> None:
    screen.step_hit(back=False)


def previous_hit(screen: ActionScreen[object]) -> None:
    screen.step_hit(back=True)


async def filter(screen: InspectorScreen) -> None:  # noqa: A001 - the name of the command
    from ctxview.tui.widgets.bars import InputLine

    if screen.model.shown.front is not Pane.MEMORY:
        screen.show_pane(Pane.MEMORY)  # only Memory is filtered
    before, chosen = screen.model.query, screen.memory.item
    lines = screen.lines

    def changed(text: str) -> Line:
        try:
            query = parse_query(text, screen.model.figures)
        except QueryError as error:
            return join((Span("✖ ", "bad"),), show(str(error), "warn"))
        _apply(screen, query)
        return _hint(screen, text)

    def done(text: str | None) -> None:
        if text is None:
            _apply(screen, before)
        if chosen is None or not screen.memory.go_to(chosen):
            screen.memory.move_end(last=False)  # the cursor moved while the filter was typed
        screen.set_focus(lines)

    await screen.ask(
        InputLine(
            show(" filter: ", "key"),
            before.text,
            changed,
            done,
            complete=partial(_completed, screen),
            placeholder="tier:working hidden decay>0.5 !tag:x",
        )
    )


def next_finding(screen: InspectorScreen) -> None:
    """Go to the next finding in its pane; Enter goes on to its subject."""
    screen.perform(screen.model.step_finding(1, screen.model.shown.front))


def previous_finding(screen: InspectorScreen) -> None:
    screen.perform(screen.model.step_finding(-1, screen.model.shown.front))


def _apply(screen: InspectorScreen, query: Query) -> None:
    screen.perform(screen.model.filter_by(query))


def _hint(screen: InspectorScreen, text: str) -> Line:
    state = screen.view.index.reading.state if screen.view is not None else None
    could_be = completions(text, state)[:5]
    count = show(f"{screen.memory.count(screen.view)} blocks" if screen.view is not None else "", "ok")
    return join(
        count, show("  ".join(could_be), "dim"), show("Tab completes", "dim") if could_be else (), gap="  "
    )


def _completed(screen: InspectorScreen, text: str) -> str | None:
    """The line with its last piece completed; None without a completion."""
    state = screen.view.index.reading.state if screen.view is not None else None
    could_be = completions(text, state)
    head = text.rpartition(" ")
    return f"{head[0]}{head[1]}{could_be[0]}" if could_be and text.strip() else None


def down(screen: ActionScreen[object]) -> None:
    _move(screen, 1)


def up(screen: ActionScreen[object]) -> None:
    _move(screen, -1)


def half_down(screen: ActionScreen[object]) -> None:
    _move_page(screen, 0.5)


def half_up(screen: ActionScreen[object]) -> None:
    _move_page(screen, -0.5)


def page_down(screen: ActionScreen[object]) -> None:
    _move_page(screen, 1)


def page_up(screen: ActionScreen[object]) -> None:
    _move_page(screen, -1)


def first(screen: ActionScreen[object]) -> None:
    if screen.lines is not None:
        screen.lines.move_end(last=False)


def last(screen: ActionScreen[object]) -> None:
    if screen.lines is not None:
        screen.lines.move_end(last=True)


def home(screen: ActionScreen[object]) -> None:
    """Go to the first revision after a step through revisions, else to the first row."""
    if isinstance(screen, InspectorScreen) and screen.stepping:
        screen.action_go_to_revision(0)
    else:
        first(screen)


def end(screen: ActionScreen[object]) -> None:
    if isinstance(screen, InspectorScreen) and screen.stepping:
        screen.action_go_to_revision(screen.model.last_revision)
    else:
        last(screen)


def left(screen: InspectorScreen) -> None:
    if not _step(screen, -1):
        _step_view(screen, -1)


def right(screen: InspectorScreen) -> None:
    if not _step(screen, 1):
        _step_view(screen, 1)


def next_pane(screen: InspectorScreen) -> None:
    _step_pane(screen, 1)


def previous_pane(screen: InspectorScreen) -> None:
    _step_pane(screen, -1)


async def go_to_pane(screen: InspectorScreen, pane: Pane) -> None:
    name = _name_behind(screen)
    if pane is Pane.WHY and (screen.model.shown.front is pane or not name):
        await _ask_why(screen)
    elif pane.absent and pane not in screen.model.shown.tabs(screen.view):
        screen.say(pane.absent)
    else:
        screen.show_pane(pane)
        if isinstance(screen.front, WhyPane) and name:
            screen.front.ask(name)


def _name_behind(screen: InspectorScreen) -> str:
    """The name of the block that the selected item is or is about, else of the item; empty without one."""
    item, index = screen.selected, screen.view.index if screen.view is not None else None
    if item is None or index is None:
        return ""
    if item.kind is ItemKind.FINDING:
        item = index.subject(item) or item
    match index.value(item):
        case Block(id=name) | TodoItem(title=name):
            return name
        case Gap() as gap:
            names: tuple[str, ...] = (*gap.blocks, gap.id)
        case Ref() as ref:
            names = (*ref.used_by, ref.id)
        case _:
            return ""
    return next((name for name in names if index.block_named(name) is not None), names[-1])


async def _ask_why(screen: InspectorScreen) -> None:
    """Ask for the name of a block, and explain it."""
    from ctxview.tui.widgets.bars import InputLine

    def done(text: str | None) -> None:
        if text is not None and text.strip():
            explain_name(screen, text.strip())
        screen.area.focus_front()

    pane = screen.area.get(WhyPane)
    hint = show("a name, or words of a text, of any revision", "dim")
    await screen.ask(InputLine(show(" why ", "key"), pane.name_asked, lambda _: hint, done))


def explain_name(screen: InspectorScreen, name: str) -> None:
    screen.show_pane(Pane.WHY)
    screen.area.get(WhyPane).ask(name)


def enter(screen: InspectorScreen) -> None:
    """Open a source or revision, go from a finding to its subject, or show the detail of any other item.

    In a list of sources, open the source that the block stands for.
    """
    item = here(screen)
    if not screen.model.sources and screen.model.problems:
        screen.post_message(StartOver())
    elif item is None:
        screen.say("There is nothing here to open.")
    elif item.kind is ItemKind.SOURCE:
        screen.perform(screen.model.go_to_source(int(item.name)))
    elif item.kind is ItemKind.REVISION:
        screen.perform(screen.model.go_to_source(int(item.within)))
        screen.action_go_to_revision(int(item.name))
    elif screen.view is None:
        return
    elif item.kind is ItemKind.FINDING and (subject := screen.view.index.subject(item)) is not None:
        screen.go_to(subject)
    elif item.kind is ItemKind.NODE and (target := _onward(item, screen.view.index)) is not None:
        _walk(screen, item, target)
    elif screen.model.shown.front is Pane.VISIBILITY:
        screen.go_to(item)
    elif item.kind is ItemKind.BLOCK and (path := _listed_path(screen, item.name)) is not None:
        screen.post_message(OpenPath(path))
    else:
        screen.model.back.remember(screen.model.shown.front, item)
        screen.selected = item
        screen.show_pane(Pane.DETAIL)


def came_from(screen: ActionScreen[object]) -> None:
    """Go to the record or block that this came from; without one, go back."""
    item = here(screen) if isinstance(screen, InspectorScreen) else None
    origin = _came_from(screen, item) if isinstance(screen, InspectorScreen) and item is not None else None
    if item is None or origin is None or not isinstance(screen, InspectorScreen):
        back(screen)
    elif screen.model.back.last == origin:
        screen.perform(screen.model.go_back())
    else:
        _walk(screen, item, origin)


def back(screen: ActionScreen[object]) -> None:
    """Leave the first that is active: search, tried option, jump, filter, replay, view."""
    if not isinstance(screen, InspectorScreen):
        screen.dismiss()
        return
    if screen.model.search.hits.needle:
        screen.search_for("")
    elif isinstance(screen.front, SkylinePane) and screen.front.leave_zoom():
        return
    elif (tried := next(reversed(screen.model.key.options), None)) is not None:
        screen.perform(screen.model.try_option(tried[0], None))
    elif screen.model.back:
        screen.perform(screen.model.go_back())
    elif screen.model.query:
        screen.perform(screen.model.filter_by(Query()))
    elif screen.model.replay.stage:
        if screen.model.shown.leave(screen.model.replay.first_view):
            screen.show_view()
        else:
            screen.dismiss()
    elif screen.model.replay.on:
        screen.perform(screen.model.replay.close())
    elif screen.model.shown.leave(screen.model.replay.first_view):
        screen.show_view()
    else:
        screen.say(f"Nothing to go back to. {key_label(ACTIONS_BY_ID['quit'])} quits.")


def _move(screen: ActionScreen[object], rows: int) -> None:
    if screen.lines is not None:
        screen.lines.move(rows)


def _move_page(screen: ActionScreen[object], pages: float) -> None:
    if screen.lines is not None:
        screen.lines.move_page(pages)


def _step(screen: InspectorScreen, step: int) -> bool:
    """Let the pane use a sideways key, for a branch of the tree or a stage of the flow; whether it did."""
    pane = screen.focused
    if isinstance(pane, LifecyclePane | SkylinePane):
        pane.step(step)
        return True
    return isinstance(pane, SourcesPane) and pane.fold(open=step > 0)


def _step_view(screen: InspectorScreen, step: int) -> None:
    """Go to the next view in the row of tabs."""
    tabs = screen.model.shown.tabs(screen.view)
    screen.show_pane(tabs[(tabs.index(screen.model.shown.name) + step) % len(tabs)])


def _step_pane(screen: InspectorScreen, step: int) -> None:
    """Go to the next tier of the memory or block of the X-ray, in other views to the next view."""
    if isinstance(screen.front, XrayPane):
        screen.front.step_block(step)
    elif not isinstance(screen.front, MemoryPane) or not screen.front.step_tier(step):
        _step_view(screen, step)


def here(screen: InspectorScreen) -> ItemId | None:
    """The item at the cursor; `selected` may be older, since the message about a move may come later."""
    lines = screen.lines
    if isinstance(lines, SkylinePane):
        return lines.item
    return lines.item if lines is not None and lines.has_cursor else screen.selected


def _walk(screen: InspectorScreen, start: ItemId, item: ItemId) -> None:
    """Go along the flow from `start` to `item`; everything linked with `start` is marked."""
    screen.selected = start
    screen.go_to(item)
    if item.kind is ItemKind.NODE:
        screen.lifecycle.walk_to(item, start.name)


def _listed_path(screen: InspectorScreen, name: str) -> Path | None:
    """Return the path that a block of a list stands for; None when the source is not a list."""
    listing = screen.model.listing
    return listing.path_of(name) if listing is not None else None


def _onward(item: ItemId, index: ReadingIndex) -> ItemId | None:
    """The next record after a record; for the last record of a block, the block."""
    following = index.flow_index.onward(item.name) if index.flow_index is not None else []
    if following:
        return index.node(following[0].id)
    node = index.value(item)
    return index.block_named(node.block) if isinstance(node, FlowNode) else None


def _came_from(screen: InspectorScreen, item: ItemId) -> ItemId | None:
    """The record that a record or block came from; of several, the one visited last."""
    index = screen.view.index if screen.view is not None else None
    if index is None or index.flow_index is None:
        return None
    flow = index.flow_index
    node = flow.of_block(item.name) if item.kind is ItemKind.BLOCK else flow.nodes.get(item.name)
    if node is None or item.kind not in {ItemKind.BLOCK, ItemKind.NODE}:
        return None
    origins = [index.node(each.id) for each in flow.backward(node.id)]
    last = screen.model.back.last
    if last in origins or last in [index.node(link.start) for link in flow.into(node.id)]:
        return last
    return next(iter(origins), None)
