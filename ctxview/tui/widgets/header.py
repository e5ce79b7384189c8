"""The top line: what is open, how sound it is, which revision, and how its tokens were counted."""

from __future__ import annotations

from ctxview.tui.panes.rows import severity_counts
from ctxview.tui.session_view import SessionView
from ctxview.tui.text import Line, Span, fit, join, shorten, show, width
from ctxview.tui.widgets.drawing import OneLine

LIVE = 20
"""Cells that what happened on disk may always take."""


class Header(OneLine):
    DEFAULT_CSS = "Header { background: $panel; }"

    def __init__(self, view: SessionView) -> None:
        super().__init__(id="header")
        self._view = view
        self.status: str = ""
        """What is going on: "opening…", "counting…"; empty when all is done."""
        self.working: str = ""
        """How far the long work in the background is; empty when there is none."""
        self.live: tuple[str, str] = ("", "")
        """Whether the files are followed, or what just happened to them, and the style for it."""

    def make_line(self, width: int) -> Line:
        return header_line(self._view, self.status or self.working, width, self.live)


def header_line(view: SessionView, status: str, cells: int, live: tuple[str, str] = ("", "")) -> Line:
    """As many facts as fit, the least needed left out first, the title shortened last."""
    brand: Line = (Span(" ctxview ", "brand"), Span(" "))
    facts = _facts(view, status, (shorten(live[0], max(LIVE, cells // 2 - 12)), live[1]))
    while True:
        right = join(*(line for _, line in facts), gap="  ")
        room = cells - width(brand) - width(right) - 3
        if room >= min(24, width(_title(view, cells))) or len(facts) <= 1:
            break
        facts.remove(min(facts, key=lambda fact: fact[0]))
    left = fit(_title(view, max(room, 8)), max(room, 8))
    blank = Span(" " * max(1, cells - width(brand) - width(left) - width(right) - 1))
    return fit(join(brand, left, (blank,), right), cells)


def _title(view: SessionView, cells: int) -> Line:
    source = view.source
    if source is None:
        return show("nothing is open" if view.problems else "", "dim")
    rest = [source.format]
    told_as_past = view.as_of is not None
    if not told_as_past and view.shown is not None and view.shown.index.reading.state.revision:
        rest.append(view.shown.index.reading.state.revision)
    title = show(shorten(source.title, cells), "strong")
    tail = show(" · " + " · ".join(rest), "dim")
    return join(title, fit(tail, cells - width(title)) if cells - width(title) > 8 else ())


def _facts(view: SessionView, status: str, live: tuple[str, str]) -> list[tuple[int, Line]]:
    """(how much it is needed, what it says), in the order of the line."""
    facts: list[tuple[int, Line]] = []
    shown = view.shown
    if shown is not None and shown.draft:
        facts.append((9, (Span(" DRAFT ", "draft", "screen.command('save')"),)))
    if shown is not None and shown.index.reading.judged:
        counts = severity_counts(shown.counts, gap="  ", zeros=True)
        facts.append((8, tuple(Span(span.text, span.style, "screen.command('pane_7')") for span in counts)))
    if (as_of := view.as_of) is not None:
        told = f" as of {shorten(_without_file(view, as_of), 28)} · read-only "
        facts.append((9, show(told, "past", "screen.command('newest')")))
    if view.source is not None and view.last_revision:
        facts.append((6, show(f"rev {view.look.revision + 1}/{view.last_revision + 1}")))
    if live[0]:
        facts.append((6 if as_of is None else 3, show(*live)))
    if len(view.editors) > 1:
        facts.append(
            (7, show(f"✎ {shorten(view.editor or '', 16)}", "owner.model", "screen.command('editor')"))
        )
    if view.profile is not None:
        facts.append((4, show(shorten(view.profile, 24), "link", "screen.command('profile')")))
    if status:
        facts.append((7, show(status, "accent")))
    elif shown is not None:
        counted = shown.index.reading.state.counts
        word = "exact" if counted.tokens_exact else "estimate"
        name = counted.estimator.replace("_base", "").replace(" and ", "+")
        facts.append((5, show(f"{name} {word}", "ok" if counted.tokens_exact else "warn")))
    return facts


def _without_file(view: SessionView, label: str) -> str:
    """Where several revisions are called alike, their number beside it tells them apart in less room."""
    if view.source is None:
        return label
    return label.removesuffix(f" ({view.source.revisions[view.look.revision].file.name})")
