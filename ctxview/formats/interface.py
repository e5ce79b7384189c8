"""The one interface every format fills: how it is recognised and opened, and what an opened source answers.

Only shapes stand here. `registry` picks the format, `discovery` looks through folders.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from ctxview.quick_dataclass import dataclass

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
    editor: str | None = None
    """Who would edit: forms open what that one may write. None for the first; see `HasEditors`."""
    hurry: bool = False
    """Whether the state is wanted now, and findings that take long may come with another reading."""


@dataclass(frozen=True, slots=True)
class Revision:
    """One moment of a source: a round, a run, a saved file; `file` is a folder when many files make it up."""

    label: str
    kind: str
    file: Path
    round: int | None = None
    time: str | None = None
    follows: str | None = None
    """The name of the revision it goes on from; None for the one before. See `revisions.before`."""
    apart: bool = False
    """Whether the source is no history: then nothing goes on from anything but by `follows`."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One revision as state, with what is wrong with it."""

    state: ContextState
    findings: tuple[Finding, ...]
    judged: bool = True
    """False when somebody was in a hurry, and what is wrong is not known yet."""


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

    @property
    def watched(self) -> Sequence[Path]:
        """Files and folders whose change may mean news, the busiest first; empty when nothing can change."""

    def again(self) -> Source:
        """A new look at the same thing as it is now; raises `CannotOpen`. This look stays what it is.

        What is still true is shared by both; when nothing changed at all, the answer may be this very look.
        See `HoldsBack` for files that are being written.
        """


class Progress(Protocol):
    """Somebody who waits: is told how far the work is, and may lose interest."""

    @property
    def cancelled(self) -> bool: ...

    def report(self, done: int, total: int, what: str) -> None: ...


@runtime_checkable
class LongWork(Protocol):
    """A source that cannot tell everything at once. Readings say more after its work."""

    def has_work(self, lens: Lens) -> bool:
        """Whether something is left to find out that takes a while."""

    def work(self, lens: Lens, progress: Progress) -> None:
        """Find out the rest; stopped by `progress`, the next call goes on from there."""


@runtime_checkable
class HasEditors(Protocol):
    """A source in which not everybody may write the same."""

    @property
    def editors(self) -> Sequence[str]:
        """In whose name a person may edit; the first unless another is chosen."""

    def policy_of(self, file: str, editor: str) -> WritePolicy | None:
        """What that editor may write in a file; None when nothing."""


@dataclass(frozen=True, slots=True)
class Signature:
    """Who changes something, and why; the reason may be empty where none is asked for."""

    editor: str
    reason: str


@dataclass(frozen=True, slots=True)
class Publication:
    """A new file that takes the drafts of a source, which stays as it is."""

    file: Path
    data: bytes


@runtime_checkable
class Publishing(Protocol):
    """A source of which some revisions are never changed: a save makes a new one beside them."""

    def publishes(self, revision: int) -> bool:
        """Whether that revision stays as it is."""

    def asks_reason(self, revision: int, drafts: Mapping[str, bytes]) -> str | None:
        """Why these changes need a reason, in a sentence; None when they need none."""

    def publication(self, revision: int, drafts: Mapping[str, bytes], signature: Signature) -> Publication:
        """The file to be made; raises `Refused` of `edits`."""


@runtime_checkable
class Withholding(Protocol):
    """A source that holds what must not be shown to anybody."""

    def withheld(self, file: str, data: bytes | None = None) -> Sequence[tuple[int, int]]:
        """The byte spans of a file that no screen, search, copy, report or log may show; in order, apart.

        Of other bytes than were read, such as a draft of the file, when `data` is given.
        """


@runtime_checkable
class HoldsBack(Protocol):
    """A source that shows what it last knew of files somebody is in the middle of writing."""

    @property
    def held_back(self) -> Sequence[Path]:
        """These files; `again`, a little later, tells how they ended. Empty when all is as it is on disk."""


@runtime_checkable
class MadeOf(Protocol):
    """A source that is not simply all that its path holds."""

    @property
    def made_of(self) -> Sequence[Path]:
        """The files, and the folders with all that is in them, from which it could be read again."""


@runtime_checkable
class KeepsPast(Protocol):
    """A source that has other bytes for the same file at different revisions."""

    def only_shown(self, revision: int) -> str | None:
        """Why nothing of a revision can be changed, in a sentence; None when its files are those on disk."""

    def bytes_at(self, revision: int, file: str) -> bytes:
        """A file as it was at a revision, by the name that origins have for it; raises `Unreadable`."""


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


@runtime_checkable
class LastResort(Protocol):
    """A format for what no other one recognises."""

    def open_unrecognised(self, path: Path) -> Source:
        """The source at `path`, of which `again` is of another format once one fits; raises `CannotOpen`."""


@dataclass(frozen=True, slots=True)
class FormatSpec:
    """A format as it is listed, without its code, which is in the folder of that name."""

    name: str
    title: str
    recognised_by: str
    families: Mapping[str, str] = field(default_factory=dict)
    """Its own rules: the letters before their numbers, and what those are about."""

    @property
    def module(self) -> str:
        """Holds the `FORMAT` object."""
        return f"ctxview.formats.{self.name}.opening"

    @property
    def rules(self) -> str:
        """Importing it makes the rules known."""
        return f"ctxview.formats.{self.name}.rules"
