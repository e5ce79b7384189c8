"""The tables of a fleet: one class for each table, one field for each column. Writes rows as Parquet.

All times are UTC. Every row names its `batch`: the rows of a batch count when the `sources` of the same batch
are written, which happens last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import asdict

if TYPE_CHECKING:
    import pyarrow

SCHEMA = 1
"""The version of the columns. Rows of another version are read again."""


class SourceRow(Struct, frozen=True, kw_only=True):
    """One source as it was read, or a path without a source that was looked at: then it has no format."""

    source: str
    """The absolute path, or the URL."""
    stamp: str
    digest: str
    batch: str = ""
    bytes: int = 0
    format: str | None = None
    title: str | None = None
    revisions: int = 0
    findings: int = 0
    started: datetime | None = None
    ended: datetime | None = None
    modified: datetime | None = None
    """The time of the newest file."""
    model: str | None = None
    open_todos: int | None = None
    compactions: int | None = None
    tokens_max: int | None = None
    estimator: str | None = None
    review: str | None = None
    """How the review of a handoff stands: `approved`, `not reviewed`, `changed since` …"""
    error: str | None = None
    read_at: datetime
    ctxview: str
    schema: int = SCHEMA
    moving: bool = False
    """Whether the files changed while they were read; the next run reads them again."""
    parts: tuple[str, ...] | None = None
    """The files that the stamp is made of, where these are not all files below the path."""
    below: str | None = None
    """What of a folder was searched for further sources; null for nothing."""


class RevisionRow(Struct, frozen=True, kw_only=True):
    """One revision. The figures are null when a source has so many that only some were read."""

    source: str
    digest: str
    batch: str = ""
    n: int
    label: str
    kind: str
    time: str | None
    utc: datetime | None
    is_compaction: bool
    blocks: int | None = None
    visible: int | None = None
    tokens: int | None = None
    tokens_exact: bool | None = None
    budget_limit: int | None = None
    todos_open: int | None = None
    todos_lost: int | None = None


class FindingRow(Struct, frozen=True, kw_only=True):
    """One finding; `utc` is the end of the source, or the time of its newest file."""

    source: str
    digest: str
    batch: str = ""
    rule: str
    severity: str
    effect: str
    message: str | None
    file: str
    line: int | None
    pointer: str | None
    utc: datetime | None


class ToolRow(Struct, frozen=True, kw_only=True):
    """What one tool has in the window of revision `n`, the fullest of its source."""

    source: str
    digest: str
    batch: str = ""
    n: int
    tool: str
    calls: int
    bytes: int
    tokens: int


class InstructionRow(Struct, frozen=True, kw_only=True):
    """One file of instructions that a prompt is assembled from; equal `content` means equal bytes."""

    source: str
    digest: str
    batch: str = ""
    file: str
    content: str
    bytes: int
    tokens: int


TABLES: Mapping[str, type[Struct]] = {
    "revisions": RevisionRow,
    "findings": FindingRow,
    "tools": ToolRow,
    "instructions": InstructionRow,
    "sources": SourceRow,
}
"""In the order of writing: `sources` is the last, because it makes the others count."""


class SourceRows(Struct, frozen=True):
    """All rows of one source."""

    source: SourceRow
    revisions: Sequence[RevisionRow] = ()
    findings: Sequence[FindingRow] = ()
    tools: Sequence[ToolRow] = ()
    instructions: Sequence[InstructionRow] = ()


def parquet(table: str, rows: Sequence[Struct], batch: str) -> bytes:
    """Return the rows of a batch as a Parquet file."""
    import pyarrow

    values = [{**asdict(row), "batch": batch} for row in rows]
    return parquet_file(pyarrow.Table.from_pylist(values, arrow_schema(table)))


def parquet_file(rows: pyarrow.Table) -> bytes:
    from pyarrow import parquet as writer

    buffer = BytesIO()
    writer.write_table(rows, buffer, compression="zstd")
    return buffer.getvalue()


@cache
def arrow_schema(table: str) -> pyarrow.Schema:
    import pyarrow

    types = (
        ("str", pyarrow.string()),
        ("int", pyarrow.int64()),
        ("bool", pyarrow.bool_()),
        ("datetime", pyarrow.timestamp("us")),
        ("tuple[str, ...]", pyarrow.list_(pyarrow.string())),
    )
    by_name = {**dict(types), **{f"{name} | None": kind for name, kind in types}}
    written = TABLES[table].__annotations__
    return pyarrow.schema([(name, by_name[written[name]]) for name in TABLES[table].__struct_fields__])
