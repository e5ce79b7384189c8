"""One look at a session, the subject of its rules: small files, histories, and what is known of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from ctxview.formats.session.blobs import BlobFacts
from ctxview.formats.session.history import History
from ctxview.formats.session.model import Blob, Session
from ctxview.formats.session.profile import Profile
from ctxview.formats.session.survey import Survey
from ctxview.quick_dataclass import dataclass


@dataclass(frozen=True)
class Look:
    """While nobody has looked, `survey` is None and a blob not in `blobs`; nothing is then said of them."""

    session: Session
    history: History
    profile: Profile
    survey: Survey | None = None
    blobs: Mapping[str, BlobFacts] = field(default_factory=dict)

    def facts(self, blob: Blob) -> BlobFacts | None:
        return self.blobs.get(blob.name)

    @property
    def complete(self) -> bool:
        return self.survey is not None and len(self.blobs) >= len(self.session.swap.blobs) + len(
            self.session.dedup.blobs
        )
