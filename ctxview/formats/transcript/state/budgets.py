"""The window of a session and of its sub-agents, in segments that sum to the reported size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ctxview.core.budget import Budget, Segment
from ctxview.formats.transcript.facts import TranscriptFacts
from ctxview.formats.transcript.model import Mark
from ctxview.formats.transcript.state.tiers import cache_marks

MOST_CHILDREN = 20
MOST_CAUSES = 3


def build_budgets(facts: TranscriptFacts) -> tuple[Budget, ...]:
    return (_window(facts), *_children(facts))


def largest_causes(facts: TranscriptFacts, rows: range | None = None) -> list[tuple[str, int]]:
    """Return what took most tokens, by tool and path."""
    sums: Counter[str] = Counter()
    for part in facts.context.parts:
        if rows is None or part.row in rows:
            name = " ".join(filter(None, (part.tool, part.about))) or part.segment
            sums[name[:60]] += facts.sizes.of(part)
    return [each for each in sums.most_common(MOST_CAUSES) if each[1] > 0]


def _window(facts: TranscriptFacts) -> Budget:
    sizes, window = facts.sizes, facts.window
    segments = []
    for name, tokens in sizes.segments.items():
        parts = [part for part in facts.context.parts if part.segment == name]
        exact = bool(parts) and all((part.row, part.place) in sizes.derived for part in parts)
        shared = "reported sum" if facts.request is not None else "growth of each call"
        way = f"{shared}, shared by {sizes.estimator}" if sizes.reported else sizes.estimator
        if name == "baseline":
            way = "inferred: what the first call was sent beyond its rows"
        segments.append(Segment(name, tokens, exact=exact, estimator=None if exact else way))
    newer = f" and {sizes.newer:,} estimated for rows after the last call" if sizes.newer else ""
    reported = f"reported by the provider{newer}" if sizes.reported else ""
    causes = ", ".join(f"{name} {tokens:,}" for name, tokens in largest_causes(facts))
    lacking = "there is no answer with usage" if facts.request is not None else "no call has usage"
    lacking = "" if sizes.reported else f"estimated: {lacking}"
    marks = cache_marks(facts)
    cached = f"cache breakpoints: {marks}" if marks else ""
    note = ". ".join(filter(None, (lacking, f"largest: {causes}" if causes else "", cached)))
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
    for child in facts.log.children[-MOST_CHILDREN:]:
        if child.sent is None or child.row >= facts.end:
            continue
        limit = facts.profile.window(child.model) or facts.window.size
        name = child.kind or "sub-agent"
        segment = Segment("last call", child.sent)
        yield Budget(f"{name} {child.agent or child.call_id}", "tokens", limit, child.sent, None, (segment,))
