"""The tiers of a session: pinned, summary, facts, decisions, recent messages, children."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ctxview.analysis.wording import beginning
from ctxview.core.fields import Form
from ctxview.core.figures import Reason, ReasonKind
from ctxview.core.origin import Origin
from ctxview.core.state import Block, Tier
from ctxview.formats.kit.json_records import JsonRecordFile
from ctxview.formats.session import MESSAGES
from ctxview.formats.session.caps import MOST_SHOWN
from ctxview.formats.session.forms import (
    message_form,
    new_session_record_form,
    session_record_form,
    text_form_of,
)
from ctxview.formats.session.grammar import parse_citation
from ctxview.formats.session.messages import message_in
from ctxview.formats.session.prompt_history import prompt_view
from ctxview.formats.session.state.inputs import SessionStateInputs
from ctxview.formats.session.store.blobs import uses_by_child
from ctxview.formats.session.survey.citations import CitationStatus, resolve_citation

FACT_FIELDS = ("id", "text", "source")
DECISION_FIELDS = ("id", "decision", "source")
LONGEST_TEXT = 64 * 1024


def build_tiers(inputs: SessionStateInputs) -> tuple[Tier, ...]:
    session, profile = inputs.facts.session, inputs.profile
    return (
        Tier("pinned", tuple(_pinned(inputs))),
        Tier("summary", tuple(_summary(inputs))),
        Tier(
            "facts",
            tuple(_records(inputs, session.facts, "fact", "text", FACT_FIELDS)),
            new_session_record_form(session.facts, FACT_FIELDS, profile, "f"),
        ),
        Tier(
            "decisions",
            tuple(_records(inputs, session.decisions, "decision", "decision", DECISION_FIELDS)),
            new_session_record_form(session.decisions, DECISION_FIELDS, profile, "d"),
        ),
        Tier("recent", tuple(_recent(inputs))),
        Tier("children", tuple(_children(inputs))),
    )


def _pinned(inputs: SessionStateInputs) -> Iterator[Block]:
    for part in inputs.facts.session.pinned[:MOST_SHOWN]:
        text = part.text if part.readable else f"({part.problem})"
        name = part.name.rpartition("/")[2]
        visible, reason = _in_pack(inputs, part.name)
        origin = Origin(part.file, "", 0, len(part.data or b""), 1, 1)
        state = None if part.readable else "unreadable"
        yield _block(
            inputs, name, "pinned", "system", text, visible, reason, origin, state, text_form_of(part)
        )


def _summary(inputs: SessionStateInputs) -> Iterator[Block]:
    part = inputs.facts.session.part("context/summary.md")
    if not part.exists:
        return
    visible, reason = _in_pack(inputs, part.name)
    if part.readable and part.is_blank:
        visible, reason = False, Reason(ReasonKind.INVALID, "the summary is empty")
    origin = Origin(part.file, "", 0, len(part.data or b""), 1, 1)
    text = part.text if part.readable else f"({part.problem})"
    state = "of now" if inputs.as_of is not None else None
    yield _block(
        inputs, "summary.md", "summary", "summary", text, visible, reason, origin, state, text_form_of(part)
    )


def _records(
    inputs: SessionStateInputs, records: JsonRecordFile, kind: str, field: str, expected: Sequence[str]
) -> Iterator[Block]:
    visible, reason = _in_pack(inputs, records.part.name)
    for record in records.records[:MOST_SHOWN]:
        source = record.text("source") or ""
        citation = resolve_citation(parse_citation(source), inputs.facts.survey)
        if inputs.is_later(citation.cited):
            continue
        text = record.text(field)
        broken = record.problem or (f"there is no {field}" if text is None else None)
        ordinary = citation.resolution in (CitationStatus.FREE, CitationStatus.RESOLVED)
        raw = (records.part.data or b"")[record.start : min(record.end, record.start + LONGEST_TEXT)]
        yield _block(
            inputs,
            record.text("id") or f"line {record.line}",
            f"{kind}s",
            kind,
            text if text is not None else raw.decode("utf-8", "replace"),
            visible if broken is None else False,
            Reason(ReasonKind.INVALID, broken) if broken else reason,
            record.origin(),
            "broken" if broken is not None else None if ordinary else citation.resolution.value,
            session_record_form(records, record, expected, inputs.profile),
            (source,) if source else (),
        )


def _recent(inputs: SessionStateInputs) -> Iterator[Block]:
    """Yield the last messages. They reach the model by the prompt history, also without the pack."""
    lines, survey = inputs.recent, inputs.facts.survey
    packed, why_not = _in_pack(inputs, MESSAGES)
    outside = inputs.as_of is None and packed is False
    for index, verdict in enumerate(prompt_view(lines, inputs.profile)):
        line, message = verdict.line, message_in(verdict.line)
        name = f"message −{len(lines) - index}"
        if line.number is not None:
            # As sources cite it, or its line until blank lines are counted.
            name = f"message {survey.messages.record_at(line.number) if survey else line.number + 1}"
        tags = tuple(filter(None, (message.run, message.name)))
        states = (message.kind if message.kind != "text" else None, "not in the pack" if outside else None)
        visible = verdict.visible if inputs.as_of is None else None
        reason = Reason(ReasonKind.NO_ROOM, verdict.reason) if verdict.reason else None
        if verdict.visible and outside:
            because = why_not.text if why_not is not None else None
            way = f"by the prompt history; the pack leaves recent messages out: {because}"
            reason = Reason(ReasonKind.NOTE, way)
        yield _block(
            inputs,
            name,
            "recent",
            message.role or message.kind,
            beginning(message.text, LONGEST_TEXT),
            visible,
            reason if inputs.as_of is None else None,
            line.origin(),
            ", ".join(filter(None, states)) or None,
            message_form(line, message.text),
            tags,
            message.name if message.role == "tool" else None,
        )


def _children(inputs: SessionStateInputs) -> Iterator[Block]:
    uses = uses_by_child(inputs.facts.session)
    for child in inputs.facts.session.children[:MOST_SHOWN]:
        result, place = child.result, f"context/child/{child.name}"
        visible, reason = _in_pack(inputs, result.name)
        if visible is False and inputs.trial is None:
            others = [name for name in ("handoff.md", "refs.jsonl") if _in_pack(inputs, f"{place}/{name}")[0]]
            text = f"its result.md is not in the pack{f', only its {others[0]} is' if others else ''}"
            reason = Reason(ReasonKind.NOT_CHOSEN, text)
        if result.is_blank:
            why = f"cannot be read: {result.problem}" if not result.readable else "is empty"
            text = f"result.md {why}" if result.exists else "result.md is missing"
            visible, reason = False, Reason(ReasonKind.INVALID, text)
        text = result.text if not result.is_blank else child.part("handoff.md").text
        origin = Origin(inputs.facts.session.file(f"context/child/{child.name}"))
        tags = tuple(filter(None, (child.agent, child.session)))
        kind = "child" if child.name in uses else "unused child"
        form = text_form_of(result)
        yield _block(
            inputs, child.name, "children", kind, text, visible, reason, origin, child.status, form, tags
        )


def _in_pack(inputs: SessionStateInputs, name: str) -> tuple[bool | None, Reason | None]:
    """Return whether the pack takes a file, and why not; None without a pack. A trial rebuilds it."""
    if inputs.trial is not None and inputs.rebuilt:
        choice = next((each for each in inputs.rebuilt if each.offer.source == name), None)
        if choice is None:
            return False, Reason(ReasonKind.NOT_CHOSEN, "the builder would not consider it")
        reason = Reason(ReasonKind.NO_ROOM, choice.why, summary="no room in the pack")
        return choice.taken, None if choice.taken else reason
    if inputs.packed is None:
        return None, Reason(ReasonKind.UNKNOWN, "unknown, because there is no pack")
    if name in inputs.packed:
        return True, None
    return False, Reason(ReasonKind.NOT_CHOSEN, "it is not in the pack")


def _block(
    inputs: SessionStateInputs,
    name: str,
    tier: str,
    kind: str,
    text: str,
    visible: bool | None,
    reason: Reason | None,
    origin: Origin,
    state: str | None = None,
    form: Form | None = None,
    tags: tuple[str, ...] = (),
    tool: str | None = None,
) -> Block:
    return Block(
        id=name,
        tier=tier,
        type=kind,
        text=text,
        tags=tags,
        tool=tool,
        tokens=inputs.tokens(text),
        visible=visible,
        reason=reason,
        state=state,
        origin=origin,
        form=form,
    )
