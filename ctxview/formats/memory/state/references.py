"""The references of a memory: from each context line to the raw entry or the summary behind it."""

from __future__ import annotations

from collections.abc import Iterator

from ctxview.core.origin import Origin
from ctxview.core.state import Ref, RefStatus
from ctxview.formats.memory.lineage import LineOrigin
from ctxview.formats.memory.state.inputs import MemoryAt, MemoryStateInputs


def build_refs(inputs: MemoryStateInputs) -> tuple[Ref, ...]:
    return tuple(ref for memory in inputs.memories for ref in _lineage(memory))


def line_id(memory: MemoryAt, origin: LineOrigin) -> str:
    return memory.line_name(origin.line.number)


def line_origins(memory: MemoryAt) -> list[LineOrigin]:
    return memory.history.origins(memory.number) if memory.number is not None else []


def _lineage(memory: MemoryAt) -> Iterator[Ref]:
    snapshot = memory.snapshot
    if snapshot is None:
        return
    where = snapshot.place.origin("context")
    for origin in line_origins(memory):
        if origin.summary is not None:
            yield _ref(memory, origin, "from summary", where)
        if not origin.from_summary or origin.supported:
            yield _ref(memory, origin, "support", where)


def _ref(memory: MemoryAt, origin: LineOrigin, kind: str, where: Origin) -> Ref:
    entry = origin.summary if kind == "from summary" else origin.entry
    if kind == "from summary":
        status = RefStatus.MISMATCH
    else:
        status = RefStatus.RESOLVED if origin.supported else RefStatus.DANGLING
    found = entry is not None and status is not RefStatus.DANGLING
    nearest = f"nearest, {origin.share:.0%} of the words: " if entry is not None and not found else ""
    raw = (
        f"raw entry: {nearest}{entry.raw}\nsummary: {entry.summary}" if entry is not None else "no raw entry"
    )
    return Ref(
        id=line_id(memory, origin),
        kind=kind,
        target=entry.name if entry is not None and found else "no raw entry",
        status=status,
        tokens=None,
        bytes=len((entry.raw or "").encode("utf-8", "surrogatepass"))
        if entry is not None and found
        else None,
        used_by=(line_id(memory, origin),),
        origin=where,
        text=f"line {origin.line.number}: {origin.line.text}\n{raw}",
    )
