"""How the kinds of revisions look on the timeline: a bead for each, hollow, and filled when it is shown.

Formats name their kinds in their own words; one that is not known here is a plain round bead.
"""

from __future__ import annotations

from collections.abc import Mapping

from ctxview.quick_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Bead:
    hollow: str
    filled: str
    style: str
    told: str
    """For the legend."""


PLAIN = Bead("○", "●", "link", "a round, an envelope, a moment: the state as a whole")
REPLY = Bead("◇", "◆", "tier.longterm", "a reply, an attempt: what was made of it")
LOG = Bead("□", "■", "tier.ephemeral", "a saved log")
RUN = Bead("▷", "▶", "tier.working", "the end of a run")
SEEN = Bead("◌", "◉", "dim", "as it was seen while it was open")
REVISED = Bead("◎", "◉", "accent", "a published revision")
FOLDED = Bead("▿", "▾", "warn", "a compaction: what was said before is now only summed up")
BROKEN = Bead("✖", "✖", "bad", "could not be read")

LEGEND = (PLAIN, REPLY, LOG, RUN, REVISED, SEEN, FOLDED, BROKEN)

_BEADS: Mapping[str, Bead] = {
    "reply": REPLY,
    "attempt": REPLY,
    "full log": LOG,
    "lite log": LOG,
    "store": LOG,
    "run": RUN,
    "seen": SEEN,
    "revision": REVISED,
    "compaction": FOLDED,
    "unreadable": BROKEN,
}


def bead(kind: str) -> Bead:
    return _BEADS.get(kind, PLAIN)
