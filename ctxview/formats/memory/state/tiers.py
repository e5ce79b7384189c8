"""The tiers of a memory: each section of the context, line by line, and the entries with their summaries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ctxview.analysis.wording import counted
from ctxview.core.figures import Figure, Reason, ReasonKind
from ctxview.core.origin import JsonValue
from ctxview.core.state import Block, Tier
from ctxview.formats.memory.forms import entry_form, line_form
from ctxview.formats.memory.lineage import LineOrigin
from ctxview.formats.memory.model import Entry
from ctxview.formats.memory.state.inputs import MOST_BLOCKS, MemoryAt, MemoryStateInputs
from ctxview.formats.memory.state.references import line_origins

SEARCHED: Final = Reason(
    ReasonKind.STORED, "older than the entries that list_entries loads at the start; a search finds it"
)
EMPTY: Final = Reason(ReasonKind.NOTE, "the default placeholder: the agent has not written a context yet")


def build_tiers(inputs: MemoryStateInputs) -> tuple[Tier, ...]:
    found: dict[str, Tier] = {}
    for memory in inputs.memories:
        for tier in (*_sections(inputs, memory), _entries(inputs, memory)):
            known = found.get(tier.name)
            found[tier.name] = Tier(tier.name, (*known.blocks, *tier.blocks)) if known is not None else tier
    return tuple(found.values())


def _sections(inputs: MemoryStateInputs, memory: MemoryAt) -> Iterator[Tier]:
    """Yield the sections of the context document, each line a block."""
    snapshot = memory.snapshot
    if snapshot is None:
        return
    where = snapshot.place.origin("context")
    origins = {each.line.number: each for each in line_origins(memory)}
    rank = 0
    for section in memory.document.sections:
        tier = memory.section(section.heading)
        fences = [each for each in memory.document.fences if each.section == section.heading]
        texts = [*((line.number, line.text, "line") for line in section.lines)]
        texts += [(each.number, each.text, "diagram") for each in fences]
        blocks = []
        for number, text, kind in sorted(texts):
            origin = origins.get(number)
            blocks.append(
                Block(
                    id=memory.line_name(number),
                    tier=tier,
                    type=kind,
                    text=text,
                    tokens=inputs.counter.count(text),
                    figures=(_support(origin),) if origin is not None else (),
                    visible=True,
                    reason=EMPTY if snapshot.is_placeholder else _reason(origin),
                    rank=rank,
                    origin=where,
                    form=line_form(snapshot, number, text, editable=inputs.editable and kind == "line"),
                )
            )
            rank += 1
        yield Tier(tier, tuple(blocks))


def _support(origin: LineOrigin) -> Figure:
    return Figure(
        "support", round(origin.share, 2), scale=(0, 1), better="high", exact=False, estimator="words"
    )


def _reason(origin: LineOrigin | None) -> Reason | None:
    """Return where a line comes from, when that is not simply a raw entry."""
    if origin is not None and origin.summary is not None:
        return Reason(
            ReasonKind.NOTE, f"from the summary of {origin.summary.shown}", summary="from a summary"
        )
    if origin is not None and not origin.supported:
        return Reason(ReasonKind.NOTE, "no raw entry supports it", summary="unsupported")
    return None


def _entries(inputs: MemoryStateInputs, memory: MemoryAt) -> Tier:
    name = memory.tier("entries")
    shown = memory.entries[-MOST_BLOCKS:][::-1]
    return Tier(name, tuple(_entry_block(inputs, name, entry, number) for number, entry in enumerate(shown)))


def _entry_block(inputs: MemoryStateInputs, tier: str, entry: Entry, number: int) -> Block:
    loaded = number < inputs.profile.bootstrap.entries
    text = entry_text(entry)
    return Block(
        id=entry.name,
        tier=tier,
        type=role_of(entry),
        text=text,
        tokens=inputs.counter.count(text),
        figures=(Figure("summary", len(entry.summary or "")),),
        tags=tuple(tag_words(entry)),
        visible=loaded,
        reason=None if loaded else SEARCHED,
        state=f"{entry.when:%Y-%m-%d %H:%M}" if entry.when is not None else None,
        rank=number if loaded else None,
        origin=entry.place.origin(),
        form=entry_form(entry, editable=inputs.editable),
    )


def entry_text(entry: Entry) -> str:
    """Return the raw text, then the summary with its length."""
    summary = entry.summary or ""
    size = counted(len(summary), "character")
    return f"{entry.raw or ''}\nsummary ({size}): {summary}" if summary else entry.raw or ""


def role_of(entry: Entry) -> str | None:
    role = (entry.tags or {}).get("role")
    return role if isinstance(role, str) else None


def tag_words(entry: Entry) -> Iterator[str]:
    for name, value in (entry.tags or {}).items():
        yield name if value is True else f"{name}={_plain(value)}"


def _plain(value: JsonValue) -> str:
    return value if isinstance(value, str) else str(value)
