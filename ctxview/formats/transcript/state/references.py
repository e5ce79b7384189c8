"""References: files that tools touched, persisted outputs, sub-agents. Nothing outside is looked at."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ctxview.core.state import Ref, RefStatus
from ctxview.formats.transcript.children import HELPERS, agent_of, is_agent
from ctxview.formats.transcript.facts import FILE_TOOLS, TranscriptFacts
from ctxview.formats.transcript.model import Dialect, LogPart, Mark, PartKind
from ctxview.formats.transcript.state.tiers import block_id

NOT_NAMED = "no row of the session names it yet"


def build_refs(facts: TranscriptFacts) -> tuple[Ref, ...]:
    return (
        *_outputs(facts),
        *_agents(facts),
        *_named_elsewhere(facts),
        *_files(facts),
        *_named_files(facts),
        *_memory_files(facts),
    )


def _memory_files(facts: TranscriptFacts) -> Iterator[Ref]:
    """Yield the memory files of the project, which lie beside the session."""
    for name in facts.memory_files:
        target = f"memory/{name}"
        yield Ref(target, "memory file", target, RefStatus.RESOLVED, None, None, (), facts.log.origin(0))


def _named_elsewhere(facts: TranscriptFacts) -> Iterator[Ref]:
    """Yield what a request names by an address or an id of the provider."""
    if facts.request is None:
        return
    seen = set()
    for row, kind, name in (*facts.request.on_server, *facts.request.links):
        if (kind, name) not in seen:
            seen.add((kind, name))
            used = (facts.log.name(row),)
            yield Ref(name, kind, name, RefStatus.EXTERNAL, None, None, used, facts.log.origin(row))


def _files(facts: TranscriptFacts) -> Iterator[Ref]:
    used: dict[tuple[str, str], list[LogPart]] = {}
    for part in facts.context.parts:
        if part.kind is PartKind.CALL and part.tool in FILE_TOOLS and part.about:
            used.setdefault((FILE_TOOLS[part.tool], part.about), []).append(part)
        elif part.kind in (PartKind.MEMORY, PartKind.REMINDER) and part.about and "/" in part.about:
            used.setdefault((part.kind.value, part.about), []).append(part)
    results = {part.call_id: part for part in facts.context.parts if part.kind is PartKind.RESULT}
    for (kind, path), parts in used.items():
        tokens = sum(facts.sizes.of(results.get(part.call_id, part)) for part in parts)
        ids = tuple(block_id(facts, part) for part in parts)
        place = facts.log.origin(parts[0].row)
        yield Ref(f"{kind} {path}", kind, path, RefStatus.EXTERNAL, tokens, None, ids, place)


def _named_files(facts: TranscriptFacts) -> Iterator[Ref]:
    """Yield the files that rows name beside their texts: attached ones, and those that a patch changed."""
    rows: dict[tuple[str, str], list[int]] = {}
    for row, kind, name in facts.log.named_files:
        if row < facts.end and (facts.turn_of(row) is not None or not facts.log.rows[row].in_context):
            rows.setdefault((kind, name), []).append(row)
    for (kind, name), found in rows.items():
        used = tuple(map(facts.log.name, found))
        place = facts.log.origin(found[0])
        yield Ref(f"{kind} {name}", kind, name, RefStatus.EXTERNAL, None, None, used, place)


def _outputs(facts: TranscriptFacts) -> Iterator[Ref]:
    for part in facts.context.parts:
        if part.mark is not Mark.PERSISTED:
            continue
        name = facts.persisted_name(part)
        status = RefStatus.EXTERNAL
        if name is not None:
            status = RefStatus.RESOLVED if name in facts.beside else RefStatus.DANGLING
        target = name or part.detail or "?"
        ids = (block_id(facts, part),)
        yield Ref(target, "output", target, status, None, None, ids, facts.log.origin(part.row))


def _agents(facts: TranscriptFacts) -> Iterator[Ref]:
    known = {child.agent for child in facts.log.children}
    for name in filter(is_agent, facts.beside):
        if (agent := agent_of(name)) not in known and not Path(name).name.startswith(HELPERS):
            place = facts.log.origin(0)
            yield Ref(agent, "sub-agent", name, RefStatus.RESOLVED, None, None, (), place, text=NOT_NAMED)
    for child in facts.log.children:
        if child.row >= facts.end:
            continue
        if child.inline:
            status = RefStatus.RESOLVED
        elif child.agent is None:
            status = RefStatus.UNKNOWN
        else:
            status = RefStatus.RESOLVED if child.file is not None else RefStatus.DANGLING
        name = child.agent or child.call_id or "?"
        stored = facts.log.dialect is Dialect.OPENCODE
        target = child.file or (name if stored else f"agent-{name}.jsonl")
        yield Ref(
            name,
            "sub-agent",
            target,
            status,
            child.tokens,
            None,
            (facts.log.name(child.row),),
            facts.log.origin(child.row),
            text=child.prompt,
        )
