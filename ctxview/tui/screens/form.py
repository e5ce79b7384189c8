"""A typed editor made from a `Form`: problems show while typing, and what comes out are edits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, TypeAlias

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Button
from textual.worker import get_current_worker

from ctxview.edits import Edit, Refused
from ctxview.findings import Finding, Severity, worst_first
from ctxview.state import Form, JsonValue
from ctxview.tui.editing.answers import edits, first_text
from ctxview.tui.glyphs import SEVERITY
from ctxview.tui.screens.leaving import Dialog
from ctxview.tui.screens.question import Question
from ctxview.tui.text import Line, content, show
from ctxview.tui.widgets.field_row import FieldRow, label_width, locked_line
from ctxview.tui.widgets.finding_line import finding_line
from ctxview.tui.widgets.said import Said

Check: TypeAlias = Callable[[tuple[Edit, ...]], Sequence[Finding]]
"""The findings an edit would add; may take a while, may raise `Refused`. Called in a thread."""
Validate: TypeAlias = Callable[[Mapping[str, JsonValue]], Sequence[tuple[str, str]]]
"""What is wrong with the values together, as (field name, message). Called at every key."""

PATIENCE = 0.25
MOST_FINDINGS = 4
HELP = (
    "Tab and Shift-Tab go from field to field, Ctrl-s applies, Esc leaves. Numbers: ↑ ↓ or + - step. "
    "Choices: ← → or a first letter. Tags: separated by commas. ● marks what you changed. "
    "✎ the model may write this, ⊘ only the system, ∑ computed, ⇥ only appended to."
)


class FormScreen(Dialog[tuple[Edit, ...] | None]):
    """Dismisses with the edits, or with None when nothing is to be done."""

    CSS_PATH = "form.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "apply", "apply", priority=True),
        Binding("escape", "leave", "cancel", priority=True),
        Binding("f1", "help", "help", priority=True),
        Binding("question_mark", "help", "help"),
        Binding("pagedown", "page(1)", "page down", show=False),
        Binding("pageup", "page(-1)", "page up", show=False),
    ]

    class Checked(Message):
        """What an edit would add, found by a worker; `number` tells for which key press."""

        def __init__(self, number: int, findings: Sequence[Finding], refusal: str = "") -> None:
            super().__init__()
            self.number = number
            self.findings = findings
            self.refusal = refusal

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
                yield Said(*locked, indent=" " * (label + 1), classes="locked")
            with Vertical(classes="foot"):
                yield Said(classes="findings", indent="  ")
                yield Said(classes="help")
                with Horizontal(classes="buttons"):
                    yield Said(classes="status")
                    yield Button("Apply  Ctrl-s", variant="primary", id="apply", compact=True)
                    yield Button("Cancel  Esc", id="cancel", compact=True)

    def on_mount(self) -> None:
        rows = list(self.query(FieldRow))
        first = next((row for row in rows if row.field.name == self._starts_at), rows[0] if rows else None)
        if first is not None:
            first.editor.focus()
        self._tell()

    # -- what a person does ----------------------------------------------------------------------------

    @on(FieldRow.Edited)
    def _edited(self) -> None:
        self._tell()
        self._key_number += 1
        self._refused = False
        if self._timer is not None:
            self._timer.stop()
        if self._checker is not None:
            self._timer = self.set_timer(PATIENCE, self._ask)

    @on(Button.Pressed, "#apply")
    def action_apply(self) -> None:
        wrong = next((row for row in self.query(FieldRow) if row.stuck), None)
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
        self.app.push_screen(Question(question, yes="Leave", no="Keep editing"), self._left)

    def action_help(self) -> None:
        said = self.query_one(".help", Said)
        said.say(*(() if said.said else (show(HELP, "dim"),)))

    def action_page(self, pages: int) -> None:
        body = self.query_one(VerticalScroll)
        body.scroll_relative(y=pages * body.size.height, animate=False)

    def _left(self, sure: bool | None) -> None:
        if sure:
            self.dismiss(None)

    # -- what it comes to ------------------------------------------------------------------------------

    @property
    def _edits(self) -> tuple[Edit, ...]:
        return edits(self.form, {row.field.name: row.answer for row in self.query(FieldRow)})

    @property
    def _changed(self) -> int:
        return sum(row.changed for row in self.query(FieldRow))

    @property
    def _can_apply(self) -> bool:
        sound = not any(row.stuck for row in self.query(FieldRow))
        return sound and not self._refused and bool(self._changed or not self.form.exists)

    def _tell(self) -> None:
        rows = list(self.query(FieldRow))
        if self._validator is not None:
            values = {row.field.name: row.answer.typed.value for row in rows if row.answer.typed.filled}
            found = self._validator(values)
            for row in rows:
                row.complain(tuple(message for name, message in found if name == row.field.name))
        stuck = [row for row in rows if row.stuck]
        self.query_one("#apply", Button).disabled = not self._can_apply
        self.query_one(".status", Said).say(self._status(stuck))

    def _status(self, stuck: Sequence[FieldRow]) -> Line:
        if any(row.has_class("-error") for row in stuck):
            return show(f"{SEVERITY[Severity.ERROR]} {len(stuck)} to put right", "severity.error")
        if stuck:
            return show(f"{len(stuck)} still to fill in", "accent")
        if not self.form.exists:
            return show("new", "accent")
        changed = self._changed
        words = "nothing changed yet" if not changed else f"{changed} changed"
        return show(words, "accent" if changed else "dim")

    # -- what the edit would add -----------------------------------------------------------------------

    def _ask(self) -> None:
        if self._can_apply:
            self._look(self._key_number, self._edits)
        else:
            self.query_one(".findings", Said).say()

    @work(thread=True, exclusive=True, exit_on_error=False)
    def _look(self, number: int, wanted: tuple[Edit, ...]) -> None:
        worker = get_current_worker()
        if self._checker is None:
            return
        try:
            message = self.Checked(number, tuple(self._checker(wanted)))
        except Refused as error:
            message = self.Checked(number, (), str(error))
        if not worker.is_cancelled:
            self.post_message(message)

    @on(Checked)
    def _checked(self, event: Checked) -> None:
        if event.number != self._key_number:
            return
        self._refused = bool(event.refusal)
        self.query_one(".findings", Said).say(*_would_add(event.findings, event.refusal))
        self._tell()


def _would_add(findings: Sequence[Finding], refusal: str) -> list[Line]:
    if refusal:
        return [show(f"{SEVERITY[Severity.ERROR]} this edit would be refused: {refusal}", "severity.error")]
    if not findings:
        return []
    worst = worst_first(findings)
    lines = [show("this edit would add:", "dim"), *map(finding_line, worst[:MOST_FINDINGS])]
    more = len(worst) - MOST_FINDINGS
    return [*lines, show(f"  and {more} more", "dim")] if more > 0 else lines
