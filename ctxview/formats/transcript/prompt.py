"""The prompt of a call: the live parts as messages. System prompt and tools of Claude Code are in no file."""

from __future__ import annotations

from collections.abc import Iterator

from ctxview.core.prompt import CutKind, Prompt, PromptCut, PromptMessage, PromptPart
from ctxview.formats.transcript.facts import TranscriptFacts
from ctxview.formats.transcript.model import Absence, Dialect, LogPart, Mark, PartKind
from ctxview.formats.transcript.state.tiers import block_id, cache_marks

_ROLES = {
    PartKind.SYSTEM: "system",
    PartKind.SCHEMA: "system",
    PartKind.ANSWER: "assistant",
    PartKind.THINKING: "assistant",
    PartKind.CALL: "assistant",
}
REQUEST_NOTE = "The texts are those of the request, in the order of the prompt; the provider frames them."
NOTE = "Put together from the rows of the transcript; the program frames attachments and results."


def build_prompt(facts: TranscriptFacts) -> Prompt:
    messages: list[PromptMessage] = []
    if facts.sizes.baseline:
        cut = PromptCut(
            kind=CutKind.ABSENT,
            what="system prompt, tools and memory files",
            reason="sent with every call and in no row of the transcript",
            tokens=facts.sizes.baseline,
            counted_by="inferred from the first call",
        )
        messages.append(PromptMessage("system", absent=cut, in_text=False))
    gone = facts.context.gone(Absence.COMPACTED)
    role, parts = "", list[PromptPart]()
    if gone:
        what = f"{len(gone):,} rows"
        cut = PromptCut(kind=CutKind.HIDDEN, what=what, reason="compacted away: a summary replaces them")
        parts.append(PromptPart(cut=cut, origin=facts.log.origin(gone[0])))
        role = "user"
    row = None
    for part in facts.context.parts:
        own = _ROLES.get(part.kind, "user")
        if part.kind is PartKind.SUMMARY and facts.log.dialect is Dialect.OPENCODE:
            own = "assistant"
        if facts.request is not None:
            # Each message of a request is one, also after another one of its role.
            own = facts.log.rows[part.row].role or own
        another = facts.request is not None and part.row != row and part.kind is not PartKind.SCHEMA
        if (own != role or another) and parts:
            messages.append(PromptMessage(role, tuple(parts)))
            parts = []
        role, row = own, part.row
        parts += _lines(facts, part)
    if parts:
        messages.append(PromptMessage(role, tuple(parts)))
    note = NOTE if facts.request is None else REQUEST_NOTE
    if marks := cache_marks(facts):
        note += f" Cache breakpoints behind {marks}."
    return Prompt(tuple(messages), exact=False, notes=(note,))


def _lines(facts: TranscriptFacts, part: LogPart) -> Iterator[PromptPart]:
    name, origin = block_id(facts, part), facts.log.origin(part.row)
    if part.kind is PartKind.CALL:
        yield PromptPart(text=f"[call {part.tool}] ", block=name, tier=part.segment, origin=origin)
    text = facts.texts.whole(part)
    for line in text.splitlines(keepends=True):
        yield PromptPart(text=line, block=name, tier=part.segment, origin=origin)
    if text and not text.endswith("\n"):
        yield PromptPart(text="\n", block=name, tier=part.segment, origin=origin)
    if part.mark is Mark.ENCRYPTED:
        reason = "encrypted or left out of the file"
        cut = PromptCut(kind=CutKind.ABSENT, what=part.kind.value, reason=reason, tokens=facts.sizes.of(part))
        yield PromptPart(cut=cut, block=name, tier=part.segment, origin=origin)
    elif part.mark is Mark.PERSISTED:
        reason = "the model saw a preview only"
        cut = PromptCut(kind=CutKind.SHORTENED, what=part.detail or "output", reason=reason)
        yield PromptPart(cut=cut, block=name, tier=part.segment, origin=origin)
    elif part.images:
        cut = PromptCut(kind=CutKind.SHORTENED, what="image", reason="an image is not text")
        yield PromptPart(cut=cut, block=name, tier=part.segment, origin=origin)
