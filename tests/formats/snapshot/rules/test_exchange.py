"""What a reply does to the received blocks: SNP043 to 047, 050, 051."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from ctxview.core.findings import Effect, Severity
from ctxview.formats.snapshot.model import Snapshot, SnapshotRole
from tests.formats.snapshot.builders import block, snapshot, snapshot_of
from tests.formats.snapshot.rules.checking import BARE, of_exchange
from tests.formats.snapshot.rules.template import template


def sent(*args, **fields) -> Snapshot:
    return snapshot(*args, role=SnapshotRole.EMITTED, **fields)


@pytest.mark.parametrize("blocks", [[], [7], [block(decay=...), block("b", content=" ")]])
def test_a_tier_without_a_valid_block_is_wiped(blocks):
    (finding,) = of_exchange(43, snapshot(core=[block("a")]), sent(core=blocks))
    assert finding.severity is Severity.ERROR
    assert finding.effect is Effect.WIPED
    assert finding.origin.pointer == "/memory/core"


def test_one_valid_block_saves_the_tier():
    assert of_exchange(43, snapshot(core=[block("a")]), sent(core=[7, block("b")])) == []


def test_an_empty_or_absent_tier_loses_nothing_when_nothing_was_there():
    assert of_exchange(43, snapshot(), sent()) == []
    value = template()
    del value["memory"]["core"]
    assert of_exchange(43, snapshot_of(template()), snapshot_of(value, role=SnapshotRole.EMITTED)) == []


def test_omitted_blocks_are_reported_once_for_each_tier():
    received = snapshot(core=[block("a"), block("b"), block("c")])
    (finding,) = of_exchange(44, received, sent(core=[block("b")]))
    assert finding.severity is Severity.INFO
    assert finding.effect is Effect.STORED
    assert "2 blocks not in the reply stay as before: a, c" in finding.message


def test_a_wiped_tier_is_not_called_omitted():
    assert of_exchange(44, snapshot(core=[block("a")]), sent(core=[])) == []


def test_the_same_content_under_a_new_id_is_churn():
    received = snapshot(core=[block("a", content="The deploy script needs Node 22")])
    (finding,) = of_exchange(
        45, received, sent(core=[block("b", content="the deploy  script needs node 22")])
    )
    assert finding.severity is Severity.WARNING
    assert "says the same as a" in finding.message
    assert finding.origin.pointer == "/memory/core/0/id"


def test_nearly_the_same_content_under_a_new_id_is_churn():
    old = "The deploy script needs Node 22 and a running database on port 5432"
    received = snapshot(core=[block("a", content=old), block("c", content="Tests run with pytest")])
    (finding,) = of_exchange(
        45, received, sent(working=[block("b", content=old.replace("running", "local"))])
    )
    assert "like a" in finding.message


def test_a_different_content_under_a_new_id_is_a_new_memory():
    received = snapshot(core=[block("a", content="The deploy script needs Node 22")])
    assert of_exchange(45, received, sent(core=[block("b", content="The user prefers short answers")])) == []


def test_the_profile_sets_the_threshold_of_similarity():
    old, new = "The deploy script needs Node 22", "The deploy script needs Node 20, not 22"
    received, emitted = snapshot(core=[block("a", content=old)]), sent(core=[block("b", content=new)])
    assert of_exchange(45, received, emitted, replace(BARE, near_duplicate=0.5))
    assert of_exchange(45, received, emitted, replace(BARE, near_duplicate=0.99)) == []


def test_an_id_with_another_type_and_content_is_reused():
    received = snapshot(core=[block("a", type="fact", content="The deploy script needs Node 22")])
    (finding,) = of_exchange(
        45, received, sent(core=[block("a", type="plan", content="call grandma on Sunday")])
    )
    assert finding.severity is Severity.WARNING
    assert of_exchange(45, received, sent(core=[block("a", type="fact", content="call grandma")])) == []


def test_two_thousand_new_blocks_are_compared_in_bounded_time():
    old = [
        block(f"o{n}", content=f"memory number {n} about subject {n * 7} and its details {'x' * 300}")
        for n in range(2000)
    ]
    new = [
        block(f"n{n}", content=f"another number {n} for thing {n * 3} with other words {'y' * 300}")
        for n in range(2000)
    ]
    assert of_exchange(45, snapshot(longterm=old), sent(longterm=new)) == []


def test_a_block_in_another_tier_leaves_its_copy_behind():
    (finding,) = of_exchange(46, snapshot(working=[block("a")]), sent(core=[block("a")]))
    assert finding.severity is Severity.WARNING
    assert "from working to core" in finding.message


def test_a_block_that_stays_or_is_repeated_in_both_tiers_has_not_moved():
    assert of_exchange(46, snapshot(working=[block("a")]), sent(working=[block("a")])) == []
    assert (
        of_exchange(46, snapshot(working=[block("a")]), sent(working=[block("a")], core=[block("a")])) == []
    )


@pytest.mark.parametrize("status", [..., "finished", None])
def test_a_finished_block_without_its_status_is_reopened(status):
    received = snapshot(working=[block("a", status="done", closed_at=1)])
    (finding,) = of_exchange(47, received, sent(working=[block("a", status=status)]))
    assert finding.effect is Effect.REOPENED
    assert finding.severity is Severity.WARNING


@pytest.mark.parametrize("status", ["done", "open", "cancelled"])
def test_a_finished_block_with_a_status_is_not_reopened_silently(status: str):
    received = snapshot(working=[block("a", status="done", closed_at=1)])
    assert of_exchange(47, received, sent(working=[block("a", status=status)])) == []


def test_an_open_block_cannot_be_reopened():
    assert of_exchange(47, snapshot(working=[block("a")]), sent(working=[block("a")])) == []


def test_better_numbers_for_the_same_content_are_mentioned():
    received = snapshot(core=[block("a", decay=0.2, confidence=0.8)])
    findings = of_exchange(50, received, sent(core=[block("a", decay=0.1, confidence=0.9)]))
    assert [finding.severity for finding in findings] == [Severity.INFO] * 2
    assert of_exchange(50, received, sent(core=[block("a", decay=0.3, confidence=0.7)])) == []


def test_better_numbers_for_a_new_content_are_fine():
    received = snapshot(core=[block("a", confidence=0.8)])
    assert of_exchange(50, received, sent(core=[block("a", confidence=0.9, content="proved")])) == []


def test_a_lowered_round_is_a_warning():
    received = snapshot(core=[block("a", round=3)], round=4)
    (finding,) = of_exchange(50, received, sent(core=[block("a", round=2)], round=4))
    assert finding.severity is Severity.WARNING
    assert of_exchange(50, received, sent(core=[block("a", round=4)], round=4)) == []


def test_a_block_that_is_stored_differently_is_shown_before_and_after():
    (finding,) = of_exchange(51, snapshot(), sent(core=[block("a", tags=["x", " x ", "y"], decay=1.4)]))
    assert finding.severity is Severity.INFO
    assert finding.effect is Effect.REPAIRED
    assert finding.message == "a: decay 1.4 becomes 1; tags [x,  x , y] becomes [x, y]"


def test_cut_content_is_truncated():
    (finding,) = of_exchange(51, snapshot(), sent(core=[block("a", content="x" * 600)]))
    assert finding.effect is Effect.TRUNCATED
    assert "600 characters" in finding.message
    assert of_exchange(51, snapshot(), sent(core=[block("a", content="x" * 600)]), BARE) == []


def test_a_working_block_without_status_is_not_reported():
    assert (
        of_exchange(51, snapshot(), sent(working=[block("a", content="x" * 512, tags=list("abcdefgh"))]))
        == []
    )
