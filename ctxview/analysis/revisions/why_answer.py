"""The answer to why something is not shown: a sentence, steps with their causes and origins, and a life."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from ctxview.analysis.revisions.facts import PastBlock
from ctxview.core.figures import Reason
from ctxview.core.origin import Origin

Sign = Literal["+", "●", "~", "○", "−", "?", "·"]
"""Written, shown, changed, stored but not shown, gone, stored (shown or not is unknown), not there yet."""
WhyStatus = Literal["shown", "hidden", "stored", "gone", "written"]


class WhyStep(Struct, frozen=True):
    """One event in the life of a block; `first` and `last` are the revisions it lasted."""

    sign: Sign
    first: int
    last: int
    place: str
    text: str
    origin: Origin | None = None
    cause: int = 0
    """The number of the cause, from 1; 0 for a step that is none."""
    rule: str | None = None
    reason: Reason | None = None


class LifePoint(Struct, frozen=True):
    """The block at one whole state: its sign, and the figure that decided."""

    number: int
    sign: Sign
    value: float | None = None
    is_broken: bool = False
    """Whether the value is beyond its limit."""


class Why(Struct, frozen=True):
    """The answer for one block. `steps` has the oldest first; `life` has one point per whole state."""

    name: str
    tier: str
    status: WhyStatus
    sentence: str
    steps: tuple[WhyStep, ...]
    life: tuple[LifePoint, ...]
    block: PastBlock
    """The block as it was last seen."""
    last_shown: int | None = None
    since: int | None = None
    """The revision from which on the status holds."""
    figure: str | None = None
    limit: float | None = None
    note: str = ""
    """What became of the blocks that left with it."""
    sources: tuple[WhySource, ...] = ()


class WhySource(Struct, frozen=True):
    """What a block refers to, such as the raw entry behind a line; the origin is known for blocks."""

    name: str
    text: str
    origin: Origin | None


def since_words(name: str) -> str:
    """` since round 9`; ` now` for the present state."""
    return " now" if name == "now" else f" since {name}"


def span_words(first: str, last: str) -> str:
    """The revisions from `first` to `last`: `round 9`, `rounds 6 to 9`, `run 1 to now`."""
    if first == last:
        return first.removeprefix("the ")
    head, _, start = first.rpartition(" ")
    tail, _, end = last.rpartition(" ")
    if head == tail and start.isdigit() and end.isdigit():
        return f"{head}s {start} to {end}"
    return f"{first} to {last}"
