"""Letting the revisions go by: play, pause, speed, and to the next thing that matters."""

from __future__ import annotations

from ctxview.tui.screens.inspector import Inspector


def play(screen: Inspector) -> None:
    """Plays or pauses; with a single revision there is nothing to play, and the key turns a page."""
    if screen.view.last_revision > 0:
        screen.playing.toggle()
    elif screen.lines is not None:
        screen.lines.move_page(1)


def faster(screen: Inspector) -> None:
    screen.playing.change_speed(faster=True)


def slower(screen: Inspector) -> None:
    screen.playing.change_speed(faster=False)


def next_event(screen: Inspector) -> None:
    screen.playing.jump(back=False)


def previous_event(screen: Inspector) -> None:
    screen.playing.jump(back=True)
