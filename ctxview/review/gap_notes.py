"""Questions, answers and waivers of a reviewer, written into sources that have records of gaps.

A source with fixed revisions gets a new file beside the old one; other files are saved in place. For a source
without such records the decision in the review is the only note.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ctxview.files.create import CreateRefused, create
from ctxview.files.save import save
from ctxview.formats.interface import GapChange, Signature, Source
from ctxview.review.points import Point

EDITOR = "reviewer"


def write_gap(source: Source, change: GapChange) -> Path | None:
    """Write what a reviewer decided about a gap; return the written file, None if none has a place for it.

    Raises `EditRefused`, `CreateRefused`, `SaveConflict`, `SaveRefused` or `OSError`.
    """
    writer, publisher = source.abilities.gap_writer, source.abilities.publisher
    if writer is None:
        return None
    drafts = writer.gap_drafts(change)
    revision = len(source.revisions) - 1
    if publisher is None or not publisher.publishes(revision):
        for name, data in drafts.items():
            save(Path(name), data, source.bytes_of(name))
        return Path(next(iter(drafts)))
    made = publisher.publication(revision, drafts, Signature(EDITOR, f"{change.by}: {change.text}"))
    if not create(made.file.parent, made.file.name, made.data, mode=0o644):
        raise CreateRefused(f"{made.file.name} exists already")
    return made.file


def source_of(point: Point | None, sources: Sequence[Source]) -> Source:
    """Return the source that a point is about; the first one for a point without a place."""
    file = Path(point.origin.file).resolve() if point is not None and point.origin is not None else None
    holding = (
        source for source in sources if file is not None and file.is_relative_to(source.path.resolve())
    )
    return next(holding, sources[0])
