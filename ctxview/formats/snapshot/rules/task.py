"""The rules about the system's records of tasks and of its budget (SNP032, 033, 035).

Each line of an example sets one member of the template snapshot; `(injected)` makes it a model's copy.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxview.analysis.wording import json_excerpt, listed, quoted
from ctxview.core.findings import Effect, Hit, Severity, rule
from ctxview.formats.snapshot.model import Snapshot, SnapshotRole, integer, number, text
from ctxview.formats.snapshot.profile import Profile
from ctxview.formats.snapshot.rules.lookups import as_object
from ctxview.formats.snapshot.versions import task_of

CHECKPOINT_FIELDS = ("task_id", "task_type", "saved_at", "retries", "attempts", "working_memory")


@rule("SNP032", name="task-records-disagree", severity=Severity.WARNING)
def task_records_disagree(snapshot: Snapshot, profile: Profile) -> Iterator[Hit]:
    """The task is not a text, or the records of the current task contradict each other.

    ## Why
    While a task runs, `active_task` and `active_task_meta` are written together, every attempt is one more
    than the retries, and what is used and what remains of a limit add up. Where they do not, one of them
    was overwritten, and the runtime believes it: it does not protect these fields from the model.
    ## Bad
    active_task_meta = {"id": "t1", "status": "running", "retries": 1, "attempt": 1}
    ## Good
    active_task_meta = {"id": "t1", "status": "running", "retries": 1, "attempt": 2}
    ## Fix
    Do not send these fields back; the system writes them.
    ## Source
    Records of the runtime; the protocol document names only `active_task`.
    """
    written = task_of(snapshot)
    if written is not None and text(written) is None:
        name = "active_task" if "active_task" in snapshot.value else "task"
        message = f"{name} is {json_excerpt(written)}, not a text or null"
        yield Hit(snapshot.origin(name), message)
    if "active_task_meta" not in snapshot.value:
        return
    meta = snapshot.section("active_task_meta")
    origin = snapshot.origin("active_task_meta")
    task = text(snapshot.value.get("active_task"))
    if task and snapshot.value["active_task_meta"] is None:
        yield Hit(origin, f"active_task is {quoted(task)}, but active_task_meta is null")
    elif task and meta.get("status") != "running":
        status = json_excerpt(meta["status"]) if "status" in meta else "missing"
        origin = snapshot.origin("active_task_meta", "status")
        yield Hit(
            origin, f"active_task is {quoted(task)}, but the status of its record is {status}, not running"
        )
    attempt, retries = integer(meta.get("attempt")), integer(meta.get("retries"))
    if attempt is not None and retries is not None and attempt != retries + 1:
        message = f"attempt {attempt} after {retries} retries: it should be {retries + 1}"
        yield Hit(snapshot.origin("active_task_meta", "attempt"), message)
    execution = as_object(meta.get("execution"))
    for name, limit_name in (("tool_calls", "limit"), ("model_steps", "task_limit")):
        counter = as_object(execution.get(name))
        used, left, limit = (integer(counter.get(key)) for key in ("used", "remaining", limit_name))
        if used is not None and left is not None and limit is not None and used + left != limit:
            place = snapshot.origin("active_task_meta", "execution", name)
            yield Hit(place, f"{name}: used {used} and remaining {left} do not make the limit {limit}")


@rule("SNP033", name="task-records-misplaced", severity=Severity.WARNING)
def task_records_misplaced(snapshot: Snapshot, profile: Profile) -> Iterator[Hit]:
    """A record of storage reached the model's copy, or a checkpoint is incomplete.

    ## Why
    `task_checkpoint` and `last_task` are taken out before the snapshot is shown to a model: they cost room
    and invite edits. A checkpoint is what a retry restores working memory from; one with a field missing
    (an error) restores nothing.
    ## Bad
    (injected)
    last_task = {"id": "t1", "status": "success"}
    ## Good
    last_task = {"id": "t1", "status": "success"}
    ## Fix
    Look at what built the model's copy; write checkpoints with all six fields.
    ## Source
    Records of the runtime: task_id, task_type, saved_at, retries, attempts, working_memory.
    """
    if snapshot.role is SnapshotRole.INJECTED:
        for name in ("task_checkpoint", "last_task"):
            if name in snapshot.value:
                yield Hit(snapshot.origin(name), f"{name} belongs in storage, not in what the model is shown")
    checkpoint = snapshot.value.get("task_checkpoint")
    if checkpoint is None:
        return
    origin = snapshot.origin("task_checkpoint")
    if not isinstance(checkpoint, dict):
        yield Hit(origin, f"task_checkpoint is {json_excerpt(checkpoint)}, not an object", Severity.ERROR)
    elif missing := [name for name in CHECKPOINT_FIELDS if name not in checkpoint]:
        yield Hit(
            origin, f"task_checkpoint has no {listed(missing, 6)}: a retry cannot use it", Severity.ERROR
        )


@rule("SNP035", name="budget-implausible", severity=Severity.WARNING)
def budget_implausible(snapshot: Snapshot, profile: Profile) -> Iterator[Hit]:
    """The budget record does not add up, or contradicts its own stage.

    ## Why
    Input budget, reserve and margin together are the model's window, a round number. The last stage is
    reached exactly when the estimate is over the budget: the other way round (an error) the runtime stopped
    a task that fitted, or sent one that did not. An unknown stage is only mentioned.
    ## Bad
    runtime.budget.estimated_input_tokens = 900
    runtime.budget.input_budget = 113295
    runtime.budget.degrade_stage = "context_budget_exhausted"
    ## Good
    runtime.budget.estimated_input_tokens = 113296
    runtime.budget.input_budget = 113295
    runtime.budget.degrade_stage = "context_budget_exhausted"
    ## Fix
    Compare with the window that is configured for the model.
    ## Source
    Records of the runtime; stages and plausible windows are the profile's budget table.
    """
    budget = as_object(snapshot.runtime.get("budget"))
    if not budget:
        return
    available = number(budget.get("input_budget"))
    parts = [
        available,
        number(budget.get("reserve_output_tokens")),
        number(budget.get("safety_margin_tokens")),
    ]
    window = sum(part for part in parts if part is not None)
    units = profile.budget.window_multiples
    known = not units or window == profile.budget.window
    if None not in parts and not known and (window <= 0 or all(window % unit for unit in units)):
        message = f"budget, reserve and margin make a window of {window:g}, which no model has"
        yield Hit(snapshot.origin("runtime", "budget"), message)
    stage, estimate = text(budget.get("degrade_stage")), number(budget.get("estimated_input_tokens"))
    origin = snapshot.origin("runtime", "budget", "degrade_stage")
    exhausted = profile.budget.exhausted_stage
    if stage is None or exhausted is None:
        return
    if stage not in profile.budget.stages:
        yield Hit(origin, f"{quoted(stage)} is not a stage of the runtime", Severity.INFO)
    if estimate is None or available is None:
        return
    if stage == exhausted and estimate <= available:
        message = f"the stage is {stage}, but the estimate {estimate:g} fits the budget {available:g}"
        yield Hit(origin, message, Severity.ERROR, Effect.REJECTED)
    elif stage not in (exhausted, profile.budget.disabled_stage) and estimate > available:
        message = (
            f"the estimate {estimate:g} is over the budget {available:g}, but the stage is {quoted(stage)}"
        )
        yield Hit(origin, message, Severity.ERROR)
