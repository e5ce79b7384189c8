"""Builds the budgets: tokens by tier against the input budget, recorded figures, and blocks against caps.

The chosen counter counts the texts; every other figure names its estimator.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from ctxview.analysis.diff.values import printable
from ctxview.analysis.tokens import TokenCounter
from ctxview.core.origin import JsonValue
from ctxview.core.state import Budget, Segment, Tier
from ctxview.formats.snapshot.model import TIERS, Snapshot, SnapshotRole, integer
from ctxview.formats.snapshot.profile import BudgetPolicy, Profile
from ctxview.formats.snapshot.state.tiers import prompt_text

ORDINARY_LENGTH = 10_000
MODEL_MEMBERS = ("version", "todo", "active_task", "active_task_meta", "capabilities")


def build_budgets(
    snapshot: Snapshot, tiers: Sequence[Tier], profile: Profile, counter: TokenCounter
) -> tuple[Budget, ...]:
    """Build the budgets of visible tokens, recorded tokens, visible blocks and stored blocks."""
    return (
        _shown_tokens(snapshot, tiers, profile, counter),
        *_recorded(snapshot, profile.budget),
        *_usage(snapshot),
        _shown_blocks(tiers, profile),
        *([_stored_blocks(snapshot, profile)] if snapshot.role is SnapshotRole.STORED else ()),
    )


def estimator_name(policy: BudgetPolicy) -> str:
    """Return how the runtime of the profile estimates tokens, in words."""
    if policy.units_per_token is None:
        return "unknown"
    unit = "UTF-8 bytes" if policy.estimate_unit == "bytes" else "characters"
    return f"{unit} / {policy.units_per_token:g}"


def _shown_tokens(
    snapshot: Snapshot, tiers: Sequence[Tier], profile: Profile, counter: TokenCounter
) -> Budget:
    texts = [
        Segment(
            tier.name,
            sum(block.tokens or 0 for block in tier.blocks if block.visible),
            exact=all(
                _is_exact(counter, prompt_text(block.text, snapshot.role, profile))
                for block in tier.blocks
                if block.visible
            ),
            estimator=counter.name,
        )
        for tier in tiers
    ]
    estimate = f"{counter.name} of the JSON"
    structure = _structure_tokens(tiers, counter)
    rest = counter.count(_compact({key: snapshot.value.get(key) for key in MODEL_MEMBERS}))
    segments = (
        *texts,
        Segment("block fields", structure, exact=False, estimator=estimate),
        Segment("clock, task, todo", rest, exact=False, estimator=estimate),
    )
    recorded = snapshot.runtime.get("budget")
    figures = recorded if isinstance(recorded, dict) else {}
    limit = integer(figures.get("input_budget"))
    policy = profile.budget
    reserved = policy.output_reserve + policy.margin if policy.margin is not None else None
    return Budget(
        target="snapshot in the prompt",
        unit="tokens",
        limit=limit if limit is not None else policy.input_budget,
        used=sum(segment.used for segment in segments),
        reserved=_reserved(figures) if _reserved(figures) is not None else reserved,
        segments=segments,
        cut=sum(block.tokens or 0 for tier in tiers for block in tier.blocks if block.visible is False),
    )


def _structure_tokens(tiers: Sequence[Tier], counter: TokenCounter) -> int:
    """Count the tokens of the visible blocks without their text, as compact JSON."""
    bare: list[dict[str, JsonValue]] = [
        {
            "id": block.id,
            "type": block.type,
            "decay": block.decay,
            "confidence": block.confidence,
            "round": block.round,
            "tags": list(block.tags),
            "content": "",
        }
        for tier in tiers
        for block in tier.blocks
        if block.visible
    ]
    return counter.count(_compact([*bare])) if bare else 0


def _is_exact(counter: TokenCounter, text: str) -> bool:
    """Whether the count of `text` is exact; only texts with surrogates or very long ones are measured."""
    ordinary = len(text) <= ORDINARY_LENGTH and not any("\ud800" <= char <= "\udfff" for char in text)
    return counter.exact and (ordinary or counter.measure(text).exact)


def _recorded(snapshot: Snapshot, policy: BudgetPolicy) -> Iterator[Budget]:
    figures = snapshot.runtime.get("budget")
    if not isinstance(figures, dict):
        return
    used = integer(figures.get("estimated_input_tokens"))
    segment = Segment("whole input", used or 0, exact=False, estimator=estimator_name(policy))
    yield Budget(
        target="recorded by the runtime",
        unit="tokens",
        limit=integer(figures.get("input_budget")),
        used=used,
        reserved=_reserved(figures),
        segments=(segment,) if used is not None else (),
    )


def _usage(snapshot: Snapshot) -> Iterator[Budget]:
    figures = snapshot.runtime.get("token_usage")
    if not isinstance(figures, dict):
        return
    source = figures.get("source")
    counted_by = source if isinstance(source, str) else "provider"
    segments = tuple(
        Segment(name, used, exact=True, estimator=counted_by)
        for name in ("input", "output")
        if (used := integer(figures.get(f"{name}_tokens"))) is not None
    )
    used = integer(figures.get("total_tokens"))
    yield Budget("counted by the provider", "tokens", None, used, None, segments)


def _shown_blocks(tiers: Sequence[Tier], profile: Profile) -> Budget:
    segments = tuple(
        Segment(
            tier.name, sum(bool(block.visible) for block in tier.blocks), profile.tier(tier.name).max_shown
        )
        for tier in tiers
    )
    hidden = sum(block.visible is False for tier in tiers for block in tier.blocks)
    return replace(_blocks("shown to the model", segments), cut=hidden)


def _stored_blocks(snapshot: Snapshot, profile: Profile) -> Budget:
    memory = snapshot.section("memory")
    segments = tuple(
        Segment(name, len(snapshot.tier(name)), profile.tier(name).raw_cap)
        for name in TIERS
        if name in memory
    )
    return _blocks("stored", segments)


def _blocks(target: str, segments: tuple[Segment, ...]) -> Budget:
    limits = [segment.limit for segment in segments if segment.limit is not None]
    used = sum(segment.used for segment in segments)
    return Budget(target, "blocks", sum(limits) if limits else None, used, None, segments)


def _reserved(figures: dict[str, JsonValue]) -> int | None:
    parts = [integer(figures.get(key)) for key in ("reserve_output_tokens", "safety_margin_tokens")]
    known = [part for part in parts if part is not None]
    return sum(known) if known else None


def _compact(value: JsonValue) -> str:
    """Return compact JSON that is the same for equal values, with numbers as JavaScript writes them."""
    try:
        return json.dumps(printable(value), ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    except (RecursionError, ValueError):
        return ""
