"""The window of every revision of every bundled sample is the same figure wherever it is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxview.analysis.revisions.window import ELSEWHERE, beside_prompt, main_budget, window_sentence
from ctxview.analysis.tokens import exact_counter
from ctxview.core.prompt import PromptError
from ctxview.formats import Lens, discover
from ctxview.formats.revisions import name_revisions
from ctxview.reports.xray import make_xray
from ctxview.samples import sample_paths
from ctxview.tui.drawing.text import plain
from ctxview.tui.drawing.xray import xray_head

LENS = Lens(exact_counter("o200k_base"))


@pytest.mark.parametrize("path", sample_paths(), ids=lambda path: path.name)
def test_the_window_is_its_segments_and_the_prompt_or_the_xray_says_what_else(path: Path) -> None:
    for found in discover(path).found:
        source = found.open()
        names = name_revisions(source.revisions)
        for number, name in enumerate(names):
            budget = main_budget(source.reading(number, LENS).state.budgets)
            if budget is None or budget.used is None:
                continue
            assert sum(each.used for each in budget.segments) == budget.used, name
            try:
                ability = source.abilities.prompt
                prompt = ability.prompt(number, LENS) if ability is not None else None
            except PromptError:
                prompt = None
            if prompt is None or name.is_reply:
                continue
            xray = make_xray(prompt, LENS.counter)
            elsewhere = sum(each.used for each in budget.segments if each.name == ELSEWHERE)
            if elsewhere:
                assert elsewhere in [row.cut.tokens for row in xray.elsewhere if row.cut is not None], name
            head = " ".join(plain(line) for line in xray_head(xray, 200, budget))
            assert xray.names_the_rest or f" {budget.used:,} " in head, (name, window_sentence(budget), head)


def test_a_workspace_counts_the_headings_between_its_files() -> None:
    for found in discover(next(path for path in sample_paths() if path.name == "workspace-after")).found:
        source = found.open()
        budget = main_budget(source.reading(0, LENS).state.budgets)
        ability = source.abilities.prompt
        assert budget is not None
        assert ability is not None
        xray = make_xray(ability.prompt(0, LENS), LENS.counter)
        assert budget.used == xray.tokens
        assert "headings" in [each.name for each in budget.segments]
        assert beside_prompt(budget, xray.tokens, xray.other_tokens, xray.counter) == ""
