"""Answer questions about a fleet with DuckDB, through views: rows without their commit never count.

The views `sources`, `revisions`, `findings`, `tools` and `instructions` show each source as it was last read;
`all_sources` and so on have every version that was read.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

from msgspec import Struct

from ctxview import __version__
from ctxview.fleet.storage import Storage, StorageError
from ctxview.fleet.tables import SCHEMA, TABLES, arrow_schema, parquet_file
from ctxview.fleet.walk import KnownSource

if TYPE_CHECKING:
    import duckdb

RAW = "raw_"
"""The prefix of the tables with all rows, those of unfinished batches too."""
TYPES = {
    "str": "VARCHAR",
    "int": "BIGINT",
    "bool": "BOOLEAN",
    "datetime": "TIMESTAMP",
    "tuple[str, ...]": "VARCHAR[]",
}

ZONED = "TIMESTAMP WITH TIME ZONE"

_NEWEST = f"""
FROM {RAW}sources QUALIFY row_number() OVER (PARTITION BY {{}} ORDER BY read_at DESC, batch DESC) = 1
"""
_IS_SOURCE = "format IS NOT NULL OR error IS NOT NULL"
_KNOWN = f"""
SELECT source, stamp, digest, parts, below, {_IS_SOURCE} FROM ({_NEWEST.format("source")})
WHERE NOT moving AND ctxview = ? AND schema = ?
"""


class FleetQueryError(Exception):
    """A query that cannot be answered; the message is for the user."""


class FleetAnswer(Struct, frozen=True):
    """The columns and rows of an answer."""

    columns: tuple[str, ...]
    rows: Sequence[tuple[object, ...]]


class Fleet:
    """The tables at one place, opened for questions."""

    def __init__(self, storage: Storage) -> None:
        """Raises `StorageError` when there are no tables."""
        self.connection = _connected(storage)
        if not _view_rows(self.connection, storage):
            raise StorageError(f"{storage.root}: there are no tables; ctxview fleet read makes them")
        _view_commits(self.connection)

    def ask(self, query: str) -> FleetAnswer:
        """Answer one SELECT; raises `FleetQueryError`."""
        import duckdb

        try:
            statements = self.connection.extract_statements(query)
            # An EXPLAIN ANALYZE runs what it explains, which may write.
            if len(statements) != 1 or statements[0].type is not duckdb.StatementType.SELECT:
                raise FleetQueryError("expected one SELECT, because the tables are only read")
            found = self.connection.execute(statements[0])
            names = tuple(name for name, *_ in found.description or ())
            kinds = [str(kind) for _, kind, *_ in found.description or ()]
            if not any(ZONED in kind for kind in kinds):
                return FleetAnswer(names, found.fetchall())
            # DuckDB would need another package to return a time with its zone, also inside of a list.
            columns = (
                f"#{at}::{kind.replace(ZONED, 'TIMESTAMP')}" if ZONED in kind else f"#{at}"
                for at, kind in enumerate(kinds, 1)
            )
            asked = self.connection.cursor().sql(query.rstrip(" ;\n"))
            return FleetAnswer(names, asked.project(", ".join(columns)).fetchall())
        except duckdb.Error as error:
            # The last lines draw the query with a mark below the place, which one line cannot show.
            said = str(error).partition("\n\nLINE ")[0]
            raise FleetQueryError(" ".join(said.split())) from None

    def newest(self, table: str, batch: str) -> bytes | None:
        """Return the newest rows of a table as a Parquet file of one batch; None when there are none."""
        names = TABLES[table].__struct_fields__
        columns = ", ".join(f"'{batch}' AS batch" if name == "batch" else name for name in names)
        kept = "kept" if table == "sources" else f"{RAW}{table} SEMI JOIN kept USING (batch, source, digest)"
        query = f"WITH kept AS ({_NEWEST.format('source')}) SELECT {columns} FROM {kept} ORDER BY source"
        found = self.connection.sql(query).to_arrow_table()
        return parquet_file(found.cast(arrow_schema(table))) if found.num_rows else None


def known_sources(storage: Storage) -> dict[str, KnownSource]:
    """Return what earlier runs of this version know about each path; raises `StorageError`."""
    if next(storage.files(), None) is None:
        return {}  # without DuckDB, which takes a while to load
    connection = _connected(storage)
    if not _view_rows(connection, storage):
        return {}
    found = connection.execute(_KNOWN, [__version__, SCHEMA]).fetchall()
    return {
        source: KnownSource(stamp, digest, None if parts is None else tuple(parts), below, is_source)
        for source, stamp, digest, parts, below, is_source in found
    }


def _connected(storage: Storage) -> duckdb.DuckDBPyConnection:
    import duckdb

    # Nothing is fetched from the network.
    connection = duckdb.connect(
        config={"autoinstall_known_extensions": False, "autoload_known_extensions": False}
    )
    connection.execute("SET TimeZone = 'UTC'")
    storage.connect(connection)
    return connection


def _view_rows(connection: duckdb.DuckDBPyConnection, storage: Storage) -> bool:
    """Define a view of all rows of each table; False when nothing was written yet.

    From then on the connection reads these files and nothing else. Raises `StorageError` for a damaged file.
    """
    import duckdb

    files: dict[str, list[str]] = {table: [] for table in TABLES}
    for file in storage.files():
        files[file.table].append(_quoted(f"{storage.root}/{file.name}"))
    connection.execute(f"SET allowed_paths = [{', '.join(chain.from_iterable(files.values()))}]")
    connection.execute("SET enable_external_access = false")
    for table, row in TABLES.items():
        kinds = (row.__annotations__[name].removesuffix(" | None") for name in row.__struct_fields__)
        columns = zip(row.__struct_fields__, kinds, strict=True)
        made = ", ".join(f"NULL::{TYPES[kind]} AS {name}" for name, kind in columns)
        made = f"SELECT {made}, NULL::DATE AS day WHERE false"
        if files[table]:
            # Rows of an earlier version may lack columns.
            listed = f"[{', '.join(files[table])}], hive_partitioning = true, union_by_name = true"
            made = f"{made} UNION ALL BY NAME FROM read_parquet({listed})"
        try:
            connection.execute(f"CREATE VIEW {RAW}{table} AS {made}")
        except duckdb.Error as error:
            said = " ".join(str(error).partition("\n\nLINE ")[0].split())
            raise StorageError(f"{storage.root}: the table {table} cannot be read: {said}") from None
    return bool(files["sources"])


def _view_commits(connection: duckdb.DuckDBPyConnection) -> None:
    for prefix, key in (("", "source"), ("all_", "source, digest")):
        connection.execute(
            f"CREATE VIEW {prefix}sources AS SELECT * EXCLUDE (parts, below)"
            f" FROM ({_NEWEST.format(key)}) WHERE {_IS_SOURCE}"
        )
        for table in TABLES:
            if table != "sources":
                connection.execute(
                    f"CREATE VIEW {prefix}{table} AS FROM {RAW}{table} SEMI JOIN {prefix}sources"
                    " USING (batch, source, digest)"
                )


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
