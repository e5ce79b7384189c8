"""One field of a form: its name, its editor by shape, what may stand there, and what is wrong with it."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, TextArea

from ctxview.analysis.diff.values import shown
from ctxview.findings import Severity
from ctxview.state import ChoiceShape, Field, Form, JsonShape, NumberShape, Shape, TagsShape, TextShape
from ctxview.tui.editing.answers import Answer, answer
from ctxview.tui.editing.spelled import BadSpelling, needs_spelling, spell, spell_json, unspell
from ctxview.tui.editing.typed import Problem, range_words, utf16_length, wrong
from ctxview.tui.glyphs import OWNER, SEVERITY, bar, step
from ctxview.tui.text import Line, Span, fit, join, pad, preview, show, width
from ctxview.tui.widgets.choice import Choice
from ctxview.tui.widgets.number_input import NumberInput
from ctxview.tui.widgets.said import Said

BAR = 20


class FieldRow(Vertical):
    """Says `Edited` whenever what stands in the editor comes to something else."""

    class Edited(Message):
        def __init__(self, row: FieldRow) -> None:
            super().__init__()
            self.row = row

    def __init__(self, form: Form, field: Field, shape: Shape, text: str) -> None:
        super().__init__()
        self._label_width = label_width(form)
        self.form = form
        self.field = field
        self.shape = shape
        self._first = text
        self._spelled = False
        self._opening = self._to_editor(text)
        self.answer = answer(form, field, text)
        self.stuck = self.answer.error
        """Whether what stands here keeps the form from being applied."""

    def compose(self) -> ComposeResult:
        label, problems = Said(classes="label"), Said(classes="problems", indent="  ")
        label.styles.width = self._label_width
        problems.styles.margin = (0, 0, 0, self._label_width + 1)
        with Horizontal():
            yield label
            yield self._editor()
            yield Said(classes="hint")
        yield problems

    def on_mount(self) -> None:
        self._tell()

    @property
    def editor(self) -> Widget:
        return self.query_one("Input, TextArea, Choice")

    @on(Input.Changed)
    @on(TextArea.Changed)
    @on(Choice.Changed)
    def _changed(self, event: Message) -> None:
        event.stop()
        if self._spell_if_needed():
            return
        self.answer = self._answer()
        self._tell()
        self.post_message(self.Edited(self))

    @property
    def changed(self) -> bool:
        """Whether leaving now would lose something a person wrote here."""
        return self.answer.changed if self.form.exists else self._text != self._opening

    def complain(self, messages: tuple[str, ...]) -> None:
        """Shows what somebody else found wrong with this field, beside its own problems."""
        self._tell(tuple(Problem(message) for message in messages))

    # -- the text in the editor ------------------------------------------------------------------------------

    def _editor(self) -> Widget:
        shape, text = self.shape, self._opening
        absent = "not in the file" if self.form.exists and not self.field.present else ""
        if isinstance(shape, NumberShape):
            return NumberInput(shape, text, placeholder=absent)
        if isinstance(shape, ChoiceShape):
            return Choice(shape.words, text)
        if _is_tall(shape):
            return TextArea(text, compact=True, highlight_cursor_line=False)
        return Input(text, compact=True, select_on_focus=False, placeholder=absent)

    def _to_editor(self, text: str) -> str:
        if not needs_spelling(text, multiline=_is_tall(self.shape)):
            return text
        if isinstance(self.shape, JsonShape):
            return spell_json(text)
        self._spelled = True
        return spell(text, multiline=_is_tall(self.shape))

    def _spell_if_needed(self) -> bool:
        """What was typed or pasted may hold what nobody sees: then the whole text is spelled from now on."""
        text = self._text
        if self._spelled or isinstance(self.editor, Choice):
            return False
        spelled = self._to_editor(text)
        if spelled == text:
            return False
        if isinstance(self.editor, TextArea):
            self.editor.text = spelled
            self.editor.move_cursor(self.editor.document.end)
        elif isinstance(self.editor, Input):
            self.editor.value = spelled
        return True

    @property
    def _text(self) -> str:
        editor = self.editor
        if isinstance(editor, TextArea):
            return editor.text
        if isinstance(editor, Choice):
            return editor.word
        return editor.value if isinstance(editor, Input) else ""

    def _answer(self) -> Answer:
        try:
            text = unspell(self._text) if self._spelled else self._text
        except BadSpelling as error:
            return Answer(self.field, wrong(str(error)), True)
        return answer(self.form, self.field, text)

    # -- what is said around it ------------------------------------------------------------------------------

    def _tell(self, more: tuple[Problem, ...] = ()) -> None:
        problems = (*self.answer.problems, *more)
        tall = _is_tall(self.shape)
        below = join((Span("  "),), self._count()) if tall else ()
        self.query_one(".label", Said).say(self._label(), *([below] if below else []))
        self.query_one(".hint", Said).say(*([] if tall else [self._hint()]))
        # A new form is not full of mistakes before anybody has touched it.
        fresh = not self.form.exists and not self.changed
        told = (show(f"  {each.message}", "dim") if fresh else _problem(each) for each in problems)
        self.query_one(".problems", Said).say(*told, *self._notes())
        self.stuck = any(problem.error for problem in problems)
        self.set_class(self.stuck and not fresh, "-error")

    def _label(self) -> Line:
        mark = (Span(" ●", "accent"),) if self.answer.changed and self.form.exists else ()
        name = fit(show(self.field.name, "strong" if mark else ""), self._label_width - 5)
        return join((Span(f"{OWNER[self.field.owner]} ", f"owner.{self.field.owner}"),), name, mark)

    def _hint(self) -> Line:
        if not isinstance(self.shape, NumberShape):
            return self._count()
        words: Line = (Span(range_words(self.shape), "dim"),)
        value = self.answer.typed.value
        if (self.shape.minimum, self.shape.maximum) != (0, 1) or self.shape.integer:
            return words
        share = float(value) if isinstance(value, int | float) and not self.answer.error else 0.0
        filled, rest = bar(share, BAR)
        picture = (Span(filled, f"accent {self.field.name}.{step(share)}"), Span("·" * len(rest), "faint"))
        return join(picture, words, gap="  ")

    def _count(self) -> Line:
        value, shape = self.answer.typed.value, self.shape
        if isinstance(shape, TagsShape):
            number = len(value) if isinstance(value, list) else 0
            return _of(number, shape.max_items, " tags")
        if isinstance(shape, TextShape) and shape.max_length is not None:
            return _of(utf16_length(value) if isinstance(value, str) else 0, shape.max_length, "")
        return (Span("JSON", "dim"),) if isinstance(shape, JsonShape) else ()

    def _notes(self) -> list[Line]:
        if not self._spelled:
            return []
        return [(Span("holds characters nobody sees: written as \\u escapes, a backslash as \\\\", "dim"),)]


def label_width(form: Form) -> int:
    """Cells for the names of a form, so that all editors begin in one column."""
    longest = max((width(show(field.name)) for field in form.fields), default=0)
    return min(24, max(14, longest + 5))


def locked_line(field: Field, label: int) -> Line:
    """A field nobody may edit here: whose it is, what it holds, and why it is so."""
    owner = (Span(f"{OWNER[field.owner]} ", f"owner.{field.owner}"),)
    name = pad(show(field.name, "dim"), label - 1)
    value = preview(shown(field.value) if field.present else "not there", limit=120)
    why = field.why or ("too large or too deeply nested to edit here" if field.shape else "")
    reason = show(f"  {field.owner}{': ' if why else ''}{why}", "dim")
    return join(owner, name, value, reason)


def _is_tall(shape: Shape) -> bool:
    return isinstance(shape, JsonShape) or (isinstance(shape, TextShape) and shape.multiline)


def _of(number: int, most: int, unit: str) -> Line:
    return (Span(f"{number} of {most}{unit}", "warn" if number > most else "dim"),)


def _problem(problem: Problem) -> Line:
    severity = Severity.ERROR if problem.error else Severity.WARNING
    return show(f"{SEVERITY[severity]} {problem.message}", f"severity.{severity}")
