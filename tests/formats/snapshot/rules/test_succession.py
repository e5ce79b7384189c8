"""One stored snapshot after another: SNP052 to 058."""

from __future__ import annotations

import pytest

from ctxview.core.findings import Effect, Severity
from ctxview.formats.snapshot.model import Snapshot
from tests.formats.snapshot.builders import STARTUP, block, snapshot_of, snapshot_value
from tests.formats.snapshot.rules.checking import of_succession


def at(round: int, *, startup: int = STARTUP, runtime: dict | None = None, **fields) -> Snapshot:  # noqa: A002
    value = snapshot_value(round=round, **fields)
    value["runtime"].update({"startup_at": startup, **(runtime or {})})
    return snapshot_of(value, file=f"round-{round}.json")


def test_a_round_that_goes_back_in_one_process_is_an_error():
    (finding,) = of_succession(52, at(5), at(4))
    assert finding.severity is Severity.ERROR
    assert finding.origin.pointer == "/runtime/round"


def test_a_round_that_jumps_is_a_warning():
    (finding,) = of_succession(52, at(5), at(7))
    assert finding.severity is Severity.WARNING
    assert "1 turn is missing" in finding.message


def test_the_same_or_the_next_round_is_fine():
    assert of_succession(52, at(5), at(5)) == []
    assert of_succession(52, at(5), at(6)) == []


def test_a_new_process_starts_its_own_rounds():
    assert of_succession(52, at(5), at(1, startup=STARTUP + 1)) == []


@pytest.mark.parametrize("runtime", [{"workspace": "/other/"}, {"datetime": "2026-02-25T09:59:59.999Z"}])
def test_another_workspace_or_an_earlier_time_is_a_warning(runtime):
    (finding,) = of_succession(52, at(5), at(6, runtime=runtime))
    assert finding.severity is Severity.WARNING


def test_another_version_is_a_warning_but_another_spelling_is_not():
    assert len(of_succession(52, at(5), at(6, version=2.4))) == 1
    assert of_succession(52, at(5), at(6, version=3.0)) == []


def test_a_new_process_is_mentioned():
    (finding,) = of_succession(53, at(9), at(2, startup=STARTUP + 1))
    assert finding.severity is Severity.INFO
    assert "although" not in finding.message
    assert of_succession(53, at(1), at(2)) == []


def test_a_new_process_with_old_rounds_or_blocks_is_reported():
    (finding,) = of_succession(53, at(9), at(10, startup=STARTUP + 1, core=[block("mine")]))
    assert "the round is already 10" in finding.message
    assert "core already holds mine" in finding.message


def test_a_block_that_vanishes_for_no_reason_is_a_warning():
    (finding,) = of_succession(54, at(5, core=[block("a"), block("b")]), at(6, core=[block("b")]))
    assert finding.severity is Severity.WARNING
    assert finding.effect is Effect.DELETED
    assert finding.origin.pointer == "/memory/core"


def test_a_block_that_moved_is_found_in_its_new_tier():
    (finding,) = of_succession(
        54, at(5, core=[block("a"), block("b")]), at(6, core=[block("b")], longterm=[block("a")])
    )
    assert "it is now in longterm" in finding.message


def trimmed(stage: str) -> dict:
    return {"budget": {"degrade_stage": stage}}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (at(5, core=[block("a")]), at(6)),
        (at(31, ephemeral=[block("a"), block("b", round=31)]), at(32, ephemeral=[block("b", round=31)])),
        (at(5, core=[7, block("b")]), at(6, core=[block("b")])),
        (at(5, ephemeral=[block("persistent:a"), block("b")]), at(6, ephemeral=[block("b")])),
        (
            at(5, working=[block("a"), block("b")]),
            at(6, working=[block("b")], runtime=trimmed("trim_memory_working")),
        ),
        (
            at(5, working=[block("a"), block("b")]),
            at(6, working=[block("b")], runtime=trimmed("trim_memory_core")),
        ),
        (at(5, core=[block("a"), block("b")]), at(2, startup=STARTUP + 1, core=[block("b")])),
    ],
    ids=["tier wiped", "raw age", "invalid", "recalled", "trimmed", "trimmed further", "new process"],
)
def test_a_loss_that_the_runtime_explains_is_not_reported(before: Snapshot, after: Snapshot):
    assert of_succession(54, before, after) == []


def test_a_loss_at_the_cap_of_storage_is_not_reported():
    full = [block(f"b{n}") for n in range(200)]
    assert of_succession(54, at(5, core=[block("a"), *full[:199]]), at(6, core=full)) == []


def test_a_trim_of_another_tier_does_not_explain_a_loss():
    after = at(6, working=[block("b")], runtime=trimmed("trim_memory_ephemeral"))
    assert len(of_succession(54, at(5, working=[block("a"), block("b")]), after)) == 1


def tokens(total: int, sum_: int) -> dict:
    return {"token_usage": {"total_tokens": total, "cumulative_total_tokens": sum_}}


def test_a_token_sum_that_does_not_add_up_is_a_warning():
    assert "fall" in of_succession(55, at(5, runtime=tokens(5, 100)), at(6, runtime=tokens(5, 99)))[0].message
    assert len(of_succession(55, at(5, runtime=tokens(5, 100)), at(6, runtime=tokens(5, 106)))) == 1


def test_a_token_sum_that_adds_up_or_is_unchanged_is_fine():
    assert of_succession(55, at(5, runtime=tokens(5, 100)), at(6, runtime=tokens(6, 106))) == []
    assert of_succession(55, at(5, runtime=tokens(5, 100)), at(5, runtime=tokens(5, 100))) == []
    assert of_succession(55, at(5, runtime=tokens(5, 100)), at(1, startup=1, runtime=tokens(6, 6))) == []


def task(id: str, *working) -> dict:  # noqa: A002
    return {"active_task_meta": {"id": id, "status": "running"}, "working": working}


def test_an_open_block_that_survives_a_task_change_is_a_warning():
    (finding,) = of_succession(56, at(5, **task("t1", block("a"))), at(6, **task("t2", block("a"))))
    assert finding.severity is Severity.WARNING
    assert finding.origin.pointer == "/memory/working/0"


def test_an_open_block_that_disappears_at_a_task_change_is_reported_once():
    before, after = (
        at(5, **task("t1", block("a"), block("b", status="done"))),
        at(6, **task("t2", block("c"))),
    )
    (finding,) = of_succession(56, before, after)
    assert finding.effect is Effect.DELETED
    assert [other.message for other in of_succession(54, before, after) if "a is gone" in other.message] == []


def test_a_cancelled_block_or_the_same_task_is_fine():
    cancelled = block("a", status="cancelled", closed_at=1)
    assert of_succession(56, at(5, **task("t1", block("a"))), at(6, **task("t2", cancelled))) == []
    assert of_succession(56, at(5, **task("t1", block("a"))), at(6, **task("t1", block("a")))) == []


def cold(**fields) -> dict:
    return block("a", **{"content_state": "tag_ref", "tag_id": "tag:1", **fields})


def test_a_placeholder_that_becomes_active_without_a_trace_is_a_warning():
    after = at(6, longterm=[cold(content_state="active")])
    (finding,) = of_succession(57, at(5, longterm=[cold()]), after)
    assert finding.severity is Severity.WARNING


def test_a_placeholder_restored_from_another_payload_is_a_warning():
    after = at(6, longterm=[cold(content_state="active", rehydrated_at=1, tag_id="tag:2")])
    (finding,) = of_succession(57, at(5, longterm=[cold()]), after)
    assert finding.severity is Severity.WARNING


def test_a_placeholder_that_changes_its_payload_in_place_is_an_error():
    (finding,) = of_succession(57, at(5, longterm=[cold()]), at(6, longterm=[cold(tag_id="tag:2")]))
    assert finding.severity is Severity.ERROR


def test_a_proper_restoration_and_tagging_again_are_fine():
    restored = at(6, longterm=[cold(content_state="active", rehydrated_at=1)])
    assert of_succession(57, at(5, longterm=[cold()]), restored) == []
    assert of_succession(57, restored, at(7, longterm=[cold(tag_id="tag:2")])) == []


def todo(summary: str) -> dict:
    return {"todo": {"summary": summary, "total": 3, "step": 2}}


def test_fewer_done_items_are_mentioned():
    before, after = at(5, **todo("进行中 2/3（当前第3步）")), at(6, **todo("进行中 1/3（当前第2步）"))
    (finding,) = of_succession(58, before, after)
    assert finding.severity is Severity.INFO
    assert of_succession(58, after, before) == []
    assert len(of_succession(58, before, at(6))) == 1
