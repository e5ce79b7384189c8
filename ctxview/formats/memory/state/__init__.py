"""The neutral state of a memory at one revision, one module for each part."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from ctxview.analysis.wording import beginning
from ctxview.core.state import ContextState, Event, Todo, TodoItem, progress_text
from ctxview.core.transcript import Row
from ctxview.formats.kit.history import HistoryStream
from ctxview.formats.kit.history_line import HistoryLine
from ctxview.formats.kit.state_parts import count_blocks
from ctxview.formats.kit.transcript import HistoryTranscript
from ctxview.formats.memory.document import parse_document
from ctxview.formats.memory.forms import context_form
from ctxview.formats.memory.model import ContextSnapshot, Place
from ctxview.formats.memory.parser import entry_in, is_tag_update
from ctxview.formats.memory.records import ENTRIES
from ctxview.formats.memory.state.budgets import build_budgets
from ctxview.formats.memory.state.flow import build_flow
from ctxview.formats.memory.state.gaps import build_gaps
from ctxview.formats.memory.state.inputs import MOST_BLOCKS, MemoryStateInputs
from ctxview.formats.memory.state.references import build_refs
from ctxview.formats.memory.state.tiers import build_tiers, entry_text, role_of

LONGEST_ROW: Final = 64 * 1024
_BOX: Final = re.compile(r"\[([ xX-])\]\s+(.+)")
_STATUS: Final = {" ": "open", "x": "done", "X": "done", "-": "dropped"}


def build_state(
    inputs: MemoryStateInputs,
    title: str,
    source: str,
    revision: str,
    timeline: tuple[Event, ...],
    trace: str | None,
) -> ContextState:
    """Build the state; `trace` says which profiles the trace passes."""
    tiers, refs = build_tiers(inputs), build_refs(inputs)
    snapshot = inputs.memories[-1].snapshot if len(inputs.memories) == 1 else None
    form = context_form(snapshot, inputs.profile, editable=inputs.editable) if snapshot is not None else None
    return ContextState(
        format="memory",
        title=title,
        source=source,
        revision=revision,
        tiers=tiers,
        todo=_todo(inputs),
        budgets=build_budgets(inputs),
        refs=refs,
        missing=build_gaps(inputs),
        timeline=timeline,
        counts=count_blocks(tiers, inputs.counter),
        form=form,
        extra=_extra(inputs, trace),
        transcript=_transcript(inputs),
        flow=build_flow(inputs),
    )


def _extra(inputs: MemoryStateInputs, trace: str | None) -> dict[str, str]:
    bundle = inputs.survey.bundle
    facts = {"profile": inputs.profile.name}
    if len(inputs.memories) == 1:
        facts["memory"] = inputs.memories[0].title
    else:
        facts["memories"] = f"{len(inputs.survey.histories):,}"
    if not bundle.complete:
        facts["entries"] = "being read"
    else:
        total, then = len(bundle.entries), sum(len(memory.entries) for memory in inputs.memories)
        facts["entries"] = f"{total:,}" if then == total else f"{then:,} of {total:,}"
        if then > MOST_BLOCKS:
            facts["entries"] += f", the newest {MOST_BLOCKS} as blocks"
        facts["snapshots"] = f"{len(bundle.snapshots):,}"
    if trace is not None:
        facts["trace"] = trace
    return facts


def _todo(inputs: MemoryStateInputs) -> Todo | None:
    """Return the open tasks: check boxes, and the lines of sections about tasks."""
    items = [item for memory in inputs.memories for item in _tasks(memory.snapshot)]
    if not items:
        return None
    current = next((at for at, item in enumerate(items) if not item.is_done and not item.is_dropped), None)
    marked = tuple(replace(item, current=number == current) for number, item in enumerate(items))
    return Todo(progress_text(items), len(items), None, None, marked)


def _tasks(snapshot: ContextSnapshot | None) -> Iterator[TodoItem]:
    if snapshot is None:
        return
    for line in parse_document(snapshot.text).lines():
        box = _BOX.match(line.text)
        about_tasks = re.search(r"task|to-?do|open", line.section, re.IGNORECASE) is not None
        named = re.match(r"(?:todo|open task|task)\s*:\s*(.+)", line.text, re.IGNORECASE)
        if box is None and named is None and not about_tasks:
            continue
        title = box[2] if box is not None else named[1] if named is not None else line.text
        status = _STATUS[box[1]] if box is not None else "open"
        yield TodoItem(
            None, title, status, origin=snapshot.place.origin("context"), kept_in=line.section or None
        )


def _transcript(inputs: MemoryStateInputs) -> HistoryTranscript | None:
    stream = inputs.survey.bundle.streams.get(ENTRIES)
    if stream is None or not hasattr(stream, "find"):
        return None
    lines = None
    if inputs.as_of is not None:
        last = [memory.entries[-1] for memory in inputs.memories if memory.entries]
        lines = max(((entry.place.line().number or 0) + 1 for entry in last), default=0)
    history: HistoryStream = stream  # type: ignore[assignment]
    return HistoryTranscript(history, _row, lambda line: _row(line, 0).text, lines)


def _row(line: HistoryLine, index: int) -> Row:
    members = line.value or {}
    update = is_tag_update(members)
    entry = entry_in(members, Place(lambda: line))
    broken = line.value is None and not line.is_blank
    text = f"tags of {entry.name}: {dict(entry.tags or {})}" if update else entry_text(entry)
    return Row(
        index=line.number if line.number is not None else index,
        role=role_of(entry),
        kind="broken" if broken else "tags" if update else "blank" if line.is_blank else "entry",
        text=beginning(line.content.decode("utf-8", "replace") if broken else text, LONGEST_ROW),
        run=None,
        origin=line.origin(),
        size=line.size,
        problem=line.problem if broken else None,
        number=line.number + 1 if line.number is not None else None,
    )
