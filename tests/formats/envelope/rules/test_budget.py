"""Budgets and windows: ENV043 to ENV052."""

from __future__ import annotations

import pytest

from ctxview.files.visible_text import is_safe
from tests.formats.envelope.rules.examples import rule_findings
from tests.formats.envelope.rules.tables import expect

B, SEGMENT = "budget-model", "budget-model.window_segments[1]"
NO_BUDGET = (
    "budget-model (absent) ¶ budget-tool (absent) ¶ ctx-1.budget_ref = (absent) ¶ "
    "selection-1.budget_ref = (absent) ¶ assembly-model.budget_ref = (absent) ¶ "
    "assembly-tool.budget_ref = (absent)"
)
NO_SIZE_REASON = (
    'selection-1.omitted_item_refs[2].reason = "low_relevance" ¶ compaction-1.trigger = "session_length"'
)
CUT = "item-plan.token_estimate = 100"

CASES = [
    (43, f"{B}.actual_tokens = (absent)", "max_tokens is recorded, but not actual_tokens", "max_tokens"),
    (43, f"{B}.max_bytes = null", "actual_bytes is recorded, but not max_bytes", "actual_bytes"),
    (44, f"{B}.max_tokens = (absent)", "is for model and limits bytes, items, but not tokens", "target"),
    (44, "budget-tool.max_items = (absent)", "is for tool and limits tokens, bytes, but not items", "target"),
    (44, f'{B}.target = "evidence_export" ¶ {B}.max_bytes = (absent)', "but not bytes", "target"),
    (45, "budget-tool.actual_tokens = 601", "601 tokens were used of 600", "actual_tokens"),
    (45, "budget-tool.actual_items = 5", "5 items were used of 4", "actual_items"),
    (45, f"{B}.max_tokens = 100", "120 tokens were used of 100", "actual_tokens"),
    (45, f"{B}.max_items = 3", "4 items were used of 3", "actual_items"),
    (45, f"{B}.reserved_tokens = 601", "601 tokens are reserved of a budget of 600", "reserved_tokens"),
    (
        45,
        "budget-tool.actual_bytes = 4001 ¶ budget-tool.truncation_records = [{}]",
        "4001 bytes",
        "actual_bytes",
    ),
    (45, f"{B}.actual_tokens = 601 ¶ {NO_SIZE_REASON}", "601 tokens were used of 600", "actual_tokens"),
    (46, f"{B}.actual_items = 3", "counts 3 items, but assembly-model holds 4", "actual_items"),
    (
        46,
        'assembly-tool.budget_ref = "budget-model"',
        "assembly-model, assembly-tool holds 5",
        "actual_items",
    ),
    (47, f"{B}.actual_tokens = 100", "counts 100 tokens, but its segments hold 120", "actual_tokens"),
    (
        47,
        "assembly-model.ordered_blocks[0].token_estimate = 60",
        "the blocks under it hold 150",
        "actual_tokens",
    ),
    (
        47,
        f"{SEGMENT}.actual_tokens = (absent) ¶ {B}.window_segments[0].actual_tokens = 200",
        "but its segments hold 200",
        "actual_tokens",
    ),
    (
        48,
        f"{B}.reserved_tokens = 90",
        "90 tokens are reserved, but the segments reserve 100",
        "reserved_tokens",
    ),
    (48, f"{SEGMENT}.reserved_tokens = (absent) ¶ {B}.reserved_tokens = 39", "reserve 40", "reserved_tokens"),
    (49, f"{SEGMENT}.order = 1", "segment-1 and segment-2 both have the order 1", "window_segments/1/order"),
    (
        49,
        f'{SEGMENT}.item_refs = ["item-extra"]',
        "segment-2 holds item-extra, which was not selected",
        "window_segments/1/item_refs/0",
    ),
    (
        49,
        f'{SEGMENT}.target = "ui"',
        "is for ui, its window budget-model for model",
        "window_segments/1/target",
    ),
    (49, 'window-1.target = "ui"', "its window window-1 for ui", "window_segments/0/target"),
    (50, CUT, "the block block-3 holds 40 of the 100 tokens of item-plan", "ordered_blocks/2/item_refs"),
    (50, 'item-goal.content = "Land it [TRUNCATED] "', "ends in a mark", "ordered_blocks/1/item_refs"),
    (
        51,
        "compaction-1 (absent)",
        "strategy is summarize_oldest, but nothing was compacted",
        "overflow_strategy",
    ),
    (
        51,
        f'{B}.overflow_strategy = "ask_for_choice" ¶ missing-1 (absent)',
        "no missing_context",
        "overflow_strategy",
    ),
    (
        51,
        f'{B}.overflow_strategy = "policy_block" ¶ ctx-1.policy_refs = [] ¶ surface-1.policy_refs = [] ¶ '
        "item-note.policy_refs = []",
        "no record refers to a policy",
        "overflow_strategy",
    ),
    (51, f'{B}.overflow_strategy = "reject" ¶ {B}.actual_tokens = 700', "more tokens", "overflow_strategy"),
    (
        52,
        NO_BUDGET,
        "item-extra was left out for budget_limit, but there is no budget",
        "omitted_item_refs/2",
    ),
    (52, NO_BUDGET, "the compaction compaction-1 was made under token pressure", "trigger"),
    (
        52,
        f'{NO_BUDGET} ¶ selection-1.selection_policy = {{"max_items": 3}}',
        "selection_policy limits max_items",
        "selection_policy/max_items",
    ),
]
NEAR_MISSES = [
    (43, f"{B}.max_items = (absent) ¶ {B}.actual_items = (absent)"),
    (44, 'budget-tool.target = "runtime" ¶ budget-tool.max_items = (absent)'),
    (44, f"{B}.max_tokens = (absent) ¶ {B}.max_bytes = (absent) ¶ {B}.max_items = (absent)"),
    (45, f"{B}.actual_tokens = 600 ¶ {B}.reserved_tokens = 600"),
    (45, f"{B}.actual_tokens = 601"),
    (45, f"{B}.actual_bytes = 4001"),
    (45, f"{B}.actual_items = 5"),
    (45, f'{B}.actual_tokens = 700 ¶ {SEGMENT}.truncation_records = [{{"item_ref": "item-plan"}}]'),
    (46, "assembly-model.ordered_blocks[0].item_refs = (absent) ¶ budget-model.actual_items = 9"),
    (46, "assembly-model.budget_ref = (absent) ¶ budget-model.actual_items = 1"),
    (47, f"{B}.actual_tokens = 125"),
    (47, f"{SEGMENT}.actual_tokens = (absent)"),
    (47, f"{B}.window_segments = (absent) ¶ assembly-model.budget_ref = (absent) ¶ {B}.actual_tokens = 3"),
    (48, f"{SEGMENT}.reserved_tokens = (absent)"),
    (48, f"{B}.window_segments = []"),
    (49, f"{SEGMENT}.order = (absent) ¶ {SEGMENT}.target = (absent)"),
    (49, 'selection-1.selected_item_refs = (absent) ¶ window-1.window_segments[0].item_refs = ["item-x"]'),
    (50, f'{CUT} ¶ {B}.truncation_records = [{{"what": {{"item": "item-plan"}}}}]'),
    (50, f'{CUT} ¶ {B}.truncation_records = [{{"strategy": "truncate_tail", "tokens": 60}}]'),
    (50, "item-note.token_estimate = 100"),
    (50, "item-plan.token_estimate = 44"),
    (50, f"{CUT} ¶ assembly-model.ordered_blocks[2].token_estimate = (absent)"),
    (50, f"{CUT} ¶ {NO_BUDGET}"),
    (
        51,
        "compaction-1 (absent) ¶ budget-model.actual_items = 3 ¶ "
        'selection-1.omitted_item_refs[2].reason = "low_relevance"',
    ),
    (51, f'{B}.overflow_strategy = "policy_block"'),
    (51, f'{B}.overflow_strategy = "reject"'),
    (51, f'{B}.overflow_strategy = "something_new"'),
    (52, "budget-model (absent) ¶ budget-tool (absent)"),
    (52, f"{NO_BUDGET} ¶ {NO_SIZE_REASON}"),
    (52, 'selection-1.metadata = {"max_tokens": 9}'),
]


@pytest.mark.parametrize(("rule", "changes", "words", "member"), CASES)
def test_the_rule_has_a_finding(rule: int, changes: str, words: str, member: str):
    expect(rule, changes, "warning", words, member)


@pytest.mark.parametrize(("rule", "changes"), NEAR_MISSES)
def test_the_rule_has_no_finding(rule: int, changes: str):
    assert rule_findings(rule, changes) == []


def test_an_unknown_strategy_is_quoted_without_control_characters():
    strange = f'{B}.overflow_strategy = "summarize_\\u001b[2J" ¶ compaction-1 (absent)'
    assert all(is_safe(each.message) for each in rule_findings(51, strange))
    expect(51, strange, "warning", "nothing was compacted", "overflow_strategy")
