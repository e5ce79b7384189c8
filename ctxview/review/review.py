"""A review: the points of one or more sources, the decisions about them, and the verdict in words.

`build_review` reads; `Review.with_decision` returns a new review. Nothing is written here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from enum import StrEnum
from hashlib import sha256
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from ctxview.analysis.wording import counted
from ctxview.core.findings import Severity
from ctxview.core.origin import Origin
from ctxview.files.reading import ReadError
from ctxview.formats.interface import Lens, Source
from ctxview.formats.revisions import is_past
from ctxview.review.decisions import Decision, DecisionKind, KeptProgress, decide, settles
from ctxview.review.meaning import part_digests, state_digest
from ctxview.review.points import (
    Point,
    PointKind,
    points_of,
    secrets_beside,
    secrets_in_names,
    worst_first,
)
from ctxview.review.subject import Subject, files_beside, joined, place_of, subject_at, subjects_of
from ctxview.review.targets import HandedOver, TargetShare, handed_over, previews, target_shares
from ctxview.review.words import SignOff

MOST_REVISIONS = 1_000
"""Independent revisions of one source that are read for a review."""
_LARGEST_EVIDENCE = 1024 * 1024


class VerdictWord(StrEnum):
    DO_NOT_APPROVE = "DO NOT APPROVE"
    NOT_READY = "NOT READY"
    READY = "READY"
    SIGNED = "SIGNED"
    REJECTED = "REJECTED"
    CHANGED = "CHANGED SINCE SIGNED"


class Verdict(Struct, frozen=True):
    """The answer of a review in a word and a sentence."""

    word: VerdictWord
    sentence: str

    @property
    def tone(self) -> str:
        """`ok`, `warn` or `bad`, for the colour of a banner."""
        good, bad = (
            (VerdictWord.READY, VerdictWord.SIGNED),
            (VerdictWord.DO_NOT_APPROVE, VerdictWord.REJECTED),
        )
        return "ok" if self.word in good else "bad" if self.word in bad else "warn"


class LastReview(Struct, frozen=True):
    """The latest sign-off of a subject: what it decided, and what changed since by meaning."""

    decision: str
    reviewer: str
    time: str
    file: Path
    same_files: bool
    changes: tuple[str, ...] = ()
    digest: str = ""
    """The SHA-256 of its record."""


class ReviewedSource(Struct, frozen=True):
    """One source of a review at its latest revision."""

    path: Path
    handed_over: HandedOver
    shares: tuple[TargetShare, ...]
    state_digest: str
    parts: Mapping[str, str]
    """Digests of the parts of the state by name."""
    profile: str
    counter: str
    files: tuple[str, ...] = ()


class Review(Struct, frozen=True):
    """The sources, their points worst first, and the decisions by the ids of points."""

    subject: Subject
    sources: tuple[ReviewedSource, ...]
    points: tuple[Point, ...]
    decisions: Mapping[str, Decision] = field(default_factory=dict)
    fixed: Mapping[str, str] = field(default_factory=dict)
    """The titles of points that were decided before and are gone."""
    last: LastReview | None = None
    evidence: Mapping[str, str] = field(default_factory=dict)
    """The digests of the bytes that points are about, by the ids of the points."""

    @property
    def paths(self) -> tuple[Path, ...]:
        return tuple(source.path for source in self.sources)

    @property
    def undecided(self) -> tuple[Point, ...]:
        """The points that approval waits for: all above notes that are not settled."""
        return tuple(point for point in self.points if not settles(self.decisions.get(point.id), point))

    @property
    def decided(self) -> int:
        return sum(point.id in self.decisions for point in self.points)

    @property
    def why_not_approved(self) -> str | None:
        """Why approval is refused now, or None."""
        if not (left := self.undecided):
            return None
        blocking = sum(point.blocks for point in left)
        if blocking:
            return f"{counted(blocking, 'point')} must be answered or accepted with a reason: {left[0].id}"
        return f"{counted(len(left), 'point')} must be looked at: {left[0].id}"

    @property
    def verdict(self) -> Verdict:
        return _verdict(self)

    def status(self, point: Point) -> str:
        """`open`, `leak` for an open leak, or the decision in words."""
        decision = self.decisions.get(point.id)
        return decision.words if decision is not None else "leak" if point.leak else "open"

    def with_decision(self, point: Point, kind: DecisionKind, text: str, by: str) -> Review:
        """Return the review with one more decision; raises `DecisionRefused`."""
        made = decide(point, kind, text, by, evidence=self.evidence.get(point.id, ""))
        return replace(self, decisions={**self.decisions, point.id: made})

    def with_progress(self, progress: KeptProgress | None) -> Review:
        """Return the review with the kept decisions about points that did not change."""
        if progress is None:
            return self
        ids = {point.id for point in self.points}
        held = {
            name: decision
            for name, decision in progress.decisions.items()
            if name in ids and decision.evidence == self.evidence.get(name, "")
        }
        gone = {name: title for name, title in progress.titles.items() if name not in ids}
        return replace(self, decisions=held, fixed=gone)

    def points_named(self, name: str) -> tuple[Point, ...]:
        """Return the points with this id, gap, rule or kind; `all` names every point that does not block."""
        if name == "all":
            return tuple(point for point in self.points if not point.blocks)
        exact = tuple(point for point in self.points if name in (point.id, point.gap))
        return exact or tuple(point for point in self.points if point.group == name)


def build_review(sources: Sequence[Source], lens: Lens) -> Review:
    """Read the sources as they are on disk now, and return the review without decisions.

    Raises `OpenError` when a source cannot be opened any more.
    """
    # The files are hashed before they are read: a change in between is noticed when the review is signed.
    subjects = subjects_of(sources)
    reviewed: list[ReviewedSource] = []
    points: list[Point] = []
    holders: dict[str, Source] = {}
    for at, source in enumerate(each.again() for each in sources):
        if (work := source.abilities.work) is not None and work.has_work(lens):
            source.findings(lens)
        last = len(source.revisions) - 1
        for number in _current(source):
            reading = source.reading(number, lens)
            shares = target_shares(source, number, reading.state, lens)
            points += points_of(reading, [*previews(shares)])
            holders |= {point.origin.file: source for point in points if point.origin is not None}
            beside = files_beside(source, reading.state, [prompt for _, prompt in previews(shares)])
            subjects[at] = joined([subjects[at], subject_at(subjects[at].root, beside)])
            if number == last:
                parts = part_digests(reading.state)
                profile = lens.profile or next(iter(source.profiles), "")
                reviewed.append(
                    ReviewedSource(
                        source.path,
                        handed_over(reading.state, shares),
                        shares,
                        state_digest(reading.state),
                        parts,
                        profile,
                        lens.counter.name,
                        tuple(sorted(subjects[at].files)),
                    )
                )
    subject = joined(subjects)
    of_files = [*_not_covered(subject), *secrets_in_names(subject), *secrets_beside(subject, points)]
    unique = dict.fromkeys([*points, *of_files])
    ordered = worst_first(unique, str(subject.root))
    evidence = {point.id: _evidence(point.origin, holders) for point in ordered}
    return Review(subject, tuple(reviewed), ordered, evidence=evidence)


def shown_beside(source: Source, lens: Lens) -> list[Path]:
    """Return the files beside a single file that it shows now."""
    found: list[Path] = []
    for number in [] if place_of(source.path).is_dir() else _current(source):
        state = source.reading(number, lens).state
        shares = target_shares(source, number, state, lens)
        found += files_beside(source, state, [prompt for _, prompt in previews(shares)])
    return found


def _current(source: Source) -> list[int]:
    """The revisions that nothing has replaced: the latest one, or all files of a folder without a history."""
    revisions = source.revisions
    last = len(revisions) - 1
    if not revisions[last].independent:
        return [last]
    return [number for number in range(len(revisions)) if not is_past(revisions, number)][-MOST_REVISIONS:]


def _not_covered(subject: Subject) -> list[Point]:
    """The points about paths that a sign-off would not cover."""
    found = [
        Point(
            kind=PointKind.FINDING,
            severity=Severity.ERROR,
            blocks=True,
            title=f"{name} cannot be read, so the review does not cover it: {why}",
            rule="REV001",
            origin=Origin(str(subject.root / name)),
        )
        for name, why in subject.unread.items()
    ]
    found += [
        Point(
            kind=PointKind.REFERENCE,
            severity=Severity.WARNING,
            blocks=False,
            title=f"{name} is a link to {target}; what it leads to is not covered",
            origin=Origin(str(subject.root / name)),
        )
        for name, target in subject.links.items()
    ]
    return found


def _evidence(origin: Origin | None, holders: Mapping[str, Source]) -> str:
    """The digest of the bytes at an origin; empty when it has no span or the file is not at hand."""
    if origin is None or origin.start is None or origin.end is None or origin.file not in holders:
        return ""
    if origin.end - origin.start > _LARGEST_EVIDENCE:
        return ""
    try:
        data = holders[origin.file].bytes_of(origin.file)
    except ReadError:
        return ""
    return sha256(data[origin.start : origin.end]).hexdigest()


def _verdict(review: Review) -> Verdict:
    last, points = review.last, _state_of_points(review)
    if last is None:
        return points
    who = f"{last.decision} by {last.reviewer} on {last.time[:10]}"
    asked = sum(made.kind is DecisionKind.ASKED for made in review.decisions.values())
    word: VerdictWord
    if last.decision == SignOff.ASKED:
        word = points.word if points.word is VerdictWord.DO_NOT_APPROVE else VerdictWord.NOT_READY
        who = f"context asked for by {last.reviewer} on {last.time[:10]}"
    elif last.same_files and last.decision == SignOff.REJECTED:
        return Verdict(VerdictWord.REJECTED, who)
    elif last.same_files and not asked:
        return Verdict(VerdictWord.SIGNED, who)
    elif last.same_files:
        word, who = VerdictWord.NOT_READY, f"{who}; {counted(asked, 'question')} asked since"
    elif last.decision == SignOff.APPROVED:
        word = VerdictWord.CHANGED
    else:
        return points
    things = counted(len(last.changes), "thing") if last.changes else "something"
    since = "" if last.same_files else f"; {things} changed since"
    return Verdict(word, f"{who}{since}; {points.sentence}")


def _state_of_points(review: Review) -> Verdict:
    left = review.undecided
    blocking = [point for point in left if point.blocks]
    errors = sum(point.severity is Severity.ERROR or point.leak for point in blocking)
    gaps = len(blocking) - errors
    severities = Counter(point.severity for point in left)
    warnings = severities[Severity.WARNING] - sum(point.severity is Severity.WARNING for point in blocking)
    leaks = any(point.leak for point in left)
    causes = [counted(gaps, "gap")] * bool(gaps) + [counted(errors, "error")] * bool(errors)
    parts = [f"blocked by {' and '.join(causes)}"] if causes else []
    parts += [f"{counted(warnings, 'warning')} to look at"] if warnings else []
    parts.append("something that must not be shown leaks" if leaks else "no leak found")
    if errors:
        return Verdict(VerdictWord.DO_NOT_APPROVE, "; ".join(parts))
    if left:
        return Verdict(VerdictWord.NOT_READY, "; ".join(["no errors", *parts] if not gaps else parts))
    subject = review.subject
    signs = f"approving signs {subject.bytes:,} bytes in {counted(len(subject.files), 'file')}"
    if not review.points:
        return Verdict(VerdictWord.READY, f"no errors, no gaps, nothing masked: {signs}")
    settled = "all points are decided" if review.decided == len(review.points) else "only notes are open"
    return Verdict(VerdictWord.READY, f"{settled}, no leak found: {signs}")
