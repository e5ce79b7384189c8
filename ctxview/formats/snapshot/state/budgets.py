"""Builds the budgets: tokens by tier against the input budget, recorded figures, and blocks against caps.

The chosen counter counts the texts; every other figure names its estimator.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from msgspec.structs import replace

from ctxview.analysis.diff.values import printable
from ctxview.analysis.revisions.window import ELSEWHERE
from ctxview.analysis.tokens import Estimate, TokenCounter
from ctxview.analysis.wording import excerpt
from ctxview.core.origin import JsonValue
from ctxview.core.state import Budget, Segment, Tier
from ctxview.formats.snapshot.model import TIERS, Snapshot, SnapshotRole, integer
from ctxview.formats.snapshot.profile import Profile
from ctxview.formats.snapshot.state.tiers import prompt_text

ORDINARY_LENGTH = 10_000
RECORDED = "whole input, recorded by the runtime"
MODEL_MEMBERS = ("version", "todo", "active_task", "active_task_meta", "capabilities")


def build_budgets(
    snapshot: Snapshot,
    tiers: Sequence[Tier],
    profile: Profile,
    counter: TokenCounter,
    limited_by: Snapshot | None = None,
) -> tuple[Budget, ...]:
    """Build the budgets; the whole input as the runtime recorded it is the first, where it did.

    `limited_by` is a snapshot whose limit holds if this one states none: the one that a reply answers.
    """
    segments = _segments(snapshot, tiers, profile, counter)
    shown = Budget(
        target="snapshot in the prompt",
        unit="tokens",
        limit=None,
        used=sum(segment.used for segment in segments),
        reserved=None,
        segments=segments,
        cut=sum(block.tokens or 0 for tier in tiers for block in tier.blocks if block.visible is False),
    )
    recorded = tuple(_recorded(snapshot, tiers, profile))
    return (
        *(recorded or [_limited(shown, snapshot, profile, limited_by)]),
        *([shown] if recorded else []),
        *_usage(snapshot),
        _shown_blocks(tiers, profile),
        *([_stored_blocks(snapshot, profile)] if snapshot.role is SnapshotRole.STORED else ()),
    )


def _limited(shown: Budget, snapshot: Snapshot, profile: Profile, limited_by: Snapshot | None) -> Budget:
    """The tokens of the snapshot against the limit of the input, which it shares with what is not here."""
    for stated in (snapshot, limited_by):
        figures = stated.runtime.get("budget") if stated is not None else None
        if isinstance(figures, dict) and (limit := integer(figures.get("input_budget"))) is not None:
            limit_from = f"of {PurePath(stated.file).name}" if stated is limited_by and stated else None
            return replace(
                shown, limit=limit, reserved=_reserved(figures), limit_from=limit_from, partial=True
            )
    policy = profile.budget
    if policy.input_budget is None:
        return shown
    reserved = policy.output_reserve + (policy.margin or 0)
    limit_from = f"assumed by {profile.name}"
    return replace(shown, limit=policy.input_budget, reserved=reserved, limit_from=limit_from, partial=True)


def _segments(
    snapshot: Snapshot, tiers: Sequence[Tier], profile: Profile, counter: TokenCounter
) -> tuple[Segment, ...]:
    """The parts of the snapshot that the model is shown, counted by `counter`."""
    texts = []
    for tier in tiers:
        visible = (block.text for block in tier.blocks if block.visible)
        shown = [prompt_text(text, snapshot.role, profile) for text in visible]
        exact = all(_is_exact(counter, text) for text in shown)
        texts.append(Segment(tier.name, sum(map(counter.count, shown)), exact=exact, estimator=counter.name))
    estimate = f"{counter.name} of the JSON"
    rest = counter.count(_compact({key: snapshot.value.get(key) for key in MODEL_MEMBERS}))
    return (
        *texts,
        Segment("fields", _structure_tokens(tiers, counter), exact=False, estimator=estimate),
        Segment("header", rest, exact=False, estimator=estimate),
    )


def _structure_tokens(tiers: Sequence[Tier], counter: TokenCounter) -> int:
    """Count the tokens of the visible blocks without their text, as compact JSON."""
    bare: list[dict[str, JsonValue]] = [
        {
            "id": block.id,
            "type": block.type,
            "decay": block.figure("decay"),
            "confidence": block.figure("confidence"),
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


def _recorded(snapshot: Snapshot, tiers: Sequence[Tier], profile: Profile) -> Iterator[Budget]:
    """The whole input that the runtime compared with its limit; the rest of it is not in this file."""
    policy = profile.budget
    figures = snapshot.runtime.get("budget")
    used = integer(figures.get("estimated_input_tokens")) if isinstance(figures, dict) else None
    if not isinstance(figures, dict) or used is None:
        return
    name = policy.estimator
    segments: tuple[Segment, ...] = (Segment("whole input", used, exact=False, estimator=name),)
    if policy.units_per_token is not None:
        # Counted as the runtime counts, so that the parts and the whole can be compared.
        counter = Estimate(name, policy.estimate)
        parts = _segments(snapshot, tiers, profile, counter)
        rest = used - sum(part.used for part in parts)
        if rest >= 0:
            segments = (*parts, Segment(ELSEWHERE, rest, exact=False, estimator=name))
    stage = figures.get("degrade_stage")
    quiet = (None, "none", policy.disabled_stage)
    yield Budget(
        target=RECORDED,
        unit="tokens",
        limit=integer(figures.get("input_budget")),
        used=used,
        reserved=_reserved(figures),
        segments=segments,
        stage=f"degrade stage {excerpt(str(stage))}" if stage not in quiet else None,
        reported="recorded by the runtime",
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
