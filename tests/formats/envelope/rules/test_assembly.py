"""Assemblies and injections: ENV053 to ENV063."""

from __future__ import annotations

import pytest

from tests.formats.envelope.bundles import good, named
from tests.formats.envelope.rules.examples import rule_findings
from tests.formats.envelope.rules.tables import expect
from tests.formats.envelope.sound_records import digest

M, GOAL = "assembly-model", "assembly-model.ordered_blocks[1]"
TEXT = named(good(), "item-goal")["content"]
NOT_TOOL = 'injection-tool (absent) ¶ ctx-1.injection_refs = ["injection-model"]'

CASES = [
    (
        53,
        f"{GOAL}.position = 1",
        "warning",
        "block-2 has the position 1 after block-1",
        "ordered_blocks/1/position",
    ),
    (
        53,
        f'{GOAL}.block_id = "block-1"',
        "warning",
        "another block of assembly-model",
        "ordered_blocks/1/block_id",
    ),
    (
        53,
        f"{GOAL}.position = (absent) ¶ {M}.ordered_blocks[2].position = 0.5",
        "warning",
        "block-3 has the position 0.5 after block-1 with 1",
        "ordered_blocks/2/position",
    ),
    (54, f'{M}.source_item_refs = ["item-goal"]', "warning", "is not listed as a source", "source_item_refs"),
    (
        54,
        f'{GOAL}.item_refs = ["item-plan"]',
        "warning",
        "item-goal is listed as a source",
        "source_item_refs",
    ),
    (
        54,
        f'{GOAL}.item_refs = (absent) ¶ {M}.source_item_refs = ["summary-1"]',
        "warning",
        "item-plan, item-note in the blocks",
        "source_item_refs",
    ),
    (
        55,
        f'{GOAL}.item_refs = ["item-extra"]',
        "warning",
        "which no selection",
        "ordered_blocks/1/item_refs/0",
    ),
    (
        56,
        f'{GOAL}.item_refs = ["item-log"]',
        "error",
        "item-log may be seen by tool, but assembly-model is for model",
        "ordered_blocks/1/item_refs/0",
    ),
    (56, "item-goal.visibility = []", "error", "may be seen by no target", "ordered_blocks/1/item_refs/0"),
    (
        56,
        f'{M}.visibility = ["model", "user"] ¶ injection-model.visibility = ["model", "user"]',
        "error",
        "item-goal may be seen by model, reviewer, but assembly-model is for user",
        "ordered_blocks/1/item_refs/0",
    ),
    (
        56,
        f'{M}.visibility = (absent) ¶ injection-model.visibility = ["user"]',
        "error",
        "item-goal may be seen by model, reviewer, but injection-model shows it to user",
        "ordered_blocks/1/item_refs/0",
    ),
    (
        56,
        f'{GOAL}.visibility = ["model", "ui"]',
        "error",
        "item-goal may be seen by model, reviewer, but assembly-model is for ui",
        "ordered_blocks/1/item_refs/0",
    ),
    (
        56,
        f'{M}.source_item_refs = ["item-log"] ¶ {GOAL}.item_refs = (absent)',
        "error",
        "item-log may be seen by tool, but assembly-model is for model",
        "source_item_refs/0",
    ),
    (57, 'injection-tool.assembly_id = "lost"', "error", "names the assembly lost", "assembly_id"),
    (
        58,
        'injection-tool.target = "model"',
        "error",
        "is for model, but assembly-tool was made for tool",
        "target",
    ),
    (58, 'injection-tool.visibility = ["tool", "ui"]', "error", "is visible to ui", "visibility"),
    (
        59,
        'injection-model.injection_point = "ui_panel"',
        "warning",
        "read by ui or user or",
        "injection_point",
    ),
    (59, 'injection-tool.injection_point = "system_prompt"', "warning", "read by model", "injection_point"),
    (
        60,
        'selection-1.selected_item_refs = ["item-goal", "item-extra"]',
        "info",
        "1 item of selection-1 reached no target: item-extra",
        "selected_item_refs",
    ),
    (60, NOT_TOOL, "info", "item-log (only assembled for tool)", "selected_item_refs"),
    (
        61,
        f'{GOAL}.item_refs = ["item-log"]',
        "warning",
        "shown to the model by injection-model",
        "visibility",
    ),
    (61, NOT_TOOL, "warning", "no injection brings it to a tool", "visibility"),
    (
        61,
        f'{NOT_TOOL} ¶ item-log.visibility = ["tool", "tool"]',
        "warning",
        "no injection brings it to a tool",
        "visibility",
    ),
    (
        61,
        f'{GOAL}.item_refs = ["item-log"] ¶ item-log.visibility = ["tool", "reviewer"]',
        "warning",
        "item-log is for tools and not for the model, but was shown to the model by injection-model",
        "visibility",
    ),
    (
        61,
        f'{M}.source_item_refs = ["item-log"]',
        "warning",
        "shown to the model by injection-model",
        "visibility",
    ),
    (61, 'injection-tool.visibility = ["tool", "model"]', "warning", "by injection-tool", "visibility"),
    (62, "item-plan.source_refs = []", "warning", "item-plan in the block block-3", "source_refs"),
    (62, "item-plan.source_refs = (absent)", "warning", "leads to no source", ""),
    (62, 'item-plan.source_refs = ["source-lost"]', "warning", "leads to no source", "source_refs"),
    (
        62,
        "summary-1.source_item_refs = (absent) ¶ compaction-1 (absent)",
        "warning",
        "summary-1 in the block block-1",
        "",
    ),
    (63, f'{GOAL}.hash = "{digest("other")}"', "warning", "the block block-2 of", "ordered_blocks/1/hash"),
    (
        63,
        f'{GOAL}.content_ref = {{"content": "a"}} ¶ {GOAL}.hash = "{digest("b")}"',
        "warning",
        "the block block-2",
        "ordered_blocks/1/hash",
    ),
    (63, 'injection-tool.final_ref = {"content": "a"}', "warning", "the injection injection-tool", "hash"),
    (63, 'injection-tool.content = "a"', "warning", "the injection injection-tool", "hash"),
]
NEAR_MISSES = [
    (53, f"{GOAL}.position = 1.5 ¶ {GOAL}.block_id = (absent) ¶ {M}.ordered_blocks[2].block_id = (absent)"),
    (53, f"{GOAL}.position = (absent)"),
    (54, f"{M}.source_item_refs = (absent)"),
    (54, f'{M}.source_item_refs = ["item-note", "item-plan", {{"item_ref": "item-goal"}}, "summary-1"]'),
    (54, f"{GOAL}.item_refs = (absent)"),
    (55, 'selection-1.selected_item_refs = ["item-goal", "item-plan", "item-note", "item-log"]'),
    (55, "selection-1.selected_item_refs = (absent)"),
    (56, "item-goal.visibility = (absent)"),
    (56, f'{M}.visibility = ["model", "reviewer"] ¶ injection-model.visibility = ["reviewer"]'),
    (56, f'{GOAL}.visibility = ["reviewer"]'),
    (56, "assembly-model.target = (absent)"),
    (57, "injection-tool.assembly_id = (absent)"),
    (58, "assembly-tool.visibility = (absent) ¶ assembly-tool.target = (absent)"),
    (58, "injection-tool.visibility = []"),
    (59, 'injection-tool.injection_point = "artifact_input"'),
    (59, 'injection-tool.target = "robot"'),
    (59, "injection-tool.injection_point = (absent)"),
    (60, "injection-tool (absent) ¶ injection-model (absent)"),
    (60, 'selection-1.selected_item_refs = ["item-goal", "item-old-1"]'),
    (61, f'{NOT_TOOL} ¶ item-log.visibility = ["tool", "reviewer"]'),
    (61, "injection-tool (absent) ¶ injection-model (absent)"),
    (61, f'{GOAL}.item_refs = ["item-log"] ¶ item-log.visibility = ["tool", "model"]'),
    (61, "assembly-tool.ordered_blocks[0].item_refs = (absent)"),
    (61, f'{NOT_TOOL} ¶ selection-1.selected_item_refs = ["item-goal"]'),
    (62, 'item-plan.source_refs = [{"uri": "file:///work/plan.md"}]'),
    (62, "source-plan (absent) ¶ source-chat (absent)"),
    (62, "item-extra.source_refs = []"),
    (62, "summary-1.source_item_refs = (absent)"),
    (63, f'{GOAL}.hash = "{digest(TEXT)}"'),
    (63, f'{GOAL}.hash = "{digest(TEXT).upper().replace("SHA256", "SHA-256")}"'),
    (63, f'{GOAL}.hash = "{digest("x")}" ¶ {GOAL}.wrapper = "<goal>"'),
    (63, f'{GOAL}.hash = "{digest("x")}" ¶ {GOAL}.item_refs = ["item-goal", "item-plan"]'),
    (63, f'{GOAL}.hash = "{digest("x")}" ¶ {GOAL}.content_ref = "store:block-2"'),
    (63, f'{GOAL}.hash = "{digest("x")}" ¶ {GOAL}.token_estimate = 10'),
    (63, f'{GOAL}.hash = "{digest("x")}" ¶ {GOAL}.redaction_state = "masked"'),
    (63, f'{GOAL}.hash = "{digest("x")}" ¶ item-goal.content = {{"text": "x"}}'),
    (63, f'{GOAL}.hash = "sha256:example"'),
    (63, f'{GOAL}.hash = "md5:abcd"'),
]


@pytest.mark.parametrize(("rule", "changes", "severity", "words", "member"), CASES)
def test_the_rule_has_a_finding(rule: int, changes: str, severity: str, words: str, member: str):
    expect(rule, changes, severity, words, member)


@pytest.mark.parametrize(("rule", "changes"), NEAR_MISSES)
def test_the_rule_has_no_finding(rule: int, changes: str):
    assert rule_findings(rule, changes) == []
