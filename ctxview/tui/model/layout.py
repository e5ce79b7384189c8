"""The views of the inspector, and what each shows beside its own pane at a width. No toolkit."""

from __future__ import annotations

from collections.abc import Container
from enum import StrEnum
from typing import Literal, Self

from msgspec import Struct

BOXED = 100
"""Columns from which on panes have frames, and the detail has a place of its own."""
WIDE = 160
"""Columns from which on a view also shows the related pane."""
STRIP = 4
"""Lines of the detail below a narrow list, with its rule."""
LEAST_LIST = 13
"""Lines that a list keeps before the detail gets any."""


class Pane(StrEnum):
    """Every pane by its name, with its key, a short name, a notice when it is absent, and its subject.

    The order is that of the tabs. A pane is also the view of this name.
    """

    key: str
    short: str
    absent: str
    """The notice for a pane that exists only when it has content; empty for a pane that always exists."""
    about: str
    """The subject, for the help; empty where the name says it."""

    OVERVIEW = (
        "Overview",
        "1",
        "Over",
        "",
        "what the model sees, how full its window is, and what is wrong",
    )
    MEMORY = "Memory", "2", "Mem"
    XRAY = "X-ray", "X", "X-ray", "", "the literal text that the model is given"
    SKYLINE = "Skyline", "T", "Sky", "", "the window over time"
    REVISIONS = "Revisions", "R", "Revs", "", "what each revision changed, and its findings"
    FINDINGS = "Findings", "7", "Find"
    REVIEW = "Review", "A", "Rev", "", "decide what may be handed on, and sign it off"
    TODO = "Todo", "3", "Todo"
    BUDGET = "Budget", "4", "Budg"
    REFERENCES = "References", "5", "Refs"
    MISSING = "Missing", "6", "Miss"
    HISTORY = "History", "0", "Hist", "This source has no messages."
    LIFECYCLE = (
        "Lifecycle",
        "L",
        "Life",
        "This source does not record the flow from its sources to the model.",
        "the flow from the sources to what the model was shown",
    )
    VISIBILITY = (
        "Visibility",
        "V",
        "Vis",
        "This source does not distinguish targets.",
        "which target may see an item, and which one saw it",
    )
    TEXT = "Text", "9", "Text", "This source has no text."
    WHY = "Why", "W", "Why", "", "where the selected block went, when and by what"
    DETAIL = "Detail", "8", "Det", "", "the selected item in full"
    SOURCES = "Sources", "H", "Src", "", "all open sources and their revisions"

    def __new__(cls, name: str, key: str, short: str, absent: str = "", about: str = "") -> Self:
        made = str.__new__(cls, name)
        made._value_ = name
        made.key, made.short, made.absent, made.about = key, short, absent, about
        return made


DRAW_TIME = (Pane.OVERVIEW, Pane.SKYLINE, Pane.REVISIONS)
"""Views about the window, which they also show over time."""
OPENED = (Pane.WHY, Pane.DETAIL, Pane.SOURCES)
"""Views that are opened from another one and have a tab only while they are shown."""


class Slot(Struct, frozen=True):
    """The place of a pane in the view."""

    pane: Pane
    x: int
    y: int
    width: int
    height: int


class View(Struct, frozen=True):
    """What a view shows beside its own pane: where the detail is from `BOXED` columns on, and from `WIDE`
    columns on the related pane."""

    detail: Literal["below", "beside"]
    related: Pane | None = None


VIEWS = {
    Pane.MEMORY: View("below", Pane.BUDGET),
    Pane.FINDINGS: View("beside", Pane.MEMORY),
    Pane.TODO: View("beside", Pane.MISSING),
    Pane.BUDGET: View("beside", Pane.MEMORY),
    Pane.REFERENCES: View("beside", Pane.MISSING),
    Pane.MISSING: View("beside", Pane.REFERENCES),
    Pane.HISTORY: View("beside"),
    Pane.LIFECYCLE: View("below", Pane.VISIBILITY),
    Pane.VISIBILITY: View("below", Pane.LIFECYCLE),
    Pane.SOURCES: View("beside"),
}
"""The views that show more than their own pane."""


def arrange(pane: Pane, width: int, height: int, filled: Container[Pane] = ()) -> tuple[Slot, ...]:
    """The panes of a view and their places; the first is the view's own. `filled` are panes with content."""
    view = VIEWS.get(pane)
    if view is None or (width < BOXED and height < LEAST_LIST + STRIP):
        return (Slot(pane, 0, 0, width, height),)
    if width < BOXED:
        above = height - STRIP
        return Slot(pane, 0, 0, width, above), Slot(Pane.DETAIL, 0, above, width, STRIP)
    if width < WIDE and view.detail == "below":
        above = height - min(9, height // 3)
        return Slot(pane, 0, 0, width, above), Slot(Pane.DETAIL, 0, above, width, height - above)
    column = width * 2 // 5 if width < WIDE else width * 3 // 8
    left = width - column
    first = Slot(pane, 0, 0, left, height)
    if width < WIDE or view.related is None or view.related not in filled:
        return first, Slot(Pane.DETAIL, left, 0, column, height)
    above = height // 2
    return (
        first,
        Slot(Pane.DETAIL, left, 0, column, above),
        Slot(view.related, left, above, column, height - above),
    )
