"""Which pane shows things of a kind."""

from __future__ import annotations

from collections.abc import Mapping

from ctxview.tui.layout import Pane
from ctxview.tui.things import Kind

HOME: Mapping[Kind, Pane] = {
    Kind.SOURCE: Pane.SOURCES,
    Kind.REVISION: Pane.SOURCES,
    Kind.WHOLE: Pane.DETAIL,
    Kind.BLOCK: Pane.MEMORY,
    Kind.TODO: Pane.TODO,
    Kind.ITEM: Pane.TODO,
    Kind.BUDGET: Pane.BUDGET,
    Kind.REF: Pane.REFERENCES,
    Kind.GAP: Pane.MISSING,
    Kind.FINDING: Pane.FINDINGS,
    Kind.TEXT: Pane.TEXT,
    Kind.MESSAGE: Pane.HISTORY,
    Kind.NODE: Pane.LIFECYCLE,
    Kind.NAME: Pane.REFERENCES,
}
