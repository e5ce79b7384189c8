"""Read a session of OpenCode in the shape of an export: from its SQLite store, an export, or the old tree.

A session of a store is named by a path below it, `opencode.db/ses_1`, and one whose id is no name by a digest
of the id. Only the tables of sessions are read:
others hold access tokens.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import orjson
from msgspec import Struct, field

from ctxview.core.origin import JsonValue, Origin
from ctxview.files.reading import ReadError, read_beneath, read_bytes, read_ends
from ctxview.files.strict_json.document import JsonDocument, JsonError, parse
from ctxview.formats.transcript.model import Record
from ctxview.formats.transcript.values import number, record, records, text

if TYPE_CHECKING:
    from ctxview.files.readonly_sqlite import ReadOnlyDatabase, SqlValue

MAGIC = b"SQLite format 3\0"
SESSION_PREFIX = "ses_"
STORE_LIMIT = 512 * 1024 * 1024
MOST_FILES = 20_000
SEARCHED = 2 * 1024 * 1024
_TABLES = [
    re.compile(rb"CREATE TABLE [`\"\[]?%s[`\"\]]?\s*\(" % name) for name in (b"session", b"message", b"part")
]
_NAME = re.compile(r"[A-Za-z0-9_-]{1,200}")
"""Ids that become parts of paths as they are: others could lead elsewhere, or are not text."""
_DIGEST_MARK = "~"
_COLUMNS = ("id", "project_id", "parent_id", "directory", "title", "version", "agent", "model", "revert")


class SessionTitle(Struct, frozen=True):
    """One session of a store, as far as a list needs it; `name` and `parent` are parts of paths."""

    name: str
    parent: str | None
    updated: int


class SessionRecord(Struct, frozen=True):
    """A session in the shape of an export: `info`, `messages`, and where known `todos` and `children`."""

    value: Record
    origin_of: Callable[[str], Origin]
    documents: Sequence[tuple[str, bytes, JsonDocument]]
    """The JSON texts by the name of their file; that of a store is made from its rows."""
    problem: str | None = None
    invalid_texts: Mapping[str, int] = field(default_factory=dict)
    """By table of a store, the texts that are not UTF-8."""


def is_export(value: JsonValue) -> bool:
    """Whether a value is an export of a session."""
    info = record(value, "info")
    messages = value.get("messages") if isinstance(value, dict) else None
    if not (text(info, "id") or "").startswith(SESSION_PREFIX) or not isinstance(messages, list):
        return False
    return all(isinstance(each, dict) and "parts" in each for each in messages)


def is_store(path: Path, head: bytes) -> bool:
    """Whether a file is a SQLite database with the tables of a store; its log is looked at too."""
    if not head.startswith(MAGIC):
        return False
    found = b""
    for file in (path, path.with_name(f"{path.name}-wal")):
        try:
            found += read_ends(file, 2 * SEARCHED).head
        except ReadError:
            continue
    return all(pattern.search(found) for pattern in _TABLES)


def is_tree(folder: Path, names: Sequence[str]) -> bool:
    """Whether a folder is the storage of an older version."""
    return {"session", "message", "part"} <= set(names) and next(tree_sessions(folder), None) is not None


def tree_sessions(folder: Path) -> Iterator[Path]:
    """Yield the files of the sessions of an old tree, in the order of their names."""
    for project in sorted(folder.glob("session/*")):
        if project.is_dir() and not project.is_symlink():
            yield from (each for each in sorted(project.glob("ses_*.json")) if not each.is_symlink())


def store_sessions(path: Path) -> list[SessionTitle]:
    """Return the sessions of a store, the newest first; raises `ReadError`."""
    from ctxview.files.readonly_sqlite import open_readonly

    with open_readonly(path, STORE_LIMIT) as database:
        return _titles(database)


def _titles(database: ReadOnlyDatabase) -> list[SessionTitle]:
    wanted = _existing(database, "session", ("id", "parent_id", "time_updated"))
    query = f"SELECT hex(id), hex(parent_id), time_updated FROM (SELECT {wanted} FROM session)"
    found = [
        SessionTitle(
            _name_of(own), _name_of(parent) if parent else None, updated if isinstance(updated, int) else 0
        )
        for own, parent, updated in database.rows(query)
    ]
    return sorted(found, key=lambda each: (-each.updated, each.name))


def _name_of(encoded: SqlValue) -> str:
    """Return the name of a session in paths, by its id as hexadecimal digits."""
    data = bytes.fromhex(str(encoded))
    name = data.decode(errors="replace")
    if name.startswith(SESSION_PREFIX) and _NAME.fullmatch(name):
        return name
    from hashlib import sha256

    return f"{SESSION_PREFIX}{_DIGEST_MARK}{sha256(data).hexdigest()[:16]}"


def _id_of(database: ReadOnlyDatabase, name: str) -> bytes | None:
    """Return the id of the session with that name: bytes, because it may not be UTF-8."""
    if _DIGEST_MARK not in name:
        return name.encode(errors="surrogateescape")
    encoded = (str(row[0]) for row in database.rows("SELECT hex(id) FROM session"))
    return next((bytes.fromhex(each) for each in encoded if _name_of(each) == name), None)


def read_session(path: Path) -> SessionRecord:
    """Return the session at a path below a store, in an export or in an old tree; raises `ReadError`."""
    if path.parent.is_file():
        return next(read_sessions((path,)))
    data = read_bytes(path)
    try:
        document = parse(data)
    except JsonError as error:
        raise ReadError(path, f"it is not JSON: {error.reason}") from None
    value = document.value
    if not isinstance(value, dict):
        raise ReadError(path, "it is not an object")
    if "info" in value:
        file = str(path)
        return SessionRecord(value, lambda at: document.origin(file, at), ((file, data, document),))
    return _from_tree(path, value, data, document)


def read_sessions(paths: Sequence[Path]) -> Iterator[SessionRecord]:
    """Yield several sessions of one store, which is read once; raises `ReadError`."""
    from ctxview.files.readonly_sqlite import open_readonly

    with open_readonly(paths[0].parent, STORE_LIMIT) as database:
        for path in paths:
            yield _from_store(path, database)


def _from_store(path: Path, database: ReadOnlyDatabase) -> SessionRecord:
    database.invalid_texts.clear()
    value = _exported(database, path.name)
    if value is None:
        raise ReadError(path, "there is no such session in the store")
    data = orjson.dumps(value, option=orjson.OPT_INDENT_2)
    document, file = parse(data), str(path)
    invalid = dict(database.invalid_texts)
    return SessionRecord(
        value, lambda at: document.origin(file, at), ((file, data, document),), invalid_texts=invalid
    )


def _exported(database: ReadOnlyDatabase, name: str) -> Record | None:
    session = _id_of(database, name)
    if session is None:
        return None
    wanted = _existing(database, "session", (*_COLUMNS, "time_created", "time_updated"))
    found = database.rows(f"SELECT {wanted} FROM session WHERE id = CAST(? AS TEXT)", (session,))
    if not found:
        return None
    known = dict(zip((*_COLUMNS, "created", "updated"), found[0], strict=True))
    info: Record = {"id": _words(known["id"]), "parentID": _words(known["parent_id"])}
    info |= {name: _words(known[name]) for name in ("directory", "title", "version", "agent")}
    info |= {"model": _decoded(known["model"]), "revert": _decoded(known["revert"])}
    info["time"] = {name: known[name] for name in ("created", "updated")}
    parts: dict[str, list[JsonValue]] = defaultdict(list)
    query = "SELECT id, hex(message_id), data FROM part WHERE message_id IN"
    query += " (SELECT id FROM message WHERE session_id = CAST(? AS TEXT)) ORDER BY id"
    for each in database.rows(query, (session,), MOST_FILES * 50):
        parts[str(each[1])].append(_row(each[0], each[2]))
    order = "time_created, id" if "time_created" in _columns(database, "message") else "id"
    query = f"SELECT id, hex(id), data FROM message WHERE session_id = CAST(? AS TEXT) ORDER BY {order}"
    messages: list[JsonValue] = [
        {"info": _row(each[0], each[2]), "parts": parts[str(each[1])]}
        for each in database.rows(query, (session,), MOST_FILES * 10)
    ]
    value: Record = {"info": info, "messages": messages, "children": list(_children(database, session))}
    if "todo" in database.tables():
        wanted = _existing(database, "todo", ("content", "status", "priority", "position"))
        rows = database.rows(f"SELECT {wanted} FROM todo WHERE session_id = CAST(? AS TEXT)", (session,))
        rows.sort(key=lambda each: each[3] if isinstance(each[3], int) else 0)
        names = ("content", "status", "priority")
        value["todos"] = [dict(zip(names, map(_words, each[:3]), strict=True)) for each in rows]
    return value


def _children(database: ReadOnlyDatabase, session: bytes) -> Iterator[JsonValue]:
    """Yield the child sessions with the tokens and the model of their last answers."""
    if "parent_id" not in _columns(database, "session"):
        return
    query = "SELECT id, hex(id) FROM session WHERE parent_id = CAST(? AS TEXT)"
    for child, encoded in database.rows(query, (session,)):
        query = "SELECT data FROM message WHERE session_id = CAST(? AS TEXT) ORDER BY id DESC LIMIT 9"
        rows = database.rows(query, (bytes.fromhex(str(encoded)),), 9)
        answers = (_decoded(data) for (data,) in rows)
        last = next((each for each in answers if isinstance(each, dict) and record(each, "tokens")), {})
        yield {"id": child if isinstance(child, str) else None, "last": last}


def _row(name: SqlValue, data: SqlValue) -> JsonValue:
    value = _decoded(data)
    return {"id": _words(name), **(value if isinstance(value, dict) else {})}


def _existing(database: ReadOnlyDatabase, table: str, names: Sequence[str]) -> str:
    """Return the columns for a query, NULL for those that this version of the store does not have."""
    there = _columns(database, table)
    return ", ".join(name if name in there else f"NULL AS {name}" for name in names)


def _columns(database: ReadOnlyDatabase, table: str) -> set[str]:
    return {str(row[1]) for row in database.rows(f"PRAGMA table_info({table})")}


def _words(value: SqlValue) -> str | None:
    return value if isinstance(value, str) else None


def _decoded(value: SqlValue) -> JsonValue:
    try:
        found: JsonValue = orjson.loads(value) if isinstance(value, str) else None
    except orjson.JSONDecodeError:
        return value
    return found


def _from_tree(path: Path, info: Record, data: bytes, document: JsonDocument) -> SessionRecord:
    root, session = path.parents[2], path.stem
    documents = [(str(path), data, document)]
    files: dict[str, int] = {"/info": 0}
    left = MOST_FILES

    def values(folder: str) -> list[tuple[Record, int]]:
        nonlocal left
        found = []
        for file in sorted((root / folder).glob("*.json"))[:left]:
            left -= 1
            try:
                content = read_beneath(root, f"{folder}/{file.name}")
                each = parse(content)
            except (ReadError, JsonError):
                continue
            if isinstance(each.value, dict):
                documents.append((str(file), content, each))
                found.append((each.value, len(documents) - 1))
        return found

    messages: list[JsonValue] = []
    found = values(f"message/{session}")
    found.sort(key=lambda each: (number(record(each[0], "time"), "created") or 0, text(each[0], "id") or ""))
    for at, (message, place) in enumerate(found):
        files[f"/messages/{at}"] = place
        name = text(message, "id") or ""
        parts = values(f"part/{name}") if _NAME.fullmatch(name) else []
        files |= {f"/messages/{at}/parts/{k}": place for k, (_, place) in enumerate(parts)}
        messages.append({"info": message, "parts": [each for each, _ in parts]})

    def origin_of(pointer: str) -> Origin:
        while pointer and pointer not in files:
            pointer = pointer.rpartition("/")[0]
        file, _, each = documents[files.get(pointer, 0)]
        return each.origin(file, "")

    value: Record = {"info": info, "messages": messages}
    problem = f"only the first {MOST_FILES:,} files were read" if left <= 0 else None
    try:
        todos: JsonValue = orjson.loads(read_beneath(root, f"todo/{session}.json"))
        value["todos"] = list(records({"todos": todos}, "todos"))
    except (ReadError, orjson.JSONDecodeError):
        pass
    return SessionRecord(value, origin_of, documents, problem)
