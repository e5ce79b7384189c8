"""Moments of recordings as readings: each is laid out and read by the format it had then.

The last few stay laid out, so that going back and forth between them costs little. Any thread may ask.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Final

from ctxview.files.reading import Unreadable, outside, read_beneath
from ctxview.findings import Finding
from ctxview.formats.discovery import discover
from ctxview.formats.interface import CannotOpen, Lens, LongWork, Progress, Reading, Source, Withholding
from ctxview.formats.registry import open_source
from ctxview.quick_dataclass import dataclass
from ctxview.recording.frames import Damaged
from ctxview.recording.laying_out import LaidOut, lay_out
from ctxview.recording.naming import Naming
from ctxview.recording.reader import Recording
from ctxview.state import ContextState, Counts, Gap, Origin

MOST_LAID_OUT: Final = 4
MOST_BYTES: Final = 2 * 1024**3
"""So much may stay laid out beside the moment that is looked at."""


@dataclass(frozen=True)
class AsOf:
    """One moment: its files laid out, and the source that reads them, or why there is none."""

    naming: Naming
    laid_out: LaidOut | None
    source: Source | None
    problem: str | None

    @property
    def size(self) -> int:
        return self.laid_out.size if self.laid_out is not None else 0

    def reading(self, lens: Lens) -> Reading | None:
        """As the format reads the latest of what was there; None when there was nothing to read."""
        if self.source is None:
            return None
        reading = self.source.reading(len(self.source.revisions) - 1, self._lens(lens))
        state = self.naming.of(reading.state)
        lost = self.laid_out.problems if self.laid_out is not None else []
        missing = (*(self._gap(name, why) for name, why in lost), *state.missing)
        findings = self.naming.of(reading.findings)
        return replace(reading, state=replace(state, missing=missing), findings=findings)

    def findings(self, lens: Lens) -> Sequence[Finding]:
        return (
            self.naming.of(tuple(self.source.findings(self._lens(lens)))) if self.source is not None else ()
        )

    def bytes_of(self, file: str) -> bytes:
        """A file as it was then, by the name people know; raises `Unreadable`."""
        name = self.naming.name(file)
        if name is None or outside(name) is not None or self.laid_out is None:
            raise Unreadable(Path(file), "this file is no part of the recording")
        if self.source is not None:
            return self.source.bytes_of(f"{self.naming.folder}/{name}")
        return read_beneath(self.laid_out.folder, name)

    def withheld(self, file: str, data: bytes | None = None) -> Sequence[tuple[int, int]]:
        """What of a file nobody may be shown, where the format of then knows such a thing."""
        name, source = self.naming.name(file), self.source
        if name is None or source is None or not isinstance(source, Withholding):
            return ()
        return source.withheld(f"{self.naming.folder}/{name}", data)

    def _gap(self, name: str, why: str) -> Gap:
        origin = Origin(f"{self.naming.prefix}{name}")
        return Gap(name, "a file as it was then", "error", "lost", (), why, origin)

    def _lens(self, lens: Lens) -> Lens:
        known = self.source is None or lens.profile is None or lens.profile in self.source.profiles
        # A profile may also be a file; one of another format's names is not for this moment.
        return lens if known or Path(lens.profile or "").suffix else replace(lens, profile=None)


class Past:
    """The moments of recordings of one thing: what people call its folder, and why it cannot be changed.

    `lender` is the folder whose files the recordings may have lent.
    """

    def __init__(
        self, shown: str, why: str, as_format: str | None = None, lender: Path | None = None
    ) -> None:
        self._shown = shown
        self._why = why
        self._as_format = as_format
        self._lender = lender
        self._kept: dict[tuple[int, int], AsOf] = {}
        self._lock = Lock()
        self._laying = Lock()

    def at(self, recording: Recording, number: int) -> AsOf:
        """One moment of a recording, laid out."""
        key = recording.salt, number
        with self._laying:
            with self._lock:
                found = self._kept.pop(key, None)
                near = [each.laid_out for each in reversed(self._kept.values())]
            if found is None:
                found = self._lay_out(recording, number, [each for each in near if each is not None])
            with self._lock:
                self._kept[key] = found
                while len(self._kept) > MOST_LAID_OUT or self._too_much:
                    self._kept.pop(next(iter(self._kept)))
            return found

    @property
    def _too_much(self) -> bool:
        *others, _ = self._kept.values()
        return sum(each.size for each in others) > MOST_BYTES

    def _lay_out(self, recording: Recording, number: int, others: list[LaidOut]) -> AsOf:
        try:
            done = lay_out(recording, number, others, self._lender)
        except (Damaged, Unreadable, OSError) as error:
            reason = f"this moment cannot be read: {_in_words(error)}"
            return AsOf(Naming(self._shown, self._shown, self._shown, self._why), None, None, reason)
        naming = Naming(str(done.folder), str(done.base), self._shown, self._why, done)
        try:
            return AsOf(naming, done, self._opened(done.path), None)
        except CannotOpen as error:
            return AsOf(naming, done, None, naming.text(str(error)))

    def _opened(self, path: Path) -> Source:
        """The one thing that was recorded, or the first when there were several."""
        if not path.exists():
            raise CannotOpen("at this moment nothing was there")
        try:
            return open_source(path, self._as_format)
        except CannotOpen:
            found = discover(path).found
            if path.is_dir() and found:
                return open_source(found[0].path, found[0].format)
            raise


def nothing_there(as_of: AsOf, title: str, source: str, revision: str, lens: Lens) -> ContextState:
    """The state of a moment at which there was nothing that could be read."""
    why = as_of.problem or "nothing was there"
    origin = Origin(source)
    return ContextState(
        format="recording",
        title=title,
        source=source,
        revision=revision,
        tiers=(),
        missing=(Gap(title, "what was recorded", "error", "unreadable", (), why, origin),),
        counts=Counts(0, 0, 0, 0, lens.counter.exact, lens.counter.name),
        extra={"kind": "moment"},
    )


def has_work_on(as_of: AsOf, lens: Lens) -> bool:
    """Whether the format of a moment has more to find out, and that takes long."""
    source = as_of.source
    return source is not None and isinstance(source, LongWork) and source.has_work(lens)


def work_on(as_of: AsOf, lens: Lens, progress: Progress) -> None:
    """Let the format of a moment find out the rest, where that takes long."""
    source = as_of.source
    if source is not None and isinstance(source, LongWork):
        source.work(lens, progress)


def _in_words(error: Exception) -> str:
    if isinstance(error, Unreadable):
        return error.reason
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
