"""A number typed or stepped: the arrows and the plus and minus keys move it within its range."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.widgets import Input

from ctxview.state import NumberShape
from ctxview.tui.editing.typed import step


class NumberInput(Input):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "step(1)", "more", show=False),
        Binding("down", "step(-1)", "less", show=False),
    ]

    def __init__(self, shape: NumberShape, text: str, placeholder: str = "") -> None:
        super().__init__(text, compact=True, placeholder=placeholder or ("empty" if shape.nullable else ""))
        self.shape = shape

    def action_step(self, steps: int) -> None:
        self.value = step(self.shape, self.value, steps)
        self.cursor_position = len(self.value)

    def on_key(self, event: events.Key) -> None:
        if event.character not in ("+", "-") or self._awaits_sign:
            return
        # Before the input takes it for text.
        event.prevent_default()
        event.stop()
        self.action_step(1 if event.character == "+" else -1)

    @property
    def _awaits_sign(self) -> bool:
        """A minus belongs to the text where negative numbers may stand, and after the `e` of an exponent."""
        return self.shape.minimum < 0 or self.value[-1:].lower() == "e"
