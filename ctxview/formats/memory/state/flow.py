"""The flow of a memory: calls store raw entries, raw entries support context lines; summaries must not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ctxview.analysis.rfc3339 import parse_time
from ctxview.analysis.wording import excerpt
from ctxview.core.flow import Flow, FlowLink, FlowNode, FlowStage
from ctxview.formats.memory.model import Call, Entry, TraceMessage
from ctxview.formats.memory.state.inputs import MOST_BLOCKS, MemoryStateInputs
from ctxview.formats.memory.state.references import line_id, line_origins
from ctxview.formats.memory.state.timeline import call_label

CALLS: Final = "calls"
RAW: Final = "raw entries"
SUMMARIES: Final = "summaries"
LINES: Final = "context lines"
MOST_CALLS: Final = 1000
LONGEST: Final = 200


def build_flow(inputs: MemoryStateInputs) -> Flow | None:
    """Return the flow of the latest calls, the entries that matter, and the lines of the context."""
    links: list[FlowLink] = []
    lines: list[FlowNode] = []
    used: dict[str, Entry] = {}
    repeated: dict[str, Entry] = {}
    for memory in inputs.memories:
        used |= {entry.name: entry for entry in memory.entries[-MOST_BLOCKS:]}
        snapshot = memory.snapshot
        if snapshot is None:
            continue
        where = snapshot.place.origin("context")
        for origin in line_origins(memory):
            block = line_id(memory, origin)
            name, shown = f"line {block}", excerpt(origin.line.text, LONGEST)
            lines.append(FlowNode(name, block, shown, where, origin.line.text, block))
            if origin.entry is not None and origin.supported:
                used[origin.entry.name] = origin.entry
                links.append(FlowLink(_raw_id(origin.entry), name, 1, f"{origin.share:.0%} of its words"))
            if origin.summary is not None:
                used[origin.summary.name] = repeated[origin.summary.name] = origin.summary
                links.append(FlowLink(_summary_id(origin.summary), name, 1, "a feedback loop"))
    links += [FlowLink(_raw_id(entry), _summary_id(entry), 1) for entry in repeated.values()]
    calls = list(_calls(inputs))[-MOST_CALLS:]
    stored = {(entry.memory, entry.raw): entry for entry in used.values()}
    for node, call in calls:
        entry = stored.get((call.memory, call.text("raw_entry"))) if call.tool == "add_entry" else None
        if entry is not None:
            links.append(FlowLink(node.id, _raw_id(entry), 1))
    stages = (
        FlowStage(CALLS, tuple(node for node, _ in calls)),
        FlowStage(RAW, tuple(_entry_node(entry, _raw_id(entry), entry.raw) for entry in used.values())),
        FlowStage(
            SUMMARIES,
            tuple(_entry_node(entry, _summary_id(entry), entry.summary) for entry in repeated.values()),
            RAW,
        ),
        FlowStage(LINES, tuple(lines)),
    )
    return Flow(stages, tuple(links)) if any(stage.nodes for stage in stages) else None


def _raw_id(entry: Entry) -> str:
    return f"raw {entry.name}"


def _summary_id(entry: Entry) -> str:
    return f"summary {entry.name}"


def _entry_node(entry: Entry, name: str, text: str | None) -> FlowNode:
    shown = text or ""
    return FlowNode(name, entry.name, excerpt(shown, LONGEST), entry.place.origin(), shown, entry.name)


def _calls(inputs: MemoryStateInputs) -> Iterator[tuple[FlowNode, Call]]:
    """Yield the calls of the trace up to the revision; the label has the cadence and the barrier."""
    number = 0
    then = inputs.as_of.when if inputs.as_of is not None else None
    for session in inputs.survey.bundle.sessions:
        added, barrier = 0, True
        for item in session.items:
            if isinstance(item, TraceMessage):
                continue
            label, _, added, barrier = call_label(item, added, barrier, inputs.profile.cadence.usual)
            number += 1
            when = parse_time(item.time)
            if then is not None and when is not None and when > then:
                continue
            result = f"result: {item.result}" if item.result else ""
            text = "\n".join(f"{name}: {value}" for name, value in item.arguments.items())
            clock = item.time[11:19] if item.time is not None else f"call {number}"
            node = FlowNode(f"call {number}", clock, label, item.place.origin(), f"{label}\n{text}\n{result}")
            yield node, item
