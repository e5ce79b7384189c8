"""Vacuum: replace all files of a fleet by a few, without older versions and the rest of interrupted runs.

The new files are written and committed first, as one batch. Then the old commits are removed, and their rows
last, so that every question has the same answer at each moment. Rows without a commit may belong to a run
that is under way: they stay for an hour.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from uuid import uuid4

from msgspec import Struct

from ctxview.fleet.queries import Fleet
from ctxview.fleet.storage import SUFFIX, Storage
from ctxview.fleet.tables import TABLES

SETTLED = 3600.0
"""Seconds after which rows without a commit are taken to be abandoned."""


class Vacuumed(Struct, frozen=True):
    """How many files were removed, and how many were written in their place."""

    removed: int
    written: int


def vacuum(storage: Storage) -> Vacuumed:
    """Rewrite the tables; raises `StorageError`."""
    before = [*storage.files()]
    committed = {file.batch for file in before if file.table == "sources"}
    batch, day = uuid4().hex, datetime.now(UTC).date().isoformat()
    written = 0
    fleet = Fleet(storage)
    for table in TABLES:
        if (rows := fleet.newest(table, batch)) is not None:
            storage.write(f"{table}/day={day}/{batch}{SUFFIX}", rows)
            written += 1
    old = [file for file in before if file.batch in committed or time.time() - file.written > SETTLED]
    for file in sorted(old, key=lambda file: file.table != "sources"):
        storage.remove(file.name)
    storage.tidy()
    return Vacuumed(len(old), written)
