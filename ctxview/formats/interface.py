"""The one interface every format fills: how it is recognised and opened, and what an opened source answers.

Only shapes stand here. `registry` picks the format, `discovery` looks through folders.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from ctxview.analysis.tokens import TokenCounter
    from ctxview.edits import WritePolicy
    from ctxview.findings import Finding
    from ctxview.formats.peek import Peek
    from ctxview.state import ContextState


AS_ON_DISK: Mapping[str, bytes] = MappingProxyType({})
"""No file is replaced by a draft."""


class CannotOpen(Exception):
    """Something that cannot be opened; the message is for the person who asked."""


@dataclass(frozen=True, slots=True)
class Lens:
    """How a person wants to look at a source. `profile` None means the format's default."""

    counter: TokenCounter
    profile: str | None = None
    mode: str | None = None
    budget: int | None = None
    """What if the budget were this; None for the source's own. Formats without such a budget ignore it."""


@dataclass(frozen=True, slots=True)
class Revision:
    """One moment of a source: a round, a run, a saved file; `file` is a folder when many files make it up."""

    label: str
    kind: str
    file: Path
    round: int | None = None
    time: str | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """One revision as state, with what is wrong with it."""

    state: ContextState
    findings: tuple[Finding, ...]


class Source(Protocol):
    """One opened thing. Reading it never writes; every call may run in a worker thread."""

    @property
    def format(self) -> str: ...
    @property
    def path(self) -> Path: ...
    @property
    def title(self) -> str: ...
    @property
    def revisions(self) -> Sequence[Revision]:
        """In order of time; never empty."""

    @property
    def profiles(self) -> Sequence[str]:
        """Names a `Lens` may use, the default first."""

    def bytes_of(self, file: str) -> bytes:
        """A file as it was read, by the name that origins and forms have for it; raises `Unreadable`."""

    def reading(self, revision: int, lens: Lens, overlay: Mapping[str, bytes] = AS_ON_DISK) -> Reading:
        """The state of one revision, with the drafts of `overlay` in the place of their files."""

    def findings(self, lens: Lens) -> Sequence[Finding]:
        """Everything wrong with any revision and with the whole."""

    def policy(self, file: str) -> WritePolicy | None:
        """What may be written in a file; None when nothing may."""


class Progress(Protocol):
    """Somebody who waits: is told how far the work is, and may lose interest."""

    @property
    def cancelled(self) -> bool: ...

    def report(self, done: int, total: int, what: str) -> None: ...


@runtime_checkable
class LongWork(Protocol):
    """A source that cannot tell everything at once. Readings say more after its work."""

    def work(self, lens: Lens, progress: Progress) -> None:
        """Find out the rest; stopped by `progress`, the next call goes on from there."""


@runtime_checkable
class Remembers(Protocol):
    """A source whose looks are compared with the last one, which is kept outside of what is inspected."""

    def remember(self, lens: Lens) -> None:
        """Keep what was found out for the next look, unless that would hide a loss; raises `OSError`."""

    def forget(self) -> None:
        """Drop the last look before this one begins, so that all is taken as meant; raises `OSError`."""


@dataclass(frozen=True, slots=True)
class Match:
    """How well a format fits a thing, from 1 (it could be anything) to 100, and what it was recognised by."""

    format: str
    score: int
    why: str


class Format(Protocol):
    """A format: recognises things by their content and opens them. Loading its module must be cheap."""

    @property
    def name(self) -> str: ...

    def recognise(self, peek: Peek) -> Match | None:
        """How well this format fits what `peek` shows; None when it does not."""

    def open(self, path: Path) -> Source:
        """The source at `path`; raises `CannotOpen`."""


@dataclass(frozen=True, slots=True)
class FormatSpec:
    """A format as it is listed, without its code: `module` holds its `FORMAT` object, `rules` its rules."""

    name: str
    title: str
    recognised_by: str
    module: str
    rules: str
