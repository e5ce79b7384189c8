"""The editor for a `Form`: shows problems while typing and returns edits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, TypeAlias

from msgspec import Struct
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.timer import Timer
from textual.widgets import Button

from ctxview.core.edits import Edit, EditRefused
from ctxview.core.fields import Form
from ctxview.core.findings import Finding, Severity, worst_first
from ctxview.core.origin import JsonValue
from ctxview.editing.form_input import edits_of_form, first_text
from ctxview.tui.drawing.glyphs import SEVERITY
from ctxview.tui.drawing.rows import finding_summary_line
from ctxview.tui.drawing.text import Line, show
from ctxview.tui.job_runner import JobFinished
from ctxview.tui.model.jobs import Job, JobControl
from ctxview.tui.screens.dialogs import ConfirmDialog, Dialog
from ctxview.tui.widgets.form_fields import FieldRow, label_width, locked_line
from ctxview.tui.widgets.strips import StaticLines, content

Check: TypeAlias = Callable[[tuple[Edit, ...]], Sequence[Finding]]
"""Return the findings that edits would add. Called in a thread; may be slow and may raise `EditRefused`."""
Validate: TypeAlias = Callable[[Mapping[str, JsonValue]], Sequence[tuple[str, str]]]
"""Return problems of the values together, as (field name, message). Called at every key."""

CHECK_DELAY = 0.25
"""Seconds after the last key before the edit is checked."""
MOST_FINDINGS = 4
HELP = (
    "Tab and Shift-Tab go from field to field, Ctrl-s applies, Esc cancels. Numbers: ↑ ↓ or + - step. "
    "Choices: ← → or a first letter. Tags: separated by commas. ● marks changed fields. "
    "✎ writable by the model, ⊘ only by the system, ∑ computed, ⇥ append-only."
)


class EditsChecked(Struct, frozen=True):
    """The findings that edits would add, or why they are refused."""

    number: int
    findings: Sequence[Finding] = ()
    refusal: str = ""


class CheckEdits(Job, frozen=True, eq=False):
    """Check the edits of a form as it was at the key of a number."""

    group: ClassVar[str] = "checking"
    foreground: ClassVar[bool] = True
    check: Check
    number: int
    edits: tuple[Edit, ...]

    def run(self, _: JobControl) -> EditsChecked:
        try:
            return EditsChecked(self.number, tuple(self.check(self.edits)))
        except EditRefused as error:
            return EditsChecked(self.number, refusal=str(error))


class FormScreen(Dialog[tuple[Edit, ...] | None]):
    """Return the edits, or None when cancelled."""

    CSS_PATH = "form.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "apply", "apply", priority=True),
        Binding("escape", "leave", "cancel", priority=True),
        Binding("f1", "help", "help", priority=True),
        Binding("question_mark", "help", "help"),
        Binding("pagedown", "page(1)", "page down", show=False),
        Binding("pageup", "page(-1)", "page up", show=False),
    ]

    def __init__(
        self,
        form: Form,
        title: str,
        *,
        focus: str | None = None,
        check: Check | None = None,
        validate: Validate | None = None,
    ) -> None:
        super().__init__()
        self.form = form
        self._heading = title
        self._starts_at = focus
        self._checker = check
        self._validator = validate
        self._key_number = 0
        self._refused = False
        self._timer: Timer | None = None

    def compose(self) -> ComposeResult:
        editable = [(field, field.shape, first_text(self.form, field)) for field in self.form.fields]
        label = label_width(self.form)
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = content(show(self._heading))
            dialog.border_subtitle = content(show(self.form.file))
            with VerticalScroll(can_focus=False):
                for field, shape, text in editable:
                    if shape is not None and text is not None:
                        yield FieldRow(self.form, field, shape, text)
                locked = (locked_line(field, label) for field, _, text in editable if text is None)
                yield StaticLines(*locked, indent=" " * (label + 1), classes="locked")
            with Vertical(classes="foot"):
                yield StaticLines(classes="findings", indent="  ")
                yield StaticLines(classes="help")
                with Horizontal(classes="buttons"):
                    yield StaticLines(classes="status")
                    yield Button("Apply  Ctrl-s", variant="primary", id="apply", compact=True)
                    yield Button("Cancel  Esc", id="cancel", compact=True)

    def on_mount(self) -> None:
        rows = list(self.query(FieldRow))
        first = next((row for row in rows if row.field.name == self._starts_at), rows[0] if rows else None)
        if first is not None:
            first.editor.focus()
        self._update_status()

    # -- input -----------------------------------------------------------------------------------------

    @on(FieldRow.Edited)
    def _edited(self) -> None:
        self._update_status()
        self._key_number += 1
        self._refused = False
        if self._timer is not None:
            self._timer.stop()
        if self._checker is not None:
            self._timer = self.set_timer(CHECK_DELAY, self._start_check)

    @on(Button.Pressed, "#apply")
    def action_apply(self) -> None:
        wrong = next((row for row in self.query(FieldRow) if row.invalid), None)
        if wrong is not None:
            wrong.editor.focus()
        elif self._can_apply:
            self.dismiss(self._edits)

    @on(Button.Pressed, "#cancel")
    def action_leave(self) -> None:
        number = self._changed
        if not number:
            self.dismiss(None)
            return
        question = f"Leave and lose {'one change' if number == 1 else f'{number} changes'}?"
        self.app.push_screen(ConfirmDialog(question, yes="Leave", no="Keep editing"), self._left)

    def action_help(self) -> None:
        text = self.query_one(".help", StaticLines)
        text.update(*(() if text.lines else (show(HELP, "dim"),)))

    def action_page(self, pages: int) -> None:
        body = self.query_one(VerticalScroll)
        body.scroll_relative(y=pages * body.size.height, animate=False)

    def _left(self, confirmed: bool | None) -> None:
        if confirmed:
            self.dismiss(None)

    # -- the result ------------------------------------------------------------------------------------

    @property
    def _edits(self) -> tuple[Edit, ...]:
        return edits_of_form(self.form, {row.field.name: row.answer for row in self.query(FieldRow)})

    @property
    def _changed(self) -> int:
        return sum(row.changed for row in self.query(FieldRow))

    @property
    def _can_apply(self) -> bool:
        valid = not any(row.invalid for row in self.query(FieldRow))
        return valid and not self._refused and bool(self._changed or not self.form.exists)

    def _update_status(self) -> None:
        rows = list(self.query(FieldRow))
        if self._validator is not None:
            values = {row.field.name: row.answer.typed.value for row in rows if row.answer.typed.filled}
            problems = self._validator(values)
            for row in rows:
                row.show_problems(tuple(message for name, message in problems if name == row.field.name))
        invalid = [row for row in rows if row.invalid]
        self.query_one("#apply", Button).disabled = not self._can_apply
        self.query_one(".status", StaticLines).update(self._status(invalid))

    def _status(self, invalid: Sequence[FieldRow]) -> Line:
        if any(row.has_class("-error") for row in invalid):
            return show(f"{SEVERITY[Severity.ERROR]} {len(invalid)} to correct", "severity.error")
        if invalid:
            return show(f"{len(invalid)} still to fill in", "accent")
        if not self.form.exists:
            return show("new", "accent")
        changed = self._changed
        words = "nothing changed yet" if not changed else f"{changed} changed"
        return show(words, "accent" if changed else "dim")

    # -- findings that the edit would add --------------------------------------------------------------

    def _start_check(self) -> None:
        if not self._can_apply:
            self.query_one(".findings", StaticLines).update()
        elif self._checker is not None:
            self.jobs.start(CheckEdits(self._checker, self._key_number, self._edits))

    def on_job_finished(self, message: JobFinished) -> None:
        found = message.result
        if not isinstance(found, EditsChecked) or found.number != self._key_number:
            return
        self._refused = bool(found.refusal)
        self.query_one(".findings", StaticLines).update(*_would_add(found.findings, found.refusal))
        self._update_status()


def _would_add(findings: Sequence[Finding], refusal: str) -> list[Line]:
    if refusal:
        return [show(f"{SEVERITY[Severity.ERROR]} this edit would be refused: {refusal}", "severity.error")]
    if not findings:
        return []
    worst = worst_first(findings)
    lines = [show("this edit would add:", "dim"), *map(finding_summary_line, worst[:MOST_FINDINGS])]
    more = len(worst) - MOST_FINDINGS
    return [*lines, show(f"  and {more} more", "dim")] if more > 0 else lines
