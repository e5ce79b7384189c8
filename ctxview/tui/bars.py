"""What stands around the panes, in words: banner, subtitle, keys worth offering, why nothing is shown."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ctxview.tui.commands import Need
from ctxview.tui.session_view import SessionView, Sort
from ctxview.tui.text import Line, join, show

APPEARS = "What appears there later will be shown here."
INSTEAD = "Enter leads to what else there is: recent, samples, what lies nearby."


def status(view: SessionView, problem: str | None) -> list[Line]:
    """What the panes say while there is nothing to draw."""
    if problem is None:
        return [show("Reading…" if view.sources else "Opening…", "dim")]
    if view.source is not None:
        return [show(problem, "bad"), (), show("o shows the file as it is; 1 goes to the sources.", "dim")]
    problems = (join(show(str(each.path), "strong"), show(each.reason), gap=": ") for each in view.problems)
    waits = any(_is_folder(each.path) for each in view.problems)
    instead = show(INSTEAD, "dim", "screen.command('enter')")
    return [show(problem, "bad"), *problems, (), *([show(APPEARS, "dim")] if waits else ()), instead]


def elsewhere(problem: str | None) -> list[Line]:
    """What the other panes say meanwhile."""
    return [show("Reading…" if problem is None else "Nothing could be read.", "dim")]


def banner(names: Sequence[str]) -> list[Line]:
    """That files changed on disk under unsaved changes."""
    if not names:
        return []
    told = f" ▲ {', '.join(names)} changed on disk. Your draft is untouched; saving it (w) shows both."
    return [show(told, "warn")]


def subtitle(view: SessionView) -> Line:
    """Filter, order and changes, for the frame of the memory."""
    parts: list[Line] = []
    if view.query:
        parts.append(show(f" filter: {view.query.text} "))
    if view.sort is not Sort.FILE or view.reverse:
        parts.append(show(f" {view.sort} {'▴' if view.reverse else '▾'} "))
    if view.shown is not None and (view.shown.changes or view.shown.gone):
        counts = ((len(view.shown.changes), "changed"), (len(view.shown.gone), "gone"))
        parts.append(show(f" {', '.join(f'{number:,} {word}' for number, word in counts if number)} "))
    return join(*parts, gap="─")


def offers(view: SessionView, *, draft: bool, player: bool, playing: bool = False) -> set[Need]:
    """Which commands are worth a place in the key bar."""
    shown, source = view.shown, view.source
    may_add = shown is not None and any(tier.new for tier in shown.index.reading.state.tiers)
    facts = {
        Need.REVISIONS: view.last_revision > 0,
        Need.PAST: view.look.revision < view.last_revision,
        Need.PLAYER: player,
        Need.PLAYING: playing,
        Need.PROFILES: source is not None and len(source.profiles) > 1,
        Need.EDITORS: len(view.editors) > 1,
        Need.FINDINGS: shown is not None and bool(shown.index.findings),
        Need.WRITABLE: view.as_of is None and may_add,
        Need.DRAFT: draft,
        Need.HITS: bool(view.hits.found or (view.hits.needle.strip() and view.transcript)),
        Need.MESSAGES: source is not None and bool(source.watched) and view.transcript is not None,
    }
    return {need for need, holds in facts.items() if holds}


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False
