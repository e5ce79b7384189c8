"""The signs of revisions on the timeline. A format chooses one for each revision, or makes its own."""

from __future__ import annotations

from msgspec import Struct


class RevisionSign(Struct, frozen=True):
    """The sign of a kind of revision: hollow, filled where the revision is selected, its colour role."""

    hollow: str
    filled: str
    role: str
    meaning: str
    """The text in the legend."""


WHOLE_STATE = RevisionSign("○", "●", "link", "a round, an envelope or a moment: the whole state")
REPLY = RevisionSign("◇", "◆", "tier.longterm", "a reply or an attempt")
LOG = RevisionSign("□", "■", "tier.ephemeral", "a saved log")
RUN = RevisionSign("▷", "▶", "tier.working", "the end of a run")
SEEN = RevisionSign("◌", "◉", "dim", "a version seen while the file was open")
PUBLISHED = RevisionSign("◎", "◉", "accent", "a published revision")
COMPACTION = RevisionSign("▿", "▾", "warn", "a compaction: earlier messages were replaced by a summary")
UNREADABLE = RevisionSign("✖", "✖", "bad", "could not be read")

REVISION_SIGNS = (WHOLE_STATE, REPLY, LOG, RUN, PUBLISHED, SEEN, COMPACTION, UNREADABLE)
