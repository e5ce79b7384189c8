"""Search through time: the newest revision that holds a text, and what removed it since then."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from msgspec import Struct

from ctxview.analysis.revisions.facts import KnownRevisions, PastBlock, RevisionFacts
from ctxview.analysis.revisions.why import explain
from ctxview.core.origin import Origin

MOST_HITS = 1000
BLOCK = "block"


class TimeHit(Struct, frozen=True):
    """An item that holds the needle, at the newest revision where it does."""

    kind: str
    name: str
    tier: str
    number: int
    text: str
    origin: Origin | None


class TimeHits(Struct, frozen=True):
    """The hits of a search, the newest revision first; `searched` revisions were looked at."""

    needle: str
    found: tuple[TimeHit, ...] = ()
    searched: int = 0
    is_capped: bool = False


def needle_pattern(needle: str) -> re.Pattern[str] | None:
    """The pattern for a needle; one in lower case matches both cases. None for an empty needle."""
    if not needle.strip():
        return None
    return re.compile(re.escape(needle), 0 if needle != needle.lower() else re.IGNORECASE)


def search_revisions(
    known: KnownRevisions, needle: str, cancelled: Callable[[], bool] = lambda: False
) -> TimeHits:
    """Find every item that held `needle` in any known revision; each item once, where it was seen last."""
    pattern = needle_pattern(needle)
    if pattern is None:
        return TimeHits(needle)
    matched: dict[str, bool] = {}

    def holds(text: str) -> bool:
        # Most texts are the same in many revisions, and equal texts are kept as one object.
        if (known_result := matched.get(text)) is None:
            known_result = matched[text] = pattern.search(text) is not None
        return known_result

    found: dict[tuple[str, str, str], TimeHit] = {}
    searched = 0
    for facts in reversed(known.in_order):
        if cancelled():
            break
        if facts.blocks is None:
            continue
        searched += 1
        for hit in _hits(facts, holds):
            found.setdefault((hit.kind, hit.tier, hit.name), hit)
        if len(found) > MOST_HITS:
            break
    hits = tuple(found.values())
    return TimeHits(needle, hits[:MOST_HITS], searched, len(hits) > MOST_HITS)


def _hits(facts: RevisionFacts, holds: Callable[[str], bool]) -> Iterator[TimeHit]:
    for block in (facts.blocks or {}).values():
        if _block_holds(block, holds):
            yield TimeHit(BLOCK, block.id, block.tier, facts.number, block.text, block.origin)
    for text in facts.texts:
        if holds(text.text) or holds(text.name):
            yield TimeHit(text.kind, text.name, "", facts.number, text.text or text.name, text.origin)


def _block_holds(block: PastBlock, holds: Callable[[str], bool]) -> bool:
    words = (block.id, block.tier, block.type or "", block.why, *block.tags)
    return holds(block.text) or any(map(holds, words))


def hit_ending(known: KnownRevisions, hit: TimeHit) -> str:
    """Where a hit was last seen and what became of it: `last seen in round 9; the reply … (SNP043)`."""
    seen = f"last seen in {known.names[hit.number].name}"
    if hit.number == max(known.facts, default=0):
        seen = f"in {known.names[hit.number].name}"
    answer = next((each for each in explain(known, hit.name) if each.tier == hit.tier), None)
    if hit.kind != BLOCK or answer is None:
        return seen
    removal = next((step for step in reversed(answer.steps) if step.cause and step.sign == "−"), None)
    hidden = next((step for step in reversed(answer.steps) if step.sign == "○"), None)
    if answer.status == "gone" and removal is not None:
        rule = f" ({removal.rule})" if removal.rule else ""
        seen += f"; {removal.text}{rule}"
    if hidden is not None and answer.status in ("gone", "hidden"):
        seen += f"; hidden since {known.names[hidden.first].name}"
    return seen
