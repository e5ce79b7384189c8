"""The job of a worker: read a batch of paths, write their rows, and return only counts.

A job may run more than once, in any process: the same paths in the same state make files of the same names,
and the file of the table `sources`, which is written last, makes the others count.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from ctxview import __version__
from ctxview.fleet.remote import read_remote, remote_stamp
from ctxview.fleet.source_rows import RowOptions, error_rows, name_in_rows, new_row, read_rows
from ctxview.fleet.storage import SUFFIX, is_url, storage_at
from ctxview.fleet.tables import SCHEMA, TABLES, SourceRows, parquet


class OtherVersion(Exception):
    """A worker has another version of ctxview than the job; the message is for the user."""


class Item(Struct, frozen=True):
    """A path or URL to look at. `named`: the user named it, so it is a source in any case."""

    place: str
    named: bool = False


class Batch(Struct, frozen=True):
    """What a worker is given: small, and the same on every machine."""

    items: tuple[Item, ...]
    into: str
    day: str
    messages: bool = True
    ctxview: str = __version__


class BatchResult(Struct, frozen=True):
    """What a worker returns: counts, and which folders are to be searched further."""

    looked_at: int
    sources: int
    errors: int
    bytes: int
    below: tuple[tuple[str, str], ...] = ()


def run_batch(batch: Batch) -> BatchResult:
    """Read the items and write their rows. Raises `OtherVersion` and `StorageError`."""
    if batch.ctxview != __version__:
        raise OtherVersion(f"a worker has ctxview {__version__}, and this is ctxview {batch.ctxview}")
    rows: list[SourceRows] = []
    below: list[tuple[str, str]] = []
    for item in batch.items:
        rows += (found := _read(item, RowOptions(batch.messages)))
        if (what := found[0].source.below) is not None:
            below.append((item.place, what))
    return replace(write_rows(rows, batch), looked_at=len(batch.items), below=tuple(below))


def give_up(batch: Batch, why: str) -> BatchResult:
    """Write the only item of a batch as a source that cannot be read, because no worker survives it."""
    (item,) = batch.items
    rows = error_rows(new_row(name_in_rows(item.place)), Path(item.place), why)
    if is_url(item.place):
        rows = replace(rows, source=replace(rows.source, stamp=remote_stamp(item.place)))
    return write_rows([rows], batch)


def write_rows(rows: Sequence[SourceRows], batch: Batch) -> BatchResult:
    """Write the rows under the name of their batch; raises `StorageError`."""
    key = blake2b(f"{SCHEMA} {batch.ctxview} {batch.day} {batch.messages}".encode(), digest_size=16)
    for each in sorted(rows, key=lambda each: each.source.source):
        own = each.source
        key.update(f"\0{own.source}\0{own.stamp}\0{own.digest}\0{own.error or ''}".encode())
    name, storage = key.hexdigest(), storage_at(batch.into)
    for table in TABLES:
        found = [
            row for each in rows for row in ([each.source] if table == "sources" else getattr(each, table))
        ]
        if found:
            storage.write(f"{table}/day={batch.day}/{name}{SUFFIX}", parquet(table, found, name))
    known = [each.source for each in rows if each.source.format is not None or each.source.error is not None]
    return BatchResult(
        len(rows),
        len(known),
        sum(each.error is not None for each in known),
        sum(each.bytes for each in known),
    )


def _read(item: Item, options: RowOptions) -> list[SourceRows]:
    if is_url(item.place):
        return read_remote(item.place, options, named=item.named)
    return read_rows(Path(item.place), options, named=item.named)
