"""The interface that every format implements: recognising, opening, and the methods of an opened source.

It holds only types. `registry` chooses the format, `discovery` searches folders.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import IntEnum
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, Protocol

from msgspec import Struct

from ctxview.core.revision_signs import WHOLE_STATE, RevisionSign

if TYPE_CHECKING:
    from ctxview.analysis.tokens import TokenCounter
    from ctxview.core.edits import Edit, WritePolicy
    from ctxview.core.findings import Finding
    from ctxview.core.prompt import Prompt
    from ctxview.core.state import ContextState


AS_ON_DISK: Mapping[str, bytes] = MappingProxyType({})
"""The empty overlay: no file is replaced by a draft."""


class OpenError(Exception):
    """A path or name that cannot be opened; the message is shown to the user."""


NO_OPTIONS: Mapping[str, str | int] = MappingProxyType({})


class Hurry(IntEnum):
    """What a reading may leave to a later one because it takes long."""

    NONE = 0
    FINDINGS = 1
    LINKS = 2
    """The findings, the references and the flow."""


class Lens(Struct, frozen=True):
    """How to read a source. `profile` None means the format's default."""

    counter: TokenCounter
    profile: str | None = None
    options: Mapping[str, str | int] = NO_OPTIONS
    """Values by the names of `LensOption`s. A format ignores names and words that it does not declare."""
    editor: str | None = None
    """In whose name fields are edited; None for the first of `Editors.editors`."""
    hurry: Hurry = Hurry.NONE


class Revision(Struct, frozen=True):
    """One state of a source in time: a round, a run, a saved file. `file` is a folder for several files."""

    label: str
    kind: str
    file: Path
    round: int | None = None
    time: str | None = None
    follows: str | None = None
    """The label of the revision it continues; None for the one before. See `previous_revision`."""
    independent: bool = False
    """Whether the source is not a history: a revision then continues another only by `follows`."""
    sign: RevisionSign = WHOLE_STATE
    id: str = ""
    """What stays the same after a reload where the label may change; empty for the label."""


class Reading(Struct, frozen=True):
    """The state and the findings of one revision."""

    state: ContextState
    findings: tuple[Finding, ...]
    judged: bool = True
    """False when `Lens.hurry` was set and the findings are not known yet."""
    linked: bool = True
    """False when the references and the flow are not known yet."""


class Source(Protocol):
    """An opened source. Reading it never writes; every method may run in a worker thread."""

    @property
    def format(self) -> str: ...
    @property
    def path(self) -> Path: ...
    @property
    def title(self) -> str: ...
    @property
    def revisions(self) -> Sequence[Revision]:
        """All revisions in order of time; never empty."""

    @property
    def profiles(self) -> Sequence[str]:
        """Names that a `Lens` may use, the default first."""

    @property
    def abilities(self) -> Abilities:
        """What only some sources can do."""

    def bytes_of(self, file: str) -> bytes:
        """Return a file as it was read; `file` is its name in origins and forms. Raises `ReadError`."""

    def reading(self, revision: int, lens: Lens, overlay: Mapping[str, bytes] = AS_ON_DISK) -> Reading:
        """Read one revision, with the drafts of `overlay` in place of their files."""

    def findings(self, lens: Lens) -> Sequence[Finding]:
        """Return the findings of all revisions and of the source as a whole."""

    def findings_of(self, revision: int, lens: Lens, overlay: Mapping[str, bytes]) -> Sequence[Finding]:
        """Return the findings that `reading` has for the same arguments, without building a state."""

    def policy(self, file: str) -> WritePolicy | None:
        """Return the writable fields of a file, or None when it is read-only."""

    @property
    def watched(self) -> Sequence[Path]:
        """Files and folders to watch for changes, the busiest first; empty when nothing can change."""

    def again(self) -> Source:
        """Return a new source for the same path as it is now; this one does not change. Raises `OpenError`.

        Both share what did not change; when nothing changed, the result may be this source itself.
        See `PartialWrites` for files that are being written.
        """


class Progress(Protocol):
    """Receives the progress of long work and can cancel it."""

    @property
    def cancelled(self) -> bool: ...

    def report(self, done: int, total: int, what: str) -> None: ...


class LongWork(Protocol):
    """A source whose readings are complete only after long work."""

    def has_work(self, lens: Lens) -> bool:
        """Whether long work is left to do."""

    def work(self, lens: Lens, progress: Progress) -> None:
        """Do the rest of the work; after `progress` cancels it, the next call continues."""


class Editors(Protocol):
    """A source in which several editors may write different fields."""

    @property
    def editors(self) -> Sequence[str]:
        """In whose name a person may edit; the first is the default."""

    def policy_of(self, file: str, editor: str) -> WritePolicy | None:
        """Return the fields of a file that `editor` may write, or None."""


class Signature(Struct, frozen=True):
    """The editor of a change and the reason; the reason is empty where none is required."""

    editor: str
    reason: str


class Publication(Struct, frozen=True):
    """A new file that takes the drafts of a fixed revision."""

    file: Path
    data: bytes
    remaining: Callable[[Sequence[Finding], Lens], Sequence[Finding]] | None = None
    """Returns those findings of the drafts that the new file has too: its own events may answer some."""


class Fork(Struct, frozen=True):
    """A newer revision beside drafts of the one it was made from; publishing the drafts would drop it.

    `base`, `mine` and `theirs` are the records before, with the drafts, and of the newer revision in `file`.
    """

    file: Path
    base: bytes
    mine: bytes
    theirs: bytes
    edits: Mapping[str, tuple[Edit, ...]]
    """The edits by file that make the same changes in the newer revision."""
    refused: str | None
    """Why the changes cannot be made there, or None."""


class Publisher(Protocol):
    """A source with fixed revisions: saving drafts of one writes a new file beside it."""

    def publishes(self, revision: int) -> bool:
        """Whether that revision is fixed."""

    def asks_reason(self, revision: int, drafts: Mapping[str, bytes]) -> str | None:
        """Return a sentence that says why these changes need a reason, or None."""

    def publication(self, revision: int, drafts: Mapping[str, bytes], signature: Signature) -> Publication:
        """Return the file to write; raises `EditRefused`, also when a newer revision is on disk."""

    def fork(self, revision: int, drafts: Mapping[str, bytes], editor: str) -> Fork | None:
        """Return the fork that publishing the drafts would make, or None; raises `EditRefused`."""


class GapChange(Struct, frozen=True):
    """What a reviewer does about a gap: asks a question, answers the gap, or lets it stay open."""

    kind: Literal["ask", "answer", "waive"]
    text: str
    by: str
    gap: str | None = None
    """The id of the gap; None for a question about something else."""
    needed_for: str = ""


class GapWriter(Protocol):
    """A source whose files have records of gaps that a reviewer may write."""

    def gap_drafts(self, change: GapChange) -> Mapping[str, bytes]:
        """Return the changed files of the latest revision by name, to publish or to save.

        Raises `EditRefused`.
        """


class Redactor(Protocol):
    """A source with content that must never be shown."""

    def withheld(self, file: str, data: bytes | None = None) -> Sequence[tuple[int, int]]:
        """Return the byte spans of a file that no screen, search, copy, report or log may show.

        They are in order and do not touch. With `data`, the spans of those bytes, such as a draft.
        """


class JointRedactor(Protocol):
    """A redactor that also withholds what another view of the same things redacts."""

    def withholding(self, other: Source) -> Source:
        """Return this source with what `other` redacts withheld too; `other` may be of another time."""

    def withholding_of(self, versions: Iterable[tuple[str, bytes]]) -> Source:
        """Return this source with what other versions of its files, by name, redact withheld too."""


class PartialWrites(Protocol):
    """A source that shows the earlier content of files while another program writes them."""

    @property
    def held_back(self) -> Sequence[Path]:
        """These files; a later `again` reads their new content. Empty when all is as on disk."""


class FileScope(Protocol):
    """A source that does not consist of everything below its path."""

    @property
    def made_of(self) -> Sequence[Path]:
        """The files and whole folders that the source is read from."""


class PastRevisions(Protocol):
    """A source with different bytes for the same file at different revisions."""

    def read_only_reason(self, revision: int) -> str | None:
        """Return a sentence that says why the revision is read-only, or None when its files are on disk."""

    def bytes_at(self, revision: int, file: str) -> bytes:
        """Return a file as it was at a revision; `file` is its name in origins. Raises `ReadError`."""


class LastLook(Protocol):
    """A source that compares itself with the last time it was read, which is stored outside of it."""

    def remember(self, lens: Lens) -> None:
        """Store the current facts for the next time, unless that would hide a loss. Raises `OSError`."""

    def forget(self) -> None:
        """Delete the stored facts, so that all changes since then are accepted. Raises `OSError`."""


class Replies(Protocol):
    """A source whose files may be replies, which change a state instead of holding one."""

    def answering(self, source: Source, revision: int) -> Source:
        """Return this source with replies that answer `revision` of `source`.

        A reply whose own files say what it answers keeps that.
        """

    def paired_with(self, others: Sequence[Source]) -> Sequence[Source]:
        """Return this source and `others`, with replies that answer the snapshots of each other."""


class PromptText(Protocol):
    """A source whose runtime's prompt can be put together from its files."""

    @property
    def targets(self) -> Sequence[str]:
        """The receivers of a prompt, the default first; empty when there is only the model."""

    def prompt(self, revision: int, lens: Lens, target: str | None = None) -> Prompt:
        """Return the prompt of one revision. Raises `PromptError` when the runtime would make none."""


class Listing(Protocol):
    """A source that lists other sources as its blocks."""

    def path_of(self, name: str) -> Path | None:
        """Return the path of the source that a block stands for, by the id of the block."""

    def look_at(self, name: str) -> None:
        """Read the block that a person looks at, and its neighbours, before the others."""


class Abilities(Struct, frozen=True):
    """What only some sources can do; None where a source cannot.

    A source names itself where it has an ability. A wrapper forwards the others with `replace`.
    """

    work: LongWork | None = None
    editors: Editors | None = None
    publisher: Publisher | None = None
    gap_writer: GapWriter | None = None
    redactor: Redactor | None = None
    joint_redactor: JointRedactor | None = None
    partial_writes: PartialWrites | None = None
    past: PastRevisions | None = None
    file_scope: FileScope | None = None
    last_look: LastLook | None = None
    replies: Replies | None = None
    prompt: PromptText | None = None
    listing: Listing | None = None
    most_past: int | None = None
    """Revisions to read for the views over time where each takes longer the more there are; None for all."""
    only_grew: bool = False
    """Whether all of the source that this one was reloaded from is in its revisions."""
