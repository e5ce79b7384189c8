"""The window of a session and of its sub-agents, in segments that sum to the reported size."""

from __future__ import annotations

from collections.abc import Iterator

from ctxview.core.budget import Budget, Segment
from ctxview.formats.transcript.accounting import STATED_SEGMENTS
from ctxview.formats.transcript.facts import TranscriptFacts
from ctxview.formats.transcript.growth import largest, turn_growth
from ctxview.formats.transcript.model import Mark
from ctxview.formats.transcript.state.tiers import cache_marks


def build_budgets(facts: TranscriptFacts) -> tuple[Budget, ...]:
    return (_window(facts), *_children(facts))


def _window(facts: TranscriptFacts) -> Budget:
    sizes, window = facts.sizes, facts.window
    segments = []
    listed = {segment for name, segment in STATED_SEGMENTS.items() if facts.log.stated.get(name)}
    for name, tokens in sizes.segments.items():
        parts = [part for part in facts.context.parts if part.segment == name]
        exact = bool(parts) and all((part.row, part.place) in sizes.derived for part in parts)
        shared = "reported sum" if facts.request is not None else "growth of each call"
        way = f"{shared}, shared by {sizes.estimator}" if sizes.reported else sizes.estimator
        way = f"{way} (estimated)"
        if name in listed and not parts:
            way = "as /context lists it (reported by the program)"
        if name == "baseline":
            way = "what the first call was sent beyond its rows (inferred)"
        segments.append(Segment(name, tokens, exact=exact, estimator=None if exact else way))
    newer = f" and {sizes.newer:,} estimated for rows after the last call" if sizes.newer else ""
    reported = f"reported by the provider{newer}" if sizes.reported else ""
    causes = ", ".join(f"{name} {tokens:,}" for name, tokens in largest(facts, facts.context.parts))
    lacking = "there is no answer with usage" if facts.request is not None else "no call has usage"
    lacking = "" if sizes.reported else f"estimated: {lacking}"
    marks = cache_marks(facts)
    cached = f"cache breakpoints: {marks}" if marks else ""
    grown = next(turn_growth(facts, 1), None)
    last = f"turn {grown.turn} added {grown.tokens:,}" if grown is not None else ""
    note = "; ".join(filter(None, (lacking, f"largest: {causes}" if causes else "", last, cached)))
    cut = sum(part.lost for part in facts.context.parts if part.mark is Mark.CUT) or None
    return Budget(
        "model",
        "tokens",
        window.size,
        sizes.total,
        window.reserved,
        tuple(segments),
        cut=cut,
        limit_from=window.known_by,
        note=note or None,
        reported=reported,
        holds_reserve=bool(window.reserved),
        compacts=bool(window.reserved) and facts.request is None,
    )


def _children(facts: TranscriptFacts) -> Iterator[Budget]:
    for child in facts.log.children:
        if child.sent is None or child.row >= facts.end:
            continue
        limit = facts.profile.window(child.model) or facts.window.size
        name = child.kind or "sub-agent"
        segment = Segment("last call", child.sent)
        yield Budget(f"{name} {child.agent or child.call_id}", "tokens", limit, child.sent, None, (segment,))
