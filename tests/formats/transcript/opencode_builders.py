# ruff: noqa: E501 - rows of real shapes are long
"""Sessions of OpenCode in a short notation, as an export, a SQLite store or an old tree.

`ID user: text`, `ID assistant sent=9 out=1: text | tool CALL NAME STATUS text`, `ID compact tail=ID`, `ID summary of=ID`. Words
`error`, `aborted`, `open` after the kind mean that the answer failed, was stopped, or is not finished.
"""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

from tests.formats.transcript.builders import repeated

Json = dict[str, Any]


def export(notation: str, session: str = "ses_1", **info: Any) -> Json:
    """Return a session in the shape of an export."""
    messages = [_message(line.strip(), at) for at, line in enumerate(notation.strip().splitlines())]
    about = {"id": session, "title": "A session", "directory": "/work", "version": "1.2.0", **info}
    return {"info": about, "messages": messages}


def _message(line: str, at: int) -> Json:
    head, _, rest = line.partition(":")
    name, kind, *words = head.split()
    keys = dict(word.split("=") for word in words if "=" in word)
    info: Json = {"id": name, "role": "user", "time": {"created": 1_785_000_000_000 + at * 1000}}
    parts = [
        _part(piece.strip(), f"prt_{name}_{k}") for k, piece in enumerate(rest.split("|")) if piece.strip()
    ]
    if kind == "compact":
        tail = {"tail_start_id": keys["tail"]} if "tail" in keys else {}
        parts = [{"id": f"prt_{name}", "type": "compaction", "auto": "auto" in words, **tail}]
    elif kind != "user":
        sent = int(keys.get("sent", 0))
        cache = {"read": int(keys.get("cached", 0)), "write": 0}
        tokens = {
            "input": sent - cache["read"],
            "output": int(keys.get("out", 0)),
            "reasoning": 0,
            "cache": cache,
        }
        info |= {
            "role": "assistant",
            "modelID": keys.get("model", "claude-sonnet-4-5"),
            "providerID": "anthropic",
        }
        info |= {"tokens": tokens, "finish": "stop", "parentID": keys.get("of", "")}
        info |= {"summary": True} if kind == "summary" else {}
        if "error" in words:
            info["error"] = {"name": "APIError", "data": {"message": "overloaded"}}
        if "aborted" in words:
            info["error"] = {"name": "MessageAbortedError", "data": {"message": "aborted"}}
        if "open" in words:
            del info["finish"]
        parts = [{"id": f"prt_{name}_s", "type": "step-start"}, *parts]
    return {"info": info, "parts": parts}


def _part(piece: str, name: str) -> Json:
    word, _, rest = piece.partition(" ")
    match word:
        case "tool":
            call, tool, status, *text = rest.split(" ", 3)
            return {"id": name, "type": "tool", "callID": call, "tool": tool, "state": _state(status, *text)}
        case "reasoning":
            return {"id": name, "type": "reasoning", "text": rest}
        case "synthetic" | "ignored":
            return {"id": name, "type": "text", "text": rest, word: True}
        case "file":
            return {"id": name, "type": "file", "mime": rest, "filename": "shot.png", "url": "data:x"}
        case "todo":
            given = {"todos": json.loads(rest)}
            state = {"status": "completed", "input": given, "output": "ok", "time": {}}
            return {"id": name, "type": "tool", "callID": f"c{name}", "tool": "todowrite", "state": state}
    return {"id": name, "type": "text", "text": repeated(piece)}


def _state(status: str, text: str = "") -> Json:
    state: Json = {"status": status, "input": {"filePath": "/work/a.py"}, "time": {"start": 1}}
    if status == "cleared":
        return {**state, "status": "completed", "output": repeated(text), "time": {"compacted": 9}}
    if status == "task":
        metadata = {"sessionId": text}
        given = {"prompt": "Search", "subagent_type": "explore"}
        return {**state, "status": "completed", "input": given, "output": "found", "metadata": metadata}
    if status == "error":
        return {**state, "error": text}
    return state if status in ("pending", "running") else {**state, "output": repeated(text)}


def write_export(folder: Path, notation: str, **info: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "session.json"
    path.write_text(json.dumps(export(notation, **info), indent=1))
    return path


SCHEMA = """
CREATE TABLE `session` (id text PRIMARY KEY, project_id text, parent_id text, directory text, title text, version text,
  revert text, time_created integer, time_updated integer);
CREATE TABLE `message` (id text PRIMARY KEY, session_id text, time_created integer, data text);
CREATE TABLE `part` (id text PRIMARY KEY, message_id text, session_id text, time_created integer, data text);
CREATE TABLE `todo` (session_id text, content text, status text, priority text, position integer);
CREATE TABLE `account` (id text, access_token text);
"""


def write_store(folder: Path, *sessions: Json, wal: bool = False) -> Path:
    """Write a store; with `wal` everything is still in the write-ahead log."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "opencode.db"
    database = sqlite3.connect(path)
    if wal:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA wal_autocheckpoint = 0")
    database.executescript(SCHEMA)
    database.execute("INSERT INTO account VALUES ('a', 'secret-token-of-the-account')")
    for at, session in enumerate(sessions):
        info = session["info"]
        row = (info["id"], "p", info.get("parentID"), info["directory"], info["title"], info["version"])
        revert = json.dumps(info["revert"]) if "revert" in info else None
        database.execute("INSERT INTO session VALUES (?,?,?,?,?,?,?,?,?)", (*row, revert, at, at))
        for message in session["messages"]:
            own = message["info"]
            data = json.dumps({name: each for name, each in own.items() if name != "id"})
            name = f"{info['id']}{own['id']}" if at else own["id"]
            row = (name, info["id"], own["time"]["created"], data)
            database.execute("INSERT INTO message VALUES (?,?,?,?)", row)
            for part in message["parts"]:
                data = json.dumps({key: each for key, each in part.items() if key != "id"})
                row = (f"{part['id']}{at or ''}", name, info["id"], 0, data)
                database.execute("INSERT INTO part VALUES (?,?,?,?,?)", row)
        for place, todo in enumerate(session.get("todos", ())):
            row = (info["id"], todo["content"], todo["status"], "high", place)
            database.execute("INSERT INTO todo VALUES (?,?,?,?,?)", row)
    database.commit()
    if wal:
        # Copies while the database is open: closing it would move the log into the database.
        kept = folder / "copy"
        kept.mkdir()
        for name in ("opencode.db", "opencode.db-wal"):
            (kept / name).write_bytes((folder / name).read_bytes())
        path = kept / "opencode.db"
    database.close()
    return path


def write_tree(folder: Path, *sessions: Json) -> Path:
    """Write the storage of an older version."""
    for session in sessions:
        info = session["info"]
        files = {f"session/p1/{info['id']}.json": info}
        for message in session["messages"]:
            own = message["info"]
            files[f"message/{info['id']}/{own['id']}.json"] = own
            files |= {f"part/{own['id']}/{part['id']}.json": part for part in message["parts"]}
        if "todos" in session:
            files[f"todo/{info['id']}.json"] = session["todos"]
        for name, value in files.items():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(json.dumps(value))
    return folder
