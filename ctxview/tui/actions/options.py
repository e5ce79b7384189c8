"""The actions that try another way to read: a budget, or any option that the format declares."""

from __future__ import annotations

from functools import partial

from ctxview.core.format_spec import LensOption
from ctxview.tui.drawing.text import Line, Span, join, show
from ctxview.tui.input_order import start_dialogue
from ctxview.tui.screens.inspector import InspectorScreen

OWN = "the source's own"
_BUDGET = LensOption("budget", "Budget", "number")
_FACTORS = {"k": 1024, "m": 1024 * 1024}


async def budget(screen: InspectorScreen) -> None:
    """Ask for another budget and try it."""
    await _ask_number(screen, _BUDGET)


def option(screen: InspectorScreen) -> None:
    """Choose an option of the format, and a value to try."""
    if screen.model.options:
        start_dialogue(screen, _choose(screen), "options")
    else:
        screen.say("This format has no options.")


async def _choose(screen: InspectorScreen) -> None:
    from ctxview.tui.screens.dialogs import ChooseDialog

    options = {each.label: each for each in screen.model.options}
    label: str | None = next(iter(options))
    if len(options) > 1:
        label = await screen.app.push_screen_wait(ChooseDialog("Try which option?", list(options), {}))
    if label is None:
        return
    chosen = options[label]
    if not chosen.choices:
        await _ask_number(screen, chosen)
        return
    word = await screen.app.push_screen_wait(ChooseDialog(chosen.label, [*chosen.choices, OWN], {}))
    if word is not None:
        screen.perform(screen.model.try_option(chosen.name, None if word == OWN else word))


async def _ask_number(screen: InspectorScreen, option: LensOption) -> None:
    from ctxview.tui.widgets.bars import InputLine

    before, lines, name = screen.model.key.option(option.name), screen.lines, option.label.lower()

    def done(text: str | None) -> None:
        screen.set_focus(lines)
        if text is None:
            return
        number = number_in(text, option)
        if number is None and text.strip():
            example = "16K" if option.kind == "size" else "3,000"
            screen.say(f"A {name} is a whole number, such as {example}.", severity="warning")
        else:
            screen.perform(screen.model.try_option(option.name, number))

    value = "" if before is None else str(before)
    await screen.ask(InputLine(show(f" {name} ", "key"), value, partial(_hint, option), done))


def number_in(text: str, option: LensOption = _BUDGET) -> int | None:
    """The number in `text`; None when it is empty or not a whole number. A size may end in K or M."""
    digits, factor = text.strip().replace(",", "").replace("_", "").replace(" ", ""), 1
    if option.kind == "size" and digits[-1:].lower() in _FACTORS:
        digits, factor = digits[:-1], _FACTORS[digits[-1].lower()]
    return int(digits) * factor if digits.isascii() and digits.isdigit() and len(digits) <= 12 else None


def _hint(option: LensOption, text: str) -> Line:
    number, name = number_in(text, option), option.label.lower()
    if not text.strip():
        return show(f"a number; empty returns to {OWN} {name}", "dim")
    if number is None:
        return join((Span("✖ ", "bad"),), show("not a whole number", "warn"))
    return show(f"try a {name} of {number:,}" if number else "try without a limit", "ok")
