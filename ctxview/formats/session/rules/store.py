"""The rule about histories in a columnar store (ABI012).

Examples change a sound session, as in `layout`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxview.analysis.wording import counted, listed, shown
from ctxview.findings import Effect, Hit, Severity, rule
from ctxview.formats.session.columnar import DATA, ColumnarStore, missing_shards, wal_row
from ctxview.formats.session.folder import EntryKind
from ctxview.formats.session.look import Look
from ctxview.formats.session.names import EVENTS, MESSAGES
from ctxview.formats.session.records import Record


@rule("ABI012", name="columnar-store", severity=Severity.ERROR)
def columnar_store(look: Look) -> Iterator[Hit]:
    """The store behind the histories contradicts itself, or cannot be read whole here.

    ## Why
    With a manifest in .store the visible files are empty markers, and the history is in shards and a log. A
    marker with content, a missing shard or a gap in the numbers means that part of the history is lost or
    told twice. A torn last line of the log is warned about: the runtime cuts it off. Without pyarrow the
    shards cannot be read, which is mentioned.
    ## Bad
    .store/manifest.json = {"version": 1, "next_shard": 0}
    ## Good
    .store/lock (empty)
    ## Fix
    Keep a copy before the runtime repairs anything; `pip install ctxview[columnar]` to read shards.
    ## Source
    Runtime: columnar session store.
    """
    session, store = look.session, look.history.store
    if store is None:
        return
    manifest = store.manifest
    if not manifest.is_object:
        reason = manifest.error.reason if manifest.error is not None else "it is no object"
        yield Hit(
            manifest.origin(), f"the manifest cannot be read: {shown(reason, 120)}", effect=Effect.REJECTED
        )
    for name in (MESSAGES, EVENTS):
        entry = session.folder.entry(name)
        if entry.kind is EntryKind.FILE and entry.size:
            message = f"{name} has {entry.size:,} bytes, but with a manifest it is only a marker"
            yield Hit(session.origin(name), message)
    gone = list(missing_shards(store))
    if gone:
        message = f"{counted(len(gone), 'shard')} of {store.shards} missing: {listed(gone)}"
        yield Hit(session.origin(DATA), message, effect=Effect.DELETED)
    yield from _wal_hits(look, store)
    if store.shards and not store.readable:
        message = f"{counted(store.shards, 'shard')} cannot be read without pyarrow; only the log is shown"
        yield Hit(session.origin(DATA), message, Severity.INFO)


def _wal_hits(look: Look, store: ColumnarStore) -> Iterator[Hit]:
    records = store.wal.records
    torn = records[-1] if records and store.wal.torn else None
    if torn is not None:
        message = "the last line of the log is torn; the runtime cuts it off"
        yield Hit(torn.origin(), message, Severity.WARNING, Effect.TRUNCATED)
    expected = {name: store.head(name, "lines") for name in (MESSAGES, EVENTS)}
    for record in records:
        row = wal_row(record)
        if row is None:
            if record is not torn:
                yield Hit(record.origin(), f"line {record.line} of the log is no row: {_why(record)}")
            continue
        if row.ordinal < expected[row.stream]:
            # Rows that a shard holds already are left over from before the last commit.
            continue
        if row.ordinal > expected[row.stream]:
            message = f"the log goes on with row {row.ordinal} of {row.stream}, not {expected[row.stream]}"
            yield Hit(record.origin("ordinal"), message)
        expected[row.stream] = row.ordinal + 1


def _why(record: Record) -> str:
    return shown(record.problem or "stream, ordinal or payload is missing", 100)
