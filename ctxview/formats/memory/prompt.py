"""What an agent loads when a session begins: the context document, then the latest entries."""

from __future__ import annotations

import json
from collections.abc import Iterator
from textwrap import indent

from ctxview.analysis.wording import counted
from ctxview.core.origin import JsonValue
from ctxview.core.prompt import CutKind, Prompt, PromptCut, PromptError, PromptMessage, PromptPart
from ctxview.formats.memory.document import parse_document
from ctxview.formats.memory.records import PLACEHOLDER, value_of
from ctxview.formats.memory.state.inputs import MemoryAt, MemoryStateInputs

NOTE = (
    "The results of get_context and list_entries as the service writes them. "
    "The rules of the agent, its tools and the conversation are in no file of a memory."
)
_ENTRY = ("entryId", "actorId", "memoryId", "vaultId", "creationTime", "rawEntry")
_IF_SET = ("summary", "tags", "expirationTime")
_ESCAPED = str.maketrans({each: f"\\u{ord(each):04x}" for each in "<>&\u2028\u2029"})
"""The characters that the service escapes in JSON, beside those that must be."""


def bootstrap_prompt(inputs: MemoryStateInputs, target: str | None) -> Prompt:
    """Return the results of the first two calls of a session; raises `PromptError`."""
    found = [memory for memory in inputs.memories if target in (None, memory.title)]
    if not found:
        raise PromptError(f"there is no memory {target!r}" if target else "the bundle has no memory")
    memory = found[-1]
    absent = PromptCut(kind=CutKind.ABSENT, what="system prompt", reason="it is in no file of a memory")
    none = PromptCut(kind=CutKind.ABSENT, what="context", reason="context not found")
    messages = (
        PromptMessage("system", absent=absent),
        PromptMessage("tool get_context", tuple(_context_parts(memory)))
        if memory.snapshot is not None
        else PromptMessage("tool get_context", absent=none),
        PromptMessage("tool list_entries", tuple(_entry_parts(inputs, memory))),
    )
    return Prompt(messages, exact=False, notes=(NOTE,))


def _context_parts(memory: MemoryAt) -> Iterator[PromptPart]:
    snapshot = memory.snapshot
    if snapshot is None:
        return
    text = _json({"activeContext": PLACEHOLDER}, None) if snapshot.is_placeholder else snapshot.text
    origin = snapshot.place.origin("context")
    starts = {section.number: section.heading for section in parse_document(snapshot.text).sections}
    heading = starts.get(0, "")
    for number, line in enumerate(text.split("\n"), 1):
        heading = starts.get(number, heading)
        block, tier = memory.document_names.get(number), memory.section(heading)
        yield PromptPart(text=f"{line}\n", block=block, tier=tier, origin=origin)


def _entry_parts(inputs: MemoryStateInputs, memory: MemoryAt) -> Iterator[PromptPart]:
    tier, limit = memory.tier("entries"), inputs.profile.bootstrap.entries
    loaded = memory.entries[-limit:][::-1]
    oldest = loaded[-1].time if loaded else None
    head = f'{{\n  "applied_limit": {limit},\n  "count": {len(loaded)},\n  "entries": ['
    yield PromptPart(text=f"{head}\n" if loaded else head, tier=tier)
    for number, entry in enumerate(loaded):
        members = entry.place.line().value or {}
        record = {name: value_of(members, name) for name in _ENTRY if value_of(members, name) is not None}
        record |= {name: found for name in _IF_SET if (found := value_of(members, name)) is not None}
        if entry.tags:
            record["tags"] = dict(sorted(entry.tags.items()))
        written = indent(_json(record, 2), "    ")
        comma = "," if number + 1 < len(loaded) else ""
        yield PromptPart(text=f"{written}{comma}\n", block=entry.name, tier=tier, origin=entry.place.origin())
    if hidden := len(memory.entries) - len(loaded):
        reason = f"list_entries loads the newest {limit}; a search finds the others"
        what = counted(hidden, "older entry", "older entries")
        yield PromptPart(tier=tier, cut=PromptCut(kind=CutKind.HIDDEN, what=what, reason=reason))
    before = _json(oldest if len(loaded) == limit else None, None)
    end = f'],\n  "next_after": {_json(oldest, None)},\n  "next_before": {before}\n}}'
    yield PromptPart(text=f"  {end}" if loaded else end, tier=tier)


def _json(value: JsonValue, spaces: int | None) -> str:
    separators = (",", ": ") if spaces else (",", ":")
    return json.dumps(value, ensure_ascii=False, indent=spaces, separators=separators).translate(_ESCAPED)
