"""The review of the open source: its points, the target of the preview, and decisions. No toolkit.

`open_desk`, `ReviewDesk.decided` and `ReviewDesk.signed` read or write files; they run in a thread.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ctxview.analysis.wording import counted
from ctxview.core.edits import EditRefused
from ctxview.files.create import CreateRefused
from ctxview.files.save import SaveConflict, SaveRefused
from ctxview.formats import Lens, OpenError, Source
from ctxview.formats.interface import GapChange
from ctxview.reports.xray import Xray, make_xray
from ctxview.review.decisions import DecisionKind, DecisionRefused
from ctxview.review.gap_notes import source_of, write_gap
from ctxview.review.points import Point
from ctxview.review.review import Review
from ctxview.review.sign_off import (
    SignOffRefused,
    SignOffRequest,
    keep_progress,
    open_review,
    reviewer_name,
    sign_off,
)
from ctxview.review.ssh_signature import sign_command
from ctxview.review.subject import watched_paths
from ctxview.review.targets import TargetShare
from ctxview.review.words import SignOff

_GAP_CHANGES: dict[DecisionKind, Literal["ask", "answer", "waive"]] = {
    DecisionKind.ASKED: "ask",
    DecisionKind.ANSWERED: "answer",
    DecisionKind.WAIVED: "waive",
}
_NOT_WRITTEN = (CreateRefused, SaveConflict, SaveRefused, OSError)


class ReviewDesk(Struct, frozen=True, eq=False):
    """A review on the screen. `chosen` is a place in the points, `target` one in the shares."""

    source: Source
    lens: Lens
    review: Review | None = None
    previews: tuple[Xray | None, ...] = ()
    """What each target would see."""
    problem: str = ""
    chosen: int = 0
    target: int = 0
    files: tuple[Path, ...] = ()
    """What has to be watched while the review is on the screen."""
    changed: tuple[str, ...] = ()
    """The reviewed files that changed on disk since the last decision."""

    @property
    def points(self) -> tuple[Point, ...]:
        return self.review.points if self.review is not None else ()

    @property
    def point(self) -> Point | None:
        return self.points[self.chosen] if self.chosen < len(self.points) else None

    @property
    def shares(self) -> tuple[TargetShare, ...]:
        return self.review.sources[0].shares if self.review is not None and self.review.sources else ()

    def moved(self, rows: int) -> ReviewDesk:
        """Return the desk with another point chosen."""
        return replace(self, chosen=max(0, min(self.chosen + rows, len(self.points) - 1)))

    def next_target(self) -> ReviewDesk:
        return replace(self, target=(self.target + 1) % max(1, len(self.shares)))

    def following(self, before: ReviewDesk) -> ReviewDesk:
        """Return the desk with point and target of the one before it, and with what changed since then."""
        if before.review is None or self.review is None:
            return self
        name = before.point.id if before.point is not None else ""
        place = next((at for at, point in enumerate(self.points) if point.id == name), 0)
        one, other = before.review.subject, self.review.subject
        pairs = {*one.files.items(), *one.links.items()} ^ {*other.files.items(), *other.links.items()}
        return replace(
            self,
            chosen=place,
            target=before.target if before.target < len(self.shares) else 0,
            changed=tuple(dict.fromkeys((*before.changed, *sorted({name for name, _ in pairs})))),
        )

    def decided(self, point: Point, kind: DecisionKind, text: str) -> tuple[ReviewDesk, str]:
        """Decide a point, and keep that; return the desk after it, and a notice.

        Questions, answers and waivers are also written into a source that has records of gaps; for other
        sources a question is a record beside them.
        """
        if self.review is None:
            return self, self.problem
        reviewer, notice = reviewer_name(), ""
        try:
            review = self.review.with_decision(point, kind, text, reviewer)
            source = self.source
            if kind is DecisionKind.ASKED and source.abilities.gap_writer is None:
                keep_progress(review)
                return replace(self, review=review, changed=()).signed(SignOff.ASKED, f"{point.id}: {text}")
            if kind in _GAP_CHANGES and source.abilities.gap_writer is not None:
                change = GapChange(_GAP_CHANGES[kind], text, reviewer, point.gap, point.title)
                try:
                    file = write_gap(source_of(point, [source]), change)
                    notice = f" Written to {file.name}." if file is not None else ""
                    source = source.again()
                    review = open_review([source], self.lens)
                    if point.id in {each.id for each in review.points}:
                        review = review.with_decision(point, kind, text, reviewer)
                except EditRefused as refusal:
                    notice = f" It is kept in the review only: {refusal}."
            keep_progress(review)
        except (DecisionRefused, OpenError, *_NOT_WRITTEN) as error:
            return self, _sentence(error)
        left = len(review.undecided)
        more = f"{counted(left, 'point')} left." if left else "All points are decided: A approves."
        desk = replace(self, source=source, review=review, changed=())
        return desk.moved(0), f"{kind.capitalize()}.{notice} {more}"

    def signed(self, decision: SignOff, comment: str) -> tuple[ReviewDesk, str]:
        """Sign the review off; return the desk after it, and a notice."""
        if self.review is None:
            return self, self.problem
        request = SignOffRequest(decision, reviewer_name(), comment)
        try:
            file, _ = sign_off(self.review, [self.source], request)
        except SignOffRefused as error:
            # The files may have changed since they were read: what is there now is shown.
            return open_desk(self.source, self.lens, self), _sentence(error)
        except _NOT_WRITTEN as error:
            return self, _sentence(error)
        after = open_desk(self.source, self.lens, replace(self, changed=()))
        how = f"To sign it with your SSH key: {sign_command(file)}"
        return after, f"{decision.capitalize()}: {file.name} binds it to these bytes. {how}"


def open_desk(source: Source, lens: Lens, before: ReviewDesk | None = None) -> ReviewDesk:
    """Open the review of a source with the kept decisions; the cursor is on the first point to decide."""
    desk = ReviewDesk(source, lens)
    try:
        review = open_review([source], lens)
    except OpenError as error:
        return replace(desk, problem=str(error))
    shares = review.sources[0].shares if review.sources else ()
    previews = tuple(
        make_xray(share.preview, lens.counter) if share.preview is not None else None for share in shares
    )
    left = review.undecided
    place = review.points.index(left[0]) if left else 0
    files = watched_paths(review.subject, source.path)
    opened = ReviewDesk(source, lens, review, previews, chosen=place, files=files)
    return opened.following(before) if before is not None else opened


def _sentence(error: Exception) -> str:
    text = str(error)
    return f"{text[:1].upper()}{text[1:]}."
