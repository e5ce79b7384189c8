"""The budgets of a memory: the context document by section, the longest summary, and the flush cadence."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import nlargest

from ctxview.core.state import Budget, Segment
from ctxview.formats.memory.document import parse_document
from ctxview.formats.memory.model import Entry
from ctxview.formats.memory.state.gaps import unflushed
from ctxview.formats.memory.state.inputs import MOST_BLOCKS, MemoryAt, MemoryStateInputs

MOST_SUMMARIES = 5


def build_budgets(inputs: MemoryStateInputs) -> tuple[Budget, ...]:
    return tuple(budget for memory in inputs.memories for budget in _budgets(inputs, memory))


def _budgets(inputs: MemoryStateInputs, memory: MemoryAt) -> Iterator[Budget]:
    caps, cadence, rules = inputs.profile.caps, inputs.profile.cadence, f"profile {inputs.profile.name}"
    if memory.snapshot is not None:
        text = memory.snapshot.text
        yield Budget(
            memory.tier("context"),
            "characters",
            caps.context,
            len(text),
            None,
            tuple(_sections(text)),
            limit_from=rules,
            note=f"trim target {caps.trim_target:,}" if len(text) > caps.trim_target else None,
        )
    if memory.entries:
        recent = memory.entries[-MOST_BLOCKS:]
        longest = nlargest(MOST_SUMMARIES, recent, key=_length)
        segments = (Segment(entry.name, _length(entry), caps.summary) for entry in longest)
        most = _length(longest[0])
        yield Budget(
            memory.tier("longest summary"),
            "characters",
            caps.summary,
            most,
            None,
            tuple(segments),
            limit_from=rules,
        )
        waiting = unflushed(memory)
        flushed = (Segment("since the last put_context", waiting, cadence.usual),)
        name = memory.tier("flush cadence")
        yield Budget(name, "entries", cadence.usual, waiting, None, flushed, limit_from=rules)


def _length(entry: Entry) -> int:
    return len(entry.summary or "")


def _sections(text: str) -> Iterator[Segment]:
    """Yield the size of each section with its heading; the sizes add up to the whole text."""
    lines = text.split("\n")
    sections = parse_document(text).sections
    starts = [max(0, section.number - 1) for section in sections]
    if not starts:
        return
    starts[0] = 0
    for section, start, end in zip(sections, starts, [*starts[1:], len(lines)], strict=True):
        last = end == len(lines)
        used = sum(len(line) + 1 for line in lines[start:end]) - last
        yield Segment(section.heading or "text", used)
