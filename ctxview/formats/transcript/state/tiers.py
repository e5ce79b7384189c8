"""The tiers: live parts by kind with their tokens, and what the model does not get, with reasons."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from msgspec.structs import replace

from ctxview.core.figures import Reason, ReasonKind
from ctxview.core.state import Block, Tier
from ctxview.formats.transcript.facts import TranscriptFacts
from ctxview.formats.transcript.model import Absence, Dialect, LogPart, Mark, PartKind

MOST_ABSENT = 400
"""Rows of each kind that are not live and are blocks; the History has all rows."""
SHORT = 400
_TIERS = {
    PartKind.SYSTEM: "system",
    PartKind.SCHEMA: "tools",
    PartKind.MEMORY: "memory files",
    PartKind.SUMMARY: "summary",
    PartKind.RESULT: "tool results",
    PartKind.REMINDER: "attachments",
}
LIVE_TIERS = (
    "baseline",
    "tools",
    "system",
    "memory files",
    "summary",
    "conversation",
    "tool results",
    "attachments",
)
_ABSENT = {
    Absence.COMPACTED: (ReasonKind.COMPACTED, "compacted away"),
    Absence.DEAD: (ReasonKind.NOT_CHOSEN, "dead branches"),
    Absence.SUPERSEDED: (ReasonKind.DUPLICATE, "superseded"),
    Absence.ROLLED_BACK: (ReasonKind.NOT_CHOSEN, "rolled back"),
    Absence.SIDE: (ReasonKind.STORED, "sub-agents"),
    Absence.OTHER_SESSION: (ReasonKind.NOT_CHOSEN, "carried over"),
    Absence.REVERTED: (ReasonKind.NOT_CHOSEN, "reverted"),
    Absence.FAILED: (ReasonKind.INVALID, "failed"),
}
_WHY = {
    Absence.COMPACTED: "a compaction replaced it by a summary",
    Absence.DEAD: "on a branch that was left: the prompt was edited or rewound",
    Absence.SUPERSEDED: "an older copy of rows that were written again",
    Absence.ROLLED_BACK: "the turn was rolled back",
    Absence.SIDE: "in the context of a sub-agent",
    Absence.OTHER_SESSION: "carried over from another session",
    Absence.REVERTED: "the session was reverted to a point before it",
    Absence.FAILED: "the answer ended in an error: it is not sent back",
}
_MARKS = {
    Mark.PERSISTED: "only a preview was sent; the whole output is in a file",
    Mark.PARTIAL: "only a part of the file was read",
    Mark.UNCHANGED: "refers to an earlier result instead of repeating it",
    Mark.CUT: "the output was shortened",
    Mark.CLEARED: "the result was cleared",
    Mark.ENCRYPTED: "encrypted: what it says is not known",
    Mark.REFUSED: "refused or interrupted by a person",
}


def build_tiers(facts: TranscriptFacts) -> tuple[Tier, ...]:
    live: dict[str, list[Block]] = defaultdict(list)
    if facts.sizes.baseline:
        live["baseline"].append(_baseline(facts))
    for rank, part in enumerate(facts.context.parts, len(live["baseline"])):
        tier = _TIERS.get(part.kind, "conversation")
        live[tier].append(_block(facts, part, tier, rank))
    tiers = [Tier(name, tuple(live[name]), rank=at) for at, name in enumerate(LIVE_TIERS) if live[name]]
    return (*tiers, *_answer(facts), *_absent_tiers(facts), *_swapped_out(facts))


def block_id(facts: TranscriptFacts, part: LogPart) -> str:
    """Return the id of the block of a part: its row, and its place where the row has several."""
    name = facts.log.name(part.row)
    return name if len(facts.log.rows[part.row].parts) == 1 else f"{name}#{part.place}"


def _baseline(facts: TranscriptFacts) -> Block:
    # What is wrong with the first row is not about the baseline.
    origin = replace(facts.log.origin(0), pointer=None, end=facts.log.origin(0).start)
    text = "System prompt, tool schemas and memory files: they are sent and in no row of this file."
    reason = Reason(ReasonKind.NOTE, "inferred from the size of the first call")
    return Block(
        id="baseline",
        tier="baseline",
        text=text,
        origin=origin,
        type="system",
        tokens=facts.sizes.baseline,
        tokens_from="inferred",
        visible=True,
        reason=reason,
        rank=0,
    )


def _block(facts: TranscriptFacts, part: LogPart, tier: str, rank: int) -> Block:
    turn = facts.turn_of(part.row) or None
    mark = part.mark
    reason, state = None, None
    if mark is not None:
        detail = f": {part.detail}" if part.detail and mark is not Mark.ENCRYPTED else ""
        reason, state = Reason(ReasonKind.NOTE, f"{_MARKS[mark]}{detail}", summary=_MARKS[mark]), mark.value
    elif part.row in facts.context.beside_walk:
        reason = Reason(
            ReasonKind.NOTE, "beside the walk over the parents: a resumed session may not have it"
        )
    elif part.cache:
        words = (
            f"cache breakpoint for {cache_time(part.cache)}: {facts.sizes_up_to(part):,} tokens up to here"
        )
        reason = Reason(ReasonKind.NOTE, words, summary="cache breakpoint")
        state = f"cached {cache_time(part.cache)}"
    return Block(
        id=block_id(facts, part),
        tier=tier,
        type=part.kind.value,
        text=facts.texts.text(part),
        round=turn,
        age=facts.last_turn - turn if turn is not None else None,
        tags=tuple(filter(None, (part.tool, part.about))),
        tool=part.tool if part.kind in (PartKind.CALL, PartKind.RESULT) else None,
        tokens=facts.sizes.of(part),
        tokens_from="derived from reported sizes" if (part.row, part.place) in facts.sizes.derived else "",
        visible=True,
        reason=reason,
        state=state or ("failed" if part.error is not None else None),
        origin=facts.log.origin(part.row),
        rank=rank,
    )


def cache_marks(facts: TranscriptFacts) -> str:
    """Return where the cache breakpoints are, and how many tokens are before each; empty without any."""
    marks = [part for part in facts.context.parts if part.cache]
    return ", ".join(f"{block_id(facts, part)} at {facts.sizes_up_to(part):,}" for part in marks)


def cache_time(minutes: int) -> str:
    return f"{minutes} minutes" if minutes < 60 else "1 hour"


def _answer(facts: TranscriptFacts) -> Iterator[Tier]:
    """Yield what the model answered to a request: it is not a part of the request."""
    if facts.request is None:
        return
    reason = Reason(ReasonKind.NOT_CHOSEN, "the answer to this request: a next request may send it back")
    row = facts.request.answer
    blocks = tuple(
        Block(
            id=block_id(facts, part),
            tier="answer",
            type=part.kind.value,
            text=facts.texts.text(part),
            tags=tuple(filter(None, (part.tool, part.about))),
            visible=False,
            reason=reason,
            origin=facts.log.origin(row),
        )
        for part in facts.log.rows[row].parts
    )
    if blocks:
        yield Tier("answer", blocks)


def absent_not_shown(facts: TranscriptFacts) -> Iterator[str]:
    """Say of which kinds only the newest rows are blocks."""
    for why, rows in facts.context.absent.items():
        if (count := len(rows)) > MOST_ABSENT:
            yield f"only the last {MOST_ABSENT:,} of {count:,} rows are blocks of {_ABSENT[why][1]}"


def _absent_tiers(facts: TranscriptFacts) -> Iterator[Tier]:
    for why, (kind, name) in _ABSENT.items():
        if not facts.context.gone(why):
            continue
        blocks = tuple(
            Block(
                id=block_id(facts, part),
                tier=name,
                type=part.kind.value,
                text=_beginning(facts.texts.text(part, SHORT + 1)),
                round=facts.turn_of(row),
                age=facts.last_turn - turn if (turn := facts.turn_of(row)) is not None else None,
                tags=tuple(filter(None, (part.tool, part.about))),
                visible=False,
                reason=Reason(kind, _WHY[why], summary=why.value),
                origin=facts.log.origin(row),
            )
            for row in facts.context.gone(why)[-MOST_ABSENT:]
            for part in facts.log.rows[row].parts
        )
        yield Tier(name, blocks)


def _beginning(text: str) -> str:
    return f"{text[:SHORT]}…" if len(text) > SHORT else text


def _swapped_out(facts: TranscriptFacts) -> Iterator[Tier]:
    blocks = []
    limit = 4 * facts.profile.limits.codex_output_tokens
    for part in facts.context.parts:
        if part.mark is Mark.PERSISTED and part.detail:
            text = f"The whole output is in {part.detail}"
            reason = Reason(ReasonKind.STORED, "only a preview was sent", summary="swapped out")
        elif part.mark is Mark.CLEARED and part.lost:
            text = f"{part.lost:,} characters of output are only in the store"
            reason = Reason(ReasonKind.STORED, "the result was cleared", summary="swapped out")
        elif (
            facts.log.dialect is Dialect.CODEX
            and part.kind is PartKind.RESULT
            and part.size > limit
            and not part.mark
        ):
            text = f"{part.size - limit:,} of {part.size:,} characters, from the middle of the output"
            reason = Reason(ReasonKind.NO_ROOM, f"cut on the way in: {text}", summary="cut by Codex")
        else:
            continue
        blocks.append(
            Block(
                id=f"{block_id(facts, part)} rest",
                tier="swapped out",
                type="result",
                text=text,
                tags=tuple(filter(None, (part.tool, part.about))),
                visible=False,
                reason=reason,
                origin=facts.log.origin(part.row),
            )
        )
    if blocks:
        yield Tier("swapped out", tuple(blocks))
