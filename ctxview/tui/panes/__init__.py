"""The panes of the inspector, one module for each: how it draws its part of the state.

The first picture imports only the pane that it shows; the others follow in a thread.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from threading import Thread
from typing import TYPE_CHECKING

from ctxview.tui.model.layout import Pane

if TYPE_CHECKING:
    from ctxview.tui.model.inspector import InspectorModel
    from ctxview.tui.widgets.pane import PaneWidget


def make_pane(pane: Pane, model: InspectorModel) -> PaneWidget:
    """Import the module of a pane and make its widget."""
    name = pane.name.lower()
    made: PaneWidget = getattr(import_module(f"{__name__}.{name}"), f"{name.capitalize()}Pane")(model)
    return made


@cache
def import_panes() -> None:
    """Import all panes in a thread, once, so that the first key does not wait for them."""
    names = [f"{__name__}.{pane.name.lower()}" for pane in Pane]
    Thread(target=lambda: [*map(import_module, names)], name="import panes", daemon=True).start()
