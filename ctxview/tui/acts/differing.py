"""The difference of two readings: the draft against its file, or a revision against the one before."""

from __future__ import annotations

import asyncio
from typing import TypeAlias

from ctxview.analysis.diff import StateDiff
from ctxview.formats import Lens, Source
from ctxview.formats.revisions import before
from ctxview.tui.screens.inspector import Inspector
from ctxview.tui.session_view import Look

Side: TypeAlias = tuple[int, dict[str, bytes]]
"""A revision, and the drafts to read it with."""


def show_diff(screen: Inspector) -> None:
    screen.run_worker(_show(screen), name="comparing", group="comparing", exclusive=True, exit_on_error=False)


async def _show(screen: Inspector) -> None:
    source, look = screen.view.source, screen.view.look
    if source is None or screen.shown is None:
        return
    draft = screen.drafts.dirty(look)
    earlier = look.revision if draft else before(source.revisions, look.revision)
    if earlier is None:
        screen.say("This is the first revision: there is nothing before it to compare with.")
        return
    overlay = screen.drafts.overlay(look.source)
    originals = {str(work.draft.file): work.draft.original for work in screen.drafts.of(look)}
    old = (earlier, {**overlay, **originals} if draft else overlay)
    difference = await asyncio.to_thread(_compare, source, look, old, (look.revision, overlay))
    from ctxview.tui.screens.diff import DiffScreen

    title = "What the draft changes" if draft else "What changed since the revision before"
    thing = await screen.app.push_screen_wait(DiffScreen(difference, title))
    if thing is not None:
        screen.go_to(thing)


def _compare(source: Source, look: Look, old: Side, new: Side) -> StateDiff:
    from ctxview.analysis.diff import diff
    from ctxview.analysis.tokens import ESTIMATES

    lens = Lens(ESTIMATES["bytes/4"], look.profile, editor=look.editor)
    left, right = (source.reading(revision, lens, overlay).state for revision, overlay in (old, new))
    return diff(left, right)
