"""The sources of a fleet as one source for the inspector: each is a block, and Enter opens it.

Blocks have the window over the revisions as a small picture, and figures to sort and filter by. The rows are
read once; nothing of the listed sources is read.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from pathlib import Path

from msgspec import Struct, convert

from ctxview.core.edits import WritePolicy
from ctxview.core.figures import Figure, Reason, ReasonKind
from ctxview.core.findings import Finding
from ctxview.core.origin import Origin
from ctxview.core.state import Block, ContextState, Counts, Tier
from ctxview.files.reading import ReadError
from ctxview.fleet.queries import Fleet
from ctxview.fleet.storage import Storage, is_url
from ctxview.formats.interface import AS_ON_DISK, Abilities, Lens, Reading, Revision

LEVELS = "▁▂▃▄▅▆▇█"
CELLS = 10
"""Columns of the picture of the window."""
UNREAD = "not readable"
"""The tier of sources with an error."""

_ROWS = """
WITH found AS (SELECT source, count(*) FILTER (severity = 'error') AS errors FROM findings GROUP BY source),
windows AS (
    SELECT source, list(tokens ORDER BY n) FILTER (tokens IS NOT NULL) AS tokens,
        sum(todos_lost)::BIGINT AS lost
    FROM revisions GROUP BY source
)
SELECT source, format, title, model, review, error, coalesce(bytes, 0) AS bytes,
    coalesce(ended, modified) AS at_last, tokens_max, coalesce(findings, 0) AS findings,
    coalesce(errors, 0) AS errors, coalesce(revisions, 0) AS revisions, compactions, open_todos, lost,
    coalesce(tokens, []) AS tokens
FROM sources LEFT JOIN found USING (source) LEFT JOIN windows USING (source)
ORDER BY at_last DESC NULLS LAST, source
"""


class ListedSource(Struct, frozen=True, kw_only=True):
    """One source of a fleet with the figures of the list."""

    source: str
    format: str | None
    title: str | None
    model: str | None
    review: str | None
    error: str | None
    bytes: int
    at_last: datetime | None
    tokens_max: int | None
    findings: int
    errors: int
    revisions: int
    compactions: int | None
    open_todos: int | None
    lost: int | None
    tokens: tuple[int, ...]


class FleetSource:
    """The sources of a fleet, the newest first."""

    format = "fleet"
    profiles: Sequence[str] = ()

    def __init__(self, storage: Storage) -> None:
        """Raises `StorageError`."""
        answer = Fleet(storage).ask(_ROWS)
        self._place = storage.root
        self._listed = [
            convert(dict(zip(answer.columns, row, strict=True)), ListedSource) for row in answer.rows
        ]
        names = [each.source for each in self._listed]
        local = [name for name in names if not is_url(name)]
        above = f"{os.path.commonpath([str(Path(name).parent) for name in local])}/" if local else ""
        self._names = [name.removeprefix(above) for name in names]

    @property
    def path(self) -> Path:
        return Path(self._place)

    @property
    def title(self) -> str:
        return f"fleet {self._place.rstrip('/').rpartition('/')[2]}"

    @property
    def abilities(self) -> Abilities:
        return Abilities(listing=self)

    @property
    def revisions(self) -> Sequence[Revision]:
        return (Revision("now", "now", self.path),)

    @property
    def watched(self) -> Sequence[Path]:
        return ()

    def again(self) -> FleetSource:
        return self

    def path_of(self, name: str) -> Path | None:
        found = dict(zip(self._names, self._listed, strict=True)).get(name)
        return Path(found.source) if found is not None and not is_url(found.source) else None

    def look_at(self, name: str) -> None:
        """Do nothing: all rows are known."""

    def bytes_of(self, file: str) -> bytes:
        """Raises `ReadError`: only an opened source knows which of its bytes may be shown."""
        raise ReadError(Path(file), "Enter opens this source")

    def policy(self, file: str) -> WritePolicy | None:  # noqa: ARG002 - a table of what was read
        return None

    def findings(self, lens: Lens) -> Sequence[Finding]:  # noqa: ARG002 - each source has its own
        return ()

    def findings_of(self, revision: int, lens: Lens, overlay: Mapping[str, bytes]) -> Sequence[Finding]:  # noqa: ARG002
        return ()

    def reading(self, revision: int, lens: Lens, overlay: Mapping[str, bytes] = AS_ON_DISK) -> Reading:  # noqa: ARG002
        tiers: dict[str, list[Block]] = {}
        for rank, (name, each) in enumerate(zip(self._names, self._listed, strict=True)):
            tier = UNREAD if each.error is not None else each.format or UNREAD
            tiers.setdefault(tier, []).append(_block(each, name, tier, rank))
        state = ContextState(
            format=self.format,
            title=self.title,
            source=self._place,
            revision="now",
            tiers=tuple(Tier(name, tuple(blocks)) for name, blocks in sorted(tiers.items())),
            counts=Counts(len(self._listed), 0, 0, 0, tokens_exact=False, estimator="as read"),
            extra={"sources": f"{len(self._listed):,}", "open": "Enter opens a source"},
        )
        return Reading(state, ())


def _block(each: ListedSource, name: str, tier: str, rank: int) -> Block:
    when = f"{each.at_last:%Y-%m-%d %H:%M} UTC" if each.at_last is not None else ""
    picture = spark(each.tokens)
    review = f"review: {each.review}" if each.review else None
    facts = " · ".join(filter(None, (when, f"{each.bytes:,} bytes", each.model, review)))
    numbers = {
        "findings": each.findings,
        "errors": each.errors,
        "revisions": each.revisions,
        "compactions": each.compactions,
        "open": each.open_todos,
        "lost": each.lost,
    }
    return Block(
        id=name,
        tier=tier,
        type=each.format,
        text="\n".join(filter(None, ("  ".join(filter(None, (picture, each.title))), facts))),
        figures=tuple(
            Figure(label, value, better=None if label == "revisions" else "low")
            for label, value in numbers.items()
            if value is not None
        ),
        tags=tuple(filter(None, (each.model, each.review))),
        tokens=each.tokens_max,
        reason=Reason(ReasonKind.INVALID, each.error) if each.error is not None else None,
        origin=Origin(each.source),
        rank=rank,
    )


def spark(values: Sequence[int]) -> str:
    """Draw values as columns, each the highest of its share; empty for fewer than two."""
    if len(values) < 2:
        return ""
    count, most = min(CELLS, len(values)), max(values) or 1
    ends = [len(values) * at // count for at in range(count + 1)]
    highest = [max(values[start:end]) for start, end in pairwise(ends)]
    return "".join(LEVELS[min(len(LEVELS) - 1, each * len(LEVELS) // most)] for each in highest)
