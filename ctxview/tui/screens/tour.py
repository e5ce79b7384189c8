"""Five steps through the inspector: each says what is in front of one, and goes there."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from ctxview.quick_dataclass import dataclass
from ctxview.tui.commands import BY_ID
from ctxview.tui.keys import shown
from ctxview.tui.screens.command_screen import CommandScreen
from ctxview.tui.screens.leaving import Dialog
from ctxview.tui.text import Line, Span, content, join, show
from ctxview.tui.themes import load
from ctxview.tui.widgets.drawing import on_frame
from ctxview.tui.widgets.said import Said


@dataclass(frozen=True, slots=True)
class Step:
    """What one sees, what it is good for, the commands it speaks of; `goes_to` is run when it begins."""

    title: str
    text: str
    goes_to: str
    commands: tuple[str, ...]


STEPS = (
    Step(
        "What the agent remembers",
        "Every row is one memory, message or item. ✓ means that the model is shown it, ✗ that it is not, and "
        "why stands beside it. The bars are decay and confidence.",
        "pane_2",
        ("down", "enter", "filter"),
    ),
    Step(
        "What it costs",
        "The budget: what is used, kept in reserve, free, or over. Where there is more than one target, each "
        "has a bar of its own. Try another budget and see what falls out.",
        "pane_4",
        ("budget", "zoom"),
    ),
    Step(
        "What is wrong",
        "Findings, the worst first. Enter goes to what a finding is about; ctxview rules explains each of "
        "them by its number.",
        "pane_7",
        ("next_finding", "previous_finding"),
    ),
    Step(
        "What is behind it",
        "Nothing here is an opinion: every figure and every line leads to the very bytes in the file. And "
        "time is another way to look: go back to an earlier state, or compare it with this one.",
        "pane_8",
        ("origin", "earlier", "later", "diff"),
    ),
    Step(
        "What may be changed",
        "Only what the model itself may write. Problems show while you type, the difference before anything "
        "is saved, and the old bytes are kept.",
        "pane_2",
        ("edit", "undo", "save", "help"),
    ),
)


class TourScreen(Dialog[None]):
    """Lies over the lower part of the inspector, which goes along."""

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

    def __init__(self, inspector: CommandScreen[None]) -> None:
        super().__init__()
        self._inspector = inspector
        self.number = 0

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Said()

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
        dialog.border_subtitle = on_frame(_ways(last), load(self.app.theme))
        self.query_one(Said).say(show(step.text), _keys(step))


def _ways(last: bool) -> Line:
    """On, back and out; a click does it, too."""
    ways = (
        ("Enter", "ends" if last else "goes on", "screen.step(1)"),
        ("←", "back", "screen.step(-1)"),
        ("Esc", "leaves", "screen.leave"),
    )
    spans = ((Span(key, "key", action), Span(f" {told}", "dim", action)) for key, told, action in ways)
    return join(*spans, gap="   ")


def _keys(step: Step) -> Line:
    known = (BY_ID[name] for name in step.commands)
    return join(*((Span(shown(each), "key"), *show(f" {each.label}", "dim")) for each in known), gap="   ")
