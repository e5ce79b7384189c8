"""Build the state of a session from its parts, and the todo list from todo.md and the plan."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice

from msgspec.structs import replace

from ctxview.core.origin import Origin
from ctxview.core.state import ContextState, Event, Todo, TodoItem, progress_text
from ctxview.files.strict_json.tree import join
from ctxview.formats.kit.state_parts import count_blocks
from ctxview.formats.session.caps import MOST_SHOWN
from ctxview.formats.session.forms import (
    OWNERSHIP,
    REF_FIELDS,
    new_session_record_form,
    session_form,
    text_form_of,
)
from ctxview.formats.session.grammar import session_time, todo_boxes
from ctxview.formats.session.model import node_states
from ctxview.formats.session.state.budgets import build_budgets
from ctxview.formats.session.state.gaps import build_gaps
from ctxview.formats.session.state.inputs import SessionStateInputs
from ctxview.formats.session.state.references import build_refs
from ctxview.formats.session.state.tiers import build_tiers
from ctxview.formats.session.survey.citations import cited_rows
from ctxview.formats.session.transcript import message_transcript

FORMAT = "session"
_STATUS = {" ": "open", "x": "done", "X": "done", "~": "doing", "/": "doing", "-": "dropped"}


def build_state(inputs: SessionStateInputs, revision: str, timeline: tuple[Event, ...]) -> ContextState:
    """Build the state of a session at one revision; facts that are not known yet are listed as gaps."""
    session = inputs.facts.session
    tiers = build_tiers(inputs)
    refs = build_refs(inputs)
    return ContextState(
        format=FORMAT,
        title=session.title,
        source=str(session.folder.root),
        revision=revision,
        tiers=tiers,
        todo=build_todo(inputs),
        budgets=build_budgets(inputs),
        refs=refs,
        new_ref=new_session_record_form(session.refs, REF_FIELDS, inputs.profile, "r"),
        missing=build_gaps(inputs, refs),
        timeline=timeline,
        counts=count_blocks(tiers, inputs.counter),
        form=session_form(session),
        extra=_extra(inputs),
        transcript=message_transcript(
            inputs.facts.history.messages, inputs.profile, inputs.lines_then, inputs.facts.survey
        ),
        citations=cited_rows(refs, inputs.facts.survey),
    )


def _extra(inputs: SessionStateInputs) -> dict[str, str]:
    session, survey = inputs.facts.session, inputs.facts.survey
    facts = {"profile": inputs.profile.name, "state": session.state or "unknown"}
    words = (("agent", session.agent), ("cwd", session.part("cwd").value), ("scope", session.scope))
    facts |= {name: value for name, value in words if value is not None}
    for name in ("created_at", "updated_at"):
        if (time := session_time(session.part(name).value)) is not None:
            facts[name.removesuffix("_at")] = f"{time:%Y-%m-%d %H:%M} UTC"
    if inputs.facts.history.store is not None:
        facts["store"] = "columnar"
    if survey is None:
        facts["messages"] = "being read"
    else:
        then, now = inputs.messages_then, survey.messages.records
        facts["messages"] = f"{now:,}" if inputs.as_of is None or then is None else f"{then:,} of {now:,}"
        events = survey.events.records
        facts["events"] = f"{events:,}" if inputs.as_of is None else f"{inputs.events_then:,} of {events:,}"
        facts["runs"] = f"{len(survey.runs.runs) + survey.runs.forgotten:,}"
        runs = survey.runs.runs
        given, answered = sum(run.input_tokens for run in runs), sum(run.output_tokens for run in runs)
        if given or answered:
            facts["usage"] = f"{given:,} in, {answered:,} out"
    if inputs.as_of is not None:
        latest = "summary, facts and pack" if inputs.lines_then is not None else "messages, summary and pack"
        facts["as of"] = f"{inputs.as_of.description}; {latest} are shown as they are now"
    return facts


def build_todo(inputs: SessionStateInputs) -> Todo | None:
    """Return the todo list, or None when there is neither a todo file nor a plan."""
    part = inputs.facts.session.part("context/todo.md")
    boxes, nodes = _boxes(inputs), _nodes(inputs)
    items = [*islice(boxes, MOST_SHOWN), *islice(nodes, MOST_SHOWN)]
    are_all = next(chain(boxes, nodes), None) is None
    form = text_form_of(part)
    if not items and form is None:
        return None
    current = next((at for at, item in enumerate(items) if not item.is_done and not item.is_dropped), None)
    marked = tuple(replace(item, current=index == current) for index, item in enumerate(items))
    return Todo(
        summary=f"{progress_text(items)}{'' if are_all else ', of those shown'}"
        if items
        else "nothing to do",
        total=len(items),
        step=None,
        cursor=None,
        items=marked,
        form=form,
    )


def _boxes(inputs: SessionStateInputs) -> Iterator[TodoItem]:
    part = inputs.facts.session.part("context/todo.md")
    for number, start, end, mark, title in todo_boxes(part.text):
        origin = Origin(part.file, None, start, end, number, 1)
        yield TodoItem(None, title, _STATUS[mark], origin=origin, kept_in="todo.md")


def _nodes(inputs: SessionStateInputs) -> Iterator[TodoItem]:
    session = inputs.facts.session
    states = node_states(session)
    for node in session.plan.nodes:
        waits = f" after {', '.join(node.deps)}" if node.deps else ""
        task = node.word("handoff") or node.word("agent") or ""
        title = f"{node.name}{waits}: {task}" if task else f"{node.name}{waits}"
        origin = session.plan.json.origin("nodes", node.index)
        pointer = join("/nodes", node.index)
        form = OWNERSHIP.of("context/plan.json").locked_form(session.plan.json.file, pointer, node.members)
        yield TodoItem(None, title[:1000], states[node.index], origin=origin, kept_in="plan", form=form)
