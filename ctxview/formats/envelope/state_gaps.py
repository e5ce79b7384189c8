"""What is not there: the gaps that records tell of, omissions that may matter, and what could not be read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ctxview.analysis.wording import listed
from ctxview.formats.envelope.fates import key_of
from ctxview.formats.envelope.impact import high_impact
from ctxview.formats.envelope.model import Record, text
from ctxview.formats.envelope.read import RecordFile
from ctxview.formats.envelope.view import View, spelled_out
from ctxview.formats.envelope.vocabulary import KNOWN, Kind, Words
from ctxview.origin import JsonValue, Origin
from ctxview.state import Gap

SEVERITIES = tuple(reversed(KNOWN[Words.SEVERITY]))
CLOSED = ("resolved", "declined", "expired")
UNREADABLE = "unreadable"
MOST_OMISSIONS = 200


def build_gaps(view: View, files: Sequence[RecordFile]) -> tuple[Gap, ...]:
    """What could not be read, then open gaps and omissions by severity, then gaps that are closed."""
    gaps = [*_recorded(view), *_omissions(view)]
    return (*_unreadable(view, files), *sorted(gaps, key=_rank))


def is_open(gap: Record) -> bool:
    return gap.text("status") not in CLOSED


def _rank(gap: Gap) -> tuple[bool, int, bool]:
    known = gap.severity in SEVERITIES
    place = SEVERITIES.index(gap.severity) if known else len(SEVERITIES)
    return gap.status in CLOSED, place, gap.status == "omitted"


def _recorded(view: View) -> Iterator[Gap]:
    for record in view.dossier.of(Kind.MISSING):
        yield Gap(
            id=view.name(record),
            question=view.mask(record.text("question") or "the record asks no question"),
            severity=record.text("severity") or "unknown",
            status=record.text("status") or "unknown",
            blocks=tuple(map(view.mask, record.texts("blocked_actions"))),
            why=view.mask("; ".join(_why(record))),
            origin=record.origin(),
            form=view.form(record),
        )


def _why(record: Record) -> Iterator[str]:
    if needed := record.text("needed_for"):
        yield f"needed for {needed}"
    if asked := [each.id for each in record.refs("requested_from") if each.id]:
        yield f"asked of {asked[0]}"
    candidates = [_candidate(each) for _, each in record.objects("candidate_sources")]
    if candidates:
        yield f"may be found in {', '.join(candidates)}"
    if answers := [each.id or "?" for each in record.refs("resolution_refs")]:
        yield f"answered by {listed(answers)}"


def _candidate(members: dict[str, JsonValue] | object) -> str:
    found = members if isinstance(members, dict) else {}
    kind, hint = text(found.get("kind")), next((text(found.get(key)) for key in ("hint", "uri", "id")), None)
    return " ".join(filter(None, (kind, f"({hint})" if hint else None))) or spelled_out(found)


def _omissions(view: View) -> Iterator[Gap]:
    # What several attempts left out is one thing that is not there; the last of them says why.
    last = {impact.fate.id: impact for impact in high_impact(view.fates)}
    for impact in [*last.values()][:MOST_OMISSIONS]:
        reason = impact.omission.reason or "no reason given"
        title = impact.fate.item.text("title") if impact.fate.item is not None else None
        yield Gap(
            id=view.mask(impact.fate.id),
            question=view.mask(title or impact.fate.id),
            severity="high",
            status="omitted",
            blocks=(),
            why=view.mask(f"{key_of(impact.omission.selection)} left it out ({reason}), but {impact.why}"),
            origin=impact.omission.reference.origin,
        )


def _unreadable(view: View, files: Sequence[RecordFile]) -> Iterator[Gap]:
    for file in files:
        for problem in file.problems:
            yield _broken(view, problem.origin, "a part of the file", problem.reason)
        for stray in file.strays:
            yield _broken(view, stray.origin, "a record", "no id field says what kind of record this is")
        if file.left_out is not None:
            origin = Origin(file.file, start=0, line=1, column=1)
            yield Gap("rest", "the rest of the file", "warning", "left out", (), file.left_out, origin)


def _broken(view: View, origin: Origin, question: str, reason: str) -> Gap:
    name = f"line {origin.line}" if origin.line is not None else "file"
    return Gap(name, question, "error", UNREADABLE, (), view.mask(reason), origin)
