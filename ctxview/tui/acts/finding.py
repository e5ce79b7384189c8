"""Finding things: the search line, the filter line, and from finding to finding."""

from __future__ import annotations

from functools import partial

from ctxview.tui.query import Query, QueryError, completions, parse
from ctxview.tui.screens.command_screen import CommandScreen
from ctxview.tui.screens.inspector import Inspector
from ctxview.tui.text import Line, Span, join, show


async def search(screen: CommandScreen[object]) -> None:
    from ctxview.tui.widgets.prompt import Prompt

    lines = screen.lines

    def done(text: str | None) -> None:
        screen.set_focus(lines)
        if text is None:
            screen.look_for("")
        elif text.strip():
            screen.step_hit(back=False)

    await screen.ask(Prompt(show(" search /", "key"), "", screen.look_for, done))


def next_hit(screen: CommandScreen[object]) -> None:
    screen.step_hit(back=False)


def previous_hit(screen: CommandScreen[object]) -> None:
    screen.step_hit(back=True)


async def filter(screen: Inspector) -> None:  # noqa: A001 - the name of the command
    from ctxview.tui.widgets.prompt import Prompt

    before, chosen = screen.view.query, screen.memory.thing
    lines = screen.lines

    def changed(text: str) -> Line:
        try:
            query = parse(text)
        except QueryError as error:
            return join((Span("✖ ", "bad"),), show(str(error), "warn"))
        _apply(screen, query)
        return _hint(screen, text)

    def done(text: str | None) -> None:
        if text is None:
            _apply(screen, before)
        if chosen is None or not screen.memory.go_to(chosen):
            screen.memory.move_end(last=False)  # while one types, the cursor is now here, now there
        screen.set_focus(lines)

    await screen.ask(
        Prompt(show(" filter: ", "key"), before.text, changed, done, complete=partial(_completed, screen))
    )


def next_finding(screen: Inspector) -> None:
    _step(screen, 1)


def previous_finding(screen: Inspector) -> None:
    _step(screen, -1)


def _apply(screen: Inspector, query: Query) -> None:
    screen.view.query = query
    screen.rearrange()


def _hint(screen: Inspector, text: str) -> Line:
    state = screen.shown.index.reading.state if screen.shown is not None else None
    could_be = completions(text, state)[:5]
    told = show(f"{screen.memory.count(screen.shown)} blocks" if screen.shown is not None else "", "ok")
    return join(
        told, show("  ".join(could_be), "dim"), show("Tab completes", "dim") if could_be else (), gap="  "
    )


def _completed(screen: Inspector, text: str) -> str | None:
    """The line with its last piece completed, when there is a way to."""
    state = screen.shown.index.reading.state if screen.shown is not None else None
    could_be = completions(text, state)
    head = text.rpartition(" ")
    return f"{head[0]}{head[1]}{could_be[0]}" if could_be and text.strip() else None


def _step(screen: Inspector, step: int) -> None:
    """To the next finding in its pane; the detail tells all about it and Enter goes on to its subject."""
    findings = screen.shown.index.findings if screen.shown is not None else ()
    if not findings:
        known = screen.shown is not None and screen.shown.index.reading.judged
        screen.say("There are no findings." if known else "What is wrong is still being found out.")
        return
    here = screen.selected if screen.selected in findings else screen.finding
    here = here if here in findings else None
    at = findings.index(here) + step if here is not None else 0 if step > 0 else -1
    screen.finding = findings[at % len(findings)]
    screen.go_to(screen.finding, remember=here is None)
