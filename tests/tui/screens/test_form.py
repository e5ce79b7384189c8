from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from textual.pilot import Pilot
from textual.widgets import Button, Input, TextArea

from ctxview.core.edits import DeleteValue, Edit, EditRefused, InsertItem, SetValue
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
from ctxview.core.findings import Effect, Finding, Severity
from ctxview.core.origin import JsonValue, Origin
from ctxview.tui.drawing.text import plain
from ctxview.tui.screens.form import FormScreen
from ctxview.tui.widgets.form_fields import ChoiceInput, FieldRow
from ctxview.tui.widgets.strips import StaticLines
from tests.tui.one_screen_app import NOTHING, Stage
from tests.tui.settling import settle


def field(name: str, value: JsonValue, shape: FieldShape | None = None, **more: object) -> Field:
    owner = Owner.MODEL if shape else Owner.SYSTEM
    return Field(name, value, owner, f"/b/0/{name}", shape, **more)  # type: ignore[arg-type]


def block(**values: JsonValue) -> Form:
    given = {"decay": 0.4, "tags": ["a"], "note": "hi", "status": "open", "content": "one\ntwo", **values}
    shapes: dict[str, FieldShape] = {
        "decay": NumberShape(0, 1),
        "tags": TagsShape(8, 32),
        "note": TextShape(20, required=False),
        "status": ChoiceShape(("open", "done", "failed")),
        "content": TextShape(512, multiline=True),
    }
    locked = field("id", "work-1", why="ids stay")
    return Form("a.json", "/b/0", (locked, *(field(name, given[name], shapes[name]) for name in shapes)))


def row(app: Stage[FormScreen], name: str) -> FieldRow:
    return next(each for each in app.shown.query(FieldRow) if each.field.name == name)


def words(app: Stage[FormScreen], selector: str) -> str:
    return "\n".join(
        plain(line) for widget in app.shown.query(selector).results(StaticLines) for line in widget.lines
    )


async def type_into(pilot: Pilot[None], app: Stage[FormScreen], name: str, text: str) -> None:
    """Replace the text of a field, as a paste would."""
    editor = row(app, name).editor
    if isinstance(editor, TextArea):
        editor.text = text
    elif isinstance(editor, Input):
        editor.value = text
    elif isinstance(editor, ChoiceInput):
        editor.action_pick(editor.words.index(text))
    await pilot.pause()


async def test_arrows_and_signs_step_a_number_and_ctrl_s_gives_the_edit() -> None:
    app = Stage(FormScreen(block(), "working/work-1"))
    async with app.run_test() as pilot:
        await pilot.press("up", "up", "down", "+", "ctrl+s")
    assert app.result == (SetValue("/b/0/decay", 0.5),)


async def test_tab_walks_the_fields_and_a_letter_chooses() -> None:
    app = Stage(FormScreen(block(), "x"))
    async with app.run_test() as pilot:
        await pilot.press("tab", "end", ",", "b", "tab", "tab", "f", "ctrl+s")
    assert app.result == (SetValue("/b/0/tags", ["a", "b"]), SetValue("/b/0/status", "failed"))


async def test_an_emptied_optional_field_is_deleted() -> None:
    app = Stage(FormScreen(block(), "x", focus="note"))
    async with app.run_test() as pilot:
        await pilot.press("backspace", "backspace")
        assert "will be removed" in words(app, ".problems")
        await pilot.press("ctrl+s")
    assert app.result == (DeleteValue("/b/0/note"),)


async def test_an_error_is_shown_while_typing_and_prevents_the_edit() -> None:
    app = Stage(FormScreen(block(), "x"))
    async with app.run_test() as pilot:
        await pilot.press("7")
        assert "between 0 and 1" in words(app, "FieldRow.-error .problems")
        assert app.shown.query_one("#apply", Button).disabled
        await pilot.press("tab", "ctrl+s")
        assert app.result is NOTHING
        assert app.focused is row(app, "decay").editor
        await pilot.press("backspace", "1", "ctrl+s")
    assert app.result == (SetValue("/b/0/decay", 1),)


async def test_a_warning_is_shown_and_does_not_prevent_the_edit() -> None:
    app = Stage(FormScreen(block(), "x"))
    async with app.run_test() as pilot:
        await type_into(pilot, app, "tags", "a,b,c,d,e,f,g,h,i")
        assert "9 tags, 8 are kept" in words(app, ".problems")
        await pilot.press("ctrl+s")
    assert app.result == (SetValue("/b/0/tags", list("abcdefghi")),)


async def test_an_unchanged_form_cannot_be_applied_and_esc_does_not_ask() -> None:
    app = Stage(FormScreen(block(), "x"))
    async with app.run_test() as pilot:
        assert app.shown.query_one("#apply", Button).disabled
        await pilot.press("ctrl+s")
        assert app.result is NOTHING
        await pilot.press("escape")
        await pilot.pause()
    assert app.result is None


@pytest.mark.parametrize(("key", "left"), [("n", False), ("y", True), ("enter", False), ("escape", False)])
async def test_esc_asks_before_changes_are_lost(key: str, left: bool) -> None:
    app = Stage(FormScreen(block(), "x"))
    async with app.run_test() as pilot:
        await pilot.press("up", "escape")
        assert app.result is NOTHING
        await pilot.press(key)
        await pilot.pause()
        assert (app.result is None) is left


async def test_buttons_and_choices_work_with_the_mouse() -> None:
    app = Stage(FormScreen(block(), "x"))
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.click(row(app, "status").editor, offset=(12, 0))
        await pilot.click("#apply")
        await pilot.pause()
    assert app.result == (SetValue("/b/0/status", "done"),)


async def test_a_new_element_is_inserted_whole() -> None:
    fields = (
        Field("v", 1, Owner.SYSTEM, "/b/-/v"),
        Field("id", None, Owner.MODEL, "/b/-/id", TextShape()),
        Field("decay", 0.2, Owner.MODEL, "/b/-/decay", NumberShape(0, 1), present=False),
    )
    app = Stage(FormScreen(Form("a.json", "/b/-", fields, exists=False), "new block"))
    async with app.run_test() as pilot:
        assert "must not be blank" in words(app, ".problems")
        await pilot.press("w", "1", "ctrl+s")
    assert app.result == (InsertItem("/b/-", {"v": 1, "id": "w1", "decay": 0.2}),)


async def test_locked_fields_show_their_owner_and_the_reason() -> None:
    app = Stage(FormScreen(block(), "x"))
    async with app.run_test():
        assert words(app, ".locked").split() == ["⊘", "id", "work-1", "system:", "ids", "stay"]


async def test_json_is_checked_while_typing() -> None:
    form = Form("a.json", "/b/0", (field("extra", {"a": 1}, JsonShape()),))
    app = Stage(FormScreen(form, "x"))
    async with app.run_test() as pilot:
        await type_into(pilot, app, "extra", '{"a": 1,\n}')
        assert "line 1 column 8: trailing comma" in words(app, "FieldRow.-error .problems")
        await type_into(pilot, app, "extra", '{"a": 1.0}')
        assert app.shown.query_one("#apply", Button).disabled
        await type_into(pilot, app, "extra", '{"a": 2}')
        await pilot.press("ctrl+s")
    assert app.result == (SetValue("/b/0/extra", {"a": 2}),)


HOSTILE = "a\x1b[31m\u202e\u2028b\\n"


@pytest.mark.parametrize("name", ["note", "content"])
async def test_invisible_characters_are_escaped_and_survive_an_edit_beside_them(name: str) -> None:
    app = Stage(FormScreen(block(**{name: HOSTILE}), "x", focus=name))
    async with app.run_test() as pilot:
        editor = row(app, name).editor
        text = (
            editor.text if isinstance(editor, TextArea) else editor.value if isinstance(editor, Input) else ""
        )
        assert text == "a\\u001b[31m\\u202e\\u2028b\\\\n"
        await pilot.press("end", "!", "ctrl+s")
    assert app.result == (SetValue(f"/b/0/{name}", HOSTILE + "!"),)


async def test_pasted_invisible_characters_are_escaped_at_once() -> None:
    app = Stage(FormScreen(block(), "x", focus="content"))
    async with app.run_test() as pilot:
        await type_into(pilot, app, "content", "x\u202e\\y")
        editor = row(app, "content").editor
        assert isinstance(editor, TextArea)
        assert editor.text == "x\\u202e\\\\y"
        await pilot.press("ctrl+s")
    assert app.result == (SetValue("/b/0/content", "x\u202e\\y"),)


def finding(message: str) -> Finding:
    return Finding("SNP030", Severity.ERROR, Effect.REJECTED, message, Origin("a.json"))


async def test_the_form_shows_the_findings_that_the_edit_would_add() -> None:
    seen: list[tuple[Edit, ...]] = []

    def check(edits: tuple[Edit, ...]) -> Sequence[Finding]:
        seen.append(edits)
        return [finding("[red]no target[/]\x1b")]

    app = Stage(FormScreen(block(), "x", check=check))
    async with app.run_test() as pilot:
        await pilot.press("up", "up")
        await settle(app)
        assert words(app, ".findings") == "this edit would add:\n✖ SNP030 [red]no target[/]^["
        assert seen[-1] == (SetValue("/b/0/decay", 0.5),)
        assert not app.shown.query_one("#apply", Button).disabled


async def test_an_edit_the_format_would_refuse_cannot_be_applied() -> None:
    def check(edits: tuple[Edit, ...]) -> Sequence[Finding]:
        raise EditRefused("that array has gone")

    app = Stage(FormScreen(block(), "x", check=check))
    async with app.run_test() as pilot:
        await pilot.press("up")
        await settle(app)
        assert "would be refused: that array has gone" in words(app, ".findings")
        assert app.shown.query_one("#apply", Button).disabled


async def test_values_that_do_not_fit_together_are_reported_at_their_field() -> None:
    def validate(values: object) -> Sequence[tuple[str, str]]:
        assert isinstance(values, dict)
        return [("note", "needs status open")] if values.get("status") != "open" else []

    app = Stage(FormScreen(block(), "x", validate=validate, focus="status"))
    async with app.run_test() as pilot:
        await pilot.press("right")
        assert "needs status open" in words(app, "FieldRow.-error .problems")
        await pilot.press("left")
        assert not app.shown.query("FieldRow.-error")


async def test_f1_explains_the_keys() -> None:
    app = Stage(FormScreen(block(), "x"))
    async with app.run_test() as pilot:
        await pilot.press("f1")
        assert "Ctrl-s applies" in words(app, ".help")
        await pilot.press("f1")
        assert not words(app, ".help")


async def test_text_in_a_form_has_no_effect_on_the_terminal() -> None:
    evil = "\x1b[31m\u202e[@click=app.quit]x[/]\x9b"
    shapes: tuple[FieldShape, ...] = (
        TextShape(),
        TextShape(multiline=True),
        JsonShape(),
        ChoiceShape((evil, "b")),
    )
    fields = (
        *(field(f"{number}{evil}", evil, shape) for number, shape in enumerate(shapes)),
        field("tags", [evil], TagsShape(8, 4)),
        field("locked", evil, why=evil),
    )
    app = Stage(FormScreen(Form(evil, "/b/0", fields), evil))
    async with app.run_test(size=(100, 40)) as pilot:
        await pilot.pause()
        seen = app.export_screenshot()
    assert not {"\x1b", "\u202e", "\x9b"} & set(seen)
    assert "^[" in seen


@pytest.mark.parametrize("size", [(120, 36), (80, 24)], ids=["120x36", "80x24"])
def test_the_form_matches_its_picture(
    size: tuple[int, int], snap_compare: Callable[..., bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_COLOR", "TEXTUAL_THEME"):
        monkeypatch.delenv(name, raising=False)
    text = (
        "Pages are cut on updated_at alone; rows of one transaction share it.\n告警群简报用中文，最多三行。"
    )
    app = Stage(FormScreen(block(content=text, note="twenty characters and more"), "Edit work-1"))

    async def before(pilot: Pilot[None]) -> None:
        for editor in app.shown.query(Input):
            editor.cursor_blink = False
        await pilot.press("7", "tab", "end", ",", "a")
        await pilot.pause()

    assert snap_compare(app, terminal_size=size, run_before=before)
