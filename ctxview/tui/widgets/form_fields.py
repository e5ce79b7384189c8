"""The fields of a form: inputs for choices and numbers, and a row with label, input, hint and problems."""

from __future__ import annotations

from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, TextArea

from ctxview.analysis.diff.values import value_text
from ctxview.core.fields import (
    ChoiceShape,
    Field,
    FieldShape,
    Form,
    JsonShape,
    NumberShape,
    TagsShape,
    TextShape,
)
from ctxview.core.findings import Severity
from ctxview.editing.form_input import (
    EscapeError,
    FieldInput,
    InputProblem,
    escape,
    escape_json,
    field_input,
    input_error,
    needs_escapes,
    range_words,
    step_number,
    unescape,
    utf16_length,
)
from ctxview.tui.drawing.glyphs import OWNER, SEVERITY, meter_bar, meter_step
from ctxview.tui.drawing.text import Line, Span, fit, join, pad, preview, show, width
from ctxview.tui.widgets.strips import StaticLines

CHOSEN, OTHER = "●", "○"


class ChoiceInput(StaticLines, can_focus=True):
    """One of a few words, all of them visible, chosen with arrows, first letters or the mouse."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,down,l,j,space", "turn(1)", "next", show=False),
        Binding("left,up,h,k", "turn(-1)", "previous", show=False),
        Binding("home", "pick(0)", "first", show=False),
        Binding("end", "pick(-1)", "last", show=False),
    ]

    class Changed(Message):
        def __init__(self, choice: ChoiceInput) -> None:
            super().__init__()
            self.choice = choice

        @property
        def control(self) -> ChoiceInput:
            return self.choice

    def __init__(self, words: tuple[str, ...], word: str) -> None:
        super().__init__()
        self.words = words
        self.word = word
        self.update(self._line())

    def action_turn(self, steps: int) -> None:
        at = self.words.index(self.word) if self.word in self.words else -1 if steps > 0 else 0
        self.action_pick((at + steps) % len(self.words))

    def action_pick(self, index: int) -> None:
        if self.words[index] == self.word:
            return
        self.word = self.words[index]
        self.update(self._line())
        self.post_message(self.Changed(self))

    def on_key(self, event: events.Key) -> None:
        """Choose the next word that starts with the letter; h, j, k and l move instead."""
        letter = event.character
        if not letter or not letter.isalnum() or letter in "hjkl":
            return
        at = self.words.index(self.word) if self.word in self.words else -1
        later = [*range(at + 1, len(self.words)), *range(at + 1)]
        found = next((index for index in later if self.words[index].startswith(letter)), None)
        if found is not None:
            event.stop()
            self.action_pick(found)

    def _line(self) -> Line:
        line: list[Span] = []
        for index, word in enumerate(self.words):
            chosen = word == self.word
            # A space that does not break keeps the mark and its word on one line.
            text = f"{CHOSEN if chosen else OTHER}\u00a0{word}"
            line += [*show(text, "accent" if chosen else "dim", f"pick({index})"), Span("  ")]
        if self.word and self.word not in self.words:
            line += [Span("now: ", "warn"), *show(self.word, "warn")]
        return tuple(line)


class NumberInput(Input):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "step(1)", "more", show=False),
        Binding("down", "step(-1)", "less", show=False),
    ]

    def __init__(self, shape: NumberShape, text: str, placeholder: str = "") -> None:
        super().__init__(text, compact=True, placeholder=placeholder or ("empty" if shape.nullable else ""))
        self.shape = shape

    def action_step(self, steps: int) -> None:
        self.value = step_number(self.shape, self.value, steps)
        self.cursor_position = len(self.value)

    def on_key(self, event: events.Key) -> None:
        if event.character not in ("+", "-") or self._takes_sign:
            return
        # Otherwise the input would insert the character.
        event.prevent_default()
        event.stop()
        self.action_step(1 if event.character == "+" else -1)

    @property
    def _takes_sign(self) -> bool:
        """Whether a sign is part of the number: if it may be negative, and after the `e` of an exponent."""
        return self.shape.minimum < 0 or self.value[-1:].lower() == "e"


BAR = 20


class FieldRow(Vertical):
    """One field with its editor; posts `Edited` whenever the text in the editor changes."""

    class Edited(Message):
        def __init__(self, row: FieldRow) -> None:
            super().__init__()
            self.row = row

    def __init__(self, form: Form, field: Field, shape: FieldShape, text: str) -> None:
        super().__init__()
        self._label_width = label_width(form)
        self.form = form
        self.field = field
        self.shape = shape
        self._first = text
        self._escaped = False
        self._opening = self._to_editor(text)
        self.answer = field_input(form, field, text)
        self.invalid = self.answer.error
        """Whether the value prevents the form from being applied."""

    def compose(self) -> ComposeResult:
        label, problems = StaticLines(classes="label"), StaticLines(classes="problems", indent="  ")
        label.styles.width = self._label_width
        problems.styles.margin = (0, 0, 0, self._label_width + 1)
        with Horizontal():
            yield label
            yield self._editor()
            yield StaticLines(classes="hint")
        yield problems

    def on_mount(self) -> None:
        self._refresh_texts()

    @property
    def editor(self) -> Widget:
        return self.query_one("Input, TextArea, ChoiceInput")

    @on(Input.Changed)
    @on(TextArea.Changed)
    @on(ChoiceInput.Changed)
    def _changed(self, event: Message) -> None:
        event.stop()
        if self._escape_if_needed():
            return
        try:
            text = unescape(self._text) if self._escaped else self._text
        except EscapeError as error:
            self.answer = FieldInput(self.field, input_error(str(error)), True)
        else:
            self.answer = field_input(self.form, self.field, text)
        self._refresh_texts()
        self.post_message(self.Edited(self))

    @property
    def changed(self) -> bool:
        """Whether leaving now would lose an input."""
        return self.answer.changed if self.form.exists else self._text != self._opening

    def show_problems(self, messages: tuple[str, ...]) -> None:
        """Show problems that the form found with this field, beside those of the field itself."""
        self._refresh_texts(tuple(InputProblem(message) for message in messages))

    # -- the text in the editor ------------------------------------------------------------------------------

    def _editor(self) -> Widget:
        shape, text = self.shape, self._opening
        absent = "not in the file" if self.form.exists and not self.field.present else ""
        if isinstance(shape, NumberShape):
            return NumberInput(shape, text, placeholder=absent)
        if isinstance(shape, ChoiceShape):
            return ChoiceInput(shape.words, text)
        if _is_tall(shape):
            return TextArea(text, compact=True, highlight_cursor_line=False)
        return Input(text, compact=True, select_on_focus=False, placeholder=absent)

    def _to_editor(self, text: str) -> str:
        if not needs_escapes(text, multiline=_is_tall(self.shape)):
            return text
        if isinstance(self.shape, JsonShape):
            return escape_json(text)
        self._escaped = True
        return escape(text, multiline=_is_tall(self.shape))

    def _escape_if_needed(self) -> bool:
        """Escape the text from now on if invisible characters were typed or pasted; True if it changed."""
        text = self._text
        if self._escaped or isinstance(self.editor, ChoiceInput):
            return False
        escaped = self._to_editor(text)
        if escaped == text:
            return False
        if isinstance(self.editor, TextArea):
            self.editor.text = escaped
            self.editor.move_cursor(self.editor.document.end)
        elif isinstance(self.editor, Input):
            self.editor.value = escaped
        return True

    @property
    def _text(self) -> str:
        editor = self.editor
        if isinstance(editor, TextArea):
            return editor.text
        if isinstance(editor, ChoiceInput):
            return editor.word
        return editor.value if isinstance(editor, Input) else ""

    # -- the texts around the editor -------------------------------------------------------------------------

    def _refresh_texts(self, more: tuple[InputProblem, ...] = ()) -> None:
        problems = (*self.answer.problems, *more)
        tall = _is_tall(self.shape)
        mark = (Span(" ●", "accent"),) if self.answer.changed and self.form.exists else ()
        name = fit(show(self.field.name, "strong" if mark else ""), self._label_width - 5)
        label = join((Span(f"{OWNER[self.field.owner]} ", f"owner.{self.field.owner}"),), name, mark)
        below = join((Span("  "),), self._count()) if tall else ()
        self.query_one(".label", StaticLines).update(label, *([below] if below else []))
        self.query_one(".hint", StaticLines).update(*([] if tall else [self._hint()]))
        # A new form shows no errors before its first input.
        fresh = not self.form.exists and not self.changed
        lines = (show(f"  {each.message}", "dim") if fresh else _problem(each) for each in problems)
        note = (Span("has invisible characters, written as \\u escapes, a backslash as \\\\", "dim"),)
        self.query_one(".problems", StaticLines).update(*lines, *([note] if self._escaped else []))
        self.invalid = any(problem.error for problem in problems)
        self.set_class(self.invalid and not fresh, "-error")

    def _hint(self) -> Line:
        if not isinstance(self.shape, NumberShape):
            return self._count()
        words: Line = (Span(range_words(self.shape), "dim"),)
        value = self.answer.typed.value
        if (self.shape.minimum, self.shape.maximum) != (0, 1) or self.shape.integer:
            return words
        share = float(value) if isinstance(value, int | float) and not self.answer.error else 0.0
        filled, rest = meter_bar(share, BAR)
        picture = (
            Span(filled, f"accent {self.field.name}.{meter_step(share)}"),
            Span("·" * len(rest), "faint"),
        )
        return join(picture, words, gap="  ")

    def _count(self) -> Line:
        value, shape = self.answer.typed.value, self.shape
        if isinstance(shape, TagsShape):
            number = len(value) if isinstance(value, list) else 0
            return _used(number, shape.max_items, " tags")
        if isinstance(shape, TextShape) and shape.max_length is not None:
            return _used(utf16_length(value) if isinstance(value, str) else 0, shape.max_length, "")
        return (Span("JSON", "dim"),) if isinstance(shape, JsonShape) else ()


def label_width(form: Form) -> int:
    """Cells for the field names of a form, so that all editors begin in one column."""
    longest = max((width(show(field.name)) for field in form.fields), default=0)
    return min(24, max(14, longest + 5))


def locked_line(field: Field, label: int) -> Line:
    """A field that cannot be edited here: its name, value, owner, and the reason."""
    owner = (Span(f"{OWNER[field.owner]} ", f"owner.{field.owner}"),)
    name = pad(show(field.name, "dim"), label - 1)
    value = preview(value_text(field.value) if field.present else "not in the file", limit=120)
    why = field.why or ("too large or too deeply nested to edit here" if field.shape else "")
    reason = show(f"  {field.owner}{': ' if why else ''}{why}", "dim")
    return join(owner, name, value, reason)


def _is_tall(shape: FieldShape) -> bool:
    return isinstance(shape, JsonShape) or (isinstance(shape, TextShape) and shape.multiline)


def _used(number: int, most: int, unit: str) -> Line:
    return (Span(f"{number} of {most}{unit}", "warn" if number > most else "dim"),)


def _problem(problem: InputProblem) -> Line:
    severity = Severity.ERROR if problem.error else Severity.WARNING
    return show(f"{SEVERITY[severity]} {problem.message}", f"severity.{severity}")
