"""The header: what is open, which revision is shown, and how its figures were counted."""

from __future__ import annotations

from collections.abc import Sequence

from ctxview.analysis.revisions.window import counter_text, is_estimate, main_budget
from ctxview.tui.drawing import glyphs
from ctxview.tui.drawing.text import Line, Span, fit, join, shorten, show, width
from ctxview.tui.model.inspector import InspectorModel
from ctxview.tui.model.layout import BOXED, DRAW_TIME, Pane
from ctxview.tui.model.view_state import ViewState
from ctxview.tui.widgets.facts_pane import known_revisions
from ctxview.tui.widgets.strips import BarLine

CHIPS = ("past", "draft")
LEAST_BESIDE = 16
"""Cells of a title beside which its format is named."""
LIVE = 20
"""Cells that the live status always gets."""
TIME = 4
"""The importance of the time of the revision, which is shortened before it is left out."""
LEAST_TITLE = 24
"""Cells that a longer title keeps when facts are left out."""


class Header(BarLine):
    DEFAULT_CSS = "Header { background: $panel; }"

    def __init__(self, model: InspectorModel) -> None:
        super().__init__(id="header")
        self._model = model
        self.live: tuple[str, str] = ("", "")
        """Whether the files are watched or how they just changed, and the style of this text."""

    def make_line(self, width: int) -> Line:
        return header_line(self._model, self._model.status, width, self.live)


def header_line(model: InspectorModel, status: str, cells: int, live: tuple[str, str] = ("", "")) -> Line:
    """The header: as many facts as fit, the least important left out first, the title shortened last."""
    brand: Line = (Span(" ctxview ", "brand"), Span(" "))
    live = shorten(live[0], max(LIVE, cells // 2 - 12)), live[1]
    whole_time = cells >= BOXED
    facts = _facts(model, status, live, cells, whole_time=whole_time)
    while True:
        right = _joined([line for _, line in facts])
        room = cells - width(brand) - width(right) - 3
        if room >= min(LEAST_TITLE, width(_title(model, cells))) or len(facts) <= 1:
            break
        least = min(facts, key=lambda fact: fact[0])
        if whole_time and least[0] == TIME:
            whole_time = False
            facts = [
                fact for fact in _facts(model, status, live, cells, whole_time=whole_time) if fact[0] >= TIME
            ]
        else:
            facts.remove(least)
    left = fit(_title(model, max(room, 8)), max(room, 8))
    blank = Span(" " * max(1, cells - width(brand) - width(left) - width(right) - 1))
    return fit(join(brand, left, (blank,), right), cells)


def _joined(facts: Sequence[Line]) -> Line:
    """The facts with dots between them; a chip stands alone."""
    joined: Line = ()
    for line in facts:
        is_chip = bool(joined) and joined[-1].style in CHIPS
        joined = join(joined, line, gap=" " if is_chip else " · ")
    return joined


def _title(model: InspectorModel, cells: int) -> Line:
    source = model.source
    if source is None:
        return show("nothing is open" if model.problems else "", "dim")
    tail = show(f" · {source.format}", "dim")
    room = cells - width(tail)
    if room < min(LEAST_BESIDE, width(show(source.title))):
        tail, room = (), cells
    # A title in words is cut at its end, a name in its middle.
    title = source.title if " " in source.title else shorten(source.title, room)
    return join(fit(show(title, "strong"), room), tail)


def _facts(
    model: InspectorModel, status: str, live: tuple[str, str], cells: int, *, whole_time: bool
) -> list[tuple[int, Line]]:
    """(importance, text) of each fact, in the order of the line."""
    facts: list[tuple[int, Line]] = []
    view, source = model.view, model.source
    if len(model.sources) > 1:
        key, action = Pane.SOURCES.key, "screen.command('pane_h')"
        number = show(f" source {model.key.source + 1} of {len(model.sources)}", "dim", action)
        facts.append((8, join((Span(key, "key", action),), number)))
    if view is not None and view.draft:
        facts.append((9, (Span(" DRAFT ", "draft", "screen.command('save')"),)))
    facts += [(9, show(f" {trial} ", "draft", "screen.command('back')")) for trial in model.key.trials]
    if len(model.editors) > 1:
        facts.append(
            (7, show(f"✎ {shorten(model.editor or '', 16)}", "owner.model", "screen.command('editor')"))
        )
    plays = model.replay.clock.playing  # the bar of the replay has the place, and nothing is live
    if model.as_of is not None and not plays:
        facts.append((9, show(" past ", "past", "screen.command('newest')")))
    elif live[0] and not plays:
        facts.append((6, show(*live)))
    if source is not None:
        revision = source.revisions[model.key.revision]
        # Without its file name: the revision number beside it is enough to distinguish labels.
        facts.append((8, show(shorten(revision.label.removesuffix(f" ({revision.file.name})"), 40))))
        if revision.time:
            time = glyphs.time_text(revision.time) if whole_time else glyphs.day_text(revision.time)
            facts.append((TIME, show(time, "dim")))
        if model.last_revision and not plays:
            facts.append((7, show(f"rev {model.key.revision + 1} of {model.last_revision + 1}", "dim")))
    if model.profile is not None:
        facts.append((2, show(shorten(model.profile, 24), "link", "screen.command('profile')")))
    if status:
        facts.append((9, show(status, "accent")))
    elif view is not None:
        facts.append((5 if cells >= BOXED else 3, _counter(model, view)))
    return facts


def _counter(model: InspectorModel, view: ViewState) -> Line:
    """How the figures of the shown view were counted: those of the window, or those of the blocks."""
    if model.shown.name in DRAW_TIME:
        known = known_revisions(view)
        facts = known.facts.get(known.window_revision(view.key.revision))
        budget = main_budget(facts.budgets) if facts is not None else None
        if budget is not None and budget.used is not None:
            return show(counter_text(budget), "warn" if is_estimate(budget) else "dim")
    counted = view.index.reading.state.counts
    word = "exact" if counted.tokens_exact else "estimate"
    name = counted.estimator.replace("_base", "").replace(" and ", "+")
    return show(f"tokens: {name}, {word}", "dim" if counted.tokens_exact else "warn")
