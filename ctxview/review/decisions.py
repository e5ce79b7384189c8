"""Decisions about the points of a review, and the progress that is kept for the next time.

The progress lies in the user's state folder, by the real paths of the reviewed sources. A decision holds for
a point as long as the point says the same about the same bytes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from threading import get_ident

from msgspec import DecodeError, Struct, ValidationError, field
from msgspec.json import decode, encode

from ctxview.files.reading import ReadError, read_bytes
from ctxview.files.undo_copies import write_new
from ctxview.files.user_folders import state_folder
from ctxview.files.visible_text import visible
from ctxview.review.points import Point

LONGEST_TEXT = 10_000
MOST_KEPT = 2_000
"""Reviews whose progress is kept; the oldest go first."""


class DecisionKind(StrEnum):
    LOOKED_AT = "looked at"
    ACCEPTED = "accepted"
    ASKED = "asked"
    ANSWERED = "answered"
    WAIVED = "waived"


class DecisionRefused(Exception):
    """A decision that cannot be made, with the reason."""


class Decision(Struct, frozen=True):
    """What a person decided about a point: the reason, the question or the answer, who and when."""

    kind: DecisionKind
    text: str = ""
    by: str = ""
    at: str = ""
    evidence: str = ""
    """The digest of the bytes that the point was about."""

    @property
    def words(self) -> str:
        """`accepted: reason`."""
        return f"{self.kind}: {self.text}" if self.text else self.kind.value


def decide(point: Point, kind: DecisionKind, text: str, by: str, *, evidence: str = "") -> Decision:
    """Return a decision about a point; raises `DecisionRefused`."""
    text = visible(text.strip(), keep_layout=True)
    if len(text) > LONGEST_TEXT:
        raise DecisionRefused(f"a reason has at most {LONGEST_TEXT:,} characters")
    if kind is DecisionKind.LOOKED_AT and point.blocks:
        raise DecisionRefused(f"{point.id} blocks: it can be accepted with a written reason, or asked about")
    if kind in (DecisionKind.WAIVED, DecisionKind.ANSWERED) and point.gap is None:
        raise DecisionRefused(f"{point.id} is not a gap: accept it with a reason instead")
    if kind is not DecisionKind.LOOKED_AT and not text:
        raise DecisionRefused(f"{point.id}: a written reason is needed")
    return Decision(kind, text, visible(by), now_text(), evidence)


def settles(decision: Decision | None, point: Point) -> bool:
    """Whether nothing is left to decide about a point. A question that was asked waits for its answer."""
    if decision is None:
        return point.severity.value == "info" and not point.blocks
    if decision.kind is DecisionKind.ASKED:
        return False
    return not point.blocks or bool(decision.text.strip())


def now_text() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


class KeptProgress(Struct, frozen=True):
    """The progress of one review as it is stored."""

    paths: tuple[str, ...]
    subject: str
    decisions: dict[str, Decision] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)
    """The titles of the decided points, to say which were fixed since."""


def recall(paths: Sequence[Path]) -> KeptProgress | None:
    """Return the progress of a review; None when there is none or its file is damaged."""
    try:
        found = decode(read_bytes(_file(paths)), type=KeptProgress)
    except (ReadError, DecodeError, ValidationError, RecursionError):
        return None
    return found if found.paths == _names(paths) else None


def keep(
    paths: Sequence[Path], subject: str, decisions: Mapping[str, Decision], points: Sequence[Point]
) -> None:
    """Store the progress of a review in place of any earlier one; raises `OSError`."""
    file = _file(paths)
    titles = {point.id: point.title for point in points if point.id in decisions}
    earlier = recall(paths)
    titles = {**(earlier.titles if earlier is not None else {}), **titles}
    known = {name: titles[name] for name in decisions if name in titles}
    progress = KeptProgress(_names(paths), subject, dict(decisions), known)
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = file.with_name(f".{file.name}.{os.getpid()}.{get_ident()}")
    draft.unlink(missing_ok=True)
    write_new(draft, encode(progress), wait=True)
    draft.replace(file)
    kept = sorted(file.parent.glob("*.json"), key=lambda each: each.stat().st_mtime_ns)
    for old in kept[:-MOST_KEPT]:
        old.unlink(missing_ok=True)


def _names(paths: Sequence[Path]) -> tuple[str, ...]:
    return tuple(sorted({os.fspath(path.resolve()) for path in paths}))


def _file(paths: Sequence[Path]) -> Path:
    name = sha256(json.dumps(_names(paths)).encode()).hexdigest()
    return state_folder() / "reviews" / f"{name}.json"
