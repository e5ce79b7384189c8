"""Missing context of a memory: unsupported and lost lines, lines from summaries, lost writes."""

from __future__ import annotations

from collections.abc import Iterator

from ctxview.analysis.wording import counted, excerpt
from ctxview.core.findings import Severity
from ctxview.core.origin import Origin
from ctxview.core.state import Gap
from ctxview.formats.kit.state_parts import left_out_gap, make_gap
from ctxview.formats.memory.rules.writes import lost_calls
from ctxview.formats.memory.state.inputs import MemoryAt, MemoryStateInputs
from ctxview.formats.memory.state.references import line_id, line_origins

LONGEST = 200


def build_gaps(inputs: MemoryStateInputs) -> tuple[Gap, ...]:
    found = [gap for memory in inputs.memories for gap in _of_memory(inputs, memory)]
    for file, why in inputs.survey.left_out:
        found.append(left_out_gap("parts of the bundle", why, Origin(file)))
    if inputs.as_of is None:
        found += _lost_writes(inputs)
    return tuple(found)


def unflushed(memory: MemoryAt) -> int:
    """Return how many entries were added after the latest context."""
    snapshot = memory.snapshot
    if snapshot is None or snapshot.when is None:
        return len(memory.entries)
    return len(memory.entries) - min(memory.history.lineage.before(snapshot.when), len(memory.entries))


def _of_memory(inputs: MemoryStateInputs, memory: MemoryAt) -> Iterator[Gap]:
    snapshot = memory.snapshot
    if snapshot is not None and memory.number is not None:
        where = snapshot.place.origin("context")
        for origin in line_origins(memory):
            name, text = line_id(memory, origin), excerpt(origin.line.text, LONGEST)
            section = (name,)
            if origin.summary is not None:
                severity = Severity.ERROR if origin.copied else Severity.WARNING
                why = f"its words are in the summary of {origin.summary.shown}, not in a raw entry"
                yield make_gap(name, text, severity, "from a summary", why, where, section)
            elif not origin.supported:
                why = f"the nearest raw entry has {origin.share:.0%} of its words"
                yield make_gap(name, text, Severity.INFO, "unsupported", why, where, section)
        for lost in memory.history.lost(memory.number):
            why = "the context before had this line, and nothing replaces it"
            text = excerpt(lost.line.text, LONGEST)
            yield make_gap(
                f"lost {lost.line.section} {lost.line.number}", text, Severity.WARNING, "lost", why, where, ()
            )
    waiting = unflushed(memory)
    if waiting > inputs.profile.cadence.most and memory.entries:
        name, where = f"unflushed {memory.title}", memory.entries[-1].place.origin()
        text = f"{counted(waiting, 'entry', 'entries')} since the last put_context"
        why = f"the context is written after about {inputs.profile.cadence.usual} entries"
        yield make_gap(name, text, Severity.WARNING, "not in the context", why, where)


def _lost_writes(inputs: MemoryStateInputs) -> Iterator[Gap]:
    for number, call in enumerate(lost_calls(inputs.survey.bundle)):
        text = excerpt(call.stored_text or "", LONGEST)
        why = "the trace stored this message, and it is not among the entries"
        yield make_gap(f"lost write {number + 1}", text, Severity.ERROR, "lost", why, call.place.origin())
