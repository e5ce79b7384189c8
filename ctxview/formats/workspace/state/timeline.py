"""The timeline of a workspace: compactions and turns. Compactions that were appended are earlier revisions.

Of an appended document all earlier versions are still there: each one is the beginning of the file. The other
files have no versions, so they are as they are now.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from ctxview.core.revision_signs import COMPACTION
from ctxview.core.state import Budget, Event, LoggedWindow, Segment
from ctxview.formats.interface import Revision
from ctxview.formats.workspace.facts import MOST_TURNS, WorkspaceFacts
from ctxview.formats.workspace.history_checks import Turn
from ctxview.formats.workspace.markdown import MarkdownDocument, Section
from ctxview.formats.workspace.model import Workspace

NOW = "now"
MOST_COMPACTIONS = 200
_SUMMARY = "Compaction Summary ("


def build_revisions(workspace: Workspace, path: Path) -> tuple[Revision, ...]:
    """Return the appended compactions of the current session, and now, which has the last one."""
    past = (
        Revision(f"compaction {number}", "compaction", path, number, _time(section), sign=COMPACTION)
        for number, section in enumerate(_earlier(workspace), 1)
    )
    return (*past, Revision(NOW, "workspace", path))


def earlier_bytes(workspace: Workspace, revision: int) -> Mapping[str, bytes]:
    """Return the document of the current session as it was after a compaction; empty for now."""
    earlier, current = _earlier(workspace), workspace.current
    if not 0 <= revision < len(earlier) or current is None:
        return {}
    document = current.markdown
    following = appended(document)[revision + 1]
    return {document.file: document.data[: document.starts[following.line - 1]]}


def appended(document: MarkdownDocument) -> list[Section]:
    """Return the compactions that were appended to a document, the oldest first."""
    # Of hundreds of documents only those are parsed that need it: this is part of the first look.
    if f"## {_SUMMARY}".encode() not in document.data:
        return []
    return [each for each in document.sections if each.level == 2 and each.title.startswith(_SUMMARY)]


def build_timeline(facts: WorkspaceFacts, now: int) -> Iterator[Event]:
    """Yield compactions, then the last turns with the size of their context; `now` is the last revision."""
    workspace = facts.workspace
    for document in workspace.documents:
        is_current = document is workspace.current and document.row is None
        for number, section in enumerate(appended(document.markdown)):
            place = document.markdown.origin(section.line, section.last)
            shown_at = min(number, now) if is_current else now
            label = f"compaction appended to {document.name}"
            yield Event(label, "compaction", _time(section), shown_at, place)
        updated = document.row.updated_at if document.row is not None else document.front("updated")
        if updated is not None:
            label = f"{document.name} compacted ({document.status})"
            yield Event(label, "compaction", updated, now, document.markdown.whole)
    for turn in facts.survey.turns[-MOST_TURNS:] if facts.survey is not None else ():
        label = f"turn {turn.number}: {turn.context:,} tokens"
        if turn.working_memory is not None:
            label += f", working memory {turn.working_memory:,}"
        yield Event(label, "turn", turn.time, now, turn.origin)


def build_windows(facts: WorkspaceFacts) -> Iterator[LoggedWindow]:
    """Yield the last turns of the session that was used last, each with what made it smaller."""
    turns = facts.survey.turns if facts.survey is not None else []
    if not turns:
        return
    session = max(turns, key=lambda turn: turn.time or "").session
    times = [each.time for each in build_timeline(facts, 0) if each.kind == "compaction" and each.time]
    before: Turn | None = None
    for turn in [turn for turn in turns if turn.session == session][-MOST_TURNS:]:
        event = ""
        if before is not None and any((before.time or "~") < each <= (turn.time or "") for each in times):
            event = "compaction"
        elif before is not None and 2 * turn.context < before.context:
            event = f"{before.context - turn.context:,} tokens left the context"
        own = min(turn.working_memory or 0, turn.context)
        segments = (
            Segment("working memory", own, estimator="recorded"),
            Segment("not in this file", turn.context - own, estimator="recorded"),
        )
        budget = Budget("context of a turn", "tokens (recorded)", None, turn.context, None, segments)
        yield LoggedWindow(f"turn {turn.number}", turn.time, budget, event)
        before = turn


def _earlier(workspace: Workspace) -> list[Section]:
    current = workspace.current
    if current is None or current.row is not None:
        return []
    found = appended(current.markdown)[:-1]
    return found if len(found) <= MOST_COMPACTIONS else []


def _time(section: Section) -> str:
    return section.title.removeprefix(_SUMMARY).rstrip(")")
