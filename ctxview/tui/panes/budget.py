"""Where the window went: the first budget whole with its past, the others beside each other below it."""

from __future__ import annotations

from ctxview.state import Budget
from ctxview.tui import glyphs
from ctxview.tui.budget_picture import NEVER, Drawing, Earlier, brief_lines, percent, whole_lines
from ctxview.tui.layout import Pane
from ctxview.tui.panes.pane import PaneLines, nothing
from ctxview.tui.session_view import Shown
from ctxview.tui.text import Line, join, show, wrap
from ctxview.tui.things import Kind, Thing
from ctxview.tui.tiers import tier_styles
from ctxview.tui.trends import key_of
from ctxview.tui.widgets.page import Page

OWN_SCALE = "each bar ends at its own limit"


class BudgetPane(PaneLines):
    pane = Pane.BUDGET

    def differs(self, before: Shown, after: Shown) -> bool:
        return super().differs(before, after) or before.trends is not after.trends

    def draw(self, shown: Shown, width: int, _: int) -> Page:
        drawing = drawing_of(shown, width)
        found = [(thing, shown.index.value(thing)) for thing in shown.index.of(Kind.BUDGET)]
        budgets = [(thing, each) for thing, each in found if isinstance(each, Budget)]
        rows: list[tuple[Line, Thing | None]] = [(line, None) for line in trial_lines(shown, width)]
        if not budgets:
            return _no_budget(shown, width) if not rows else Page.of([line for line, _ in rows])
        (first, budget), *others = budgets
        rows += [(line, first) for line in whole_lines(budget, drawing, earlier(budget, shown))]
        brief = brief_lines([each for _, each in others], drawing)
        if sum(each.limit is not None for _, each in budgets) > 1:
            rows += [(line, None) for line in wrap(show(OWN_SCALE, "dim"), width)]
        rows += [(line, thing) for (thing, _), lines in zip(others, brief, strict=True) for line in lines]
        return Page.of([line for line, _ in rows], [thing for _, thing in rows])

    def holds(self, shown: Shown) -> bool:
        return bool(shown.index.reading.state.budgets) or shown.look.budget is not None

    def count(self, shown: Shown) -> str:
        budget = next(iter(shown.index.reading.state.budgets), None)
        return percent(budget) if budget is not None else ""


def drawing_of(shown: Shown, cells: int) -> Drawing:
    return Drawing(cells, tier_styles(tier.name for tier in shown.index.reading.state.tiers))


def earlier(budget: Budget, shown: Shown) -> Earlier:
    """What a budget is compared with: nothing where its past is not known, or another counter told it."""
    past = shown.past
    if past is None or shown.look.budget is not None:
        return NEVER
    before = past.before(draft=shown.draft)
    if before is not None and before.counter != shown.index.reading.state.counts.estimator:
        return NEVER
    label = "" if before is None else "against the file" if shown.draft else f"since {before.label}"
    known = before.budgets.get(key_of(budget)) if before is not None else None
    return Earlier(known, label, past.uses(budget), past.place)


def trial_lines(shown: Shown, cells: int) -> list[Line]:
    """What is said while another budget is tried out, and whether anything here follows it."""
    tried = shown.look.budget
    if tried is None:
        return []
    follows = any((budget.limit or 0) == tried for budget in shown.index.reading.state.budgets)
    head = show(f" what if {tried:,} " if tried else " what if no limit ", "draft")
    told = "Esc goes back" if follows else "nothing here depends on a budget of one's own; Esc goes back"
    return wrap(join(head, show(told, "dim"), gap="  "), cells)


def _no_budget(shown: Shown, cells: int) -> Page:
    counts = shown.index.reading.state.counts
    manner = "exact" if counts.tokens_exact else "estimate"
    taken = f"{glyphs.count(counts.tokens)} tokens ({manner}, {counts.estimator})"
    what = "What the model is shown" if counts.visible or counts.hidden else "All of it"
    return nothing(cells, "This source states no budget.", f"{what} takes {taken}.")
