"""The tiers of a session: pinned, summary, facts, decisions, recent messages, children."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ctxview.formats.session.child_uses import uses_by_child
from ctxview.formats.session.citing import Citation, Resolution, resolve
from ctxview.formats.session.forms import new_record_form, record_form, text_form
from ctxview.formats.session.message import message_in
from ctxview.formats.session.model import Child
from ctxview.formats.session.names import cited
from ctxview.formats.session.ownership import ownership
from ctxview.formats.session.prompt import prompt_view
from ctxview.formats.session.records import Record, RecordFile
from ctxview.formats.session.view import View
from ctxview.state import Block, Field, Form, Origin, Owner, Tier

FACT_FIELDS = ("id", "text", "source")
DECISION_FIELDS = ("id", "decision", "source")
MOST_BLOCKS = 5000
"""Of one tier; more are said to be left out."""
LONGEST_TEXT = 64 * 1024


def build_tiers(view: View) -> tuple[Tier, ...]:
    session, profile = view.look.session, view.profile
    return (
        Tier("pinned", tuple(_pinned(view))),
        Tier("summary", tuple(_summary(view))),
        Tier(
            "facts",
            tuple(_records(view, session.facts, "fact", "text", FACT_FIELDS)),
            new_record_form(session.facts, FACT_FIELDS, profile, "f"),
        ),
        Tier(
            "decisions",
            tuple(_records(view, session.decisions, "decision", "decision", DECISION_FIELDS)),
            new_record_form(session.decisions, DECISION_FIELDS, profile, "d"),
        ),
        Tier("recent", tuple(_recent(view))),
        Tier("children", tuple(_children(view))),
    )


def _pinned(view: View) -> Iterator[Block]:
    for part in view.look.session.pinned[:MOST_BLOCKS]:
        text = part.text if part.readable else f"({part.problem})"
        name = part.name.rpartition("/")[2]
        visible, reason = _in_pack(view, part.name)
        origin = Origin(part.file, "", 0, len(part.data or b""), 1, 1)
        state = None if part.readable else "unreadable"
        yield _block(view, name, "pinned", "system", text, visible, reason, origin, state, text_form(part))


def _summary(view: View) -> Iterator[Block]:
    part = view.look.session.part("context/summary.md")
    if not part.exists:
        return
    visible, reason = _in_pack(view, part.name)
    if part.readable and part.is_blank:
        visible, reason = False, "the summary is empty"
    origin = Origin(part.file, "", 0, len(part.data or b""), 1, 1)
    text = part.text if part.readable else f"({part.problem})"
    state = "of now" if view.as_of is not None else None
    yield _block(
        view, "summary.md", "summary", "summary", text, visible, reason, origin, state, text_form(part)
    )


def _records(
    view: View, records: RecordFile, kind: str, field: str, expected: Sequence[str]
) -> Iterator[Block]:
    visible, reason = _in_pack(view, records.part.name)
    for record in records.records[:MOST_BLOCKS]:
        source = record.text("source") or ""
        citation = resolve(cited(source), view.look.survey)
        if view.is_later(citation.cited):
            continue
        text = record.text(field)
        broken = record.problem or (f"there is no {field}" if text is None else None)
        yield _block(
            view,
            record.text("id") or f"line {record.line}",
            f"{kind}s",
            kind,
            text if text is not None else _raw(records, record),
            visible if broken is None else False,
            broken or reason,
            record.origin(),
            "broken" if broken is not None else _state(citation),
            record_form(records, record, expected, view.profile),
            (source,) if source else (),
        )


def _recent(view: View) -> Iterator[Block]:
    lines = view.recent
    for place, shown in enumerate(prompt_view(lines, view.profile)):
        line, message = shown.line, message_in(shown.line)
        back = len(lines) - place
        name = f"message {_number(view, line.number)}" if line.number is not None else f"message −{back}"
        owned = ownership(line.stream)
        locked = Form(
            line.file,
            line.origin().pointer or "",
            (Field("message", message.text[:LONGEST_TEXT], Owner.APPEND_ONLY, "", why=owned.why),),
        )
        tags = tuple(filter(None, (message.run, message.name)))
        state = message.kind if message.kind != "text" else None
        visible = shown.visible if view.as_of is None else None
        yield _block(
            view,
            name,
            "recent",
            message.role or message.kind,
            message.text[:LONGEST_TEXT],
            visible,
            shown.reason if view.as_of is None else None,
            line.origin(),
            state,
            locked,
            tags,
        )


def _children(view: View) -> Iterator[Block]:
    uses = uses_by_child(view.look.session)
    for child in view.look.session.children[:MOST_BLOCKS]:
        result = child.result
        visible, reason = _in_pack(view, result.name)
        if result.is_blank:
            visible, reason = False, "there is no result" if result.exists else "result.md is not there"
        text = result.text if not result.is_blank else child.part("handoff.md").text
        origin = Origin(view.look.session.file(f"context/child/{child.name}"))
        tags = tuple(filter(None, (child.agent, child.session)))
        kind, form = _child_type(child, uses), text_form(result)
        yield _block(
            view, child.name, "children", kind, text, visible, reason, origin, child.status, form, tags
        )


def _child_type(child: Child, uses: dict[str, list[str]]) -> str:
    return "child" if child.name in uses else "unused child"


def _in_pack(view: View, name: str) -> tuple[bool | None, str | None]:
    """Whether the pack takes a file; nobody knows without a pack. A trial builds a pack of its own."""
    if view.trial is not None and view.rebuilt:
        choice = next((each for each in view.rebuilt if each.candidate.source == name), None)
        if choice is None:
            return False, "the builder would not offer it"
        return choice.taken, None if choice.taken else choice.why
    if view.packed is None:
        return None, "there is no pack to see whether it is shown"
    return (True, None) if name in view.packed else (False, "it is not in the pack")


def _state(citation: Citation) -> str | None:
    """Only what is worth a word: most sources are resolved, or no ranges at all."""
    ordinary = citation.resolution in (Resolution.FREE, Resolution.RESOLVED)
    return None if ordinary else citation.resolution.value


def _number(view: View, line: int) -> int:
    """A message's number as sources cite it; its line number while blank lines are not counted yet."""
    survey = view.look.survey
    return survey.messages.record_at(line) if survey is not None else line + 1


def _raw(records: RecordFile, record: Record) -> str:
    data = (records.part.data or b"")[record.start : min(record.end, record.start + LONGEST_TEXT)]
    return data.decode("utf-8", "replace")


def _block(
    view: View,
    name: str,
    tier: str,
    kind: str,
    text: str,
    visible: bool | None,
    reason: str | None,
    origin: Origin,
    state: str | None = None,
    form: Form | None = None,
    tags: tuple[str, ...] = (),
) -> Block:
    return Block(
        id=name,
        tier=tier,
        type=kind,
        text=text,
        tags=tags,
        tokens=view.tokens(text),
        visible=visible,
        reason=reason,
        state=state,
        origin=origin,
        form=form,
    )
