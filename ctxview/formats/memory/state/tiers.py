"""The tiers of a memory: the context document by section, and the entries with their summaries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ctxview.analysis.wording import counted
from ctxview.core.figures import Figure, Reason, ReasonKind
from ctxview.core.origin import JsonValue
from ctxview.core.state import Block, Tier
from ctxview.formats.memory.document import parse_document
from ctxview.formats.memory.forms import context_form, entry_form
from ctxview.formats.memory.model import Entry
from ctxview.formats.memory.state.inputs import MOST_BLOCKS, MemoryAt, MemoryStateInputs

SEARCHED: Final = Reason(
    ReasonKind.STORED, "older than the entries that list_entries loads at the start; a search finds it"
)
EMPTY: Final = Reason(ReasonKind.NOTE, "the default placeholder: the agent has not written a context yet")


def build_tiers(inputs: MemoryStateInputs) -> tuple[Tier, ...]:
    return tuple(
        tier for memory in inputs.memories for tier in (_context(inputs, memory), _entries(inputs, memory))
    )


def _context(inputs: MemoryStateInputs, memory: MemoryAt) -> Tier:
    name, snapshot = memory.tier("context"), memory.snapshot
    if snapshot is None:
        return Tier(name, ())
    form = context_form(snapshot, inputs.profile, editable=inputs.editable)
    blocks = []
    for number, section in enumerate(parse_document(snapshot.text).sections):
        heading = f"{'#' * section.level} {section.heading}\n" if section.heading else ""
        text = f"{heading}{section.body}"
        blocks.append(
            Block(
                id=memory.section_id(section.heading),
                tier=name,
                type="section",
                text=text,
                tokens=inputs.counter.count(text),
                visible=True,
                reason=EMPTY if snapshot.is_placeholder else None,
                figures=(Figure("characters", len(text)),),
                rank=number,
                origin=snapshot.place.origin("context"),
                form=form,
            )
        )
    return Tier(name, tuple(blocks))


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
        figures=(Figure("characters", len(entry.raw or "")), Figure("summary", len(entry.summary or ""))),
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
