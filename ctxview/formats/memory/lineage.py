"""Lineage: which raw entries support a line of a context document, and which summaries it repeats.

A line is supported by the earlier raw entry that has the largest share of its content words. It comes from a
summary when it has words, or a run of three content words, that occur in that summary and in no earlier raw
entry; a line that repeats a raw entry does not.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import lru_cache
from threading import Lock
from typing import Final

from msgspec import Struct

from ctxview.formats.memory.document import DocumentLine
from ctxview.formats.memory.model import Entry
from ctxview.formats.memory.words import content_in_order, content_words

SUPPORTED: Final = 0.5
"""The share of the content words of a line that one raw entry must have."""
REPEATED: Final = 0.8
"""From this share on, a line repeats a text: a raw entry, or else a summary."""
LEAST_WORDS: Final = 2
RUN: Final = 3
LEAST_OWN_WORDS: Final = 2
MOST_CANDIDATES: Final = 400
MOST_POSTINGS: Final = 5000
"""Of a very common word only the newest entries are looked at."""
MOST_COMPARED: Final = 12
_NONE: Final = array("I")


class LineOrigin(Struct, frozen=True):
    """Where a line of a document comes from."""

    line: DocumentLine
    entry: Entry | None
    """The raw entry with the largest share of the words."""
    share: float
    summary: Entry | None = None
    """The entry whose summary the line repeats."""
    summary_share: float = 0.0
    own: tuple[str, ...] = ()
    """Words or runs of words that are in that summary and in no earlier raw entry."""

    @property
    def supported(self) -> bool:
        return self.share >= SUPPORTED

    @property
    def from_summary(self) -> bool:
        return self.summary is not None

    @property
    def copied(self) -> bool:
        """Whether the line repeats a summary and no raw entry supports it."""
        return self.summary is not None and self.summary_share >= REPEATED and not self.supported


class Lineage:
    """The words of the entries of one memory, added in order."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self.entries: list[Entry] = []
        self._times: list[datetime | None] = []
        self._adding = Lock()
        self._raw: dict[str, array[int]] = {}
        self._summaries: dict[str, array[int]] = {}
        self.add_all(list(entries))

    def begins(self, entries: Sequence[Entry]) -> bool:
        """Whether the indexed entries are the first of `entries`."""
        known = len(self.entries)
        if known > len(entries):
            return False
        return not known or (self.entries[0].id, self.entries[-1].id) == (
            entries[0].id,
            entries[known - 1].id,
        )

    def add_all(self, entries: Sequence[Entry]) -> None:
        """Add those of `entries` that are not indexed yet; the others must be the first of them."""
        with self._adding:
            for entry in entries[len(self.entries) :]:
                self.add(entry)

    def add(self, entry: Entry) -> None:
        number = len(self.entries)
        self.entries.append(entry)
        latest = self._times[-1] if self._times else None
        self._times.append(max(filter(None, (latest, entry.when)), default=None))
        for text, index in ((entry.raw, self._raw), (entry.summary, self._summaries)):
            for word in content_words(text or ""):
                index.setdefault(word, array("I")).append(number)

    def before(self, when: datetime | None) -> int:
        """Return how many entries were added up to that time."""
        if when is None or not self._times or self._times[0] is None:
            return len(self.entries)
        return bisect_right(self._times, when, key=lambda time: time or when)

    def trace(self, line: DocumentLine, bound: int, known: frozenset[str] = frozenset()) -> LineOrigin | None:
        """Return the origin of a line among the first `bound` entries; None when it has too few words.

        `known` are words of an earlier document, which a line may repeat.
        """
        words = content_words(line.text)
        if len(words) < LEAST_WORDS:
            return None
        best, share = self._best(words, bound)
        entry = self.entries[best] if best is not None else None
        if share >= REPEATED:
            return LineOrigin(line, entry, share)
        summary, own = self._repeated(line.text, words, bound, known)
        if summary is None:
            return LineOrigin(line, entry, share)
        contained = len(words & content_words(self.entries[summary].summary or "")) / len(words)
        return LineOrigin(line, entry, share, self.entries[summary], contained, own)

    def _best(self, words: set[str], bound: int) -> tuple[int | None, float]:
        """Return the raw entry with the most of the words, the newest of equals, and its share."""
        counts: Counter[int] = Counter()
        for word in _rarest_first(self._raw, words):
            counts.update(_newest(self._raw, word, bound, MOST_POSTINGS))
        best, most = None, 0
        for number, _ in counts.most_common(MOST_COMPARED):
            found = len(words & content_words(self.entries[number].raw or ""))
            if (found, number) > (most, best if best is not None else -1):
                best, most = number, found
        return best, most / len(words)

    def _repeated(
        self, text: str, words: set[str], bound: int, known: frozenset[str]
    ) -> tuple[int | None, tuple[str, ...]]:
        """Return the entry whose summary has the most of its own words in the line, and these."""
        foreign = {word for word in words - known if len(word) > 2 and not self._said(word, bound)}
        foreign = {word for word in foreign if not word.isdigit()}
        runs = {
            run
            for run in _runs(content_in_order(text))
            if not set(run) <= known and not any(map(str.isdigit, run)) and self._summarised(run)
        }
        if not runs and len(foreign) < LEAST_OWN_WORDS:
            return None, ()
        candidates: Counter[int] = Counter()
        for word in _rarest_first(self._summaries, {*foreign, *(word for run in runs for word in run)}):
            candidates.update(_newest(self._summaries, word, bound, MOST_CANDIDATES))
        best: tuple[int | None, tuple[str, ...]] = (None, ())
        for number, _ in candidates.most_common(MOST_CANDIDATES):
            spoken = content_in_order(self.entries[number].summary or "")
            own_words = sorted(foreign & set(spoken))
            own_runs = sorted(
                " ".join(run) for run in runs & set(_runs(spoken)) if not self._spoken(run, bound)
            )
            found = (*own_runs, *own_words)
            if (own_runs or len(own_words) >= LEAST_OWN_WORDS) and len(found) > len(best[1]):
                best = number, found
        return best

    def _said(self, word: str, bound: int) -> bool:
        """Whether an earlier raw entry has the word, also in another form."""
        return any(
            (postings := self._raw.get(form)) is not None and postings[0] < bound for form in _forms(word)
        )

    def _summarised(self, run: tuple[str, ...]) -> bool:
        return all(word in self._summaries for word in run)

    def _spoken(self, run: tuple[str, ...], bound: int) -> bool:
        """Whether an earlier raw entry has the words one after the other."""
        common = set.intersection(*(set(_newest(self._raw, word, bound, bound)) for word in run))
        return any(run in _runs(content_in_order(self.entries[number].raw or "")) for number in common)


@lru_cache(maxsize=4096)
def _forms(word: str) -> tuple[str, ...]:
    """Return a word and its likely other forms: plural, past tense."""
    endings = ("", "s", "ed", "d", "ing")
    stems = {stem for ending in endings if len(stem := word.removesuffix(ending)) > 1}
    return tuple(stem + ending for stem in stems for ending in endings)


def _rarest_first(index: dict[str, array[int]], words: set[str]) -> list[str]:
    """Return the words so that of entries with as many of them, those with a rare one are compared first."""
    return sorted(words, key=lambda word: (len(index.get(word, _NONE)), word))


def _newest(index: dict[str, array[int]], word: str, bound: int, most: int) -> array[int]:
    """Return the newest entries below `bound` that have the word, in order."""
    postings = index.get(word, _NONE)
    end = bisect_right(postings, bound - 1)
    return postings[max(0, end - most) : end]


def _runs(words: Sequence[str]) -> list[tuple[str, ...]]:
    return [tuple(words[at : at + RUN]) for at in range(len(words) - RUN + 1)]
