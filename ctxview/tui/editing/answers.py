"""A form a person filled in, read as the edits it stands for. Knows fields and edits, no widget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ctxview.analysis.diff.values import same
from ctxview.edits import DeleteValue, Edit, InsertItem, SetValue
from ctxview.quick_dataclass import dataclass
from ctxview.state import Field, Form, JsonShape, JsonValue, NumberShape, TextShape
from ctxview.tui.editing.typed import NOTHING, Problem, Typed, read, written, wrong

LONGEST, MOST_LINES = 100_000, 2_000
"""Beyond this the toolkit's editor needs a noticeable time for every key."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One editable field, what stands in its editor now, and what that comes to."""

    field: Field
    typed: Typed
    changed: bool

    @property
    def problems(self) -> tuple[Problem, ...]:
        return self.typed.problems

    @property
    def error(self) -> bool:
        return self.typed.error


def first_text(form: Form, field: Field) -> str | None:
    """What the editor of a field starts with; None when its value cannot be edited as text.

    What is only suggested for a thing that exists is not shown: nobody could tell it from what it holds.
    """
    if field.shape is None:
        return None
    if form.exists and not field.present:
        return ""
    try:
        text = written(field.shape, field.value)
    except RecursionError:
        return None
    return text if len(text) <= LONGEST and text.count("\n") <= MOST_LINES else None


def answer(form: Form, field: Field, text: str) -> Answer:
    """What `text` in the editor of `field` comes to."""
    if field.shape is None:
        return Answer(field, NOTHING, False)
    typed = read(field.shape, text)
    if form.exists and text == first_text(form, field):
        # What nobody touched is not this edit's fault: told, but no reason to stop it.
        eased = tuple(replace(problem, error=False) for problem in typed.problems)
        return Answer(field, replace(typed, problems=eased), False)
    if not typed.filled:
        typed = _emptied(form, field, typed)
    changed = typed.error or not form.exists or _differs(field, typed)
    return Answer(field, typed, changed)


def edits(form: Form, answers: Mapping[str, Answer]) -> tuple[Edit, ...]:
    """The edits of a form without errors: only changed fields of what exists, the whole of what is new."""
    if not form.exists:
        whole: Edit = InsertItem(form.pointer, _whole(form, answers))
        return (whole if form.pointer.endswith("/-") else SetValue(form.pointer, _whole(form, answers)),)
    changed = (answers[field.name] for field in form.fields if field.name in answers)
    return tuple(_edit(each) for each in changed if each.changed)


def _edit(changed: Answer) -> Edit:
    pointer = changed.field.pointer
    return SetValue(pointer, changed.typed.value) if changed.typed.filled else DeleteValue(pointer)


def _emptied(form: Form, field: Field, typed: Typed) -> Typed:
    """An editor left empty: fine where nothing may stand, and where nothing stood."""
    shape = field.shape
    optional = isinstance(shape, JsonShape) or (isinstance(shape, TextShape) and not shape.required)
    if optional and form.exists and field.present:
        return replace(typed, problems=(Problem("will be removed", error=False),))
    if optional or (form.exists and not field.present):
        return typed
    words = "must not be blank" if isinstance(shape, TextShape) else "must not be empty"
    return wrong(words if isinstance(shape, TextShape | NumberShape) else "choose one")


def _differs(field: Field, typed: Typed) -> bool:
    if not typed.filled or not field.present:
        return typed.filled != field.present
    return not same(field.value, typed.value)


def _whole(form: Form, answers: Mapping[str, Answer]) -> JsonValue:
    """A new object: what was filled in, and what the format fixed beforehand."""
    whole: dict[str, JsonValue] = {}
    for field in form.fields:
        found = answers.get(field.name)
        if found is not None and found.typed.filled:
            _put(whole, form.pointer, field.pointer, found.typed.value)
        elif found is None and field.value is not None:
            _put(whole, form.pointer, field.pointer, field.value)
    return whole


def _put(whole: dict[str, JsonValue], base: str, pointer: str, value: JsonValue) -> None:
    *parents, last = (_key(token) for token in pointer.removeprefix(base).removeprefix("/").split("/"))
    inside = whole
    for parent in parents:
        below = inside.setdefault(parent, {})
        if not isinstance(below, dict):
            below = inside[parent] = {}
        inside = below
    inside[last] = value


def _key(token: str) -> str:
    return token.replace("~1", "/").replace("~0", "~")
