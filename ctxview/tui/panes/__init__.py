"""The panes of the inspector, one module for each: how it draws its part of the state.

A pane is imported when it is first shown, so that the first picture does not wait for the others.
"""

from __future__ import annotations

from importlib import import_module
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
