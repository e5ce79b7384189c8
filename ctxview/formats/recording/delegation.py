"""Mixins that delegate optional abilities of a wrapped source: one class for each ability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ctxview.formats.interface import (
    Editors,
    Fork,
    Lens,
    LongWork,
    PartialWrites,
    Progress,
    Publication,
    Publisher,
    Redactor,
    Signature,
)

if TYPE_CHECKING:
    from ctxview.core.edits import WritePolicy


class _Wraps(Protocol):
    """A source that wraps `source`, which has the ability: the mixins are chosen by it."""

    source: Any

    def own_revision(self, revision: int) -> int | None: ...


class DelegatedWork:
    def has_work(self: _Wraps, lens: Lens) -> bool:
        return bool(self.source.has_work(lens))

    def work(self: _Wraps, lens: Lens, progress: Progress) -> None:
        self.source.work(lens, progress)


class DelegatedEditors:
    @property
    def editors(self: _Wraps) -> Sequence[str]:
        editors: Sequence[str] = self.source.editors
        return editors

    def policy_of(self: _Wraps, file: str, editor: str) -> WritePolicy | None:
        policy: WritePolicy | None = self.source.policy_of(file, editor)
        return policy


class DelegatedPublisher:
    """Publishes only the source's own revisions; observed revisions are read-only."""

    def publishes(self: _Wraps, revision: int) -> bool:
        own = self.own_revision(revision)
        return own is not None and bool(self.source.publishes(own))

    def asks_reason(self: _Wraps, revision: int, drafts: Mapping[str, bytes]) -> str | None:
        own = self.own_revision(revision)
        reason: str | None = self.source.asks_reason(own, drafts) if own is not None else None
        return reason

    def publication(
        self: _Wraps, revision: int, drafts: Mapping[str, bytes], signature: Signature
    ) -> Publication:
        own = self.own_revision(revision)
        if own is None:
            from ctxview.core.edits import EditRefused
            from ctxview.formats.recording.observed_source import READ_ONLY_REASON

            raise EditRefused(READ_ONLY_REASON)
        made: Publication = self.source.publication(own, drafts, signature)
        return made

    def fork(self: _Wraps, revision: int, drafts: Mapping[str, bytes], editor: str) -> Fork | None:
        own = self.own_revision(revision)
        found: Fork | None = self.source.fork(own, drafts, editor) if own is not None else None
        return found


class DelegatedRedactor:
    def withheld(self: _Wraps, file: str, data: bytes | None = None) -> Sequence[tuple[int, int]]:
        spans: Sequence[tuple[int, int]] = self.source.withheld(file, data)
        return spans


class DelegatedPartialWrites:
    @property
    def held_back(self: _Wraps) -> Sequence[Path]:
        files: Sequence[Path] = self.source.held_back
        return files


ABILITIES: tuple[tuple[type, type], ...] = (
    (LongWork, DelegatedWork),
    (Editors, DelegatedEditors),
    (Publisher, DelegatedPublisher),
    (Redactor, DelegatedRedactor),
    (PartialWrites, DelegatedPartialWrites),
)
