"""The tour: five steps through the inspector; each goes to a pane and explains it."""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from ctxview.tui.configured_keys import key_label
from ctxview.tui.drawing.text import Line, Span, join, show
from ctxview.tui.model.action_table import ACTIONS_BY_ID
from ctxview.tui.screens.action_screen import ActionScreen
from ctxview.tui.screens.dialogs import Dialog
from ctxview.tui.themes import load_palette
from ctxview.tui.widgets.strips import StaticLines, content, on_frame


class TourStep(Struct, frozen=True):
    """A title, an explanation and the actions it mentions; the action `goes_to` runs when the step begins."""

    title: str
    text: str
    goes_to: str
    commands: tuple[str, ...]


STEPS = (
    TourStep(
        "What the agent remembers",
        "Every row is one memory, message or item. ● means that the model sees it, ○ that it does not, with "
        "the reason in place of its text. A figure beyond its limit is orange.",
        "pane_2",
        ("down", "enter", "filter"),
    ),
    TourStep(
        "What it costs",
        "The budget: used, reserved and free tokens, or by how much it is over. With several targets, each "
        "has its own bar. Try another budget and see which blocks no longer fit.",
        "pane_4",
        ("budget",),
    ),
    TourStep(
        "What is wrong",
        "Findings, the worst first. Enter goes to the item of a finding; the command ctxview rules explains "
        "every rule by its id.",
        "pane_7",
        ("next_finding", "previous_finding"),
    ),
    TourStep(
        "Where it comes from",
        "Every figure and every line has an origin: the bytes in the file. You can also go back to an "
        "earlier revision, or compare it with this one.",
        "pane_8",
        ("origin", "earlier", "later", "diff"),
    ),
    TourStep(
        "What you can change",
        "Only fields that the model may write. You see problems while you type and the difference before a "
        "save, and the old file is kept as an undo copy.",
        "pane_2",
        ("edit", "undo", "save", "help"),
    ),
)


class TourScreen(Dialog[None]):
    """A dialog over the lower part of the inspector, which shows the pane of the step."""

    DEFAULT_CSS = """
    TourScreen { align: center bottom; background: $background 0%; }
    TourScreen > Vertical {
        width: 100%; max-width: 100; height: auto; padding: 0 2;
        border: round $accent; background: $surface; border-title-color: $accent; border-title-style: bold;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,space,right,l,n,t", "step(1)", "on"),
        Binding("left,h,backspace,p", "step(-1)", "back"),
        Binding("escape,q", "leave", "leave"),
    ]

    def __init__(self, inspector: ActionScreen[None]) -> None:
        super().__init__()
        self._inspector = inspector
        self.number = 0

    def compose(self) -> ComposeResult:
        with Vertical():
            yield StaticLines()

    async def on_mount(self) -> None:
        await self._show()

    async def action_step(self, steps: int) -> None:
        if self.number + steps >= len(STEPS):
            self.dismiss()
            return
        self.number = max(0, self.number + steps)
        await self._show()

    def action_leave(self) -> None:
        self.dismiss()

    async def _show(self) -> None:
        step = STEPS[self.number]
        await self._inspector.action_command(step.goes_to)
        last = self.number == len(STEPS) - 1
        dialog = self.query_one(Vertical)
        dialog.border_title = content(show(f"{self.number + 1} of {len(STEPS)}  {step.title}"))
        dialog.border_subtitle = on_frame(_key_hints(last), load_palette(self.app.theme))
        actions = (ACTIONS_BY_ID[name] for name in step.commands)
        keys = ((Span(key_label(each), "key"), *show(f" {each.label}", "dim")) for each in actions)
        self.query_one(StaticLines).update(show(step.text), join(*keys, gap="   "))


def _key_hints(last: bool) -> Line:
    """The keys of the dialog; each can be clicked."""
    keys = (
        ("Enter", "ends" if last else "continues", "screen.step(1)"),
        ("←", "back", "screen.step(-1)"),
        ("Esc", "closes", "screen.leave"),
    )
    spans = ((Span(key, "key", action), Span(f" {label}", "dim", action)) for key, label, action in keys)
    return join(*spans, gap="   ")
