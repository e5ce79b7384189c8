"""Builds the budgets: tokens by tier against the input budget, recorded figures, and blocks against caps.

The chosen counter counts the text of the prompt; every other figure names its estimator.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath

from msgspec.structs import replace

from ctxview.analysis.prompt_tokens import HEADER, is_ordinary, measured_prompt, tokens_by_tier
from ctxview.analysis.revisions.window import ELSEWHERE
from ctxview.analysis.tokens import Estimate, TokenCounter
from ctxview.analysis.wording import excerpt
from ctxview.core.origin import JsonValue
from ctxview.core.prompt import Prompt
from ctxview.core.state import Budget, Segment, Tier
from ctxview.formats.snapshot.model import TIERS, Snapshot, SnapshotRole, integer
from ctxview.formats.snapshot.profile import Profile

RECORDED = "whole input, recorded by the runtime"


def build_budgets(
    snapshot: Snapshot,
    prompt: Prompt,
    tiers: Sequence[Tier],
    profile: Profile,
    counter: TokenCounter,
    limited_by: Snapshot | None = None,
) -> tuple[Budget, ...]:
    """Build the budgets; the whole input as the runtime recorded it is the first, where it did.

    `limited_by` is a snapshot whose limit holds if this one states none: the one that a reply answers.
    """
    segments = _segments(prompt, tiers, counter)
    shown = Budget(
        target="snapshot in the prompt",
        unit="tokens",
        limit=None,
        used=sum(segment.used for segment in segments),
        reserved=None,
        segments=segments,
        cut=sum(block.tokens or 0 for tier in tiers for block in tier.blocks if block.visible is False),
    )
    recorded = tuple(_recorded(snapshot, prompt, tiers, profile))
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


def _segments(prompt: Prompt, tiers: Sequence[Tier], counter: TokenCounter) -> tuple[Segment, ...]:
    """The parts of the prompt's text, counted by `counter`, and each further message that a file holds."""
    counted = measured_prompt(prompt, counter)
    sizes = {each.name: each for each in tokens_by_tier(counted)}
    header = sizes.pop(HEADER, None)
    used = {tier.name: sizes[tier.name].content if tier.name in sizes else 0 for tier in tiers}
    used["fields"] = sum(each.fields for each in sizes.values())
    used["header"] = header.total if header is not None else 0
    for message in counted.messages:
        if not message.in_text and message.absent is None:
            name = f"{excerpt(message.role)} message"
            used[name] = used.get(name, 0) + sum(part.tokens or 0 for part in message.parts)
    texts = (part.text for message in prompt.messages for part in message.parts)
    exact = (
        prompt.exact
        and counter.exact
        and all(is_ordinary(text) or counter.measure(text).exact for text in texts)
    )
    return tuple(Segment(name, size, exact=exact, estimator=counter.name) for name, size in used.items())


def _recorded(
    snapshot: Snapshot, prompt: Prompt, tiers: Sequence[Tier], profile: Profile
) -> Iterator[Budget]:
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
        parts = _segments(prompt, tiers, counter)
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
