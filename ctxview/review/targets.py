"""Who gets what: for each target the items it was given or may see, and what it would see of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from ctxview.analysis.secrets import mask_secrets
from ctxview.analysis.wording import counted
from ctxview.core.prompt import Prompt, PromptError
from ctxview.core.state import SHOWN_TO, Block, ContextState, Reach
from ctxview.formats.interface import Lens, Source

MODEL = "model"
_GIVEN = (*SHOWN_TO, Reach.ASSEMBLED)


class TargetShare(Struct, frozen=True):
    """What one target gets. `items` are those it was given; where none was, those it may see."""

    target: str
    items: tuple[str, ...]
    given: bool
    tokens: int
    masked: int
    violations: tuple[str, ...] = ()
    preview: Prompt | None = None
    no_preview: str = ""
    """Why there is no preview."""

    @property
    def violation_text(self) -> str:
        return ", ".join(self.violations) or "none"


class HandedOver(Struct, frozen=True):
    """What is handed over and to whom, from the fields of the source alone."""

    source: str
    format: str
    revision: str
    what: str
    facts: tuple[tuple[str, str], ...]
    receivers: tuple[str, ...]


def handed_over(state: ContextState, shares: Sequence[TargetShare]) -> HandedOver:
    counts = state.counts
    tokens = f"{'' if counts.tokens_exact else '≈'}{counts.tokens:,} tokens"
    what = f"{counted(counts.blocks, 'block')}, {counts.visible} of them shown to the model, {tokens}"
    given = tuple(share.target for share in shares if share.given)
    facts = tuple((name, mask_secrets(value)) for name, value in state.extra.items())
    title, revision = mask_secrets(state.title), mask_secrets(state.revision)
    return HandedOver(title, state.format, revision, what, facts, given or (MODEL,))


def target_shares(source: Source, revision: int, state: ContextState, lens: Lens) -> tuple[TargetShare, ...]:
    """Return the share of every target that was given something or may see something."""
    blocks = [block for block in state.blocks() if block.reach]
    targets = dict.fromkeys(target for block in blocks for target in block.reach)
    if not targets:
        shown = [block for block in state.blocks() if block.visible]
        prompt, why = _preview(source, revision, lens, None)
        return (_share(MODEL, shown, given=True, state=state, prompt=prompt, why=why),)
    return tuple(
        share
        for target in targets
        if (share := _target_share(source, revision, state, lens, target, blocks)).items
    )


def previews(shares: Sequence[TargetShare]) -> Iterator[tuple[str, Prompt]]:
    for share in shares:
        if share.preview is not None:
            yield share.target, share.preview


def _target_share(
    source: Source, revision: int, state: ContextState, lens: Lens, target: str, blocks: Sequence[Block]
) -> TargetShare:
    given = [block for block in blocks if block.reach.get(target) in _GIVEN]
    allowed = [block for block in blocks if block.reach.get(target) is Reach.ALLOWED]
    prompt, why = (
        _preview(source, revision, lens, target) if given else (None, "nothing was assembled for it")
    )
    return _share(target, given or allowed, given=bool(given), state=state, prompt=prompt, why=why)


def _share(
    target: str, blocks: Sequence[Block], *, given: bool, state: ContextState, prompt: Prompt | None, why: str
) -> TargetShare:
    budgets = (each.used for each in state.budgets if each.target == target and each.unit == "tokens")
    recorded = next((used for used in budgets if used is not None), None) if given else None
    whole = sum((block.tokens or 0) + block.cut for block in blocks)
    return TargetShare(
        target,
        tuple(mask_secrets(block.id) for block in blocks),
        given,
        recorded if recorded is not None else whole,
        sum(bool(block.redaction) for block in blocks),
        tuple(mask_secrets(block.id) for block in blocks if block.reach.get(target) is Reach.VIOLATION),
        prompt,
        why,
    )


def _preview(source: Source, revision: int, lens: Lens, target: str | None) -> tuple[Prompt | None, str]:
    ability = source.abilities.prompt
    if ability is None:
        return None, f"no prompt is known for the format {source.format}"
    try:
        return ability.prompt(revision, lens, target), ""
    except PromptError as error:
        return None, str(error)
