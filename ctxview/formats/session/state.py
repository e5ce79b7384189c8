"""One session as neutral state: tiers, todo, budgets, references, gaps and timeline together."""

from __future__ import annotations

from ctxview.formats.block_counts import count_blocks
from ctxview.formats.session.citing import cited_rows
from ctxview.formats.session.forms import session_form
from ctxview.formats.session.state_budget import build_budgets
from ctxview.formats.session.state_gaps import build_gaps
from ctxview.formats.session.state_refs import build_refs
from ctxview.formats.session.state_tiers import build_tiers
from ctxview.formats.session.state_todo import build_todo
from ctxview.formats.session.times import instant
from ctxview.formats.session.transcript import SessionTranscript
from ctxview.formats.session.view import View
from ctxview.state import ContextState, Event

FORMAT = "session"


def build_state(view: View, revision: str, timeline: tuple[Event, ...]) -> ContextState:
    """Everything there is to show of a session at one moment; what is not known yet is among the gaps."""
    session = view.look.session
    tiers = build_tiers(view)
    refs = build_refs(view)
    return ContextState(
        format=FORMAT,
        title=session.title,
        source=str(session.folder.root),
        revision=revision,
        tiers=tiers,
        todo=build_todo(view),
        budgets=build_budgets(view),
        refs=refs,
        missing=build_gaps(view, refs),
        timeline=timeline,
        counts=count_blocks(tiers, view.counter),
        form=session_form(session),
        extra=_extra(view),
        transcript=SessionTranscript(view.look.history.messages, view.profile, view.lines_then),
        citations=cited_rows(refs, view.look.survey),
    )


def _extra(view: View) -> dict[str, str]:
    session, survey = view.look.session, view.look.survey
    facts = {"profile": view.profile.name, "state": session.state or "unknown"}
    words = (("agent", session.agent), ("cwd", session.part("cwd").value), ("scope", session.scope))
    facts |= {name: value for name, value in words if value is not None}
    for name in ("created_at", "updated_at"):
        if (moment := instant(session.part(name).value)) is not None:
            facts[name.removesuffix("_at")] = f"{moment:%Y-%m-%d %H:%M} UTC"
    if view.look.history.store is not None:
        facts["store"] = "columnar"
    if survey is None:
        facts["messages"] = "being read"
    else:
        then, now = view.messages_then, survey.messages.records
        facts["messages"] = f"{now:,}" if view.as_of is None or then is None else f"{then:,} of {now:,}"
        events = survey.events.records
        facts["events"] = f"{events:,}" if view.as_of is None else f"{view.events_then:,} of {events:,}"
        facts["runs"] = f"{len(survey.runs.runs) + survey.runs.forgotten:,}"
        runs = survey.runs.runs
        given, answered = sum(run.input_tokens for run in runs), sum(run.output_tokens for run in runs)
        if given or answered:
            facts["usage"] = f"{given:,} in, {answered:,} out"
    if view.as_of is not None:
        of_now = "summary, facts and pack" if view.lines_then is not None else "messages, summary and pack"
        facts["as of"] = f"{view.as_of.told}; {of_now} are of now"
    return facts
