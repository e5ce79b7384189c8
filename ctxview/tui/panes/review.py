"""The review pane: the verdict, the points to decide, who gets what, and the sign-off."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from msgspec.structs import replace
from textual import events

from ctxview.analysis.revisions.overview import changes_at, missing_sentences, summarise
from ctxview.core.origin import Origin
from ctxview.formats import Lens, Source
from ctxview.tui.drawing.overview_parts import OverviewDrawing, change_lines
from ctxview.tui.drawing.page import Page
from ctxview.tui.drawing.review import ReviewContext, draw_review
from ctxview.tui.drawing.text import Line
from ctxview.tui.job_runner import JobFinished, JobRunner
from ctxview.tui.model.inspector import InspectorModel
from ctxview.tui.model.jobs import Job, JobControl
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.review_desk import ReviewDesk, open_desk
from ctxview.tui.model.view_state import ViewState
from ctxview.tui.widgets.facts_pane import FactsPane, known_revisions
from ctxview.tui.widgets.pane import empty_page

NOT_READY = "The review is being read."


class OpenDesk(Job, frozen=True, eq=False):
    """Open the review of a source; `before` is the desk whose choices stay."""

    group: ClassVar[str] = "review"
    foreground: ClassVar[bool] = True
    source: Source
    lens: Lens
    before: ReviewDesk | None

    def run(self, _: JobControl) -> ReviewDesk:
        return open_desk(self.source, self.lens, self.before)


class ReviewPane(FactsPane):
    pane = Pane.REVIEW
    has_cursor = False
    rail = 0
    framed = False

    def __init__(self, model: InspectorModel) -> None:
        super().__init__(model)
        self.jobs = JobRunner(self.post_message)
        self.desk: ReviewDesk | None = None
        self._opening: OpenDesk | None = None
        self._read: tuple[object, int] = (None, 0)
        """The reading for which the desk was opened, and how often its files were reread by then."""
        self._lines_of: tuple[int | None, ...] = ()
        self._rows_ahead = 0
        """How far the cursor was moved before there was a review to move in."""

    def differs(self, before: ViewState, after: ViewState) -> bool:
        return super().differs(before, after) or not self._is_present(after)

    def draw(self, view: ViewState, width: int, room: int) -> Page:
        self._open(view)
        desk = self.desk
        if desk is None or desk.review is None:
            return empty_page(width, desk.problem if desk is not None else NOT_READY)
        known = known_revisions(view)
        state = view.index.reading.state
        latest = len(known.names) - 1
        found = changes_at(known, latest)
        overview = replace(summarise(state, known, view.key.revision), number=latest, changes=found)
        changes: list[Line] = change_lines(OverviewDrawing(overview, state, known), width // 2)
        missing, other = tuple(missing_sentences(state)), ""
        if view.key.revision < latest:
            missing, other = (
                ("not shown for another revision; } goes to the latest",),
                known.names[latest].name,
            )
        since = found.since if found is not None else ""
        context = ReviewContext(since, changes, missing, other)
        drawn = draw_review(desk, desk.review, context, width, room)
        self._lines_of = drawn.points
        return Page.of(drawn.lines)

    @property
    def origin(self) -> Origin | None:
        """The origin of the point at the cursor."""
        point = self.desk.point if self.desk is not None else None
        return point.origin if point is not None else None

    @property
    def subject_digest(self) -> str:
        """The digest of the files that are on the screen."""
        review = self.desk.review if self.desk is not None else None
        return review.subject.digest if review is not None else ""

    def move(self, rows: int) -> None:
        if self.desk is not None:
            self._show(self.desk.moved(rows))
        else:
            self._rows_ahead += rows

    def move_end(self, *, last: bool) -> None:
        if self.desk is not None:
            self.move(len(self.desk.points) if last else -len(self.desk.points))

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        line = offset.y if offset is not None else -1
        place = self._lines_of[line] if 0 <= line < len(self._lines_of) else None
        if self.desk is not None and place is not None:
            self.move(place - self.desk.chosen)

    def next_target(self) -> None:
        if self.desk is not None:
            self._show(self.desk.next_target())

    async def change(self, change: Callable[[ReviewDesk], tuple[ReviewDesk, str]]) -> str:
        """Change the desk in a thread, since that reads and writes files; return what to say about it."""
        if self.desk is None:
            return NOT_READY
        desk, notice = await self.jobs.result_of(change, self.desk)
        self._show(desk)
        return notice

    # -- reading -----------------------------------------------------------------------------------------

    def _open(self, view: ViewState) -> None:
        """Open the review again when another source or other bytes are shown."""
        source = self._model.source
        if source is None or self._is_present(view):
            return
        before = self.desk if self.desk is not None and self.desk.source.path == source.path else None
        self._read = view.index.reading, self._model.live.rereads
        self.desk = before
        self._opening = OpenDesk(source, view.key.lens(), before)
        self.jobs.start(self._opening)

    def on_job_finished(self, message: JobFinished) -> None:
        message.stop()
        job, desk = message.job, message.result
        if isinstance(job, OpenDesk) and job is self._opening and isinstance(desk, ReviewDesk):
            self._model.live.watch_reviewed(job.source.path, desk.files)
            self._opened(job, desk)

    def _opened(self, job: OpenDesk, desk: ReviewDesk) -> None:
        """Show an opened desk, unless a decision was made meanwhile: then its files are read once more."""
        now = self.desk
        if now is None or job.before is None:
            self._show(desk.moved(self._rows_ahead))
            self._rows_ahead = 0
        elif now.review is not job.before.review:
            self._opening = OpenDesk(now.source, job.lens, now)
            self.jobs.start(self._opening)
        else:
            self._show(desk.following(replace(now, changed=desk.changed)))

    def on_unmount(self) -> None:
        self.jobs.close()

    def _is_present(self, view: ViewState) -> bool:
        """Whether the desk was opened for what is shown and on disk now."""
        reading, rereads = self._read
        return reading is view.index.reading and rereads == self._model.live.rereads

    def _show(self, desk: ReviewDesk) -> None:
        self.desk = desk
        self.reset()
