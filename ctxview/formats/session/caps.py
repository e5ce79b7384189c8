"""The parts of a session that are not read or not shown in full, because there are too many of them.

Each of them is a row of what is missing and a finding.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from ctxview.formats.session import EVENTS
from ctxview.formats.session.grammar import todo_boxes
from ctxview.formats.session.model import Session

if TYPE_CHECKING:
    from ctxview.formats.session.survey.facts import Survey

MOST_SHOWN: Final = 5000
"""The most blocks of one tier, references of one kind, and items of one todo list."""
MOST_POINTS: Final = 500
"""The most runs and compactions with a revision; older ones are on the timeline only."""


def unread_parts(session: Session) -> Iterator[tuple[str, str]]:
    """Yield the name of each part that was not read whole, and what was left out."""
    for name, more in session.folder.seen.capped.items():
        yield name, f"{more:,} more entries were not read"
    for file in session.record_files:
        if file.left_out:
            yield file.part.name, f"{file.left_out:,} records were not checked"
    for name, unread, read in (
        ("context/child", len(session.unread_children), len(session.children)),
        ("context/pinned", session.unread_pinned, len(session.pinned)),
    ):
        if unread:
            yield name, f"only the first {read:,} of {read + unread:,} were read"


def left_out(session: Session, survey: Survey | None) -> Iterator[tuple[str, str]]:
    """Yield what was not read, and what was read but is not shown."""
    yield from unread_parts(session)
    if survey is not None:
        compactions = sum(each.answered is not None for each in survey.compactions)
        if (points := len(survey.runs.runs) + compactions) > MOST_POINTS:
            yield EVENTS, f"only the last {MOST_POINTS:,} of {points:,} runs and compactions are revisions"
    listed = {
        **{file.part.name: len(file.records) for file in session.record_files},
        "context/child": sum(len(child.refs.records) for child in session.children),
        "context/swap/chunk": len(session.swap.blobs),
        "context/dedup/blob": len(session.dedup.blobs),
        "context/pack.json": len(session.pack.items),
        "context/todo.md": sum(1 for _ in todo_boxes(session.part("context/todo.md").text)),
        "context/plan.json": len(session.plan.nodes),
    }
    for name, count in listed.items():
        if count > MOST_SHOWN:
            what = "references" if name == "context/child" else "entries"
            yield name, f"only the first {MOST_SHOWN:,} of {count:,} {what} are shown"
    if session.unsearched:
        first, *others = session.unsearched
        folders = f"this folder and {len(others):,} more were" if others else "this folder was"
        yield first, f"{folders} not searched for links and open permissions"
