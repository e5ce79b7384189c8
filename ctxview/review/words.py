"""The words of a sign-off: what it decides, and how its signature stands. Apart, so that rules load fast."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

PREDICATES: Final = "urn:ctxview:review:"
"""How the predicate type of every record begins; the version follows."""


class SignOff(StrEnum):
    """The decision of a review as a whole."""

    APPROVED = "approved"
    REJECTED = "rejected"
    ASKED = "asked"


class SignatureState(StrEnum):
    """The state of the signature of a record."""

    UNSIGNED = "not signed"
    GOOD = "signed"
    UNVERIFIED = "signed, but not compared with known signers"
    BAD = "the signature is bad"
    UNKNOWN_SIGNER = "the signer is unknown"
