"""The panes of the inspector, one module for each: how it draws its part of the state."""

from __future__ import annotations

from ctxview.tui.model.inspector import InspectorModel
from ctxview.tui.panes.budget import BudgetPane
from ctxview.tui.panes.detail import DetailPane
from ctxview.tui.panes.findings import FindingsPane
from ctxview.tui.panes.history import HistoryPane
from ctxview.tui.panes.lifecycle import LifecyclePane
from ctxview.tui.panes.memory import MemoryPane
from ctxview.tui.panes.missing import MissingPane
from ctxview.tui.panes.overview import OverviewPane
from ctxview.tui.panes.references import ReferencesPane
from ctxview.tui.panes.revisions import RevisionsPane
from ctxview.tui.panes.skyline import SkylinePane
from ctxview.tui.panes.sources import SourcesPane
from ctxview.tui.panes.text import TextPane
from ctxview.tui.panes.todo import TodoPane
from ctxview.tui.panes.visibility import VisibilityPane
from ctxview.tui.panes.why import WhyPane
from ctxview.tui.panes.xray import XrayPane
from ctxview.tui.widgets.pane import PaneWidget

__all__ = [
    "DetailPane",
    "HistoryPane",
    "LifecyclePane",
    "MemoryPane",
    "TextPane",
    "XrayPane",
    "all_panes",
]


def all_panes(model: InspectorModel) -> list[PaneWidget]:
    return [
        SourcesPane(model),
        MemoryPane(),
        TodoPane(),
        BudgetPane(),
        ReferencesPane(),
        MissingPane(),
        FindingsPane(),
        DetailPane(model),
        TextPane(),
        HistoryPane(),
        LifecyclePane(),
        VisibilityPane(),
        OverviewPane(),
        SkylinePane(),
        RevisionsPane(),
        WhyPane(),
        XrayPane(),
    ]
