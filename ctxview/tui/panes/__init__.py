"""The panes of the inspector, one module for each: how it draws its part of the state.

The first picture imports only the pane that it shows; the others follow in a thread.
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
    made: PaneWidget = getattr(import_module(module_of(pane)), f"{pane.name.capitalize()}Pane")(model)
    return made


def module_of(pane: Pane) -> str:
    return f"{__name__}.{pane.name.lower()}"
