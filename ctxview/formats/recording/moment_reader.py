"""Reads the moments of a recording: checks them out, opens them by their format, and rewrites the result.

In the readings, paths of the private folder are replaced by the names the files had, and forms are read-only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock
from typing import Final, TypeVar, cast

from msgspec import Struct
from msgspec.structs import replace

from ctxview.core.fields import Field, Form
from ctxview.core.findings import Finding
from ctxview.core.origin import Origin
from ctxview.core.prompt import Prompt, PromptError
from ctxview.core.state import ContextState, Counts, Gap, Tier, map_parts
from ctxview.core.transcript import Row, Transcript
from ctxview.files.reading import ReadError, path_problem, read_beneath
from ctxview.formats.discovery import discover
from ctxview.formats.interface import AS_ON_DISK, Abilities, Lens, OpenError, Reading, Source
from ctxview.formats.recording.checkout import Checkout, check_out
from ctxview.formats.registry import open_source
from ctxview.recording.frames import DamagedRecordingError
from ctxview.recording.reader import Recording

MOST_CHECKOUTS: Final = 4
MOST_BYTES: Final = 2 * 1024**3
"""The largest total size of the checkouts that are kept beside the current one."""

T = TypeVar("T")


class PathRewriter(Struct, frozen=True):
    """Replaces paths of a checkout by user-visible names, and makes forms read-only.

    `folder` is the folder of the files inside `base`, `shown` its visible name, `why` the read-only reason.
    """

    folder: str
    base: str
    shown: str
    why: str
    held: object = None
    """Keeps the checkout alive while its paths are in use."""

    def of(self, value: T) -> T:
        """Return `value` with visible names and read-only forms."""
        return cast(T, self._of(value))

    @property
    def prefix(self) -> str:
        """The visible folder name before file names; empty for the working directory."""
        return "" if self.shown == "." else f"{self.shown.removesuffix('/')}/"

    def text(self, text: str) -> str:
        if self.base not in text:
            return text
        named = text.replace(f"{self.folder}/", self.prefix).replace(self.folder, self.shown)
        return named.replace(f"{self.base}/", "")

    def name(self, file: str) -> str | None:
        """Return the name inside the folder for a visible name; None when it is not in the folder."""
        return file.removeprefix(self.prefix) if file.startswith(self.prefix) else None

    def _of(self, value: object) -> object:
        match value:
            case None | bool() | int() | float():
                return value
            case str():
                return self.text(value)
            case Origin():
                file = self.text(value.file)
                return value if file is value.file else replace(value, file=file)
            case Field() if value.shape is not None:
                value = replace(value, shape=None, why=self.why)
            case Form():
                value = replace(value, removable=False)
            case Tier():
                value = replace(value, new=None)
            case ContextState() if value.transcript is not None:
                rows = RewrittenTranscript(value.transcript, self)
                return replace(self.of(replace(value, transcript=None)), transcript=rows)
        return map_parts(value, self._of)


class RewrittenTranscript(Struct, frozen=True):
    """The transcript of a moment, with visible names."""

    rows: Transcript
    naming: PathRewriter

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def complete(self) -> bool:
        return self.rows.complete

    @property
    def ending(self) -> int:
        return self.rows.ending

    def row(self, index: int) -> Row:
        return self.naming.of(self.rows.row(index))

    def raw(self, index: int) -> bytes:
        return self.rows.raw(index)

    def find(self, needle: str, start: int, backwards: bool, cancelled: Callable[[], bool]) -> int | None:
        return self.rows.find(needle, start, backwards, cancelled)


class MomentSource(Struct, frozen=True):
    """One moment: its checkout and the source that reads it, or why there is none."""

    naming: PathRewriter
    checkout: Checkout | None
    source: Source | None
    problem: str | None

    @property
    def size(self) -> int:
        return self.checkout.size if self.checkout is not None else 0

    @property
    def abilities(self) -> Abilities:
        """The abilities of the recorded source; none without a source."""
        return self.source.abilities if self.source is not None else Abilities()

    def reading(self, lens: Lens) -> Reading | None:
        """Read the latest revision of the moment; None when it has no source."""
        if self.source is None:
            return None
        reading = self.source.reading(len(self.source.revisions) - 1, self._lens(lens))
        state = self.naming.of(reading.state)
        lost = self.checkout.problems if self.checkout is not None else []
        limits = self.checkout.limits if self.checkout is not None else []
        prefix = self.naming.prefix
        gaps = (
            Gap(name or "files", "a file as it was then", "error", "lost", (), why, Origin(f"{prefix}{name}"))
            for name, why in (*(("", limit) for limit in limits), *lost)
        )
        findings = self.naming.of(reading.findings)
        return replace(reading, state=replace(state, missing=(*gaps, *state.missing)), findings=findings)

    def findings(self, lens: Lens) -> Sequence[Finding]:
        return (
            self.naming.of(tuple(self.source.findings(self._lens(lens)))) if self.source is not None else ()
        )

    def latest_findings(self, lens: Lens) -> Sequence[Finding]:
        """Return the findings of the latest revision, as `reading` has them."""
        source = self.source
        if source is None:
            return ()
        latest = len(source.revisions) - 1
        return self.naming.of(tuple(source.findings_of(latest, self._lens(lens), AS_ON_DISK)))

    def prompt(self, lens: Lens, target: str | None) -> Prompt:
        """Return the prompt of the latest revision; raises `PromptError`."""
        if self.source is None or (ability := self.abilities.prompt) is None:
            raise PromptError("no prompt can be put together from what was recorded at this moment")
        latest = len(self.source.revisions) - 1
        return self.naming.of(ability.prompt(latest, self._lens(lens), target))

    def bytes_of(self, file: str) -> bytes:
        """Return a file of the moment by its visible name; raises `ReadError`."""
        name = self.naming.name(file)
        if name is None or path_problem(name) is not None or self.checkout is None:
            raise ReadError(Path(file), "this file is not part of the recording")
        if self.source is not None:
            return self.source.bytes_of(f"{self.naming.folder}/{name}")
        return read_beneath(self.checkout.folder, name)

    def withheld(self, file: str, data: bytes | None = None) -> Sequence[tuple[int, int]]:
        """Return the withheld spans of a file, if the source of the moment has any."""
        name, redactor = self.naming.name(file), self.abilities.redactor
        if name is None or redactor is None:
            return ()
        return redactor.withheld(f"{self.naming.folder}/{name}", data)

    def withholding(self, other: Source | None) -> MomentSource:
        """Return the moment with what a later state of the source redacts withheld too."""
        joint = self.abilities.joint_redactor
        if other is None or other is self.source or joint is None:
            return self
        return replace(self, source=joint.withholding(other))

    def _lens(self, lens: Lens) -> Lens:
        known = self.source is None or lens.profile is None or lens.profile in self.source.profiles
        # A profile may be a file; a profile name of another format does not apply to this moment.
        return lens if known or Path(lens.profile or "").suffix else replace(lens, profile=None)


class MomentReader:
    """Reads moments of the recordings of one path and keeps a few checkouts.

    `shown` is the visible name of the folder, `why` the read-only reason, and `lender` the folder of files
    that the recordings borrow instead of copying.
    """

    def __init__(
        self, shown: str, why: str, as_format: str | None = None, lender: Path | None = None
    ) -> None:
        self._shown = shown
        self._why = why
        self._as_format = as_format
        self._lender = lender
        self._cached: dict[tuple[int, int], MomentSource] = {}
        self._lock = Lock()
        self._checkout_lock = Lock()

    def at(self, recording: Recording, number: int) -> MomentSource:
        """Check out and open one moment of a recording, or return the cached one."""
        key = recording.salt, number
        with self._checkout_lock:
            with self._lock:
                found = self._cached.pop(key, None)
                near = [each.checkout for each in reversed(self._cached.values())]
            if found is None:
                found = self._open(recording, number, [each for each in near if each is not None])
            with self._lock:
                self._cached[key] = found
                while len(self._cached) > MOST_CHECKOUTS or self._too_large:
                    self._cached.pop(next(iter(self._cached)))
            return found

    @property
    def _too_large(self) -> bool:
        *others, _ = self._cached.values()
        return sum(each.size for each in others) > MOST_BYTES

    def _open(self, recording: Recording, number: int, others: list[Checkout]) -> MomentSource:
        try:
            done = check_out(recording, number, others, self._lender)
        except (DamagedRecordingError, ReadError, OSError) as error:
            reason = f"this moment cannot be read: {_reason(error)}"
            return MomentSource(
                PathRewriter(self._shown, self._shown, self._shown, self._why), None, None, reason
            )
        naming = PathRewriter(str(done.folder), str(done.base), self._shown, self._why, done)
        try:
            return MomentSource(naming, done, self._open_source(done.path), None)
        except OpenError as error:
            reason = f"not restored: {done.limits[0]}" if done.limits else naming.text(str(error))
            return MomentSource(naming, done, None, reason)

    def _open_source(self, path: Path) -> Source:
        """Open the recorded source, or the first one when there are several."""
        if not path.exists():
            raise OpenError("nothing existed at this moment")
        try:
            return open_source(path, self._as_format)
        except OpenError:
            found = discover(path).found
            if path.is_dir() and found:
                return found[0].open()
            raise


def empty_moment_state(
    as_of: MomentSource, title: str, source: str, revision: str, lens: Lens
) -> ContextState:
    """Return the state of a moment that has no source."""
    why = as_of.problem or "nothing existed at this moment"
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


def _reason(error: Exception) -> str:
    if isinstance(error, ReadError):
        return error.reason
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
