"""The bars around the panes: key bar and prompt, and the texts of the banner and of empty panes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterator, Sequence
from pathlib import Path
from typing import ClassVar

from msgspec.structs import replace
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widgets import Input

from ctxview.formats.revisions import is_past
from ctxview.tui.configured_keys import key_label
from ctxview.tui.drawing.rows import hit_count_line
from ctxview.tui.drawing.text import Line, Span, fit, join, show, width
from ctxview.tui.model.action_table import ACTIONS, ACTIONS_BY_ID, Action, ActionCondition, first_keys
from ctxview.tui.model.inspector import InspectorModel
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.query import TIER_ORDER
from ctxview.tui.widgets.strips import BarLine


def empty_pane_text(model: InspectorModel) -> list[Line]:
    """The text of the main pane without a reading: that it is read, or why nothing is shown."""
    problem = model.problem
    if problem is None:
        return [show("Reading…" if model.sources else "Opening…", "dim")]
    if model.source is not None:
        return [
            show(problem, "bad"),
            (),
            show("Press o to show the raw file, H to go to the sources.", "dim"),
        ]
    problems = (join(show(str(each.path), "strong"), show(each.reason), gap=": ") for each in model.problems)
    lines = [show(problem, "bad"), *problems, ()]
    if any(_is_folder(each.path) for each in model.problems):
        lines.append(show("Files that appear there later will be shown here.", "dim"))
    instead = "Press Enter to choose something else: nearby, recent or sample files."
    return [*lines, show(instead, "dim", "screen.command('enter')")]


def other_pane_text(model: InspectorModel) -> list[Line]:
    """The text of the other panes while there is nothing to draw."""
    return [show("Reading…" if model.problem is None else "Nothing could be read.", "dim")]


def banner(model: InspectorModel) -> list[Line]:
    """A warning that files, or the whole revision, were replaced under unsaved changes."""
    names = model.drafts.changed_on_disk(model.key)
    source, number, last = model.source, model.key.revision, model.last_revision
    happened, saving = f"{', '.join(names)} changed on disk", "shows both"
    if source is None or not names:
        if source is None or not (
            model.drafts.begun_at(model.key) and is_past(source.revisions, number, last)
        ):
            return []
        happened = f"{source.revisions[last].label} is newer"
        publisher = source.abilities.publisher
        if publisher is None or not publisher.publishes(number):
            saving = "changes only the older revision"
    return [show(f" ▲ {happened}. Your draft is unchanged; saving it (w) {saving}.", "warn")]


def subtitle(model: InspectorModel) -> Line:
    """Sort order and changes, for the frame of the memory pane."""
    parts: list[Line] = []
    if model.sort != TIER_ORDER or model.reverse:
        parts.append(show(f" {model.sort} {'▴' if model.reverse else '▾'} "))
    if model.view is not None and model.view.marks.text:
        parts.append(show(f" {model.view.marks.text} "))
    return join(*parts, gap="─")


def hit_line(model: InspectorModel) -> Line:
    """How many hits a search has."""
    return hit_count_line(model.search.hits, len(model.transcript or ()), model.facts.known)


def offered_actions(model: InspectorModel) -> set[ActionCondition]:
    """The conditions that hold now; the key bar offers the actions that need them."""
    view, source, hits = model.view, model.source, model.search.hits
    may_add = view is not None and any(tier.new for tier in view.index.reading.state.tiers)
    facts = {
        ActionCondition.REVISIONS: model.last_revision > 0,
        ActionCondition.PAST: model.key.revision < model.last_revision,
        ActionCondition.PLAYER: model.replay.on,
        ActionCondition.PLAYING: model.replay.clock.playing,
        ActionCondition.PROFILES: source is not None and len(source.profiles) > 1,
        ActionCondition.EDITORS: len(model.editors) > 1,
        ActionCondition.FINDINGS: view is not None
        and bool(view.index.findings or (view.known is not None and view.known.worst is not None)),
        ActionCondition.WRITABLE: model.as_of is None and may_add,
        ActionCondition.DRAFT: model.drafts.dirty(model.key),
        ActionCondition.LISTING: source is not None and source.abilities.listing is not None,
        ActionCondition.HITS: bool(hits.found or (hits.needle.strip() and model.transcript)),
        ActionCondition.MESSAGES: source is not None
        and bool(source.watched)
        and model.transcript is not None,
    }
    return {need for need, holds in facts.items() if holds}


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False


LAST = ("help", "quit")
"""Actions that are always at the right end."""
PAIRS = {"earlier": "later", "down": "up", "left": "right"}
"""Actions that the bar shows together with their opposite."""
ALWAYS = ("next_event", "add", "profile", "play")
"""Actions that a view offers without their condition."""


class KeyBar(BarLine):
    DEFAULT_CSS = "KeyBar { background: $panel; }"

    def __init__(self, known: Container[str] = ACTIONS_BY_ID, first: Sequence[str] = ()) -> None:
        """`known` are the actions of the screen; those in `first` are offered before all others."""
        super().__init__(id="keys")
        self.offers: Collection[ActionCondition] = ()
        self._known = known
        self._first = first
        self._view: Pane | None = None

    def offer(self, offers: Collection[ActionCondition], view: Pane | None = None) -> None:
        """Offer the actions of these conditions; those of the view come first."""
        if set(offers) != set(self.offers) or view is not self._view:
            self.offers, self._view = set(offers), view
            self.refresh()

    def make_line(self, width: int) -> Line:
        return key_line(self.offers, width, self._known, self._first, self._view)


def key_line(
    offers: Collection[ActionCondition],
    cells: int,
    known: Container[str] = ACTIONS_BY_ID,
    first: Sequence[str] = (),
    view: Pane | None = None,
) -> Line:
    """The keys of actions: those of the view, then the others in the order of the table.

    Those of low rank are left out if they do not fit.
    """
    ends = LAST if "pane_1" in known else ("help", "back")
    last = join(*(_key(ACTIONS_BY_ID[name]) for name in ends), gap="  ")
    own = first_keys(view, is_replay=ActionCondition.PLAYER in offers)
    fitting = [
        replace(action, label=own[action.id]) if action.id in own else action
        for action in ACTIONS
        if action.id in known
        and action.id not in LAST
        and (action.bar or action.id in first or action.id in own)
        and (action.need is None or action.need in offers or (action.id in own and action.id in ALWAYS))
    ]
    named = {ActionCondition.PLAYING: ("play", "pause"), ActionCondition.LISTING: ("enter", "open")}
    renamed = dict(name for condition, name in named.items() if condition in offers)
    fitting = [replace(each, label=renamed.get(each.id, each.label)) for each in fitting]
    ranks = {name: rank for rank, name in enumerate(own)}
    places = {action.id: place for place, action in enumerate(ACTIONS)}

    def rank(action: Action) -> tuple[bool | int, ...]:
        return (
            action.id not in first,
            action.need is not ActionCondition.DRAFT,
            action.need is not ActionCondition.HITS,
            ranks.get(action.id, len(ranks)),
            action.bar,
        )

    fitting.sort(key=rank)
    while fitting and sum(width(_key(each)) + 2 for each in fitting) + width(last) + 4 > cells:
        fitting.pop()
    if not own:
        fitting.sort(key=lambda action: (action.need is not ActionCondition.DRAFT, places[action.id]))
    most = join(*(_key(action) for action in fitting), gap="  ")
    blank = Span(" " * max(1, cells - width(most) - width(last) - 2))
    return fit(join((Span(" "),), most, (blank,), last), cells)


def _key(action: Action) -> Line:
    click = f"screen.command('{action.id}')"
    key = key_label(action).split()[0]
    if action.id in PAIRS:
        name = PAIRS[action.id]
        then, other = f"screen.command('{name}')", key_label(ACTIONS_BY_ID[name]).split()[0]
        label = "revision" if action.id == "earlier" else action.label
        return (Span(f"{key} ", "key", click), Span(other, "key", then), Span(f" {label}", "dim", then))
    return (Span(key, "key", click), Span(f" {action.label}", "dim", click))


class InputLine(Horizontal):
    """A text input; `changed` returns a hint for every key, `done` gets the text, or None when cancelled.

    A click elsewhere is Enter, except where `needs_enter` says that nothing may happen by accident.
    """

    DEFAULT_CSS = """
    InputLine { height: 1; background: $panel; }
    InputLine Input { width: 2fr; height: 1; border: none; padding: 0; background: $panel; }
    InputLine Input:focus { border: none; }
    InputLine InputLineName { width: 9; }
    InputLine InputLineHint { width: 3fr; display: none; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        # With priority, because the input and the screen bind these keys, too.
        Binding("enter", "submit", "go", show=False, priority=True),
        Binding("escape", "give_up", "give up", show=False, priority=True),
        Binding("tab", "complete", "complete", show=False, priority=True),
    ]

    def __init__(
        self,
        name: Line,
        value: str,
        changed: Callable[[str], Line],
        done: Callable[[str | None], None],
        complete: Callable[[str], str | None] = lambda _: None,
        placeholder: str = "",
        *,
        needs_enter: bool = False,
    ) -> None:
        super().__init__(id="prompt")
        self._needs_enter = needs_enter
        self.input = Input(value=value, placeholder=placeholder, compact=True, select_on_focus=False)
        self._label = InputLineName(name)
        self._hint = InputLineHint()
        self._changed = changed
        self._taken = value
        """The text that `changed` got last."""
        self._done = done
        self._complete = complete

    def compose(self) -> Iterator[InputLineName | Input | InputLineHint]:
        yield self._label
        yield self.input
        yield self._hint

    def on_mount(self) -> None:
        self.screen.add_class("-asking")

    def on_unmount(self) -> None:
        self.screen.remove_class("-asking")

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._taken = event.value
        self._hint.update(self._changed(event.value))

    async def action_submit(self) -> None:
        await self._close(self.input.value)

    async def action_give_up(self) -> None:
        await self._close(None)

    def action_complete(self) -> None:
        completed = self._complete(self.input.value)
        if completed is not None:
            self.input.value = completed
            self.input.cursor_position = len(completed)

    async def on_descendant_blur(self) -> None:
        if self.is_attached and not self.input.has_focus and self.app.app_focus:
            await self._close(None if self._needs_enter else self.input.value)

    async def _close(self, value: str | None) -> None:
        done, self._done = self._done, lambda _: None
        if value is not None and value != self._taken:
            self._changed(value)
        # First `done`, which moves the focus: otherwise the toolkit would choose the next widget.
        done(value)
        await self.remove()


class InputLineName(BarLine):
    def __init__(self, line: Line = ()) -> None:
        super().__init__()
        self._line = line

    def make_line(self, width: int) -> Line:
        return fit(self._line, width)


class InputLineHint(InputLineName):
    """The effect of the text typed so far, or its error."""

    def update(self, line: Line) -> None:
        self._line = line
        self.display = True
        self.refresh()
