"""The actions of keys that have another meaning in one view: Overview, Skyline, Revisions and Review."""

from __future__ import annotations

from collections.abc import Callable

from ctxview.review.decisions import DecisionKind
from ctxview.review.points import Point
from ctxview.review.words import SignOff
from ctxview.tui.actions.navigate import enter, next_finding
from ctxview.tui.drawing.text import show
from ctxview.tui.input_order import start_dialogue, wait_until
from ctxview.tui.model.review_desk import ReviewDesk
from ctxview.tui.panes.overview import OverviewPane
from ctxview.tui.panes.review import NOT_READY, ReviewPane
from ctxview.tui.panes.skyline import SkylinePane
from ctxview.tui.screens.inspector import InspectorScreen
from ctxview.tui.widgets.facts_pane import MarkingPane

Change = Callable[[ReviewDesk], tuple[ReviewDesk, str]]


async def open_section(screen: InspectorScreen) -> None:
    """Open the chosen part of the overview in its own view."""
    section = screen.area.get(OverviewPane).section
    if not screen.model.sources:
        enter(screen)
    elif section is None:
        screen.say("j and k choose a part, Enter opens it.")
    else:
        await screen.action_command(section)


async def worst_finding(screen: InspectorScreen) -> None:
    """Go to the worst finding of all revisions, which the overview names."""
    known = screen.view.known if screen.view is not None else None
    worst = known.worst if known is not None else None
    if worst is None:
        next_finding(screen)
        return
    screen.perform(screen.model.go_to_revision(worst.number))
    await screen.revision_shown()
    await wait_until(lambda: screen.view is not None and screen.view.index.reading.judged)
    index = screen.view.index if screen.view is not None else None
    for item in index.findings if index is not None else ():
        if index is not None and index.finding(item) == worst.finding:
            screen.model.finding = item
            screen.go_to(item)
            return
    next_finding(screen)


def mark_revision(screen: InspectorScreen) -> None:
    if isinstance(screen.front, MarkingPane):
        screen.front.mark_revision()


def toggle_replies(screen: InspectorScreen) -> None:
    if isinstance(screen.front, MarkingPane):
        screen.front.toggle_replies()


def zoom(screen: InspectorScreen) -> None:
    if not screen.area.get(SkylinePane).zoom():
        screen.say("This column is one revision.")


def next_target(screen: InspectorScreen) -> None:
    screen.area.get(ReviewPane).next_target()


async def accept_point(screen: InspectorScreen) -> None:
    """Accept the point with a reason; a gap can be answered or waived instead."""
    point = _point(screen)
    if point is None:
        return
    if point.gap is not None:
        start_dialogue(screen, _settle_gap(screen, point), "settling a gap")
    else:
        await _write(screen, "accept", "why it may be handed on like this", DecisionKind.ACCEPTED)


async def _settle_gap(screen: InspectorScreen, point: Point) -> None:
    from ctxview.tui.screens.dialogs import ChooseDialog

    kinds = {
        "answer the question": DecisionKind.ANSWERED,
        "waive it: it may stay open": DecisionKind.WAIVED,
        "keep it as a known risk": DecisionKind.ACCEPTED,
    }
    word = await screen.app.push_screen_wait(ChooseDialog(f"{point.gap} is open", [*kinds], {}))
    if word is not None:
        hint = "the answer" if kinds[word] is DecisionKind.ANSWERED else "why"
        await _write(screen, word.partition(" ")[0], hint, kinds[word])


def look_at_point(screen: InspectorScreen) -> None:
    point = _point(screen)
    if point is not None:
        _change(screen, lambda desk: desk.decided(point, DecisionKind.LOOKED_AT, ""))


async def ask(screen: InspectorScreen) -> None:
    if not isinstance(screen.front, ReviewPane):
        screen.say("A opens the review, in which c asks for context.")
    else:
        await _write(screen, "ask", "what you need to know, and from whom", DecisionKind.ASKED)


async def approve(screen: InspectorScreen) -> None:
    desk = screen.area.get(ReviewPane).desk
    review = desk.review if desk is not None else None
    if review is None:
        screen.say(NOT_READY)
    elif (why := review.why_not_approved) is not None:
        screen.say(f"Not possible yet: {why}.")
    else:
        hint = f"a comment, or nothing; Enter approves {review.subject.bytes:,} bytes, without a signature"
        await _prompt(screen, "approve", hint, lambda text: lambda desk: desk.signed(SignOff.APPROVED, text))


async def reject(screen: InspectorScreen) -> None:
    if not isinstance(screen.front, ReviewPane):
        screen.say("A opens the review, in which D rejects.")
        return
    hint = "why it may not be handed on"
    await _prompt(screen, "reject", hint, lambda text: lambda desk: desk.signed(SignOff.REJECTED, text))


def _point(screen: InspectorScreen) -> Point | None:
    desk = screen.area.get(ReviewPane).desk
    point = desk.point if desk is not None else None
    if point is None:
        screen.say("There is no point to decide." if desk is not None else NOT_READY)
    return point


async def _write(screen: InspectorScreen, name: str, hint: str, kind: DecisionKind) -> None:
    """Ask for the text of a decision about the point at the cursor."""
    point = _point(screen)
    if point is not None:
        await _prompt(screen, name, hint, lambda text: lambda desk: desk.decided(point, kind, text))


async def _prompt(screen: InspectorScreen, name: str, hint: str, change: Callable[[str], Change]) -> None:
    from ctxview.tui.widgets.bars import InputLine

    pane = screen.area.get(ReviewPane)
    begun = pane.subject_digest

    def done(text: str | None) -> None:
        screen.area.focus_front()
        if text is None:
            return
        if pane.subject_digest != begun:
            screen.say("The files changed while you wrote: nothing was done. Look again, then decide.")
        else:
            _change(screen, change(text))

    label = show(f" {name} ", "key")
    line = InputLine(label, "", lambda _: show(hint, "dim"), done, placeholder=hint, needs_enter=True)
    await screen.ask(line)


def _change(screen: InspectorScreen, change: Change) -> None:
    async def run() -> None:
        screen.say(await screen.area.get(ReviewPane).change(change))

    screen.run_worker(run(), name="the review", group="review", exit_on_error=False)
