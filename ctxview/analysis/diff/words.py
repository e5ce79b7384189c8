"""Word-level difference of two texts, bounded in time however long they are. Knows nothing of states."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Literal

from ctxview.quick_dataclass import dataclass

Side = Literal["same", "removed", "added"]

# SequenceMatcher is quadratic at worst: beyond this many words compare lines, beyond that many lines nothing.
_MOST = 2000
# A number, a word, a run of white space, or one character: East Asian text has no spaces between words.
_WORD = re.compile(r"\d+\.\d+|[^\W\u2e80-\U0010ffff]+|\s+|.", re.DOTALL)
_LINE = re.compile(r"[^\n]*\n|[^\n]+")


@dataclass(frozen=True, slots=True)
class Piece:
    side: Side
    text: str


def pieces(before: str, after: str) -> tuple[Piece, ...]:
    """`before` and `after` cut into what stayed and what did not.

    Without the added pieces the text is `before`, without the removed ones it is `after`.
    """
    for cut in (_WORD, _LINE):
        left, right = cut.findall(before), cut.findall(after)
        start, end = _shared_ends(left, right)
        middle_left, middle_right = left[start : len(left) - end], right[start : len(right) - end]
        if max(len(middle_left), len(middle_right)) <= _MOST:
            found = [("same", "".join(left[:start])), *_compare(middle_left, middle_right)]
            return _tidy([*found, ("same", "".join(left[len(left) - end :]))])
    return _tidy([("removed", before), ("added", after)])


def _shared_ends(left: Sequence[str], right: Sequence[str]) -> tuple[int, int]:
    """How many words both begin and end with, not counting any word twice."""
    most = min(len(left), len(right))
    start = next((n for n in range(most) if left[n] != right[n]), most)
    most -= start
    end = next((n for n in range(most) if left[-1 - n] != right[-1 - n]), most)
    return start, end


def _compare(left: Sequence[str], right: Sequence[str]) -> Iterator[tuple[Side, str]]:
    for tag, a, b, c, d in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if tag == "equal":
            yield "same", "".join(left[a:b])
        else:
            yield "removed", "".join(left[a:b])
            yield "added", "".join(right[c:d])


def _tidy(found: Sequence[tuple[Side, str]]) -> tuple[Piece, ...]:
    """Joins neighbours, and takes a space between two changes as changed too: phrases read better."""
    result: list[Piece] = []
    removed = added = ""
    texts = [(side, text) for side, text in found if text]
    for index, (side, text) in enumerate(texts):
        if side == "same" and text.isspace() and (removed or added) and index + 1 < len(texts):
            removed, added = removed + text, added + text
        elif side == "same":
            result += _changed(removed, added)
            result.append(Piece("same", text))
            removed = added = ""
        elif side == "removed":
            removed += text
        else:
            added += text
    return (*result, *_changed(removed, added))


def _changed(removed: str, added: str) -> list[Piece]:
    return [piece for piece in (Piece("removed", removed), Piece("added", added)) if piece.text]
