"""Other ways to look at the same thing: revisions, profiles, order, origin, difference."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from ctxview.formats import Source
from ctxview.tui.screens.inspector import Inspector


def earlier(screen: Inspector) -> None:
    _step(screen, screen.view.look.revision - 1)


def later(screen: Inspector) -> None:
    _step(screen, screen.view.look.revision + 1)


def oldest(screen: Inspector) -> None:
    _step(screen, 0)


def newest(screen: Inspector) -> None:
    _step(screen, screen.view.last_revision)


def profile(screen: Inspector) -> None:
    if screen.view.next_profile():
        screen.look_again()
    else:
        screen.say("There is only one profile for this format.")


def sort(screen: Inspector) -> None:
    screen.view.next_sort()
    screen.reordered()


def reverse(screen: Inspector) -> None:
    screen.view.reverse = not screen.view.reverse
    screen.reordered()


def origin(screen: Inspector) -> None:
    """The raw view at the selected thing's bytes: those of the draft when there is one."""
    from ctxview.tui.screens.raw import RawScreen

    source, shown, look = screen.view.source, screen.shown, screen.view.look
    if source is None or shown is None:
        return
    place = shown.index.origin(screen.selected) if screen.selected is not None else None
    file = place.file if place is not None else str(source.revisions[look.revision].file)
    load = partial(_bytes_of, source, file, screen.drafts.overlay(look.source))
    screen.app.push_screen(RawScreen(file, load, place, screen.view.hits.needle))


def diff(screen: Inspector) -> None:
    """The draft against its file; without a draft this revision against the one before."""
    from ctxview.tui.acts.differing import show_diff

    show_diff(screen)


def _bytes_of(source: Source, file: str, drafts: Mapping[str, bytes]) -> bytes:
    """The file a thing stands in, or the draft of it."""
    return drafts[file] if file in drafts else source.bytes_of(file)


def _step(screen: Inspector, revision: int) -> None:
    last = screen.view.last_revision
    if screen.view.go_to_revision(revision):
        screen.look_again()
    elif last == 0:
        screen.say("There is only one revision.")
    else:
        screen.say("This is the latest revision." if revision > 0 else "This is the first revision.")
