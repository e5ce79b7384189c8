"""Open a review with what is known about it, and sign it off, for the command and for the inspector.

Only `sign_off` and `keep_progress` write, and never to reviewed files.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from ctxview.files.create import CreateRefused
from ctxview.files.reading import REVIEW_SUFFIX
from ctxview.formats.interface import Lens, Source
from ctxview.review.decisions import keep, recall
from ctxview.review.record import (
    ReviewStatement,
    make_statement,
    record_bytes,
    write_record,
)
from ctxview.review.review import Review, build_review
from ctxview.review.ssh_signature import sign, write_signature
from ctxview.review.subject import free_record, joined, subject_at, subjects_of
from ctxview.review.verification import last_review
from ctxview.review.words import SignOff


class SignOffRefused(Exception):
    """A sign-off that was not made, with the reason; nothing was written."""


class SignOffRequest(Struct, frozen=True):
    """What a reviewer decides about a review as a whole."""

    decision: SignOff
    reviewer: str
    comment: str = ""
    to: Path | None = None
    """The file to write; None for the next free name beside the first reviewed path."""
    key: Path | None = None
    """The SSH key to sign with; None for an unsigned record."""


def open_review(sources: Sequence[Source], lens: Lens) -> Review:
    """Return the review of `sources` with kept decisions and the last sign-off. Raises `OpenError`."""
    review = build_review(sources, lens).with_progress(recall([source.path for source in sources]))
    return replace(review, last=last_review(sources, lens))


def keep_progress(review: Review) -> None:
    """Store the decisions, so that the review can be continued later; raises `OSError`."""
    keep(review.paths, review.subject.digest, review.decisions, review.points)


def sign_off(
    review: Review, sources: Sequence[Source], request: SignOffRequest
) -> tuple[Path, ReviewStatement]:
    """Write the record of a review and its signature.

    Raises `SignOffRefused`, `SigningFailed`, `CreateRefused` or `OSError`.
    """
    if request.decision is SignOff.APPROVED and (why := review.why_not_approved) is not None:
        raise SignOffRefused(f"not approved: {why}")
    if request.decision is SignOff.REJECTED and not request.comment.strip():
        raise SignOffRefused("a rejection needs a comment that says why")
    if not request.reviewer.strip():
        raise SignOffRefused("the reviewer has no name")
    if not review.subject.files:
        raise SignOffRefused("there is no file to sign off")
    root = review.subject.root
    present = subject_at(root, (root / name for name in review.subject.files))
    if joined([*subjects_of(sources), present]).digest != review.subject.digest:
        raise SignOffRefused("the files changed since they were read; look at the review again")
    file = request.to if request.to is not None else free_record(review.paths[0])
    if not file.name.endswith(REVIEW_SUFFIX):
        raise SignOffRefused(f"the name of a record ends in {REVIEW_SUFFIX}: {file.name}")
    follows = review.last.digest if review.last is not None else None
    statement = make_statement(review, request.decision, request.reviewer, request.comment, follows)
    data = record_bytes(statement)
    signature = sign(data, request.key) if request.key is not None else None
    if os.path.lexists(file):
        raise CreateRefused(f"{file} exists already")
    write_record(file, data)
    if signature is not None:
        write_signature(file, signature)
    return file, statement


def reviewer_name() -> str:
    """Return the name of the person at the terminal."""
    from getpass import getuser

    try:
        return getuser()
    except (KeyError, OSError):
        return ""
