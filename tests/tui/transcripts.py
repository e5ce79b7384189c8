"""Sources with a transcript and with long work; rows are made when they are read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

from msgspec.structs import replace

from ctxview.core.origin import Origin
from ctxview.core.transcript import Row
from ctxview.files.reading import ReadError
from ctxview.formats import Abilities, Lens, Progress, Reading, Revision
from ctxview.formats.interface import AS_ON_DISK
from tests.tui.fakes import FakeSource
from tests.tui.snapshot_stories import RICH

FILE = "night/messages.jsonl"
ROLES = ("user", "assistant", "tool", "system")


@dataclass
class FakeTranscript:
    """Rows that contain their number, except those in `marks`."""

    rows: int
    marks: Mapping[int, str] = field(default_factory=dict)
    complete: bool = True
    asked: set[int] = field(default_factory=set)
    searches: list[tuple[int, bool]] = field(default_factory=list)
    last: int = 0
    """The number of rows at the end while the transcript is not complete."""

    @property
    def ending(self) -> int:
        return 0 if self.complete else self.last

    def __len__(self) -> int:
        return self.rows

    def row(self, index: int) -> Row:
        if -self.ending <= index < 0:
            return Row(index, "user", "text", f"{index} from the end", None, Origin(FILE), 10)
        if index < 0:
            index += self.rows
        if not 0 <= index < self.rows:
            raise IndexError(index)
        self.asked.add(index)
        text = self.marks.get(index, f"line {index + 1} of the log\nand more of it")
        long = f"{len(text):,} bytes are too many" if len(text) > 16_384 else None
        origin = Origin(FILE, f"/{index}", index * 10, index * 10 + 9, index + 1, 1)
        return Row(index, ROLES[index % 4], "text", text, "run-7", origin, len(text), unseen=long)

    def raw(self, index: int) -> bytes:
        return f'{{"content": "raw {index + 1}"}}'.encode()

    def find(self, needle: str, start: int, backwards: bool, cancelled: Callable[[], bool]) -> int | None:
        self.searches.append((start, backwards))
        hits = sorted(at for at, text in self.marks.items() if needle in text.lower())
        if start < 0:
            start += self.rows
        if backwards:
            return next((at for at in reversed(hits) if at < start), None)
        return next((at for at in hits if at >= start), None)


@dataclass
class TalkingSource(FakeSource):
    """A source whose file of messages is too large to be read."""

    transcript: FakeTranscript = field(default_factory=lambda: FakeTranscript(83))

    def bytes_of(self, file: str) -> bytes:
        if file == FILE:
            raise ReadError(Path(file), "the file has 900 MiB")
        return super().bytes_of(file)

    def reading(self, revision: int, lens: Lens, overlay: Mapping[str, bytes] = AS_ON_DISK) -> Reading:
        reading = super().reading(revision, lens, overlay)
        budgets = reading.state.budgets
        if isinstance(tried := lens.options.get("budget"), int):
            budgets = (replace(budgets[0], limit=tried), *budgets[1:])
        return replace(reading, state=replace(reading.state, transcript=self.transcript, budgets=budgets))


@dataclass
class WorkingSource(TalkingSource):
    """A source that has earlier revisions only after its work, which waits for `go`."""

    go: Event = field(default_factory=Event)
    started: Event = field(default_factory=Event)
    worked: bool = False
    stopped: bool = False

    @property
    def abilities(self) -> Abilities:
        return Abilities(work=self)

    @property
    def revisions(self) -> list[Revision]:
        every = list(super().revisions)
        return every if self.worked else every[-1:]

    def reading(self, revision: int, lens: Lens, overlay: Mapping[str, bytes] = AS_ON_DISK) -> Reading:
        return super().reading(revision if self.worked else len(self.documents) - 1, lens, overlay)

    def has_work(self, lens: Lens) -> bool:
        return not self.worked

    def work(self, lens: Lens, progress: Progress) -> None:
        self.started.set()
        while not self.go.wait(0.01):
            progress.report(42, 100, "reading history")
            if progress.cancelled:
                self.stopped = True
                return
        self.transcript.complete = self.worked = True


def talking(rows: int = 83, **marks: str) -> TalkingSource:
    """`m4="…"` is the text of message 4."""
    texts = {int(name[1:]) - 1: text for name, text in marks.items()}
    return TalkingSource([RICH], transcript=FakeTranscript(rows, texts))


def working() -> WorkingSource:
    return WorkingSource([RICH, RICH, RICH], transcript=FakeTranscript(40, complete=False))
