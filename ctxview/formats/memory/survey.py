"""The history of each memory of a bundle: snapshots and entries, with the origin of every context line."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from ctxview.analysis.text_copies import holds_redaction_mark
from ctxview.formats.memory.document import Document, DocumentLine, parse_document
from ctxview.formats.memory.lineage import Lineage, LineOrigin
from ctxview.formats.memory.model import ContextSnapshot, Entry, MemoryBundle
from ctxview.formats.memory.records import ENTRIES
from ctxview.formats.memory.words import content_words, words_in

MOST_MEMORIES = 20
"""The memories that a state shows; see `MemorySurvey.left_out`."""
SAME_FACT = 0.6
"""Two lines with this share of common content words state the same fact."""


class LostLine(Struct, frozen=True):
    """A line of one snapshot that the next one does not have."""

    line: DocumentLine
    snapshot: ContextSnapshot
    """The snapshot that lost it."""


class MemoryHistory:
    """One memory in time. `entries_known` is False for a bundle without entries, where support is unknown."""

    def __init__(
        self,
        bundle: MemoryBundle,
        memory: str | None,
        snapshots: list[ContextSnapshot],
        entries: list[Entry],
        lineage: Lineage | None,
    ) -> None:
        self.memory = memory
        self.snapshots = snapshots
        self.entries = entries
        self.entries_known = ENTRIES in bundle.files and bundle.complete
        self._lineage = lineage if lineage is not None and lineage.begins(entries) else Lineage()
        self._origins: dict[int, dict[str, LineOrigin | None]] = {}

    @property
    def lineage(self) -> Lineage:
        self._lineage.add_all(self.entries)
        return self._lineage

    def index(self, upto: int) -> None:
        """Index the words of the entries before number `upto`."""
        self._lineage.add_all(self.entries[:upto])

    @cached_property
    def documents(self) -> list[Document]:
        return [parse_document(each.text) for each in self.snapshots]

    def new_lines(self, number: int) -> list[DocumentLine]:
        """Return the lines of a snapshot that the one before does not have."""
        if self.snapshots[number].is_placeholder:
            return []
        before = {line.text for line in self.documents[number - 1].lines()} if number else set()
        return [line for line in self.documents[number].lines() if line.text not in before]

    def origins(self, number: int) -> list[LineOrigin]:
        """Return the origins of the lines of a snapshot, each judged when the line first appeared."""
        if not self.entries_known:
            return []
        return [found for found in self._origins_at(number).values() if found is not None]

    def new_origins(self) -> Iterator[tuple[ContextSnapshot, LineOrigin]]:
        """Yield the origin of every line once, with the snapshot in which it appeared.

        In a redacted copy a line may come from an entry whose words were removed, so none is known.
        """
        if any(holds_redaction_mark(each.raw or "") for each in self.entries):
            return
        for number, snapshot in enumerate(self.snapshots):
            new = {line.text for line in self.new_lines(number)}
            for origin in self.origins(number):
                if origin.line.text in new:
                    yield snapshot, origin

    def lost(self, number: int) -> list[LostLine]:
        """Return the lines that a snapshot lost, unless it says the same in other words."""
        if number == 0 or self.snapshots[number - 1].is_placeholder:
            return []
        present = [content_words(line.text) for line in self.documents[number].lines()]
        found = []
        for line in self.documents[number - 1].lines():
            words = content_words(line.text)
            if words and not any(len(words & each) / len(words) >= SAME_FACT for each in present):
                found.append(LostLine(line, self.snapshots[number]))
        return found

    def _origins_at(self, number: int) -> dict[str, LineOrigin | None]:
        for each in range(number + 1):
            if each not in self._origins:
                self._origins[each] = self._traced(each)
        return self._origins[number]

    def _traced(self, number: int) -> dict[str, LineOrigin | None]:
        before = self._origins[number - 1] if number else {}
        snapshot = self.snapshots[number]
        if snapshot.is_placeholder:
            return {}
        bound = self.lineage.before(snapshot.when)
        if not bound:
            # A context that is written before the first entry replaces the placeholder.
            return {}
        known = frozenset(words_in(self.snapshots[number - 1].text)) if number else frozenset()
        found: dict[str, LineOrigin | None] = {}
        for line in self.documents[number].lines():
            if line.text in before:
                # Judged when the line first appeared; since then it may have moved.
                old = before[line.text]
                found[line.text] = replace(old, line=line) if old is not None else None
            else:
                found[line.text] = self.lineage.trace(line, bound, known)
        return found


class MemorySurvey:
    """The histories of all memories of a bundle, those with a context or entries."""

    def __init__(self, bundle: MemoryBundle, before: MemorySurvey | None = None) -> None:
        self.bundle = bundle
        snapshots: dict[str | None, list[ContextSnapshot]] = {}
        entries: dict[str | None, list[Entry]] = {}
        for snapshot in bundle.snapshots:
            snapshots.setdefault(snapshot.memory, []).append(snapshot)
        for entry in bundle.entries:
            entries.setdefault(entry.memory, []).append(entry)
        self.histories: dict[str | None, MemoryHistory] = {}
        for memory in dict.fromkeys((*snapshots, *entries, *(each.id for each in bundle.memories))):
            known = before.histories.get(memory) if before is not None else None
            self.histories[memory] = MemoryHistory(
                bundle,
                memory,
                snapshots.get(memory, []),
                entries.get(memory, []),
                known.lineage if known is not None else None,
            )

    @property
    def left_out(self) -> Iterator[tuple[str, str]]:
        """Yield the file of each part that is not read or not shown in full, and what is left out."""
        files = self.bundle.files
        yield from ((files[name], why) for name, why in self.bundle.left_out.items())
        if (count := len(self.histories)) > MOST_MEMORIES:
            yield next(iter(files.values())), f"only {MOST_MEMORIES:,} of {count:,} memories are shown"

    def index_entries(self, step: int) -> Iterator[int]:
        """Index the words of all entries, and yield after every `step` of them how many are done."""
        done = 0
        for history in self.histories.values():
            for upto in range(0, len(history.entries) + step, step):
                history.index(upto)
                yield done + upto
            done += len(history.entries)
