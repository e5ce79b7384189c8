"""All panes of the inspector, in the order of their keys."""

from __future__ import annotations

from ctxview.tui.panes.budget import BudgetPane
from ctxview.tui.panes.detail import DetailPane
from ctxview.tui.panes.findings import FindingsPane
from ctxview.tui.panes.history import HistoryPane
from ctxview.tui.panes.lifecycle import LifecyclePane
from ctxview.tui.panes.memory import MemoryPane
from ctxview.tui.panes.missing import MissingPane
from ctxview.tui.panes.pane import PaneLines
from ctxview.tui.panes.prose import TextPane
from ctxview.tui.panes.references import ReferencesPane
from ctxview.tui.panes.sources import SourcesPane
from ctxview.tui.panes.todo import TodoPane
from ctxview.tui.panes.visibility import VisibilityPane
from ctxview.tui.session_view import SessionView


def every_pane(view: SessionView) -> list[PaneLines]:
    return [
        SourcesPane(view),
        MemoryPane(),
        TodoPane(),
        BudgetPane(),
        ReferencesPane(),
        MissingPane(),
        FindingsPane(),
        DetailPane(view),
        TextPane(),
        HistoryPane(),
        LifecyclePane(),
        VisibilityPane(),
    ]
