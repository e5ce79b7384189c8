"""Build the gaps: recorded missing context, risky omissions, and parts that could not be read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ctxview.analysis.wording import counted, listed
from ctxview.core.origin import JsonValue, Origin
from ctxview.core.state import Gap, Todo, TodoItem
from ctxview.formats.envelope.caps import left_out
from ctxview.formats.envelope.model import Record, is_blocking, text
from ctxview.formats.envelope.outcomes import outcome_key, risky_omissions
from ctxview.formats.envelope.parser import RecordFile
from ctxview.formats.envelope.state.inputs import EnvelopeStateInputs, spelled_out
from ctxview.formats.envelope.vocabulary import CLOSED_GAP, KNOWN, RecordKind, WordList

SEVERITIES = tuple(reversed(KNOWN[WordList.SEVERITY]))
UNREADABLE = "unreadable"


def build_gaps(
    inputs: EnvelopeStateInputs, files: Sequence[RecordFile], *, linked: bool = True
) -> tuple[Gap, ...]:
    """Unreadable parts, then open gaps and omissions by severity, then closed gaps.

    Unless `linked`, it is not counted yet how many references are left out.
    """
    gaps = [*_recorded(inputs), *_omissions(inputs)]
    cut = _left_out(inputs) if linked else ()
    return (*_unreadable(inputs, files), *cut, *sorted(gaps, key=_rank))


def is_open(gap: Record) -> bool:
    return gap.text("status") not in CLOSED_GAP


def _rank(gap: Gap) -> tuple[bool, int, bool]:
    known = gap.severity in SEVERITIES
    place = SEVERITIES.index(gap.severity) if known else len(SEVERITIES)
    return gap.status in CLOSED_GAP, place, gap.status == "omitted"


def _recorded(inputs: EnvelopeStateInputs) -> Iterator[Gap]:
    for record in inputs.records.of(RecordKind.MISSING):
        why: list[str] = []
        if needed := record.text("needed_for"):
            why.append(f"needed for {needed}")
        if asked := [each.id for each in record.refs("requested_from") if each.id]:
            why.append(f"asked of {asked[0]}")
        if candidates := [_candidate(each) for _, each in record.objects("candidate_sources")]:
            why.append(f"may be found in {', '.join(candidates)}")
        if answers := [each.id or "?" for each in record.refs("resolution_refs")]:
            why.append(f"answered by {listed(answers)}")
        yield Gap(
            id=inputs.name(record),
            question=inputs.mask(record.text("question") or "the record asks no question"),
            severity="blocking" if is_blocking(record) else record.text("severity") or "unknown",
            status=record.text("status") or "unknown",
            blocks=tuple(map(inputs.mask, record.texts("blocked_actions"))),
            why=inputs.mask("; ".join(why)),
            origin=record.origin(),
            form=inputs.form(record),
        )


def _candidate(members: dict[str, JsonValue] | object) -> str:
    found = members if isinstance(members, dict) else {}
    kind, hint = text(found.get("kind")), next((text(found.get(key)) for key in ("hint", "uri", "id")), None)
    return " ".join(filter(None, (kind, f"({hint})" if hint else None))) or spelled_out(found)


def _omissions(inputs: EnvelopeStateInputs) -> Iterator[Gap]:
    # An item that several attempts left out is one gap, with the reason of the last attempt.
    last = {risky.outcome.id: risky for risky in risky_omissions(inputs.known_outcomes)}
    for risky in last.values():
        reason = risky.omission.reason or "no reason given"
        title = risky.outcome.item.text("title") if risky.outcome.item is not None else None
        yield Gap(
            id=inputs.mask(risky.outcome.id),
            question=inputs.mask(title or risky.outcome.id),
            severity="high",
            status="omitted",
            blocks=(),
            why=inputs.mask(
                f"{outcome_key(risky.omission.selection)} left it out ({reason}), but {risky.why}"
            ),
            origin=risky.omission.reference.origin,
        )


def _unreadable(inputs: EnvelopeStateInputs, files: Sequence[RecordFile]) -> Iterator[Gap]:
    for file in files:
        for problem in file.problems:
            yield _broken(inputs, problem.origin, "a part of the file", problem.reason)
        for stray in file.strays:
            yield _broken(inputs, stray.origin, "a record", "no id field says what kind of record this is")
        if file.left_out is not None:
            origin = Origin(file.file, start=0, line=1, column=1)
            yield Gap("rest", "the rest of the file", "warning", "left out", (), file.left_out, origin)


def _left_out(inputs: EnvelopeStateInputs) -> Iterator[Gap]:
    for origin, why in left_out(inputs.records):
        yield Gap("references", "references", "warning", "left out", (), why, origin)


def _broken(inputs: EnvelopeStateInputs, origin: Origin, question: str, reason: str) -> Gap:
    name = f"line {origin.line}" if origin.line is not None else "file"
    return Gap(name, question, "error", UNREADABLE, (), inputs.mask(reason), origin)


def build_todo(inputs: EnvelopeStateInputs) -> Todo | None:
    """The actions that open gaps block; None when no gap is recorded."""
    records = inputs.records.of(RecordKind.MISSING)
    if not records:
        return None
    gaps = [record for record in records if is_open(record)]
    items = tuple(
        TodoItem(
            None,
            inputs.mask(f"{action} (waits for {inputs.name(gap)})"),
            "blocked",
            False,
            gap.origin("blocked_actions", at),
        )
        for gap in gaps
        for at, action in _actions(gap.value.get("blocked_actions"))
    )
    waiting = counted(len(gaps), "open gap")
    summary = (
        f"{counted(len(items), 'action')} blocked by {waiting}" if items else f"{waiting}, no blocked action"
    )
    return Todo(summary if gaps else "nothing is blocked", None, None, None, items)


def _actions(value: object) -> list[tuple[int, str]]:
    entries = value if isinstance(value, list) else []
    return [(at, each) for at, each in enumerate(entries) if isinstance(each, str)]
