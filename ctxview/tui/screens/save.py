"""What saving would do, before it is done: the difference in bytes, and the findings that come and go.

Decides nothing and writes nothing: it only asks, and does not offer what an error stops.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Button

from ctxview.edits import Preview
from ctxview.findings import Finding, Severity, worst_first
from ctxview.tui.glyphs import SEVERITY
from ctxview.tui.screens.leaving import Dialog
from ctxview.tui.text import Line, Span, content, join, shorten, show, styled, wrap_all
from ctxview.tui.widgets.finding_line import finding_line
from ctxview.tui.widgets.hunk_lines import hunk_lines
from ctxview.tui.widgets.listing import Listing
from ctxview.tui.widgets.page import Page
from ctxview.tui.widgets.said import Said

BACKUP = "The old bytes are kept as an undo copy."


class SaveScreen(Dialog[bool]):
    """Dismisses with True when the draft is to be saved."""

    CSS_PATH = "save.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y,enter,ctrl+s", "save", "save"),
        Binding("n,escape,q", "back", "back"),
    ]

    def __init__(self, preview: Preview, file: Path, note: str = BACKUP) -> None:
        super().__init__()
        self._preview = preview
        self._file = file
        self._note = note

    def compose(self) -> ComposeResult:
        blocked = self._preview.blocked
        with Vertical(classes="dialog -blocked" if blocked else "dialog") as dialog:
            dialog.border_title = content(show(f"Save {self._file.name}"))
            dialog.border_subtitle = content(show(shorten(str(self._file), 70)))
            yield Said(*_verdict(self._preview), classes="head", indent="  ")
            yield Listing(self._page)
            with Horizontal(classes="foot"):
                yield Said(
                    show("Put the error right first." if blocked else self._note, "dim"), classes="status"
                )
                yield Button("Save  y", variant="primary", id="save", compact=True, disabled=bool(blocked))
                yield Button("Back  n", id="back", compact=True)

    def on_mount(self) -> None:
        self.query_one(Listing).focus()

    @on(Button.Pressed, "#save")
    def action_save(self) -> None:
        if self._preview.blocked is None:
            self.dismiss(True)

    @on(Button.Pressed, "#back")
    def action_back(self) -> None:
        self.dismiss(False)

    def _page(self, width: int) -> Page:
        preview = self._preview
        lines = [
            *_findings("This change adds", preview.added, "severity.error"),
            *_findings("This change fixes", preview.removed, "ok"),
            *_findings("Wrong before, and still wrong", preview.standing, "dim"),
            show("Difference", "title"),
        ]
        return Page.of([*wrap_all(lines, width, "    "), *hunk_lines(preview.hunks, width)])


def _verdict(preview: Preview) -> list[Line]:
    if preview.blocked is not None:
        return [show(f"{SEVERITY[Severity.ERROR]} This cannot be saved: {preview.blocked}", "severity.error")]
    added = [each for each in preview.added if each.severity is not Severity.INFO]
    gone, come = _counted(preview, "removed"), _counted(preview, "added")
    figures = show(f"{gone} out, {come} in", "dim")
    words = show(f"adds {_number(len(added), 'warning')}", "warn") if added else show("adds no problem", "ok")
    fixed = show(f"fixes {len(preview.removed)}", "ok") if preview.removed else ()
    return [join(words, fixed, figures, gap="   ")]


def _findings(title: str, findings: tuple[Finding, ...], style: str) -> list[Line]:
    if not findings:
        return []
    worst = worst_first(findings)
    lines = [join((Span("  "),), finding_line(each)) for each in worst]
    if style == "ok":
        lines = [join((Span("  ✓ ", "ok"),), styled(finding_line(each), "dim")) for each in worst]
    heading = join(show(title, "title"), show(str(len(findings)), style), gap="  ")
    return [heading, *lines, ()]


def _counted(preview: Preview, kind: str) -> str:
    number = sum(each == kind for hunk in preview.hunks for each, _ in hunk.lines)
    return _number(number, "line")


def _number(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
