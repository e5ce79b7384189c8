"""The budget pane: the first budget in full with its past, and the others in brief below it."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ctxview.analysis.revisions.window import main_budget
from ctxview.core.state import Budget
from ctxview.tui.drawing import glyphs
from ctxview.tui.drawing.budget import (
    NO_HISTORY,
    BudgetHistory,
    BudgetStyle,
    brief_lines,
    whole_lines,
)
from ctxview.tui.drawing.columns import segment_styles
from ctxview.tui.drawing.glyphs import tier_styles
from ctxview.tui.drawing.page import Page
from ctxview.tui.drawing.text import Line, join, show, wrap
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.reading_index import ItemId, ItemKind
from ctxview.tui.model.view_state import ViewState, trial_text
from ctxview.tui.widgets.facts_pane import known_revisions
from ctxview.tui.widgets.pane import PaneWidget, empty_page


class BudgetPane(PaneWidget):
    pane = Pane.BUDGET

    def differs(self, before: ViewState, after: ViewState) -> bool:
        changed = before.trends is not after.trends or before.known is not after.known
        return changed or super().differs(before, after)

    def draw(self, view: ViewState, width: int, _: int) -> Page:
        drawing = budget_style(view, width)
        values = [(item, view.index.value(item)) for item in view.index.of(ItemKind.BUDGET)]
        budgets = [(item, each) for item, each in values if isinstance(each, Budget)]
        trial = trial_lines(view, width)
        if not budgets:
            return _no_budget(view, width) if not trial else Page.of(trial)
        (first, budget), *others = budgets
        parts: list[tuple[Sequence[Line], ItemId | None]] = [(trial, None)]
        if (answered := _answered(view)) is not None:
            prompt, window = answered
            parts.append((wrap(show(f"Window of {prompt}, which this reply answers:", "dim"), width), None))
            parts.append((whole_lines(window, drawing), None))
            parts.append((wrap(show("The reply itself has no limit of its own:", "dim"), width), None))
            budget = replace(budget, limit=None, reserved=None, limit_from=None, partial=False)
        parts.append((whole_lines(budget, drawing, budget_history(budget, view)), first))
        if sum(each.limit is not None for _, each in budgets) > 1:
            parts.append((wrap(show("bars below: each against its own limit", "dim"), width), None))
        brief = brief_lines([each for _, each in others], drawing)
        parts += [(lines, item) for (item, _), lines in zip(others, brief, strict=True)]
        return Page.joined(parts)

    def count(self, view: ViewState) -> str:
        answered = _answered(view)
        budget = answered[1] if answered else next(iter(view.index.reading.state.budgets), None)
        return budget.percent if budget is not None else ""


def _answered(view: ViewState) -> tuple[str, Budget] | None:
    """The name and the window of the prompt that a reply answers; None for a prompt or before it is read."""
    known, number = known_revisions(view), view.key.revision
    prompt = known.window_revision(number)
    facts = known.facts.get(prompt)
    window = main_budget(facts.budgets) if facts is not None and prompt != number else None
    return (known.names[prompt].name, window) if window is not None else None


def budget_style(view: ViewState, cells: int) -> BudgetStyle:
    """The colours that the segments have in the overview and the skyline."""
    state = view.index.reading.state
    names = [each.name for budget in state.budgets for each in budget.segments]
    tiers = tier_styles(state.tiers)
    return BudgetStyle(
        cells, tiers | {name: each.style for name, each in segment_styles(names, tiers).items()}
    )


def budget_history(budget: Budget, view: ViewState) -> BudgetHistory:
    """The past of a budget; none when it is unknown or was counted with another token counter."""
    past = view.past
    if past is None or view.key.options:
        return NO_HISTORY
    before = past.before(draft=view.draft)
    if before is not None and before.counter != view.index.reading.state.counts.estimator:
        return NO_HISTORY
    label = "" if before is None else "against the file" if view.draft else f"since {before.label}"
    known = before.budgets.get(budget.key) if before is not None else None
    return BudgetHistory(known, label, past.uses(budget), past.place)


def trial_lines(view: ViewState, cells: int) -> list[Line]:
    """The notice while options are tried, with whether any budget here depends on a tried one."""
    lines = []
    for name, tried in view.key.options:
        text = "Esc goes back"
        if name == "budget":
            applies = any((budget.limit or 0) == tried for budget in view.index.reading.state.budgets)
            text = text if applies else "nothing here depends on this budget; Esc goes back"
        head = show(f" {trial_text(name, tried)} ", "draft")
        lines += wrap(join(head, show(text, "dim"), gap="  "), cells)
    return lines


def _no_budget(view: ViewState, cells: int) -> Page:
    counts = view.index.reading.state.counts
    accuracy = "exact" if counts.tokens_exact else "estimate"
    used = f"{glyphs.count_text(counts.tokens)} tokens ({accuracy}, {counts.estimator})"
    part = "The visible context" if counts.visible or counts.hidden else "The whole context"
    return empty_page(cells, "This source has no budget.", f"{part} has {used}.")
