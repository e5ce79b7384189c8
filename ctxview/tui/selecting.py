"""What stays selected when something else is shown, and what is looked at when nothing was chosen."""

from __future__ import annotations

from ctxview.tui.session_view import Shown
from ctxview.tui.things import TEXT, WHOLE, Kind, Thing


def is_in_sight(thing: Thing | None, shown: Shown) -> bool:
    """Whether a thing is there, and no filter hides it."""
    hidden = thing is not None and thing.kind is Kind.BLOCK and thing not in shown.blocks
    return not hidden and shown.index.value(thing) is not None


def first_of(shown: Shown) -> Thing:
    return next(iter(shown.blocks), TEXT if shown.index.value(TEXT) is not None else WHOLE)
