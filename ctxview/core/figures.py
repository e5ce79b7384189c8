"""Figures of blocks, the limits on them, and reasons: why a block is hidden, cut, or shown in its own way."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from msgspec import Struct


class Figure(Struct, frozen=True, gc=False):
    """A number of a block that a format knows by name, such as `decay` or `size`."""

    name: str
    value: float
    unit: str = ""
    scale: tuple[float, float] | None = None
    """The lowest and the highest value; such a figure is drawn as a gauge, any other as a number."""
    better: Literal["high", "low"] | None = None
    exact: bool = True
    estimator: str | None = None
    derived: bool = False
    """Whether it follows from other figures, so that a change of it is no news."""

    @property
    def share(self) -> float:
        """The value as a part of its scale, from 0 to 1; the value itself without a scale."""
        low, high = self.scale or (0.0, 1.0)
        return (self.value - low) / (high - low) if high > low else self.value


class Limit(Struct, frozen=True):
    """The largest or smallest figure with which the model is still shown a block of a tier."""

    figure: str
    most: float | None = None
    least: float | None = None

    def is_broken(self, value: float | None) -> bool:
        if value is None:
            return False
        over = self.most is not None and value > self.most
        return over or (self.least is not None and value < self.least)


class ReasonKind(StrEnum):
    """The kinds of reasons; `Reason.group` says more."""

    ABOVE = "above"
    """A figure is above its limit."""
    BELOW = "below"
    """A figure is below its limit."""
    EXPIRED = "expired"
    """It is too old."""
    FINISHED = "finished"
    """It is done, so the model need not know it."""
    INVALID = "invalid"
    """It cannot be read or used as it is."""
    DUPLICATE = "duplicate"
    NO_ROOM = "no room"
    """There is more than a cap or a budget allows."""
    NOT_CHOSEN = "not chosen"
    """The runtime or the agent left it out."""
    COMPACTED = "compacted"
    WITHHELD = "withheld"
    STORED = "stored"
    """It is kept elsewhere and given to the model on demand."""
    UNKNOWN = "unknown"
    """No record says whether the model is shown it."""
    NOTE = "note"
    """The model is shown it; the text says how."""


class Reason(Struct, frozen=True):
    """Why a block is hidden or cannot be read; for a shown block, by which way it is shown."""

    kind: ReasonKind
    text: str
    figure: str | None = None
    """The name of the figure that decided, with its `value` and the `limit`."""
    value: float | None = None
    limit: float | None = None
    summary: str = ""
    """The text without what is particular to one block; empty when `group` can be made without it."""

    @property
    def group(self) -> str:
        """The reason without the value of one block, to group by: `confidence below 0.55`."""
        if self.summary or self.figure is None or self.limit is None:
            return self.summary or self.text
        return f"{self.figure} {self.kind} {figure_text(self.limit)}"

    @property
    def bound(self) -> str:
        """The limit in words: `minimum is 0.55`; empty without one."""
        side = "minimum" if self.kind is ReasonKind.BELOW else "limit"
        return f"{side} is {self.limit:g}" if self.limit is not None else ""

    @property
    def clause(self) -> str:
        """The reason as a clause of a sentence: `its decay 0.70 is over 0.65`."""
        if self.kind is ReasonKind.FINISHED:
            return "it is done"
        if self.figure is None or self.value is None or self.limit is None:
            return self.text
        value, limit = figure_text(self.value), figure_text(self.limit)
        if self.kind is ReasonKind.EXPIRED:
            return f"it is {value} rounds old, and {limit} is the limit"
        return f"its {self.figure} {value} is {'under' if self.kind is ReasonKind.BELOW else 'over'} {limit}"

    @property
    def brief(self) -> str:
        """The reason in two words, for several blocks at once: `decay too high`, `too old`, `done`."""
        if self.kind is ReasonKind.FINISHED:
            return "done"
        if self.kind is ReasonKind.EXPIRED:
            return "too old"
        if self.figure is None:
            return self.text
        return f"{self.figure} too {'low' if self.kind is ReasonKind.BELOW else 'high'}"


def figure_text(value: float) -> str:
    """Format with two decimals, or with as many as the exact number needs; a whole number without any."""
    if isinstance(value, int):
        return str(value)
    short = f"{value:.2f}"
    return short if float(short) == value else repr(value)
