"""The base class of panes about all revisions."""

from __future__ import annotations

from ctxview.analysis.revisions.facts import KnownRevisions, RevisionName
from ctxview.analysis.revisions.skyline import logged_revisions
from ctxview.tui.model.inspector import InspectorModel
from ctxview.tui.model.reading_index import ItemId, ItemKind
from ctxview.tui.model.view_state import ViewState
from ctxview.tui.widgets.pane import PaneWidget


class FactsPane(PaneWidget):
    """A pane that draws facts of all revisions."""

    def differs(self, before: ViewState, after: ViewState) -> bool:
        return before.index is not after.index or before.known is not after.known

    @property
    def letters(self) -> bool:
        """Whether segments are drawn as letters, because the terminal has no colours or only ASCII."""
        return bool(getattr(self.app, "draws_letters", False))


class MarkingPane(FactsPane):
    """A pane in which two revisions can be marked, to compare them."""

    def __init__(self, model: InspectorModel) -> None:
        super().__init__(model)
        self.marked: tuple[int, ...] = ()
        """At most two revisions to compare."""
        self.replies = True
        """Whether replies are shown."""

    def mark_revision(self) -> None:
        """Mark the revision at the cursor, or remove its mark; of three marks the oldest goes."""
        if self.item is None:
            return
        number = int(self.item.name)
        others = tuple(each for each in self.marked if each != number)
        self.marked = others if number in self.marked else (*others[-1:], number)
        self.reset()

    def toggle_replies(self) -> None:
        self.replies = not self.replies
        self.reset()


def known_revisions(view: ViewState) -> KnownRevisions:
    """The facts of a view; until they are read, only the shown revision has a name."""
    known, number = view.known, view.key.revision
    if known is not None and number < len(known.names):
        return known
    label = view.index.reading.state.revision
    unnamed = RevisionName("", "", "", None, False, None)
    shown = RevisionName(label, label, label, None, False, None)
    return KnownRevisions((*([unnamed] * number), shown))


def window_revisions(view: ViewState) -> tuple[KnownRevisions, int]:
    """What the window over time is drawn from, and the place of the shown revision in it: a log, if any."""
    windows = view.index.reading.state.windows
    if len(windows) > 1:
        return logged_revisions(windows), len(windows) - 1
    return known_revisions(view), view.key.revision


def revision_item(view: ViewState, number: int) -> ItemId:
    return ItemId(ItemKind.REVISION, str(number), str(view.key.source))
