"""What an agent loads when a session begins: the context document, then the latest entries."""

from __future__ import annotations

from collections.abc import Iterator

import orjson

from ctxview.analysis.wording import counted
from ctxview.core.origin import JsonValue
from ctxview.core.prompt import CutKind, Prompt, PromptCut, PromptError, PromptMessage, PromptPart
from ctxview.formats.memory.document import parse_document
from ctxview.formats.memory.records import PLACEHOLDER
from ctxview.formats.memory.state.inputs import MemoryAt, MemoryStateInputs

NOTE = (
    "The results of get_context and list_entries as the memory server of ctxview gives them. "
    "The system prompt and the conversation are in no file of a memory."
)


def bootstrap_prompt(inputs: MemoryStateInputs, target: str | None) -> Prompt:
    """Return the results of the first two calls of a session; raises `PromptError`."""
    found = [memory for memory in inputs.memories if target in (None, memory.title)]
    if not found:
        raise PromptError(f"there is no memory {target!r}" if target else "the bundle has no memory")
    memory = found[-1]
    absent = PromptCut(kind=CutKind.ABSENT, what="system prompt", reason="it is in no file of a memory")
    messages = (
        PromptMessage("system", absent=absent),
        PromptMessage("tool get_context", tuple(_context_parts(memory))),
        PromptMessage("tool list_entries", tuple(_entry_parts(inputs, memory))),
    )
    return Prompt(messages, exact=False, notes=(NOTE,))


def _context_parts(memory: MemoryAt) -> Iterator[PromptPart]:
    snapshot = memory.snapshot
    text = snapshot.text if snapshot is not None else PLACEHOLDER
    origin = snapshot.place.origin("context") if snapshot is not None else None
    starts = {section.number: section.heading for section in parse_document(text).sections}
    heading = starts.get(0, "")
    for number, line in enumerate(text.split("\n"), 1):
        heading = starts.get(number, heading)
        block, tier = memory.document_names.get(number), memory.section(heading)
        yield PromptPart(text=f"{line}\n", block=block, tier=tier, origin=origin)


def _entry_parts(inputs: MemoryStateInputs, memory: MemoryAt) -> Iterator[PromptPart]:
    tier, limit = memory.tier("entries"), inputs.profile.bootstrap.entries
    loaded = memory.entries[-limit:][::-1]
    yield PromptPart(text='{"entries":[\n', tier=tier)
    for number, entry in enumerate(loaded):
        record: dict[str, JsonValue] = {"entryId": entry.id, "rawEntry": entry.raw, "summary": entry.summary}
        if entry.tags:
            record["tags"] = dict(entry.tags)
        written = orjson.dumps({**record, "creationTime": entry.time}).decode()
        comma = "," if number + 1 < len(loaded) else ""
        yield PromptPart(text=f"{written}{comma}\n", block=entry.name, tier=tier, origin=entry.place.origin())
    if hidden := len(memory.entries) - len(loaded):
        reason = f"list_entries loads the newest {limit}; a search finds the others"
        what = counted(hidden, "older entry", "older entries")
        yield PromptPart(tier=tier, cut=PromptCut(kind=CutKind.HIDDEN, what=what, reason=reason))
    yield PromptPart(text=f'],"count":{len(loaded)},"applied_limit":{limit}}}\n', tier=tier)
