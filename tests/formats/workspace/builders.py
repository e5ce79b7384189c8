"""A sound home of era B, and small changes to it in the language of the rule examples."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from ctxview.analysis.tokens import ESTIMATES
from ctxview.core.findings import Finding
from ctxview.formats.interface import Lens
from ctxview.formats.workspace.source import WorkspaceSource

SECTIONS = {
    "Task": "Fix the clock.",
    "Decisions": "- Use UTC in every log.",
    "Facts": "- The first clock is late.",
    "Pending": "- [ ] Write the test.",
    "Errors": "- The first build failed because of a missing table.",
}
FILES = {
    "AGENTS.md": "# Agents\n\n- Assumptions are forbidden.\n- Run the whole test suite before every commit.\n"
    "- The database listens on port 5432.\n",
    "SOUL.md": "# Soul\n\n- Calm and friendly.\n",
    "USER.md": "# User\n\n- Prefers tea over coffee.\n",
    "TOOLS.md": "# Tools\n\n- `read_file`: reads one file.\n",
    "memory/MEMORY.md": "- The user was born near the sea.\n",
}
HISTORY = "sessions/cli_default_2026-02-17.jsonl"
SCHEMA = """
CREATE TABLE sessions(id TEXT PRIMARY KEY, session_key TEXT, created_at TEXT, updated_at TEXT,
  message_count INT);
CREATE TABLE messages(id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT, tool_calls TEXT,
  tool_call_id TEXT, timestamp TEXT);
CREATE TABLE summary_nodes(id INTEGER PRIMARY KEY, session_id TEXT, source_ids TEXT, level INT,
  created_at TEXT, tokens INT);
INSERT INTO sessions VALUES ('s1', 'cli:default', '2026-03-05T10:00:00Z', '2026-03-05T11:00:00Z', 1);
INSERT INTO messages VALUES (1, 's1', 'user', 'Fix the clock.', NULL, NULL, '2026-03-05T10:00:00Z');
"""
LENS = Lens(ESTIMATES["bytes/4"])


def document(sections: Mapping[str, str] = SECTIONS) -> str:
    return "\n".join(f"## {title}\n{text}\n" if text else f"## {title}\n" for title, text in sections.items())


def session_file(body: str, **keys: str) -> str:
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    front = {
        "session_key": "cli:default",
        "created": "2026-02-17T10:00:00Z",
        "updated": now,
        "status": "active",
    }
    lines = "\n".join(f"{key}: {value}" for key, value in (front | keys).items())
    return f"---\n{lines}\n---\n\n{body}"


def audit_entry(sequence: int, previous: str, tool: str = "read_file") -> dict[str, object]:
    entry: dict[str, object] = {
        "seq": sequence,
        "timestamp": "2026-02-17T10:00:03Z",
        "tool_name": tool,
        "tool_call_id": f"call_{sequence}",
        "arguments": {"path": "notes.txt"},
        "result_data": "12:00:07",
        "result_ok": True,
    }
    arguments = json.dumps(entry["arguments"], separators=(",", ":"), sort_keys=True)
    parts = (previous, sequence, tool, entry["tool_call_id"], arguments, "12:00:07", entry["timestamp"])
    digest = hashlib.sha256("|".join(map(str, parts)).encode()).hexdigest()
    return entry | {"prev_hash": previous, "hash": digest}


def sound_home() -> dict[str, str]:
    """The files of a home in which no rule but WSP017 has a finding; era B injects its document twice."""
    messages = [
        {"_type": "metadata", "created_at": "2026-02-17T10:00:00Z"},
        {"role": "user", "content": "Fix the clock. The port is 5432.", "timestamp": "2026-02-17T10:00:01Z"},
        {
            "role": "assistant",
            "content": "I look into `src/clock.rs`: it is 7 seconds late since 2026-02-16.",
        },
    ]
    first = audit_entry(0, "")
    second = audit_entry(1, str(first["hash"]))
    turns = ({"turn": at, "context_tokens": 2000 + at, "working_memory_tokens": 90} for at in (1, 2))
    return {
        **{f"workspace/{name}": text for name, text in FILES.items()},
        "workspace/CONTEXT-cli.md": document(),
        "workspace/memory/sessions/SESSION_41308070.md": session_file(document()),
        "workspace/memory/audit/cli_default.jsonl": lines(first, second),
        "workspace/memory/audit/cli_default.turns.jsonl": lines(*turns),
        "workspace/memory/learnings.jsonl": lines(
            {"tool_name": "read_file", "succeeded": True, "error": None}
        ),
        HISTORY: lines(*messages),
    }


def lines(*records: Mapping[str, object]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def changed_home(example: str) -> dict[str, str]:
    """The sound home after the changes of a rule example, one a line."""
    files = sound_home()
    for line in filter(None, map(str.strip, example.split("\n"))):
        _change(files, line)
    return files


def _change(files: dict[str, str], line: str) -> None:
    if line.startswith("- "):
        del files[_path(files, line[2:])]
        return
    found = re.fullmatch(r"(\S+)(?: ([>:]) ([\w ]+?))? (\+=|=|-)(?: (.*))?", line)
    assert found is not None, line
    name, kind, part, operator, text = _path(files, found[1]), found[2], found[3], found[4], found[5] or ""
    if match := re.search(r" @(\d+)$", text):
        text = "\n".join([text[: match.start()]] * int(match[1]))
    if kind == ":":
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        value = now if text == "NOW" else text
        files[name] = re.sub(rf"^{part}: .*$", f"{part}: {value}", files[name], flags=re.MULTILINE)
    elif kind == ">" or operator == "-":
        _change_section(files, name, part or text, operator, text)
    elif operator == "=":
        files[name] = text + "\n"
    elif text == "LAST":
        files[name] += files[HISTORY].splitlines()[-1] + "\n"
    elif text:
        files[name] = files.get(name, "") + text + "\n"


def _change_section(files: dict[str, str], name: str, title: str, operator: str, text: str) -> None:
    pattern = re.compile(rf"(?ms)^## {title}\n(.*?)(?=^## |\Z)")
    old = pattern.search(files[name])
    assert old is not None, title
    body = old[1].rstrip("\n")
    kept = f"{body}\n{text}".strip("\n") if operator == "+=" and text else body if operator == "+=" else text
    new = "" if operator == "-" else f"## {title}\n{kept}\n\n"
    files[name] = files[name][: old.start()] + new + files[name][old.end() :]


def _path(files: Mapping[str, str], name: str) -> str:
    known = next((path for path in files if path.endswith(f"/{name}") or path == name), None)
    in_home = name.startswith("sessions") or name == "config.json"
    return known or (name if in_home else f"workspace/{name}")


def write(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith(".db"):
            make_database(path, str(text))
        else:
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def make_database(path: Path, statements: str) -> None:
    connection = sqlite3.connect(path)
    creates = re.search(r"CREATE TABLE sessions\b", statements)
    connection.executescript(statements if creates else SCHEMA + statements)
    connection.commit()
    connection.close()


def findings(folder: Path, **options: str | int) -> list[Finding]:
    lens = Lens(ESTIMATES["bytes/4"], None, options)
    return list(WorkspaceSource(folder).findings(lens))


def rules_of(found: Iterable[Finding]) -> set[str]:
    return {each.rule for each in found}
