"""The formats: how each is recognised, and the one interface they all fill.

A format is a module with a `FORMAT` object (see `Format`). The built-in ones are listed here without being
imported; other packages add theirs through the entry point group `ctxview.formats`, and are asked only when
no built-in format recognises a thing or when `--as` names them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ctxview.analysis.tokens import TokenCounter
from ctxview.edits import WritePolicy
from ctxview.findings import Finding
from ctxview.state import ContextState


@dataclass(frozen=True, slots=True)
class Lens:
    """How a person wants to look at a source. `profile` None means the format's default."""

    counter: TokenCounter
    profile: str | None = None
    mode: str | None = None


@dataclass(frozen=True, slots=True)
class Revision:
    """One moment of a source: a round, a run, a saved file."""

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

    def bytes_of(self, revision: int) -> bytes:
        """The file of that revision as it was read."""

    def reading(self, revision: int, lens: Lens, data: bytes | None = None) -> Reading:
        """The state of one revision; of `data` instead of the file's own bytes when given (a draft)."""

    def findings(self, lens: Lens) -> Sequence[Finding]:
        """Everything wrong with any revision and with the whole."""

    def policy(self, revision: int) -> WritePolicy | None:
        """What may be written in that revision's file; None when nothing may."""
