"""The `Source` of this format: one file of records or a folder of them, with one revision per envelope.

Holds the bytes as they were read; computes each reading when first asked and caches it. Every call may come
from another thread.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ctxview.core.edits import EditRefused
from ctxview.core.findings import Finding
from ctxview.files.reading import ReadError
from ctxview.formats.envelope.bundle import Bundle, Loaded, LoadedFile, load_files
from ctxview.formats.envelope.editing.gap_records import EnvelopeGapWriter
from ctxview.formats.envelope.editing.write_rights import EDITORS
from ctxview.formats.envelope.format import NAME, SUFFIXES
from ctxview.formats.envelope.parser import RecordFile, read_again
from ctxview.formats.envelope.profile import PROFILES, Profile, load_profile
from ctxview.formats.envelope.source_records import SourceRecords
from ctxview.formats.envelope.state import masked_findings
from ctxview.formats.envelope.withheld import MAY_REDACT, Redactions, withheld_in
from ctxview.formats.envelope.withheld_bytes import withheld_spans
from ctxview.formats.interface import (
    AS_ON_DISK,
    Abilities,
    Fork,
    Lens,
    OpenError,
    Publication,
    Reading,
    Revision,
    Signature,
    Source,
)
from ctxview.formats.kit.file_rules import report_partly_read
from ctxview.formats.kit.file_source import MOST_FILES, FileSource, Memo
from ctxview.formats.peek import Peek

if TYPE_CHECKING:
    from ctxview.core.edits import WritePolicy
    from ctxview.core.prompt import Prompt
    from ctxview.formats.envelope.model import EnvelopeRecords


def open_envelopes(peek: Peek) -> EnvelopeSource:
    """Open a file of records or a folder of them; raises `OpenError`."""
    source = EnvelopeSource(peek.path, load_files(peek))
    # Computed here, because sources are opened in a thread and their revisions are shown at once.
    assert source.revisions is not None
    return source


class EnvelopeSource(FileSource[RecordFile]):
    """The records of a file or folder, grouped by envelope."""

    format = NAME
    profiles: Sequence[str] = PROFILES
    editors: Sequence[str] = EDITORS

    def __init__(self, path: Path, loaded: Loaded | None = None, known: Redactions | None = None) -> None:
        super().__init__(path, loaded if loaded is not None else load_files(Peek(path)))
        self._known = known
        self._on_disk = SourceRecords(path, [file.found for file in self._loaded.files], known=known)
        self._withholding: tuple[Source, EnvelopeSource] | None = None
        self._readings: Memo[Reading] = Memo()
        self._file_cache: Memo[tuple[Finding, ...]] = Memo(MOST_FILES)
        self._all_cache: Memo[tuple[Finding, ...]] = Memo()

    @property
    def abilities(self) -> Abilities:
        own = replace(super().abilities, gap_writer=EnvelopeGapWriter(self.bundle), redactor=self)
        return replace(own, editors=self, publisher=self, joint_redactor=self, prompt=self)

    @property
    def bundle(self) -> Bundle:
        return self._on_disk.bundle

    @property
    def revisions(self) -> Sequence[Revision]:
        return self._on_disk.revisions

    def policy(self, file: str) -> WritePolicy | None:
        return self.policy_of(file, EDITORS[0])

    def policy_of(self, file: str, editor: str) -> WritePolicy | None:
        """The policy of the newest envelope with records in `file`; None for a file without records."""
        from ctxview.formats.envelope.editing.policy import RecordsPolicy

        groups = reversed(self.bundle.groups)
        records = next((group for group in groups if any(each.file == file for each in group.records)), None)
        return RecordsPolicy(file, records, editor) if records is not None else None

    def publishes(self, revision: int) -> bool:
        from ctxview.formats.envelope.editing.write_rights import in_place

        return not in_place(self._whole(revision))

    def asks_reason(self, revision: int, drafts: Mapping[str, bytes]) -> str | None:
        from ctxview.formats.envelope.editing.publication import all_changes, edited_files, reason_asked

        return reason_asked(all_changes(edited_files(self._files_of(self._whole(revision)), drafts)))

    def publication(self, revision: int, drafts: Mapping[str, bytes], signature: Signature) -> Publication:
        from datetime import UTC, datetime

        from ctxview.formats.envelope.editing.fork import newer_revision
        from ctxview.formats.envelope.editing.publication import edited_files, make_publication

        records = self._whole(revision)
        files = edited_files(self._files_of(records), drafts)
        on_disk = self._present_records()
        present = {file.file: file.data for file in on_disk.files}
        for file in files:
            if present.get(file.before.file) != file.before.data:
                raise EditRefused(f"{Path(file.before.file).name} changed on disk since it was read.")
        envelope = records.envelope
        if envelope is not None and (newer := newer_revision(on_disk, envelope)) is not None:
            raise EditRefused(
                f"{newer.id} in {Path(newer.file).name} is a newer revision of {envelope.id}; "
                "saving this one would drop its changes."
            )
        made = make_publication(records, files, signature, on_disk, Path.exists, datetime.now(UTC))
        return replace(made, remaining=partial(self._remaining, made, envelope.id if envelope else None))

    def _remaining(
        self, made: Publication, envelope: str | None, findings: Sequence[Finding], lens: Lens
    ) -> Sequence[Finding]:
        """Return the findings that the published file has too."""
        from ctxview.formats.envelope.rules import check_records

        profile, disk = load_profile(lens.profile), self._on_disk
        file = read_again(str(made.file), made.data)
        new = SourceRecords(self._path, [file], disk.siblings, disk.withheld.redactions)
        within = (each for group in new.bundle.groups for each in new.findings_within(group, profile))
        found = masked_findings([*check_records(file, profile), *within], new.withheld)
        known = {(each.rule, each.message) for each in found}
        # The new envelope has another id, so a message that names the old one cannot be compared.
        return [
            each
            for each in findings
            if (each.rule, each.message) in known or (envelope or "") in each.message
        ]

    def fork(self, revision: int, drafts: Mapping[str, bytes], editor: str) -> Fork | None:
        from ctxview.formats.envelope.editing.fork import find_fork
        from ctxview.formats.envelope.editing.publication import edited_files

        records = self._whole(revision)
        return find_fork(self.bundle, records, edited_files(self._files_of(records), drafts), editor)

    def _present_records(self) -> Bundle:
        """All records on disk now: another program may have written since, also beside a single file."""
        folder = self._path if self._path.is_dir() else self._path.parent
        try:
            return Bundle(tuple(file.found for file in load_files(Peek(folder), self._loaded).files))
        except OpenError as error:
            raise EditRefused(f"The files cannot be read any more: {error}") from None

    def _whole(self, revision: int) -> EnvelopeRecords:
        """The envelope of a revision with all its records, later attempts included."""
        envelope = self._on_disk.revision_at(revision).records.envelope
        return next(each for each in self.bundle.groups if each.envelope is envelope)

    def _files_of(self, records: EnvelopeRecords) -> Sequence[RecordFile]:
        names = {record.file for record in records.records}
        return [file for file in self.bundle.files if file.file in names]

    def withheld(self, file: str, data: bytes | None = None) -> Sequence[tuple[int, int]]:
        records = self._on_disk if data is None else self._on_disk.with_drafts({file: data})
        found = next((each for each in records.bundle.files if each.file == file), None)
        if found is None:
            found = read_again(file, data if data is not None else self._read(file))
        return withheld_spans(records.withheld, found)

    def withholding(self, other: Source) -> EnvelopeSource:
        if not isinstance(other, EnvelopeSource) or not (known := other._on_disk.withheld.redactions):
            return self
        if self._withholding is None or self._withholding[0] is not other:
            known = known if self._known is None else self._known.joined(known)
            self._withholding = other, EnvelopeSource(self._path, self._loaded, known)
        return self._withholding[1]

    def withholding_of(self, versions: Iterable[tuple[str, bytes]]) -> EnvelopeSource:
        found = [(file, data) for file, data in versions if Path(file).suffix in SUFFIXES]
        known = self._on_disk.withheld.redactions
        if known or any(MAY_REDACT.search(data) for _, data in found):
            files = [read_again(file, data) for file, data in found]
            known = withheld_in(files, known).redactions
        return EnvelopeSource(self._path, self._loaded, known) if known else self

    def reading(self, revision: int, lens: Lens, overlay: Mapping[str, bytes] = AS_ON_DISK) -> Reading:
        if overlay:
            drafted = self._on_disk.with_drafts(overlay)
            findings = partial(self._draft_findings, drafted, overlay)
            return drafted.reading(revision, lens, self._names, findings)
        key = (revision, lens.counter.name, lens.profile, lens.editor, lens.hurry)
        return self._readings.once(
            key, lambda: self._on_disk.reading(revision, lens, self._names, self._file_findings)
        )

    @property
    def targets(self) -> Sequence[str]:
        from ctxview.formats.envelope.prompt import MODEL, prompt_targets

        found = (target for records in self.bundle.groups for target in prompt_targets(records))
        return tuple(dict.fromkeys((MODEL, *found)))

    def prompt(self, revision: int, lens: Lens, target: str | None = None) -> Prompt:  # noqa: ARG002
        """Return the text that was assembled for a target, the model by default. Raises `PromptError`."""
        from ctxview.formats.envelope.assembled_blocks import EnvelopePromptInputs
        from ctxview.formats.envelope.prompt import MODEL, envelope_prompt

        records, disk = self._on_disk.revision_at(revision).records, self._on_disk
        return envelope_prompt(EnvelopePromptInputs(records, disk.withheld, disk.siblings), target or MODEL)

    @property
    def _names(self) -> tuple[str, str | None]:
        return self.title, self._loaded.left_out

    def findings(self, lens: Lens) -> Sequence[Finding]:
        return self._all_cache.once(lens.profile, lambda: self._all_findings(load_profile(lens.profile)))

    def findings_of(self, revision: int, lens: Lens, overlay: Mapping[str, bytes]) -> tuple[Finding, ...]:
        records, profile = self._on_disk, load_profile(lens.profile)
        if not overlay:
            return records.findings(revision, profile, self._file_findings)
        drafted = records.with_drafts(overlay)
        return drafted.findings(revision, profile, partial(self._draft_findings, drafted, overlay))

    def again(self) -> EnvelopeSource:
        """Open the source again, without reading or checking unchanged files. Raises `OpenError`."""
        new = EnvelopeSource(self._path, load_files(Peek(self._path), self._loaded), self._known)
        # A redaction holds also when its record is rewritten; the content it withholds may be only in one.
        new = new.withholding(self).withholding(self.withholding(new))
        new._file_cache = self._file_cache
        return new

    def _read(self, file: str) -> bytes:
        try:
            return self.bytes_of(file)
        except ReadError:
            return b""

    def _all_findings(self, profile: Profile) -> tuple[Finding, ...]:
        found = [*self._file_findings(profile), *self._on_disk.between_envelopes(profile)]
        for records in self.bundle.groups:
            found += self._on_disk.findings_within(records, profile)
        return masked_findings(found, self._on_disk.withheld)

    def _file_findings(self, profile: Profile) -> Iterator[Finding]:
        if self._loaded.left_out is not None:
            yield from report_partly_read(str(self._path), self._loaded.left_out)
        for file in self._loaded.files:
            yield from self._findings_of(file, profile)

    def _draft_findings(
        self, drafted: SourceRecords, overlay: Mapping[str, bytes], profile: Profile
    ) -> Iterator[Finding]:
        from ctxview.formats.envelope.rules import check_records

        for file, found in zip(self._loaded.files, drafted.bundle.files, strict=True):
            if str(file.path) in overlay:
                yield from check_records(found, profile)
            else:
                yield from self._findings_of(file, profile)

    def _findings_of(self, file: LoadedFile, profile: Profile) -> tuple[Finding, ...]:
        """The findings of one file by itself."""
        from ctxview.formats.envelope.rules import check_loaded

        key = (file.serial, profile.name)
        return self._file_cache.once(key, lambda: tuple(check_loaded(file, profile)))
