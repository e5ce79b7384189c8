"""The nine operations of the memory service on a bundle: checks arguments, stores, lists and searches.

It knows no transport. `Refused` and `StorageFailed` carry the sentence for the agent.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Timer
from typing import Any, Final

import orjson

from ctxview.analysis.rfc3339 import parse_time
from ctxview.analysis.wording import did_you_mean, excerpt
from ctxview.core.origin import JsonValue
from ctxview.files.reading import error_text
from ctxview.formats.memory.records import (
    CONTEXTS,
    ENTRIES,
    MEMORIES,
    PLACEHOLDER,
    TRACE,
    VAULTS,
    text_of,
    unwrapped,
)
from ctxview.formats.memory.server.arguments import (
    CAPS,
    FOUND,
    LISTED,
    LONGEST_RAW,
    MOST_FOUND,
    MOST_LISTED,
    TOOL_MODELS,
    AddEntry,
    AwaitConsistency,
    CreateMemory,
    GetContext,
    GetMemory,
    GetUser,
    ListEntries,
    OfMemory,
    PutContext,
    Refused,
    SearchMemories,
    bounded,
    checked_arguments,
)
from ctxview.formats.memory.server.index import Members, MemoryIndex, sortable_time
from ctxview.formats.memory.server.log_files import LogFolder, StorageFailed

GREETING: Final = 0.3
"""Seconds in which a client connects and asks for the tools."""
MOST_NAMED: Final = 5
MOST_MEMORIES: Final = 100
ACTOR: Final = "local"
DEFAULT_VAULT: Final = "default"


class MemoryService:
    """The operations by tool name. `call` is the only entry; any thread may use it."""

    def __init__(self, folder: Path, user: str = "local user", *, trace: bool = True) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            raise StorageFailed(f"{folder} cannot be used: it is not a folder") from None
        except OSError as error:
            raise StorageFailed(f"{folder} cannot be used: {error_text(error)}") from None
        self._folder = LogFolder(folder, (VAULTS, MEMORIES, ENTRIES, CONTEXTS, TRACE))
        self._index = MemoryIndex(self._folder)
        self._user = user
        self._trace = trace
        self.problem: str | None = None
        """Why nothing can be written; None when it can."""
        try:
            self._folder.repair()
        except StorageFailed as error:
            self.problem = str(error)
        self._index.follow_memories()

    def read_ahead(self) -> None:
        """Index what is stored, in another thread, so that the first search need not wait for it.

        It begins after the client was greeted: an agent waits for its tools, and seldom searches at once.
        """
        later = Timer(GREETING, self._index.follow)
        later.daemon = True
        later.start()

    def wait_at_most(self, seconds: float) -> None:
        """Wait so long for another process that holds the lock."""
        self._folder.wait = seconds

    def close(self) -> None:
        self._folder.close()

    def call(self, tool: str, arguments: Mapping[str, Any], session: str) -> JsonValue:
        """Run a tool. Raises `Refused` and `StorageFailed`."""
        if tool not in TOOL_MODELS:
            raise Refused(f"there is no tool {excerpt(tool)!r}{did_you_mean(tool, TOOL_MODELS)}")
        outcome: JsonValue = None
        failed = True
        try:
            checked = checked_arguments(tool, arguments)
            outcome = _OPERATIONS[tool](self, checked)
            failed = False
        except (Refused, StorageFailed) as error:
            outcome = str(error)
            raise
        finally:
            self._note(session, tool, arguments, outcome, failed)
        return outcome

    def opened(self, session: str) -> None:
        """Note in the trace that an agent connected."""
        self._write_trace({"session": session, "jsonrpc": "2.0", "id": 0, "method": "initialize"})

    def _create_memory(self, asked: CreateMemory) -> JsonValue:
        with self._folder.locked():
            self._index.follow_memories()
            vault = self._vault(asked.vault_id)
            for known, members in self._index.memories.items():
                if text_of(members, "title") == asked.title and text_of(members, "vaultId") == vault:
                    raise Refused(f"the title {excerpt(asked.title)!r} is taken by the memory {known}")
            ids = {"vaultId": vault, "actorId": ACTOR}
            time, name = self._folder.next_time()
            memory: Members = {"memoryId": name, **ids, "title": asked.title, "memoryType": asked.memory_type}
            if asked.description is not None:
                memory["description"] = asked.description
            memory["creationTime"] = time
            self._folder.append(MEMORIES, memory)
            time, context = self._folder.next_time()
            ids = {"memoryId": name, **ids}
            first: Members = {"contextId": context, **ids, "context": PLACEHOLDER, "creationTime": time}
            self._folder.append(CONTEXTS, first)
        return {
            "memoryId": name,
            "vaultId": vault,
            "title": asked.title,
            "creationTime": memory["creationTime"],
        }

    def _vault(self, wanted: str | None) -> str:
        """Return the id of a vault; the default one is made when it is needed. Needs the lock."""
        if wanted is not None:
            if wanted not in self._index.vaults:
                raise Refused(
                    f"there is no vault {excerpt(wanted)!r}; leave vault_id out for the default one"
                )
            return wanted
        for known in self._index.vaults:
            return known
        time, name = self._folder.next_time()
        self._folder.append(
            VAULTS, {"vaultId": name, "actorId": ACTOR, "title": DEFAULT_VAULT, "creationTime": time}
        )
        return name

    def _memory(self, asked: OfMemory) -> Members:
        known = self._index.memories
        if asked.memory_id not in known:
            self._index.follow_memories()
        found = known.get(asked.memory_id) or self._index.memories.get(asked.memory_id)
        if found is None:
            names = ", ".join(
                f"{name} ({excerpt(text_of(members, 'title') or '')})" for name, members in self._newest()
            )
            hint = f"known: {names}" if names else "there is none yet; create_memory makes one"
            raise Refused(f"there is no memory {excerpt(asked.memory_id)!r}; {hint}")
        if asked.vault_id is not None and asked.vault_id != text_of(found, "vaultId"):
            raise Refused(f"the memory {asked.memory_id} is not in the vault {excerpt(asked.vault_id)!r}")
        return found

    def _newest(self, most: int = MOST_NAMED) -> list[tuple[str, Members]]:
        return [*self._index.memories.items()][-most:][::-1]

    def _get_memory(self, asked: GetMemory) -> JsonValue:
        memory = self._memory(asked)
        latest = self._index.newest(asked.memory_id, ENTRIES, 1)
        stats: JsonValue = {
            "entries": self._index.count(asked.memory_id, ENTRIES),
            "contexts": self._index.count(asked.memory_id, CONTEXTS),
            "contextCharacters": len(self._context(asked.memory_id)[0]),
            "lastEntryTime": text_of(latest[0], "creationTime") if latest else None,
        }
        return {**memory, "stats": stats}

    def _add_entry(self, asked: AddEntry) -> JsonValue:
        memory = self._memory(asked)
        if not asked.summary.strip():
            raise Refused("the summary is blank; each entry needs one")
        length, cap = len(asked.summary), CAPS.summary
        if length > cap + 1 or (length == cap + 1 and not asked.summary.endswith("…")):
            raise Refused(
                f"the summary has {length} characters and the cap is {cap}: leave out filler, and end "
                "with '…' when something was cut"
            )
        if not asked.raw_entry.strip():
            raise Refused("raw_entry is blank")
        for text in (asked.raw_entry, asked.summary):
            _check_encodable(text)
        fields: Members = {"rawEntry": asked.raw_entry, "summary": asked.summary}
        if asked.tags:
            fields["tags"] = dict(asked.tags)
        name, time = self._store(ENTRIES, "entryId", memory, fields)
        return {"status": "stored", "entryId": name, "creationTime": time}

    def _put_context(self, asked: PutContext) -> JsonValue:
        memory = self._memory(asked)
        text = asked.content
        if not text.strip():
            raise Refused("the context is blank")
        if unwrapped(text).strip() == PLACEHOLDER:
            raise Refused("this is the default placeholder; write the knowledge of the conversation instead")
        if len(text) > CAPS.context:
            raise Refused(
                f"the context has {len(text)} characters and the cap is {CAPS.context}: delete the oldest "
                f"lines of low value until about {CAPS.trim_target} are left; keep participants, "
                "tasks and decisions"
            )
        _check_encodable(text)
        if (bad := next(filter(_is_control, text), None)) is not None:
            raise Refused(f"the context contains the character U+{ord(bad):04X}, which is not text")
        name, time = self._store(CONTEXTS, "contextId", memory, {"context": text})
        return {"status": "stored", "contextId": name, "creationTime": time, "characters": len(text)}

    def _store(self, file: str, key: str, memory: Members, fields: Members) -> tuple[str, str]:
        ids = {name: text_of(memory, name) for name in ("memoryId", "vaultId", "actorId")}
        with self._folder.locked():
            time, name = self._folder.next_time()
            self._folder.append(file, {key: name, **ids, **fields, "creationTime": time})
        return name, time

    def _list_entries(self, asked: ListEntries) -> JsonValue:
        self._memory(asked)
        if asked.before is not None and asked.after is not None:
            raise Refused("give before or after, not both")
        for bound in (asked.before, asked.after):
            if bound is not None and parse_time(bound) is None:
                raise Refused(f"{excerpt(bound)!r} is not a time such as 2026-05-11T09:00:00.000000Z")
        applied = min(asked.limit or LISTED, MOST_LISTED)
        if asked.after is not None:
            found = self._index.oldest_after(asked.memory_id, ENTRIES, applied, sortable_time(asked.after))
        else:
            bound = sortable_time(asked.before) if asked.before is not None else None
            found = self._index.newest(asked.memory_id, ENTRIES, applied, before=bound)
        full = len(found) == applied
        return {
            "entries": list(found),
            "count": len(found),
            "applied_limit": applied,
            "next_before": text_of(found[-1], "creationTime") if full else None,
            "next_after": text_of(found[0], "creationTime") if found else asked.after,
        }

    def _get_context(self, asked: GetContext) -> JsonValue:
        self._memory(asked)
        return self._context(asked.memory_id)[0]

    def _context(self, memory: str) -> tuple[str, str | None]:
        """Return the latest context document and its time."""
        for members in self._index.newest(memory, CONTEXTS, 1):
            return unwrapped(text_of(members, "context") or PLACEHOLDER), text_of(members, "creationTime")
        return PLACEHOLDER, None

    def _await_consistency(self, asked: AwaitConsistency) -> JsonValue:
        self._memory(asked)
        self._folder.sync()
        return {"status": "consistent"}

    def _get_user(self, asked: GetUser) -> JsonValue:  # noqa: ARG002 - it has no arguments of its own
        self._index.follow_memories()
        quotas: JsonValue = {
            "contextCharacters": CAPS.context,
            "summaryCharacters": CAPS.summary,
            "rawEntryCharacters": LONGEST_RAW,
            "listEntries": MOST_LISTED,
            "searchResults": MOST_FOUND,
        }
        memories: list[JsonValue] = [
            {
                "memoryId": name,
                "title": text_of(members, "title"),
                "memoryType": text_of(members, "memoryType"),
            }
            for name, members in self._newest(MOST_MEMORIES)
        ]
        return {"userId": ACTOR, "name": self._user, "email": None, "quotas": quotas, "memories": memories}

    def _search_memories(self, asked: SearchMemories) -> JsonValue:
        self._memory(asked)
        count = min(asked.top_k or FOUND, MOST_FOUND)
        entries: list[JsonValue] = [
            {**hit.members, "score": round(hit.score, 4)}
            for hit in self._index.search(asked.memory_id, ENTRIES, asked.query, count)
        ]
        latest, time = self._context(asked.memory_id)
        best = next(iter(self._index.search(asked.memory_id, CONTEXTS, asked.query, 1)), None)
        return {
            "entries": entries,
            "count": len(entries),
            "latest_context": latest,
            "context_timestamp": time,
            "best_context": unwrapped(text_of(best.members, "context") or "") if best is not None else None,
            "best_context_timestamp": text_of(best.members, "creationTime") if best is not None else None,
            "best_context_score": round(best.score, 4) if best is not None else None,
        }

    def _note(
        self, session: str, tool: str, arguments: Mapping[str, Any], outcome: JsonValue, failed: bool
    ) -> None:
        """Append the call and its result to the trace."""
        if isinstance(outcome, dict):
            outcome = {key: value for key, value in outcome.items() if key not in _LEFT_OUT}
        text = outcome if isinstance(outcome, str) else orjson.dumps(outcome).decode()
        params: JsonValue = {"name": tool, "arguments": bounded(arguments) if failed else dict(arguments)}
        result: JsonValue = {"content": [{"type": "text", "text": text}], "isError": failed}
        call: Members = {"session": session, "jsonrpc": "2.0", "method": "tools/call", "params": params}
        self._write_trace(call, {"session": session, "jsonrpc": "2.0", "result": result})

    def _write_trace(self, *lines: Members) -> None:
        if not self._trace:
            return
        try:
            with self._folder.locked():
                time, name = self._folder.next_time()
                numbered = ({"timestamp": time, **line, "id": name} for line in lines)
                self._folder.append(TRACE, *numbered)
        except (StorageFailed, TypeError, ValueError) as error:
            # The answer of a tool does not depend on its trace.
            self.problem = str(error)


_LEFT_OUT: Final = frozenset(("entries", "latest_context", "best_context", "memories"))
"""Members of results that the trace leaves out, because they are in other files."""

_OPERATIONS: Final[Mapping[str, Callable[[MemoryService, Any], JsonValue]]] = {
    name: getattr(MemoryService, f"_{name}") for name in TOOL_MODELS
}


def _check_encodable(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise Refused("the text contains half of a surrogate pair, which is not a character") from None


def _is_control(character: str) -> bool:
    """Whether a character is a control or a non-character; tabs and line ends are text."""
    code = ord(character)
    non_character = code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF
    return non_character or (unicodedata.category(character) == "Cc" and character not in "\t\n\r")
