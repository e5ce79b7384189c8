"""Small bundles for tests, written in the lines that the rule examples use.

`context:` stores a document, `entry:` an entry, `outbox:` a row, `user:` and `assistant:` say something, and
a tool name is a call: `add_entry {…} -> result`, `! error` for a failed one, `@TIME`, `x6` for six calls.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from ctxview.analysis.tokens import ESTIMATES
from ctxview.core.findings import Finding
from ctxview.core.state import ContextState
from ctxview.formats.interface import Lens
from ctxview.formats.memory.records import PLACEHOLDER
from ctxview.formats.memory.source import MemorySource

MEMORY = "m1"
COUNTER = ESTIMATES["bytes/4"]
_CALL = re.compile(r"(\w+)(?: @(\S+))?(?: (\{.*?\}))?(?: x(\d+))?(?: (->|!) (.*))?", re.DOTALL)


def lens(profile: str | None = None) -> Lens:
    return Lens(COUNTER, profile)


def write_bundle(folder: Path, script: str) -> str:
    """Write the bundle of a script; return the name of its profile."""
    made: dict[str, list[dict[str, Any]]] = {}
    profile, clock = "v1", _clock()
    for line in script.splitlines():
        name, _, rest = line.partition(": ")
        rest = _filled(rest)
        time = next(clock)
        match name:
            case "profile":
                profile = rest
            case "context":
                text = json.loads(rest)
                row = {"contextId": time, "memoryId": MEMORY, "context": text, "creationTime": time}
                made.setdefault("contexts.jsonl", []).append(row)
            case "entry":
                row = {"entryId": time, "memoryId": MEMORY, "creationTime": time, **json.loads(rest)}
                made.setdefault("entries.jsonl", []).append(row)
            case "outbox":
                made.setdefault("outbox.jsonl", []).append(json.loads(rest))
            case "user" | "assistant":
                said = {"timestamp": time, "role": name, "content": rest}
                made.setdefault("trace.jsonl", []).append(said)
            case _:
                made.setdefault("trace.jsonl", []).extend(_calls(_filled(line), clock))
    folder.mkdir(parents=True, exist_ok=True)
    for file, rows in made.items():
        (folder / file).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return profile


def opened(folder: Path, script: str) -> MemorySource:
    write_bundle(folder, script)
    return MemorySource(folder)


def findings_of(folder: Path, script: str, profile: str | None = None) -> list[Finding]:
    stated = write_bundle(folder, script)
    return list(MemorySource(folder).findings(lens(profile or stated)))


def rules_of(folder: Path, script: str, profile: str | None = None) -> set[str]:
    return {finding.rule for finding in findings_of(folder, script, profile)}


def state_of(source: MemorySource, revision: int = -1) -> ContextState:
    number = revision if revision >= 0 else len(source.revisions) + revision
    return source.reading(number, lens()).state


def _clock() -> Iterator[str]:
    now = datetime(2026, 5, 11, 9, tzinfo=UTC)
    while True:
        yield f"{now:%Y-%m-%dT%H:%M:%S.%f}Z"
        now += timedelta(seconds=5)


def _calls(line: str, clock: Iterator[str]) -> Iterator[dict[str, Any]]:
    found = _CALL.fullmatch(line)
    assert found is not None, line
    tool, at, arguments, times, sign, result = found.groups()
    for _ in range(int(times or 1)):
        time = at or next(clock)
        sent = {"memory_id": MEMORY, **json.loads(arguments or "{}")}
        params = {"name": tool, "arguments": sent}
        yield {"timestamp": time, "jsonrpc": "2.0", "id": time, "method": "tools/call", "params": params}
        if sign is not None:
            content = [{"type": "text", "text": result}]
            answer = {"content": content, "isError": sign == "!"}
            yield {"timestamp": time, "jsonrpc": "2.0", "id": time, "result": answer}


def _filled(text: str) -> str:
    text = text.replace("PLACEHOLDER", PLACEHOLDER if "->" in text else json.dumps(PLACEHOLDER))
    return re.sub(r"<(\d+) characters>", lambda found: ("word " * 20000)[: int(found[1]) - 1] + "w", text)
