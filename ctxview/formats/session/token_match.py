"""Which way of counting gives a figure that somebody wrote down for a text."""

from __future__ import annotations

from ctxview.analysis.tokens import ESTIMATES
from ctxview.formats.session.candidates import estimate
from ctxview.formats.session.profile import Profile

LONGEST_COUNTED = 2_000_000
EXACT = "o200k_base"


def counted_by(tokens: int, text: str, profile: Profile) -> str | None:
    """The name of the counter that gives `tokens` for `text`, the profile's own first; None when none."""
    if estimate(text, profile) == tokens:
        return profile.pack.estimator
    for name, counter in ESTIMATES.items():
        if max(1, counter.count(text)) == tokens:
            return name
    if len(text) > LONGEST_COUNTED:
        return None
    # Loading the table takes a while, so it is asked only when all estimates have failed.
    from ctxview.analysis.tokens import exact_counter

    counter = exact_counter(EXACT)
    return counter.name if counter.exact and counter.count(text) == tokens else None
