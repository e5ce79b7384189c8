"""Each change to the good bundle causes a finding of its own rule, and of no other than expected."""

from __future__ import annotations

import pytest

from ctxview.core.findings import REGISTRY, Finding
from tests.formats.envelope.bundles import good, named, read
from tests.formats.envelope.rules.examples import findings_in, findings_of
from tests.formats.envelope.sound_records import digest

NEVER_SPEAK = {8, 71}
SUMMARY = named(good(), "summary-1")["content"]
NO_BUDGET = (
    "budget-model (absent) ¶ budget-tool (absent) ¶ ctx-1.budget_ref = (absent) ¶ "
    "selection-1.budget_ref = (absent) ¶ assembly-model.budget_ref = (absent) ¶ "
    "assembly-tool.budget_ref = (absent)"
)
CHOSEN = '"item-goal", "item-plan", "item-note", "item-log", "summary-1"'
OLD = ", ".join(
    f'{{"item_ref": "{name}", "reason": "superseded_by_summary"}}' for name in ("item-old-1", "item-old-2")
)

MUTATIONS: dict[int, tuple[str, set[int]]] = {
    1: ('+ {"title": "the plan"}', set()),
    2: ("surface-1.scope = (absent)", set()),
    3: ('item-plan.priority = "first"', set()),
    4: ('ctx-1.scope = "conversation"', set()),
    5: ('source-plan.retrieved_at = "yesterday"', set()),
    6: ('event-1.schema_version = "9.9"', set()),
    7: ('source-chat += {"authority": "another"}', set()),
    9: ("injection-model.hash = (absent)", set()),
    10: ('item-plan.content_mode = "inlined"', set()),
    11: ("source-plan.license = (absent)", set()),
    12: ('surface-1.available_source_refs = ["source-plan", "source-lost"]', set()),
    13: ('surface-1.available_source_refs = [{"title": "the plan"}]', set()),
    14: ('ctx-1.item_refs = ["item-goal", "item-extra"]', {16}),
    15: ('ctx-1.lifecycle = "selected" ¶ ctx-1.selection_refs = [] ¶ selection-1 (absent)', set()),
    16: ('ctx-1.assembly_refs = ["assembly-model"]', set()),
    17: ("ctx-1.missing_context_refs = []", set()),
    18: ('ctx-1.telemetry_refs = [{"id": "trace-1", "spans": [{"name": "turn"}]}]', set()),
    19: ('ctx-1 += {"metadata": {"note": "changed later"}}', set()),
    20: ('selection-1.metadata.task_status = "done"', set()),
    21: ('assembly-model.created_at = "2026-05-11T09:00:01Z"', set()),
    22: ("surface-1.available_item_refs = 201 refs", {12, 23}),
    23: ('surface-1.available_item_refs = ["item-goal", "item-plan"]', set()),
    24: ("item-plan.content = (absent)", set()),
    25: ('item-plan.mime_type = "image/png"', set()),
    26: ('item-extra.trust_level = "verified" ¶ item-extra.source_refs = []', set()),
    27: ("item-extra.visibility = []", set()),
    28: ("item-goal.byte_size = 1", set()),
    29: ('item-goal.freshness = "expired"', set()),
    30: ('source-chat.digest = "sha256:example"', set()),
    31: ('source-plan.selector = {"type": "line_range", "start": 9, "end": 2}', set()),
    32: ('source-plan.external_mappings = [{"protocol": "mcp", "colour": "red"}]', set()),
    33: ('source-chat.uri = "[redacted]" ¶ source-chat.digest = (absent)', {11}),
    34: (
        f'selection-1.selected_item_refs = [{CHOSEN}, "item-new"]',
        {12, 60},
    ),
    35: ('selection-1.omitted_item_refs[2].item_ref = "item-never"', {12, 37}),
    36: ('selection-1.omitted_item_refs[2].item_ref = "item-plan"', {37}),
    37: ("selection-1.omitted_item_refs = []", set()),
    38: ('selection-1.omitted_item_refs[2] = {"item_ref": "item-extra"}', set()),
    39: ('selection-1.omitted_item_refs[2].reason = "not_visible_to_target"', set()),
    40: ("selection-1.ranking_signals.item-extra.relevance = 0.95", set()),
    41: ('selection-1.ranking_signals.item-never = {"relevance": 0.1}', set()),
    42: ('selection-1 += {"attempt_id": "attempt-2"}', {7}),
    43: ("budget-tool.actual_bytes = (absent)", {11}),
    44: ("budget-model.max_tokens = (absent) ¶ budget-model.actual_tokens = (absent)", {11}),
    45: ("budget-tool.actual_bytes = 5000", set()),
    46: ("budget-tool.actual_items = 2", set()),
    47: ("budget-tool.actual_tokens = 200", set()),
    48: ("budget-tool.reserved_tokens = 30", set()),
    49: ("budget-model.window_segments[1].order = 1", set()),
    50: ("item-plan.token_estimate = 100", set()),
    51: (
        (
            'budget-model.overflow_strategy = "reject" ¶ '
            "budget-model.max_items = 3 ¶ "
            'budget-model.truncation_records = [{"item_ref": "item-plan"}]'
        ),
        set(),
    ),
    52: (NO_BUDGET, {11, 39}),
    53: ("assembly-model.ordered_blocks[2].position = 2", set()),
    54: ('assembly-model.source_item_refs = ["summary-1", "item-goal", "item-plan"]', set()),
    55: (
        (
            'assembly-model.ordered_blocks[1].item_refs = ["item-extra"] ¶ '
            'assembly-model.source_item_refs[1] = "item-extra" ¶ '
            "item-extra.token_estimate = 20"
        ),
        {60},
    ),
    56: ('item-goal.visibility = ["reviewer"]', set()),
    57: ('injection-tool.assembly_id = "assembly-lost"', {16, 60, 61}),
    58: ('injection-model.visibility = ["model", "user"]', {56}),
    59: ('injection-tool.injection_point = "system_prompt"', set()),
    60: (
        (
            f'selection-1.selected_item_refs = [{CHOSEN}, "item-extra"] ¶ '
            f"selection-1.omitted_item_refs = [{OLD}]"
        ),
        set(),
    ),
    61: ('injection-tool (absent) ¶ ctx-1.injection_refs = ["injection-model"]', {60}),
    62: ("item-plan.source_refs = []", set()),
    63: ('injection-model.content = "something else"', set()),
    64: ("compaction-1.source_item_refs = []", set()),
    65: ('summary-1.content = ""', set()),
    66: ("compaction-1.loss_notes = (absent)", {11}),
    67: ("compaction-1.coverage.estimated_tokens_after = 4000", set()),
    68: (('summary-1.source_item_refs = ["item-old-1"] ¶ summary-1.coverage = {"items_covered": 1}'), set()),
    69: ('assembly-model.ordered_blocks[0].item_refs = ["summary-1", "item-old-1"]', {46, 54, 55}),
    70: ('item-old-1.sensitivity = "private" ¶ summary-1.redaction_state = (absent)', set()),
    72: (
        ('missing-1.severity = "blocking" ¶ missing-1.blocked_actions = [] ¶ missing-1.status = "declined"'),
        set(),
    ),
    73: ("missing-1.requested_from = (absent)", {11}),
    74: ('missing-1.status = "resolved" ¶ event-9.event_type = "context.missing.resolved"', set()),
    75: ('missing-1.severity = "blocking"', set()),
    76: ("missing-1.metadata.consent = true", {20}),
    77: ("item-note.redaction_method = (absent)", set()),
    78: ('item-note.metadata.raw = "write to Ada at 12 Orchard Row"', set()),
    79: ("item-note.original_ref = (absent) ¶ item-note.digest = (absent)", set()),
    80: ('assembly-model.ordered_blocks[3].redaction_state = "none"', set()),
    81: (f'item-note.digest = "{digest(SUMMARY)}"', set()),
    82: ("event-2 (absent)", set()),
    83: ("event-7 (absent)", set()),
    84: ('event-11.thread_id = "thread-2"', set()),
    85: ('ctx-1.runtime_refs = [{"kind": "turn", "id": "turn-1"}]', set()),
    86: (f'ctx-1.evidence_refs = [{{"id": "evidence-1", "cited": "{SUMMARY[:60]}"}}]', set()),
    87: ("missing-1.owner = (absent)", set()),
}
"""The change by rule, and the other rules that must have a finding too."""


def numbers(findings: list[Finding]) -> set[int]:
    return {int(each.rule[3:]) for each in findings}


def test_there_is_a_change_for_every_rule_that_can_have_findings():
    known = {int(each[3:]) for each in REGISTRY if each.startswith("ENV")}
    assert set(MUTATIONS) == known - NEVER_SPEAK
    assert known == set(range(1, 88))


@pytest.mark.parametrize("number", MUTATIONS)
def test_a_change_causes_a_finding_of_its_own_rule_and_of_no_other(number: int):
    changes, companions = MUTATIONS[number]
    assert numbers(findings_of(changes.replace(" ¶ ", "\n"))) == {number, *companions}


def test_an_open_blocking_gap_is_the_only_finding_of_its_bundle():
    assert numbers(findings_of('missing-1.severity = "blocking"')) == {75}


@pytest.mark.parametrize("at", range(len(good())))
def test_a_record_by_itself_has_no_finding_that_others_could_explain(at: int):
    """Except for unresolved references and unbacked reasons, which are checked in every bundle."""
    assert numbers(findings_in(read([good()[at]]))) <= {12, 39}


def test_the_bundle_without_its_envelope_has_no_findings():
    assert findings_in(read(good()[1:])) == []


def test_a_second_attempt_with_its_own_selection_is_fine():
    retry = """
        selection-1 += {"selection_id": "selection-2", "attempt_id": "attempt-2"}
        event-5 += {"event_id": "event-15", "subject": "selection-2", "attempt_id": "attempt-2"}
        event-6 += {"event_id": "event-16", "subject": "selection-2", "attempt_id": "attempt-2"}
        ctx-1.selection_refs = ["selection-1", "selection-2"]
        ctx-1.attempt_id = "attempt-2"
    """
    assert findings_of(retry) == []


def test_an_item_that_another_attempt_left_out_with_a_reason_is_fine():
    eager = f"""
        selection-1 += {{"selection_id": "selection-0", "attempt_id": "attempt-0"}}
        selection-0.selected_item_refs = [{CHOSEN}, "item-extra"]
        selection-0.omitted_item_refs = [{OLD}]
        ctx-1.selection_refs = ["selection-0", "selection-1"]
    """
    assert findings_of(eager) == []
