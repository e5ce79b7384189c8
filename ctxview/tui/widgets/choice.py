"""One word out of a few, all of them in sight: arrows, first letters or the mouse choose."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message

from ctxview.tui.text import Line, Span, show
from ctxview.tui.widgets.said import Said

CHOSEN, OTHER = "●", "○"


class Choice(Said, can_focus=True):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,down,l,j,space", "turn(1)", "next", show=False),
        Binding("left,up,h,k", "turn(-1)", "previous", show=False),
        Binding("home", "pick(0)", "first", show=False),
        Binding("end", "pick(-1)", "last", show=False),
    ]

    class Changed(Message):
        def __init__(self, choice: Choice) -> None:
            super().__init__()
            self.choice = choice

        @property
        def control(self) -> Choice:
            return self.choice

    def __init__(self, words: tuple[str, ...], word: str) -> None:
        super().__init__()
        self.words = words
        self.word = word
        self.say(self._line())

    def action_turn(self, steps: int) -> None:
        at = self.words.index(self.word) if self.word in self.words else -1 if steps > 0 else 0
        self.action_pick((at + steps) % len(self.words))

    def action_pick(self, index: int) -> None:
        if self.words[index] == self.word:
            return
        self.word = self.words[index]
        self.say(self._line())
        self.post_message(self.Changed(self))

    def on_key(self, event: events.Key) -> None:
        """A letter goes to the next word that starts with it, unless the letter moves."""
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
            # The mark and its word stay on one line: the space between them does not break.
            text = f"{CHOSEN if chosen else OTHER}\u00a0{word}"
            line += [*show(text, "accent" if chosen else "dim", f"pick({index})"), Span("  ")]
        if self.word and self.word not in self.words:
            line += [Span("now: ", "warn"), *show(self.word, "warn")]
        return tuple(line)
