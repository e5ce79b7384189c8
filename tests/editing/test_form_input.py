from __future__ import annotations

from collections.abc import Mapping

from ctxview.core.edits import DeleteValue, Edit, InsertItem, SetValue
from ctxview.core.fields import (
    ChoiceShape,
    Field,
    FieldShape,
    Form,
    JsonShape,
    NumberShape,
    Owner,
    TagsShape,
    TextShape,
)
from ctxview.core.origin import JsonValue
from ctxview.editing.form_input import edits_of_form, field_input, first_text


def field(
    name: str, value: JsonValue, shape: FieldShape | None, *, present: bool = True, at: str = "/b/0"
) -> Field:
    return Field(name, value, Owner.MODEL if shape else Owner.SYSTEM, f"{at}/{name}", shape, present=present)


def block(*, exists: bool = True) -> Form:
    at = "/b/0" if exists else "/b/-"
    fields = (
        field("decay", 0.4, NumberShape(0, 1), at=at, present=exists),
        field("tags", ["a"], TagsShape(8, 32), at=at, present=exists),
        field("note", "hi", TextShape(120, required=False), at=at, present=exists),
        field("status", "open", ChoiceShape(("open", "done")), at=at, present=exists),
        field("target", None, NumberShape(1, integer=True, nullable=True), at=at, present=exists),
        field("extra", None, JsonShape(), at=at, present=False),
        field("v", 1, None, at=at, present=exists),
    )
    return Form("a.json", at, fields, exists=exists)


def filled(form: Form, typed: Mapping[str, str]) -> tuple[Edit, ...]:
    texts = {each.name: typed.get(each.name, first_text(form, each)) for each in form.fields if each.shape}
    answers = {
        each.name: field_input(form, each, texts[each.name] or "") for each in form.fields if each.shape
    }
    assert not [each for each in answers.values() if each.error]
    return edits_of_form(form, answers)


def errors(form: Form, **typed: str) -> list[str]:
    by_name = {each.name: each for each in form.fields}
    found = [field_input(form, by_name[name], text) for name, text in typed.items()]
    return [problem.message for each in found for problem in each.problems if problem.error]


def test_only_changed_fields_are_written_in_the_order_of_the_form() -> None:
    found = filled(block(), {"status": "done", "decay": "0.5", "tags": "a"})
    assert found == (SetValue("/b/0/decay", 0.5), SetValue("/b/0/status", "done"))


def test_another_spelling_of_the_same_value_is_not_a_change() -> None:
    assert filled(block(), {"decay": "0.40", "tags": " a ,"}) == ()


def test_an_emptied_optional_field_is_deleted_and_an_emptied_nullable_number_is_null() -> None:
    assert filled(block(), {"note": ""}) == (DeleteValue("/b/0/note"),)
    assert filled(block(), {"target": "3"}) == (SetValue("/b/0/target", 3),)
    assert filled(block(), {"target": "", "extra": ""}) == ()


def test_a_field_that_was_absent_is_added_when_filled() -> None:
    assert filled(block(), {"extra": "null"}) == (SetValue("/b/0/extra", None),)


def test_a_new_element_is_inserted_whole_with_the_fixed_values_of_the_format() -> None:
    whole = {"decay": 0.2, "tags": [], "status": "open", "target": None, "v": 1}
    assert filled(block(exists=False), {"decay": "0.2", "tags": "", "note": ""}) == (
        InsertItem("/b/-", whole),
    )


def test_a_new_object_is_set_whole() -> None:
    fields = (field("phase", None, ChoiceShape(("doing",)), at="/todo/cursor"),)
    form = Form("a.json", "/todo/cursor", fields, exists=False)
    assert filled(form, {"phase": "doing"}) == (SetValue("/todo/cursor", {"phase": "doing"}),)


def test_nested_and_escaped_pointers_of_a_new_object_find_their_place() -> None:
    fields = (
        Field("x", None, Owner.MODEL, "/a/-/meta/x~1y", TextShape()),
        Field("z", None, Owner.MODEL, "/a/-/meta/z", TextShape()),
    )
    form = Form("a.json", "/a/-", fields, exists=False)
    assert filled(form, {"x": "1", "z": "2"}) == (InsertItem("/a/-", {"meta": {"x/y": "1", "z": "2"}}),)


def test_required_fields_must_not_be_left_empty() -> None:
    assert errors(block(), decay="") == ["must not be empty"]
    assert errors(block(exists=False), decay="", status="") == ["must not be empty", "choose one"]
    required = Form("a.json", "/b/0", (field("text", "x", TextShape()),))
    assert errors(required, text="") == ["must not be blank"]


def test_a_value_that_was_wrong_before_does_not_stop_other_edits() -> None:
    wrong = field("decay", "0.4", NumberShape(0, 1))
    form = Form("a.json", "/b/0", (wrong,))
    untouched = field_input(form, wrong, '"0.4"')
    assert [(problem.message, problem.error) for problem in untouched.problems] == [("not a number", False)]
    assert not untouched.changed
    fixed = field_input(form, wrong, "0.4")
    assert edits_of_form(form, {"decay": fixed}) == (SetValue("/b/0/decay", 0.4),)


def test_a_value_too_deep_to_write_has_no_text() -> None:
    deep: JsonValue = 1
    for _ in range(20_000):
        deep = [deep]
    each = field("deep", deep, JsonShape())
    assert first_text(Form("a.json", "/b/0", (each,)), each) is None


def test_a_value_too_long_for_an_editor_has_no_text() -> None:
    for value in ("x" * 100_001, "\n" * 2_001):
        each = field("text", value, TextShape(multiline=True))
        assert first_text(Form("a.json", "/b/0", (each,)), each) is None


def test_the_suggestion_for_an_absent_field_is_not_shown() -> None:
    phase = field("phase", "planning", ChoiceShape(("planning", "doing")), present=False)
    assert first_text(Form("a.json", "/b/0", (phase,)), phase) == ""
    assert first_text(Form("a.json", "/b/0", (phase,), exists=False), phase) == "planning"
