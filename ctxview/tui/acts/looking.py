"""Other ways to look at the same thing: revisions, profiles, order, origin, difference."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from ctxview.formats import Source, Withholding
from ctxview.origin import Origin
from ctxview.tui.acts.moving import here
from ctxview.tui.layout import Pane
from ctxview.tui.screens.inspector import Inspector
from ctxview.tui.text import Line, Span, join, show
from ctxview.tui.things import Thing
from ctxview.tui.veil import Veiled, may_be_shown

NOTHING = "Nothing is shown yet."


def earlier(screen: Inspector) -> None:
    _step(screen, screen.view.look.revision - 1)


def later(screen: Inspector) -> None:
    _step(screen, screen.view.look.revision + 1)


def oldest(screen: Inspector) -> None:
    _step(screen, 0)


def newest(screen: Inspector) -> None:
    _step(screen, screen.view.last_revision)


def follow(screen: Inspector) -> None:
    """Keeps to the end of the history, or, without one, to the latest revision."""
    source = screen.view.source
    if source is None or not source.watched:
        screen.say("There is no file here that could change.")
        return
    if screen.following.is_off:
        screen.following.begin()
    if screen.view.transcript is None or screen.view.as_of is not None:
        if screen.view.go_to_revision(screen.view.last_revision):
            screen.look_again()
        screen.say("The latest revision is followed; an earlier one lets go.")
    else:
        screen.deck.choose(Pane.HISTORY)
        screen.history.follow()
        screen.refresh_bars()


def profile(screen: Inspector) -> None:
    if screen.view.next_profile():
        screen.look_again()
    else:
        screen.say("There is only one profile for this format.")


def sort(screen: Inspector) -> None:
    screen.view.next_sort()
    _reorder(screen)


def reverse(screen: Inspector) -> None:
    screen.view.reverse = not screen.view.reverse
    _reorder(screen)


def _reorder(screen: Inspector) -> None:
    """One wants to see it, so the memory comes to the front where it is not in sight."""
    if screen.shown is None:
        screen.say(NOTHING)
        return
    if not screen.memory.display:
        screen.deck.choose(Pane.MEMORY)
    screen.reordered()


def links(screen: Inspector) -> None:
    """The neighbours of what is selected, to walk among; a thing that is chosen there is gone to."""
    from ctxview.tui.screens.walk import WalkScreen

    thing, shown = here(screen), screen.shown
    stop = shown.index.graph.stop(thing) if shown is not None else None
    if shown is None or stop is None:
        screen.say(f"Nothing points to a {thing.kind}." if thing is not None else "Nothing is selected.")
        return

    def go_on(chosen: Thing | None) -> None:
        if chosen is not None:
            screen.go_to(chosen)

    screen.app.push_screen(WalkScreen(screen, shown.index, stop), go_on)


def origin(screen: Inspector) -> None:
    """The raw view at the selected thing's bytes: those of the draft when there is one."""
    shown = screen.shown
    open_origin(
        screen,
        shown.index.origin(screen.selected) if shown is not None and screen.selected is not None else None,
    )


def open_origin(screen: Inspector, place: Origin | None) -> None:
    """The raw view at a place; without one, at the beginning of what is open."""
    from ctxview.tui.screens.raw import RawScreen

    source, shown, look = screen.view.source, screen.shown, screen.view.look
    if source is None:
        screen.say(NOTHING)
        return
    file = place.file if place is not None else str(source.revisions[look.revision].file)
    load = partial(_shown_bytes, source, look.revision, file, screen.drafts.overlay(look.source))
    transcript = screen.view.transcript
    message = shown.index.message_at(place) if shown is not None and place is not None else None
    instead = (
        partial(transcript.raw, int(message.name))
        if transcript is not None and message is not None and not isinstance(source, Withholding)
        else None
    )
    screen.app.push_screen(RawScreen(file, load, place, screen.view.hits.needle, instead))


async def budget(screen: Inspector) -> None:
    """Another budget, tried out: what would be shown to the model then."""
    from ctxview.tui.widgets.prompt import Prompt

    before, lines = screen.view.look.budget, screen.lines

    def done(text: str | None) -> None:
        screen.set_focus(lines)
        if text is None:
            return
        number = wanted_budget(text)
        if number is None and text.strip():
            screen.say("A budget is a whole number, such as 3,000.", severity="warning")
        else:
            screen.try_budget(number)

    value = "" if before is None else str(before)
    await screen.ask(Prompt(show(" budget ", "key"), value, _budget_hint, done))


def wanted_budget(text: str) -> int | None:
    """The number somebody typed; None when it is empty or no number."""
    digits = text.strip().replace(",", "").replace("_", "").replace(" ", "")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= 12 else None


def _budget_hint(text: str) -> Line:
    number = wanted_budget(text)
    if not text.strip():
        return show("a number; empty goes back to the source's own budget", "dim")
    if number is None:
        return join((Span("✖ ", "bad"),), show("not a whole number", "warn"))
    return show(f"what if the budget were {number:,}" if number else "what if there were no limit", "ok")


def diff(screen: Inspector) -> None:
    """The draft against its file; without a draft this revision against the one before."""
    if screen.shown is None:
        screen.say(NOTHING)
        return
    from ctxview.tui.acts.differing import show_diff

    show_diff(screen)


def _shown_bytes(source: Source, revision: int, file: str, drafts: Mapping[str, bytes]) -> Veiled:
    """The file a thing stands in, as it was then, or the draft of it; as far as it may be shown."""
    from ctxview.formats.interface import KeepsPast

    if isinstance(source, KeepsPast) and source.only_shown(revision) is not None:
        return may_be_shown(source, file, source.bytes_at(revision, file))
    return may_be_shown(source, file, drafts[file] if file in drafts else source.bytes_of(file))


def _step(screen: Inspector, revision: int) -> None:
    last = screen.view.last_revision
    if screen.view.go_to_revision(revision):
        screen.stepped()
        screen.look_again()
    elif last == 0:
        screen.say("There is only one revision.")
    else:
        screen.say("This is the latest revision." if revision > 0 else "This is the first revision.")
