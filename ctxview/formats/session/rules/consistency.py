"""The rules about what the runtime writes beside the histories: does it agree with them (ABI009 and 010).

Examples change a sound session, as in `layout`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxview.analysis.wording import quoted, shown
from ctxview.findings import Hit, Severity, rule
from ctxview.formats.session.look import Look
from ctxview.formats.session.model import text
from ctxview.formats.session.runs import Run
from ctxview.state import Origin

STATES = {"ok": "done", "error": "error", "cancelled": "cancelled"}
"""Which state follows from what the last run's done says."""


@rule("ABI009", name="latest-or-state-stale", severity=Severity.WARNING)
def latest_or_state_stale(look: Look) -> Iterator[Hit]:
    """latest.md is not the last answer, or the state is not what the last run ended with.

    ## Why
    Both are conveniences that the runtime derives from the histories. When they differ, a write was lost or
    somebody edited one side, and tools that look only at them are misled.
    ## Bad
    latest.md = Something else.
    ## Good
    latest.md = The review found nothing more.
    ## Fix
    Believe the histories; let the next run write both anew.
    ## Source
    Runtime: latest.md is the last assistant text; a run that ends sets the state.
    """
    survey, session = look.survey, look.session
    if survey is None:
        return
    latest = session.part("latest.md")
    said = survey.assistant.text if survey.assistant is not None else ""
    if latest.readable and latest.text.removesuffix("\n") != said.removesuffix("\n"):
        origin = Origin(latest.file, None, 0, len(latest.data or b""), 1, 1)
        if said:
            yield Hit(origin, f"latest.md is not the last answer, which begins {quoted(said, 30)}")
        elif not latest.is_blank:
            yield Hit(origin, "latest.md has a text, but the messages hold no answer")
    expected = expected_state(look)
    if expected is not None and session.state is not None and session.state != expected:
        part = session.part("state")
        origin = Origin(part.file, None, 0, len(part.data or b""), 1, 1)
        why = "has not ended" if expected == "active" else "ended so"
        message = f"the state is {shown(session.state)}, but should be {expected}: the last run {why}"
        yield Hit(origin, message)


@rule("ABI010", name="state-json-stale", severity=Severity.WARNING)
def state_json_stale(look: Look) -> Iterator[Hit]:
    """state.json tells of another state, run or time than the files beside it.

    ## Why
    Newer versions of the runtime write the same facts twice. Where they differ, one of the writes was lost.
    A different time alone is only mentioned.
    ## Bad
    state.json = {"status": "active"}
    ## Good
    state.json = {"status": "done"}
    ## Fix
    Believe the histories; let the next run write both anew.
    ## Source
    Runtime: state.json mirrors state, current_run and updated_at.
    """
    session, mirror = look.session, look.session.runtime_state
    status, run = text(mirror.members.get("status")), text(mirror.members.get("run"))
    if status is not None and session.state is not None and status != session.state:
        yield Hit(mirror.origin("status"), f"status is {shown(status)}, the state is {shown(session.state)}")
    last = last_run(look)
    if run is not None and last is not None and run != last.id:
        yield Hit(mirror.origin("run"), f"run is {shown(run)}, but the last run is {shown(last.id)}")
    updated = session.part("updated_at").value
    told = mirror.members.get("updated_at")
    if updated is not None and told is not None and str(told) != updated:
        message = f"updated_at is {shown(str(told))} here and {shown(updated)} in its own file"
        yield Hit(mirror.origin("updated_at"), message, Severity.INFO)


def last_run(look: Look) -> Run | None:
    """The run that began last."""
    return look.survey.runs.runs[-1] if look.survey is not None and look.survey.runs.runs else None


def expected_state(look: Look) -> str | None:
    """What the state should be by the events; None when they do not tell."""
    run = last_run(look)
    if run is None:
        return None
    return "active" if run.status is None else STATES.get(run.status)
