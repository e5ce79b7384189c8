"""The slow work, in threads: opening, reading, counting. It only computes and posts what it found.

First a reading with a quick estimate of the tokens, so that there is something to see, then the exact one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from time import monotonic
from typing import TYPE_CHECKING, TypeAlias

from textual.message import Message

from ctxview.quick_dataclass import dataclass
from ctxview.tui.precedence import Precedence
from ctxview.tui.session_view import Look, Problem, Total, count_severities
from ctxview.tui.things import Index

if TYPE_CHECKING:
    from ctxview.formats import Source

Opener: TypeAlias = "Callable[[], Iterable[Source | Problem]]"
Post: TypeAlias = Callable[[Message], object]
Cancelled: TypeAlias = Callable[[], bool]

BATCH = 0.15
"""Seconds between two messages about many sources."""


@dataclass(frozen=True, slots=True)
class Manner:
    """How to count and judge: the same for every reading of a run."""

    tokens: str = "o200k_base"
    mode: str | None = None


class Found(Message):
    """Some more sources, or paths that are none. `last` says that this was all."""

    def __init__(self, sources: list[Source], problems: list[Problem], *, last: bool) -> None:
        super().__init__()
        self.sources = sources
        self.problems = problems
        self.last = last


class Ready(Message):
    """A reading. `final` is False while a better count of its tokens is under way."""

    def __init__(self, look: Look, index: Index, *, final: bool) -> None:
        super().__init__()
        self.look = look
        self.index = index
        self.final = final


class Totalled(Message):
    """How many findings some whole sources have."""

    def __init__(self, totals: dict[int, Total]) -> None:
        super().__init__()
        self.totals = totals


def open_all(opener: Opener, post: Post, cancelled: Cancelled) -> None:
    """Opens one thing after the other; the first is posted at once."""
    sources: list[Source] = []
    problems: list[Problem] = []
    posted = 0.0
    for found in opener():
        if cancelled():
            return
        if isinstance(found, Problem):
            problems.append(found)
        else:
            sources.append(found)
        if sources and monotonic() - posted > BATCH:
            post(Found(sources, problems, last=False))
            sources, problems, posted = [], [], monotonic()
    post(Found(sources, problems, last=True))


def read(
    source: Source,
    look: Look,
    manner: Manner,
    overlay: Mapping[str, bytes],
    precedence: Precedence,
    post: Post,
    cancelled: Cancelled,
    *,
    quick: bool = True,
) -> None:
    """One revision, with the drafts of its files: if wanted quickly at first and painted, then exactly."""
    from ctxview.analysis.tokens import ESTIMATES, counter_named
    from ctxview.formats import Lens

    if quick and manner.tokens not in ESTIMATES:
        rough = Lens(ESTIMATES["bytes/4"], look.profile, manner.mode, look.budget, look.editor, hurry=True)
        post(Ready(look, Index(source.reading(look.revision, rough, overlay)), final=False))
        precedence.give_way(cancelled)
        if cancelled():
            return
    exact = Lens(counter_named(manner.tokens), look.profile, manner.mode, look.budget, look.editor)
    if not cancelled():
        post(Ready(look, Index(source.reading(look.revision, exact, overlay)), final=True))


def total(
    sources: list[tuple[int, Source]],
    profile: str | None,
    manner: Manner,
    precedence: Precedence,
    post: Post,
    cancelled: Cancelled,
) -> None:
    """Counts the findings of whole sources, one after the other; where that is long work, what is known."""
    from ctxview.analysis.tokens import ESTIMATES
    from ctxview.formats import Lens, LongWork
    from ctxview.tui.background import Silence

    totals: dict[int, Total] = {}
    posted = monotonic()
    progress = Silence(cancelled, precedence)
    for number, source in sources:
        if progress.cancelled:
            return
        chosen = profile if profile in source.profiles else None
        lens = Lens(ESTIMATES["bytes/4"], chosen, manner.mode)
        partly = isinstance(source, LongWork) and source.has_work(lens)
        if isinstance(source, LongWork) and not partly:
            source.work(lens, progress)
        newest = len(source.revisions) - 1
        found = source.reading(newest, lens).findings if partly else source.findings(lens)
        totals[number] = Total(count_severities(found), partly)
        if monotonic() - posted > BATCH:
            post(Totalled(totals))
            totals, posted = {}, monotonic()
    post(Totalled(totals))
