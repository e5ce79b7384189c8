"""Where a reference leads: to a record of the bundle, to one in its own place, outside, or nowhere."""

from __future__ import annotations

import re
from enum import StrEnum

from ctxview.formats.envelope.model import ID_KEYS, Dossier, Reference
from ctxview.formats.envelope.read import embedded
from ctxview.formats.envelope.vocabulary import KIND_OF_ID

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|(?:urn|data|mailto|doi):", re.IGNORECASE)


class Standing(StrEnum):
    RESOLVED = "resolved"
    EMBEDDED = "embedded"
    EXTERNAL = "external"
    BROKEN = "broken"


def standing(reference: Reference, dossier: Dossier) -> Standing:
    """What other standards describe lies outside, and so does what is named by an address."""
    if embedded(reference) is not None:
        return Standing.EMBEDDED
    if dossier.resolve(reference) is not None:
        return Standing.RESOLVED
    if not reference.leads_to or _is_outside(reference):
        return Standing.EXTERNAL
    return Standing.BROKEN


def _is_outside(reference: Reference) -> bool:
    members = reference.members
    if members.get("external") is True:
        return True
    if "uri" in members and not any(name in members for name in (*KIND_OF_ID, *ID_KEYS)):
        return True
    return reference.id is not None and _ADDRESS.match(reference.id) is not None
