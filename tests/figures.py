"""Figures and reasons of blocks, as a format with decay, confidence and quality makes them."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from ctxview.core.figures import Figure, Reason, ReasonKind, figure_text
from ctxview.core.state import Block

SHARE = (0.0, 1.0)
KNOWN = {
    "quality": Figure("quality", 0, better="high", derived=True),
    "decay": Figure("decay", 0, scale=SHARE, better="low"),
    "confidence": Figure("confidence", 0, scale=SHARE, better="high"),
}


def figures(**values: float | None) -> tuple[Figure, ...]:
    """`figures(decay=0.5)`; a value of None leaves the figure out."""
    given = ((name, values.get(name)) for name in KNOWN)
    return tuple(replace(KNOWN[name], value=value) for name, value in given if value is not None)


def changed(block: Block, **changes: Any) -> Block:
    """Return the block with other attributes; the names of figures change figures."""
    values = {each.name: each.value for each in block.figures}
    values |= {name: changes.pop(name) for name in KNOWN if name in changes}
    if isinstance(changes.get("reason"), str):
        changes["reason"] = Reason(ReasonKind.NOT_CHOSEN, changes["reason"])
    return replace(block, figures=figures(**values), **changes)


def above(figure: str, value: float, limit: float, tier: str = "working") -> Reason:
    text = f"{figure} {figure_text(value)} > {figure_text(limit)} ({tier})"
    return Reason(ReasonKind.ABOVE, text, figure, value, limit)


def below(figure: str, value: float, limit: float, tier: str = "working") -> Reason:
    text = f"{figure} {figure_text(value)} < {figure_text(limit)} ({tier})"
    return Reason(ReasonKind.BELOW, text, figure, value, limit)


def too_old(age: int, limit: int) -> Reason:
    text, summary = f"age {age} > {limit} rounds", f"older than {limit} rounds"
    return Reason(ReasonKind.EXPIRED, text, "age", age, limit, summary)


def finished(status: str) -> Reason:
    return Reason(ReasonKind.FINISHED, f"{status} status", summary=f"status is {status}")
