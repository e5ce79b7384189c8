"""The `Source` of this format: one file of records or a folder of them, an envelope at a time.

Holds the bytes as they were read; works out each moment at the first question and remembers it. Every call
may come from another thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from ctxview.files.reading import Unreadable
from ctxview.findings import Finding
from ctxview.formats.answers import Answers
from ctxview.formats.envelope.bundle import Bundle
from ctxview.formats.envelope.checks import (
    check_envelope,
    check_envelopes,
    check_loaded,
    check_records,
)
from ctxview.formats.envelope.loading import Loaded, LoadedFile, load
from ctxview.formats.envelope.masking import masked_findings
from ctxview.formats.envelope.moments import Moment, moments_of
from ctxview.formats.envelope.ownership import EDITORS
from ctxview.formats.envelope.profile import Profile
from ctxview.formats.envelope.profiles import PROFILES, load_profile
from ctxview.formats.envelope.read import RecordFile, read_again
from ctxview.formats.envelope.withheld import Withheld
from ctxview.formats.file_rules import report_partly_read
from ctxview.formats.interface import AS_ON_DISK, Lens, Publication, Reading, Revision, Signature
from ctxview.formats.loading import MOST_FILES
from ctxview.formats.of_files import OfFiles

# `check` needs no state and no editor: what builds those is imported where it is used.
if TYPE_CHECKING:
    from ctxview.edits import WritePolicy
    from ctxview.formats.envelope.files_beside import FilesBeside
    from ctxview.formats.envelope.model import Dossier
    from ctxview.state import Event

FORMAT = "envelope"
MANY = 2000
"""Of more records it is worth while to be shown the state before what is wrong with it is known."""


class EnvelopeSource(OfFiles[RecordFile]):
    """Records, gathered by envelope."""

    format = FORMAT
    profiles: Sequence[str] = PROFILES
    editors: Sequence[str] = EDITORS

    def __init__(self, path: Path, loaded: Loaded | None = None) -> None:
        super().__init__(path, loaded if loaded is not None else load(path))
        self._look = _Look(path, [file.found for file in self._loaded.files])
        self._readings: Answers[Reading] = Answers()
        self._judged: Answers[tuple[Finding, ...]] = Answers(MOST_FILES)
        self._all: Answers[tuple[Finding, ...]] = Answers()

    @property
    def bundle(self) -> Bundle:
        return self._look.bundle

    @property
    def revisions(self) -> Sequence[Revision]:
        return self._look.revisions

    def policy(self, file: str) -> WritePolicy | None:
        return self.policy_of(file, EDITORS[0])

    def policy_of(self, file: str, editor: str) -> WritePolicy | None:
        """By the newest envelope that has records in the file; None for a file without any."""
        from ctxview.formats.envelope.write import RecordsPolicy

        homes = (
            each for each in reversed(self.bundle.dossiers) if any(it.file == file for it in each.records)
        )
        dossier = next(homes, None)
        return RecordsPolicy(file, dossier, editor) if dossier is not None else None

    def publishes(self, revision: int) -> bool:
        from ctxview.formats.envelope.rights import in_place

        return not in_place(self._whole(revision))

    def asks_reason(self, revision: int, drafts: Mapping[str, bytes]) -> str | None:
        from ctxview.formats.envelope.publishing import all_changes, edited, reason_asked

        return reason_asked(all_changes(edited(self._files_of(self._whole(revision)), drafts)))

    def publication(self, revision: int, drafts: Mapping[str, bytes], signature: Signature) -> Publication:
        from datetime import UTC, datetime

        from ctxview.formats.envelope.publishing import edited, publish

        dossier = self._whole(revision)
        files = edited(self._files_of(dossier), drafts)
        return publish(dossier, files, signature, Path.exists, datetime.now(UTC))

    def _whole(self, revision: int) -> Dossier:
        """The envelope of a moment with all that belongs to it, later attempts included."""
        moments = self._look.moments
        envelope = moments[min(revision, len(moments) - 1)].dossier.envelope
        return next(each for each in self.bundle.dossiers if each.envelope is envelope)

    def _files_of(self, dossier: Dossier) -> Sequence[RecordFile]:
        names = {record.file for record in dossier.records}
        return [file for file in self.bundle.files if file.file in names]

    def withheld(self, file: str, data: bytes | None = None) -> Sequence[tuple[int, int]]:
        look = self._look if data is None else self._look.with_drafts({file: data})
        found = next((each for each in look.bundle.files if each.file == file), None)
        if found is None:
            found = read_again(file, data if data is not None else self._read(file))
        return look.withheld.spans(found)

    def reading(self, revision: int, lens: Lens, overlay: Mapping[str, bytes] = AS_ON_DISK) -> Reading:
        if overlay:
            look = self._look.with_drafts(overlay)
            drafted = partial(self._draft_findings, look, overlay)
            return look.reading(revision, lens, self.title, drafted)
        key = (revision, lens.counter.name, lens.profile, lens.editor, lens.hurry)
        return self._readings.once(
            key, lambda: self._look.reading(revision, lens, self.title, self._file_findings)
        )

    def findings(self, lens: Lens) -> Sequence[Finding]:
        return self._all.once(lens.profile, lambda: self._all_findings(load_profile(lens.profile)))

    def again(self) -> EnvelopeSource:
        """Raises `CannotOpen`. Files that did not change are neither read nor judged again."""
        new = EnvelopeSource(self._path, load(self._path, self._loaded))
        new._judged = self._judged
        return new

    def _read(self, file: str) -> bytes:
        try:
            return self.bytes_of(file)
        except Unreadable:
            return b""

    def _all_findings(self, profile: Profile) -> tuple[Finding, ...]:
        found = [*self._file_findings(profile), *self._look.between_envelopes(profile)]
        for dossier in self.bundle.dossiers:
            found += self._look.judgement(dossier, profile)
        return masked_findings(found, self._look.withheld)

    def _file_findings(self, profile: Profile) -> Iterator[Finding]:
        if self._loaded.left_out is not None:
            yield from report_partly_read(str(self._path), self._loaded.left_out)
        for file in self._loaded.files:
            yield from self._judgement(file, profile)

    def _draft_findings(
        self, look: _Look, overlay: Mapping[str, bytes], profile: Profile
    ) -> Iterator[Finding]:
        for file, found in zip(self._loaded.files, look.bundle.files, strict=True):
            if str(file.path) in overlay:
                yield from check_records(found, profile)
            else:
                yield from self._judgement(file, profile)

    def _judgement(self, file: LoadedFile, profile: Profile) -> tuple[Finding, ...]:
        """What is wrong with a file taken by itself."""
        key = (file.serial, profile.name)
        return self._judged.once(key, lambda: tuple(check_loaded(file, profile)))


class _Look:
    """The records of a source as they stand on disk or in drafts, and all that follows from them."""

    def __init__(self, path: Path, files: Sequence[RecordFile], beside: FilesBeside | None = None) -> None:
        self._path = path
        self.bundle = Bundle(tuple(files))
        self._beside = beside
        self._judged: dict[tuple[Dossier, str], tuple[Finding, ...]] = {}
        self._between: Answers[tuple[Finding, ...]] = Answers()

    def with_drafts(self, overlay: Mapping[str, bytes]) -> _Look:
        files = [
            read_again(each.file, overlay[each.file]) if each.file in overlay else each
            for each in self.bundle.files
        ]
        return _Look(self._path, files, self.beside)

    @cached_property
    def withheld(self) -> Withheld:
        return Withheld(self.bundle.records)

    @cached_property
    def moments(self) -> tuple[Moment, ...]:
        return moments_of(self.bundle)

    @cached_property
    def revisions(self) -> Sequence[Revision]:
        from ctxview.formats.envelope.state_timeline import build_revisions

        return build_revisions(self.moments, self._path, self.withheld)

    @cached_property
    def timeline(self) -> tuple[Event, ...]:
        from ctxview.formats.envelope.state_timeline import build_timeline

        return build_timeline(self.moments, self.withheld)

    @cached_property
    def beside(self) -> FilesBeside:
        from ctxview.formats.envelope.files_beside import FilesBeside

        folder = self._path if self._path.is_dir() else self._path.parent
        return self._beside or FilesBeside(folder)

    def reading(
        self, revision: int, lens: Lens, title: str, file_findings: Callable[[Profile], Iterator[Finding]]
    ) -> Reading:
        from ctxview.formats.envelope.state import Setting, build_state
        from ctxview.formats.envelope.view import View

        place = min(revision, len(self.moments) - 1)
        moment = self.moments[place]
        # Attempts are the past: what belongs to an envelope is edited where all of it is shown.
        editor = None if moment.kind == "attempt" else lens.editor or EDITORS[0]
        view = View(moment.dossier, self.withheld, lens.counter, self.beside, editor)
        setting = Setting(
            title, str(self._path), self.revisions[place].label, self.bundle.files, self.timeline
        )
        profile = load_profile(lens.profile)
        unjudged = (moment.whole, profile.name) not in self._judged
        if lens.hurry and len(self.bundle.records) > MANY and unjudged:
            return Reading(build_state(view, setting), (), judged=False)
        strangers = self._strangers(moment)
        found = [
            *(each for each in file_findings(profile) if each.origin.file not in strangers),
            *self.judgement(moment.whole, profile),
            *self.between_envelopes(profile),
        ]
        return Reading(build_state(view, setting), masked_findings(found, self.withheld))

    def judgement(self, dossier: Dossier, profile: Profile) -> tuple[Finding, ...]:
        """What is wrong between the records of an envelope."""
        key = (dossier, profile.name)
        if key not in self._judged:
            self._judged[key] = tuple(check_envelope(dossier, self.beside, profile))
        return self._judged[key]

    def between_envelopes(self, profile: Profile) -> tuple[Finding, ...]:
        return self._between.once(profile.name, lambda: tuple(check_envelopes(self.bundle.dossiers, profile)))

    def _strangers(self, moment: Moment) -> set[str]:
        """The files of other envelopes that this moment does not draw on."""
        homes = {record.file for record in self.bundle.envelopes}
        return homes - {record.file for record in moment.dossier.records}
