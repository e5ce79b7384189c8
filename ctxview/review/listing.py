"""A review as lines for people and as JSON for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ctxview.analysis.wording import counted, listed
from ctxview.core.findings import Finding, Severity
from ctxview.core.origin import JsonValue
from ctxview.files.visible_text import visible
from ctxview.reports.console import Console, Style
from ctxview.reports.json_output import as_json, finding_as_json
from ctxview.reports.table import Cell, Column, table_lines, wrapped
from ctxview.reports.why import short_origin
from ctxview.review.points import Point
from ctxview.review.review import Review, ReviewedSource
from ctxview.review.targets import TargetShare
from ctxview.review.verification import CheckedPath, CheckedRecord

SIGNS = {
    Severity.ERROR: ("✖", Style.BAD),
    Severity.WARNING: ("▲", Style.WARNING),
    Severity.INFO: ("i", Style.NOTE),
}
TONES = {"ok": Style.GOOD, "warn": Style.WARNING, "bad": Style.BAD}
MOST_CHANGES = 20
LONGEST_FACT = 40


def review_lines(review: Review, console: Console) -> Iterator[str]:
    """Yield the verdict, what is handed over to whom, what changed, and the points, worst first."""
    verdict = review.verdict
    yield f"{console.paint(verdict.word.value, TONES[verdict.tone])}  {visible(verdict.sentence)}"
    for source in review.sources:
        yield ""
        yield from _source_lines(source, console)
    if review.last is not None and not review.last.same_files:
        yield ""
        yield console.paint(f"changed since the review by {visible(review.last.reviewer)}", Style.HEADING)
        changes = review.last.changes
        yield from (f"  {visible(each)}" for each in changes[:MOST_CHANGES])
        if len(changes) > MOST_CHANGES:
            yield f"  {len(changes) - MOST_CHANGES} more"
    yield ""
    decided = f"{review.decided} of {len(review.points)} decided"
    yield f"{console.paint(counted(len(review.points), 'point'), Style.HEADING)}, worst first; {decided}"
    for point in review.points:
        yield from _point_lines(review, point, console)
    for name, title in review.fixed.items():
        yield f"  fixed  {visible(name)}  {visible(title)}"


def _source_lines(source: ReviewedSource, console: Console) -> Iterator[str]:
    what = source.handed_over
    name = console.paint(visible(what.source), Style.STRONG)
    yield f"{name}  {what.format} · {visible(what.revision)} · {what.what}"
    facts = [visible(f"{key} {value}") for key, value in what.facts if len(value) <= LONGEST_FACT]
    yield from wrapped(facts, console.width, "  ", " · ")
    figures = (Column(each, right=True) for each in ("items", "tokens", "masked"))
    columns = (Column("who gets what", most=32), *figures, Column("sees what it may not"))
    rows = [_share_cells(share) for share in source.shares]
    yield from table_lines(columns, rows, console)


def _share_cells(share: TargetShare) -> list[Cell]:
    bad = Style.BAD if share.violations else Style.QUIET
    may_see = "" if share.given else " (may see)"
    return [
        Cell(visible(f"{share.target}{may_see}"), Style.STRONG),
        Cell(f"{len(share.items):,}"),
        Cell(f"{share.tokens:,}"),
        Cell(f"{share.masked:,}"),
        Cell(listed(share.violations) or "none", bad),
    ]


def _point_lines(review: Review, point: Point, console: Console) -> Iterator[str]:
    sign, style = SIGNS[point.severity]
    status = review.status(point)
    blocks = " blocks" if point.blocks else ""
    place = f"  {visible(short_origin(point.origin))}" if point.origin is not None else ""
    yield f"  {console.paint(sign, style)} {console.paint(point.id, Style.STRONG)}{blocks}  {status}{place}"
    yield f"      {point.title}"
    yield from (f"      {line}" for line in point.detail.split("\n") if line)


def review_json(review: Review) -> dict[str, JsonValue]:
    """Return the review as JSON with stable keys; a key that does not apply is null."""
    subject, last, verdict = review.subject, review.last, review.verdict
    return {
        "verdict": {"word": verdict.word.value, "sentence": verdict.sentence},
        "subject": {
            "sha256": subject.digest,
            "bytes": subject.bytes,
            "files": [{"name": name, "sha256": digest} for name, digest in sorted(subject.files.items())],
        },
        "sources": [_source_json(each) for each in review.sources],
        "points": [_point_json(review, each) for each in review.points],
        "fixed": [{"id": name, "title": title} for name, title in review.fixed.items()],
        "last": None
        if last is None
        else {
            "decision": last.decision,
            "reviewer": last.reviewer,
            "time": last.time,
            "file": str(last.file),
            "same_files": last.same_files,
            "changes": [*last.changes],
        },
    }


def _source_json(source: ReviewedSource) -> JsonValue:
    what = source.handed_over
    return {
        "path": str(source.path),
        "title": what.source,
        "format": what.format,
        "revision": what.revision,
        "handed_over": what.what,
        "receivers": [*what.receivers],
        "state_sha256": source.state_digest,
        "targets": [
            {
                "target": share.target,
                "given": share.given,
                "items": [*share.items],
                "tokens": share.tokens,
                "masked": share.masked,
                "violations": [*share.violations],
            }
            for share in source.shares
        ],
    }


def _point_json(review: Review, point: Point) -> JsonValue:
    made = review.decisions.get(point.id)
    return {
        "id": point.id,
        "kind": point.kind.value,
        "rule": point.rule,
        "severity": point.severity.value,
        "blocks": point.blocks,
        "leak": point.leak,
        "gap": point.gap,
        "title": point.title,
        "detail": point.detail,
        "origin": as_json(point.origin),
        "decision": None
        if made is None
        else {"kind": made.kind.value, "text": made.text, "by": made.by, "at": made.at},
    }


def verification_lines(checked: Sequence[tuple[CheckedPath, Sequence[Finding]]]) -> Iterator[str]:
    """Yield one line for each approved path: who approved it, and how that is proved."""
    for path, findings in checked:
        if not any(each.severity is Severity.ERROR for each in findings):
            who = "; ".join(map(_approval, path.approvals))
            yield visible(f"{path.path}: approved by {who}")


def _approval(record: CheckedRecord) -> str:
    predicate = record.predicate
    assert predicate is not None
    return f"{predicate.reviewer} on {predicate.time:%Y-%m-%d} ({record.signature.state})"


def verification_json(
    checked: Sequence[tuple[CheckedPath, Sequence[Finding]]], code: int
) -> dict[str, JsonValue]:
    """Return the result of `review --verify` as JSON with stable keys."""
    return {
        "exit": code,
        "paths": [
            {
                "path": str(path.path),
                "sha256": path.subject.digest,
                "approved": not any(each.severity is Severity.ERROR for each in findings),
                "records": [_record_json(each) for each in path.records],
                "findings": [finding_as_json(each) for each in findings],
            }
            for path, findings in checked
        ],
    }


def _record_json(record: CheckedRecord) -> JsonValue:
    predicate = record.predicate
    return {
        "file": str(record.path),
        "decision": predicate.decision.value if predicate is not None else None,
        "reviewer": predicate.reviewer if predicate is not None else None,
        "time": predicate.time.isoformat() if predicate is not None else None,
        "signature": record.signature.state.value,
        "current": record.is_current,
        "changed_files": [*record.file_changes],
        "changed_parts": [*record.part_changes],
    }
