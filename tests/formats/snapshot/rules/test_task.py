"""Task records and budget: SNP032, 033, 035."""

from __future__ import annotations

import pytest

from ctxview.core.findings import Severity
from ctxview.formats.snapshot.model import SnapshotRole
from tests.formats.snapshot.rules.checking import BARE, changed, of_value, with_runtime

RUNNING = {"id": "t1", "status": "running", "retries": 0, "attempt": 1}
CHECKPOINT = {
    "task_id": "t",
    "task_type": "x",
    "saved_at": 1,
    "retries": 0,
    "attempts": 1,
    "working_memory": [],
}
FITTING = {"input_budget": 113295, "reserve_output_tokens": 2048, "safety_margin_tokens": 15729}


@pytest.mark.parametrize(
    "meta",
    [
        None,
        {},
        {**RUNNING, "status": "success"},
        {**RUNNING, "attempt": 2},
        {**RUNNING, "execution": {"tool_calls": {"limit": 10, "used": 3, "remaining": 6}}},
        {**RUNNING, "execution": {"model_steps": {"task_limit": 10, "used": 3, "remaining": 8}}},
    ],
)
def test_task_records_that_disagree_are_a_warning(meta):
    (finding,) = of_value(32, changed(active_task_meta=meta))
    assert finding.severity is Severity.WARNING


@pytest.mark.parametrize(
    "meta",
    [
        RUNNING,
        {**RUNNING, "retries": 2, "attempt": 3},
        {**RUNNING, "execution": {"tool_calls": {"limit": 10, "used": 3, "remaining": 7}}},
        {**RUNNING, "execution": {"tool_calls": {"limit": None, "used": 3, "remaining": None}}},
        {**RUNNING, "execution": {"continuations": {"limit": 2, "used": 2}}},
    ],
)
def test_task_records_that_agree_are_fine(meta):
    assert of_value(32, changed(active_task_meta=meta)) == []


def test_without_a_task_no_record_is_needed():
    assert of_value(32, changed(active_task=None, active_task_meta=None)) == []


@pytest.mark.parametrize("name", ["task_checkpoint", "last_task"])
def test_storage_records_in_an_injected_copy_are_a_warning(name: str):
    value = changed(**{name: CHECKPOINT})
    (finding,) = of_value(33, value, role=SnapshotRole.INJECTED)
    assert finding.severity is Severity.WARNING
    assert of_value(33, value) == []


@pytest.mark.parametrize("name", sorted(CHECKPOINT))
def test_a_checkpoint_without_one_of_its_fields_is_an_error(name: str):
    (finding,) = of_value(33, changed(task_checkpoint={k: v for k, v in CHECKPOINT.items() if k != name}))
    assert finding.severity is Severity.ERROR
    assert name in finding.message


def test_a_whole_or_absent_checkpoint_is_fine():
    assert of_value(33, changed(task_checkpoint=CHECKPOINT)) == []
    assert of_value(33, changed(task_checkpoint=None)) == []
    assert of_value(33, changed(task_checkpoint="x"))[0].severity is Severity.ERROR


def budget(**fields):
    return with_runtime(budget={**FITTING, "estimated_input_tokens": 500, "degrade_stage": "none", **fields})


@pytest.mark.parametrize("available", [113295, 110223, 182223, 982223])
def test_a_window_that_exists_is_plausible(available: int):
    assert of_value(35, budget(input_budget=available)) == []


def test_a_window_that_no_model_has_is_a_warning():
    (finding,) = of_value(35, budget(input_budget=113296))
    assert finding.severity is Severity.WARNING
    assert "131073" in finding.message
    assert of_value(35, budget(input_budget=113296), profile=BARE) == []


def test_exhausted_goes_together_with_an_estimate_over_the_budget():
    exhausted = {"degrade_stage": "context_budget_exhausted"}
    (finding,) = of_value(35, budget(estimated_input_tokens=113295, **exhausted))
    assert finding.severity is Severity.ERROR
    assert of_value(35, budget(estimated_input_tokens=113296, **exhausted)) == []


def test_over_the_budget_without_being_exhausted_is_an_error():
    (finding,) = of_value(35, budget(estimated_input_tokens=113296))
    assert finding.severity is Severity.ERROR
    assert of_value(35, budget(estimated_input_tokens=113296, degrade_stage="disabled")) == []


def test_an_unknown_stage_is_mentioned():
    (finding,) = of_value(35, budget(degrade_stage="panic"))
    assert finding.severity is Severity.INFO


@pytest.mark.parametrize("task", [7, True, ["write"], {"text": "write"}])
def test_a_task_that_is_not_a_text_is_a_warning(task):
    value = changed(active_task=task)
    value.pop("active_task_meta", None)
    (finding,) = of_value(32, value)
    assert finding.severity is Severity.WARNING
    assert finding.origin.pointer == "/active_task"


@pytest.mark.parametrize("task", ["write", "", None])
def test_a_text_or_null_is_a_task(task):
    value = changed(active_task=task)
    value.pop("active_task_meta", None)
    assert of_value(32, value) == []
