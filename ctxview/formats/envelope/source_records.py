"""All records of an envelope source, on disk or in drafts, with everything computed from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ctxview.core.edits import EditRefused
from ctxview.core.findings import Finding
from ctxview.formats.envelope.bundle import Bundle, files_beside
from ctxview.formats.envelope.editing.write_rights import EDITORS
from ctxview.formats.envelope.parser import RecordFile, read_again
from ctxview.formats.envelope.profile import Profile, load_profile
from ctxview.formats.envelope.state import masked_findings
from ctxview.formats.envelope.state.timeline import EnvelopeRevision, envelope_revisions
from ctxview.formats.envelope.vocabulary import RecordKind
from ctxview.formats.envelope.withheld import Redactions, WithheldContent, withheld_in
from ctxview.formats.interface import Hurry, Lens, Reading, Revision
from ctxview.formats.kit.file_source import Memo

if TYPE_CHECKING:
    from ctxview.core.origin import Origin
    from ctxview.core.state import Event
    from ctxview.formats.envelope.model import EnvelopeRecords
    from ctxview.formats.envelope.references import SiblingFiles

MANY = 2000
"""With more records than this, a hurried reading returns the state before the findings are known."""


class SourceRecords:
    """The records of a source, and what is computed from them when it is first asked for."""

    def __init__(
        self,
        path: Path,
        files: Sequence[RecordFile],
        siblings: SiblingFiles | None = None,
        known: Redactions | None = None,
        undrafted: SourceRecords | None = None,
    ) -> None:
        """`known` are redactions of other views; `undrafted` are the records on disk, for those in drafts."""
        self._path = path
        self._undrafted = undrafted
        self._known = known
        self.bundle = Bundle(tuple(files))
        self._siblings = siblings
        self._group_cache: dict[tuple[EnvelopeRecords, str], tuple[Finding, ...]] = {}
        self._bundle_cache: Memo[tuple[Finding, ...]] = Memo()

    def with_drafts(self, overlay: Mapping[str, bytes]) -> SourceRecords:
        files = [
            read_again(each.file, overlay[each.file]) if each.file in overlay else each
            for each in self.bundle.files
        ]
        # What is redacted on disk stays withheld in a draft that takes the redaction away.
        return SourceRecords(self._path, files, self.siblings, self.withheld.redactions, self)

    @cached_property
    def withheld(self) -> WithheldContent:
        own = self.bundle.files
        beside = files_beside(self._path, own) if self._siblings is None else ()
        return withheld_in((*own, *beside), self._known)

    @cached_property
    def envelope_revisions(self) -> tuple[EnvelopeRevision, ...]:
        return envelope_revisions(self.bundle)

    def revision_at(self, number: int) -> EnvelopeRevision:
        """The revision with this number, or the last one."""
        return self.envelope_revisions[min(number, len(self.envelope_revisions) - 1)]

    @cached_property
    def revisions(self) -> Sequence[Revision]:
        from ctxview.formats.envelope.state.timeline import build_revisions

        return build_revisions(self.envelope_revisions, self._path, self.withheld)

    @cached_property
    def timeline(self) -> tuple[Event, ...]:
        from ctxview.formats.envelope.state.timeline import build_timeline

        return build_timeline(self.envelope_revisions, self.withheld)

    @cached_property
    def siblings(self) -> SiblingFiles:
        from ctxview.formats.envelope.references import SiblingFiles

        folder = self._path if self._path.is_dir() else self._path.parent
        return self._siblings or SiblingFiles(folder)

    def reading(
        self,
        revision: int,
        lens: Lens,
        names: tuple[str, str | None],
        file_findings: Callable[[Profile], Iterator[Finding]],
    ) -> Reading:
        """`names` are the title of the source, and what was left out of its files."""
        from ctxview.formats.envelope.state import EnvelopeStateOptions, build_state
        from ctxview.formats.envelope.state.inputs import EnvelopeStateInputs

        current = self.revision_at(revision)
        # Attempts are read-only: an envelope is edited in the revision that shows all of it.
        editor = None if current.kind == "attempt" else lens.editor or EDITORS[0]
        inputs = EnvelopeStateInputs(
            current.records, self.withheld, lens.counter, self.siblings, editor, self.bundle.ids
        )
        label = self.revisions[self.envelope_revisions.index(current)].label
        title, left_out = names
        options = EnvelopeStateOptions(
            title, str(self._path), label, self.bundle.files, self.timeline, left_out
        )
        profile = load_profile(lens.profile)
        is_cached = (current.whole, profile.name) in self._group_cache
        if lens.hurry and len(self.bundle.records) > MANY and not is_cached:
            linked = lens.hurry < Hurry.LINKS
            return Reading(build_state(inputs, options, linked=linked), (), judged=False, linked=linked)
        return Reading(build_state(inputs, options), self.findings(revision, profile, file_findings))

    def findings(
        self, revision: int, profile: Profile, file_findings: Callable[[Profile], Iterator[Finding]]
    ) -> tuple[Finding, ...]:
        """The findings of a revision: of its files, of its envelope, and between the envelopes."""
        current = self.revision_at(revision)
        own_files = {record.file for record in current.records.records}
        unrelated = {record.file for record in self.bundle.envelopes} - own_files
        found = [
            *(each for each in file_findings(profile) if each.origin.file not in unrelated),
            *self.findings_within(current.whole, profile),
            *self.between_envelopes(profile),
        ]
        return masked_findings(found, self.withheld)

    def findings_within(self, records: EnvelopeRecords, profile: Profile) -> tuple[Finding, ...]:
        """The findings between the records of an envelope."""
        from ctxview.formats.envelope.rules import check_envelope

        key = (records, profile.name)
        if key not in self._group_cache:
            found = check_envelope(records, self.siblings, profile)
            self._group_cache[key] = tuple(self._unanswered(found, records, profile))
        return self._group_cache[key]

    def _unanswered(
        self, findings: Iterable[Finding], records: EnvelopeRecords, profile: Profile
    ) -> Iterator[Finding]:
        """Yield the findings without those that saving the draft answers.

        It writes the missing events, and marks the blocks of other files.
        """
        from ctxview.formats.envelope.editing.write_rights import in_place
        from ctxview.formats.envelope.rules.events import misses_event
        from ctxview.formats.envelope.rules.redaction import is_unmarked

        disk = self._undrafted
        if disk is None or records.envelope is None or in_place(records):
            yield from findings
            return
        before = [
            each for each in disk.bundle.groups if each.envelope and each.envelope.id == records.envelope.id
        ]
        known = {each.message for group in before for each in disk.findings_within(group, profile)}
        found = [each for each in findings if not misses_event(each) or each.message in known]
        marked = self._marked_by_saving(disk) if any(map(is_unmarked, found)) else ()
        yield from (each for each in found if not is_unmarked(each) or each.origin not in marked)

    def _marked_by_saving(self, disk: SourceRecords) -> frozenset[Origin]:
        """The marks that saving adds to blocks of which the draft of another file redacts an item."""
        from ctxview.formats.envelope.editing.field_changes import BLOCKS, block_marks, newly_redacted
        from ctxview.formats.envelope.editing.publication import EditedFile, all_changes

        try:
            redacted = newly_redacted(all_changes(map(EditedFile, disk.bundle.files, self.bundle.files)))
        except EditRefused:
            return frozenset()
        return frozenset(
            assembly.origin(BLOCKS, at, "redaction_state")
            for assembly in self.bundle.records
            if assembly.kind is RecordKind.ASSEMBLY
            for at in block_marks(assembly, redacted)
        )

    def between_envelopes(self, profile: Profile) -> tuple[Finding, ...]:
        from ctxview.formats.envelope.rules import check_bundle

        return self._bundle_cache.once(profile.name, lambda: tuple(check_bundle(self.bundle.groups, profile)))
