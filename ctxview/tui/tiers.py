"""One colour a tier, the same wherever the tier is named: those we know by name, others by their place."""

from __future__ import annotations

from collections.abc import Iterable

KNOWN = ("core", "working", "ephemeral", "longterm")


def tier_styles(names: Iterable[str]) -> dict[str, str]:
    """The style of each tier of a state, in the order the state has them."""
    strangers = 0
    styles: dict[str, str] = {}
    for name in dict.fromkeys(names):
        if name in KNOWN:
            styles[name] = f"tier.{name}"
        else:
            styles[name] = f"tiers.{strangers % 8}"
            strangers += 1
    return styles
