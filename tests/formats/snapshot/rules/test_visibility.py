"""Visible and stored blocks: SNP021 to 024."""

from __future__ import annotations

import pytest

from ctxview.core.findings import Effect, Severity
from ctxview.files.strict_json.document import parse
from ctxview.formats.snapshot.model import Snapshot, SnapshotRole
from tests.formats.snapshot.builders import block, snapshot, snapshot_of
from tests.formats.snapshot.rules.checking import ATOM, BARE, of_snapshot

LIMITS = [("core", 0.35, 0.70), ("working", 0.65, 0.55), ("ephemeral", 0.80, 0.40), ("longterm", 0.45, 0.60)]


@pytest.mark.parametrize(("tier", "decay", "confidence"), LIMITS)
def test_a_block_at_both_thresholds_is_shown(tier: str, decay: float, confidence: float):
    assert of_snapshot(21, snapshot(**{tier: [block(decay=decay, confidence=confidence)]})) == []


@pytest.mark.parametrize(("tier", "decay", "confidence"), LIMITS)
def test_a_block_beyond_a_threshold_is_hidden(tier: str, decay: float, confidence: float):
    (finding,) = of_snapshot(21, snapshot(**{tier: [block(decay=decay + 0.01)]}))
    assert finding.effect is Effect.HIDDEN
    assert finding.origin.pointer == f"/memory/{tier}/0/decay"
    (finding,) = of_snapshot(21, snapshot(**{tier: [block(confidence=confidence - 0.01)]}))
    assert finding.origin.pointer == f"/memory/{tier}/0/confidence"


def test_the_message_spells_the_number_as_the_file_does():
    text = b'{"version": 3, "memory": {"working": [{"id": "work-007", "type": "t", "decay": 0.70,'
    text += b' "confidence": 0.8, "round": 1, "tags": [], "content": "c"}]}}'
    document = parse(text)
    assert isinstance(document.value, dict)
    (finding,) = of_snapshot(21, Snapshot("s.json", document, "", document.value, SnapshotRole.STORED))
    wanted = "work-007: decay 0.70 is above working's maximum of 0.65; the model will not see it"
    assert finding.message == wanted


def test_a_block_may_fail_both_thresholds():
    assert len(of_snapshot(21, snapshot(core=[block(decay=0.9, confidence=0.1)]))) == 2


def test_a_missing_confidence_counts_as_the_runtime_fills_it_in():
    (finding,) = of_snapshot(21, snapshot(core=[block(confidence=...)]))
    assert "confidence 0.5 is below core's minimum of 0.70" in finding.message


def test_a_version_without_confidence_is_not_reported():
    old = {"version": "2.1", "runtime": {"round": 1}, "memory": {"core": [block(confidence=...)]}}
    assert of_snapshot(21, snapshot_of(old)) == []


def test_a_finished_block_is_hidden_anyway_and_not_reported():
    assert of_snapshot(21, snapshot(working=[block(decay=0.9, status="done", closed_at=1)])) == []


@pytest.mark.parametrize(("tier", "age"), [("working", 12), ("ephemeral", 3)])
def test_age_hides_only_beyond_the_limit(tier: str, age: int):
    assert of_snapshot(22, snapshot(**{tier: [block(round=1)]}, round=1 + age)) == []
    (finding,) = of_snapshot(22, snapshot(**{tier: [block(round=1)]}, round=2 + age))
    assert finding.severity is Severity.WARNING
    assert finding.effect is Effect.HIDDEN
    assert finding.origin.pointer == f"/memory/{tier}/0/round"


@pytest.mark.parametrize("tier", ["core", "longterm"])
def test_core_and_longterm_do_not_age(tier: str):
    assert of_snapshot(22, snapshot(**{tier: [block(round=1)]}, round=5000)) == []


def test_storage_deletes_old_ephemeral_blocks():
    assert of_snapshot(22, snapshot(ephemeral=[block(round=1)], round=31))[0].effect is Effect.HIDDEN
    assert of_snapshot(22, snapshot(ephemeral=[block(round=1)], round=32))[0].effect is Effect.DELETED


def test_storage_deletes_old_working_blocks_only_when_they_are_finished():
    finished = block(round=1, status="done", closed_at=1)
    assert of_snapshot(22, snapshot(working=[finished], round=121)) == []
    assert of_snapshot(22, snapshot(working=[finished], round=122))[0].effect is Effect.DELETED
    assert of_snapshot(22, snapshot(working=[block(round=1)], round=122))[0].effect is Effect.HIDDEN


@pytest.mark.parametrize(
    ("tier", "cap"), [("core", 24), ("working", 48), ("ephemeral", 24), ("longterm", 48)]
)
def test_a_tier_at_its_visible_cap_is_fine_and_one_more_is_hidden(tier: str, cap: int):
    blocks = [block(f"b{number:03}") for number in range(cap + 1)]
    assert of_snapshot(23, snapshot(**{tier: blocks[:cap]})) == []
    (finding,) = of_snapshot(23, snapshot(**{tier: blocks}))
    assert finding.severity is Severity.WARNING
    assert finding.effect is Effect.HIDDEN
    assert finding.origin.pointer == f"/memory/{tier}"
    assert f"b{cap:03}" in finding.message


def test_only_blocks_that_could_be_shown_count_for_the_visible_cap():
    blocks = [block(f"b{number}") for number in range(24)] + [block("hidden", decay=0.9)]
    assert of_snapshot(23, snapshot(core=blocks)) == []


def test_over_the_cap_of_storage_is_an_error():
    blocks = [block(f"b{number:03}", decay=0.9) for number in range(201)]
    assert of_snapshot(23, snapshot(core=blocks[:200])) == []
    (finding,) = of_snapshot(23, snapshot(core=blocks))
    assert finding.severity is Severity.ERROR
    assert finding.effect is Effect.DELETED


def test_the_bare_protocol_hides_and_deletes_nothing():
    blocks = [block(f"b{number}", decay=1, confidence=0) for number in range(300)]
    found = snapshot(core=blocks, ephemeral=blocks, round=900)
    assert [rule for rule in (21, 22, 23) if of_snapshot(rule, found, BARE)] == []
    assert of_snapshot(21, found, ATOM)


@pytest.mark.parametrize("role", [SnapshotRole.INJECTED, SnapshotRole.EMITTED])
def test_a_better_block_after_a_worse_one_is_mentioned(role: SnapshotRole):
    worse, better = block("worse", confidence=0.8), block("better", confidence=0.9)
    (finding,) = of_snapshot(24, snapshot(core=[worse, better], role=role))
    assert finding.severity is Severity.INFO
    assert finding.origin.pointer is not None
    assert finding.origin.pointer.endswith("/memory/core/1")
    assert of_snapshot(24, snapshot(core=[better, worse], role=role)) == []


def test_blocks_of_equal_quality_may_be_in_any_order():
    one, other = block("one", decay=0.3, confidence=0.9), block("other", decay=0.1, confidence=0.7)
    assert of_snapshot(24, snapshot(core=[one, other], role=SnapshotRole.INJECTED)) == []
    assert of_snapshot(24, snapshot(core=[other, one], role=SnapshotRole.INJECTED)) == []


def test_storage_is_not_ordered_by_quality():
    assert of_snapshot(24, snapshot(core=[block("a", confidence=0.8), block("b")])) == []
