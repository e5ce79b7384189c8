"""Verification: do the records beside a path approve exactly what is there now? For people and for CI.

`verify_path` compares; the rules in `rules` judge. A record counts for a path when it names the path among
its sources and has the digest of every file of it, and no other file is there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path, PurePosixPath
from unicodedata import normalize

from msgspec import Struct

from ctxview.files.visible_text import visible
from ctxview.formats import open_source
from ctxview.formats.interface import Lens, OpenError, Source
from ctxview.review.meaning import changes_between, part_digests
from ctxview.review.record import (
    RecordedSource,
    ReviewFile,
    ReviewPredicate,
    ReviewStatement,
    read_record,
)
from ctxview.review.review import LastReview, shown_beside
from ctxview.review.ssh_signature import SignatureCheck, check_signature
from ctxview.review.subject import Subject, joined, place_of, records_beside, scope_of, subject_at
from ctxview.review.words import SignatureState, SignOff


class VerifyOptions(Struct, frozen=True):
    """What an approval must have to count."""

    require_signature: bool = False
    allowed_signers: Path | None = None
    not_before: datetime | None = None
    reviewers: int = 1
    records: tuple[Path, ...] = ()
    """Records to use instead of those beside the path."""


class CheckedRecord(Struct, frozen=True):
    """A record compared with the files of a path as they are now."""

    file: ReviewFile
    signature: SignatureCheck
    is_about: bool
    """Whether the record names the path among its sources."""
    file_changes: tuple[str, ...] = ()
    part_changes: tuple[str, ...] = ()

    @property
    def path(self) -> Path:
        return self.file.path

    @property
    def predicate(self) -> ReviewPredicate | None:
        return self.file.statement.predicate if self.file.statement is not None else None

    @property
    def person(self) -> str:
        """The reviewer; names that differ only in case, width or spaces are one person."""
        name = self.predicate.reviewer if self.predicate is not None else ""
        return " ".join(normalize("NFKC", name).casefold().split())

    @property
    def is_current(self) -> bool:
        """Whether the record is about exactly what is there now."""
        return self.is_about and not self.file_changes

    @property
    def changes(self) -> tuple[str, ...]:
        """What changed by meaning; the files where no part shows the change."""
        return self.part_changes or self.file_changes

    def decides(self, decision: SignOff) -> bool:
        return self.predicate is not None and self.predicate.decision is decision


class CheckedPath(Struct, frozen=True):
    """A path, its records oldest first, and what an approval must have."""

    path: Path
    subject: Subject
    records: tuple[CheckedRecord, ...]
    options: VerifyOptions = VerifyOptions()

    @property
    def latest(self) -> tuple[CheckedRecord, ...]:
        """The latest current record of each reviewer, oldest first; it replaces the earlier ones.

        Where signatures are required, only a signed record replaces a rejection.
        """
        found: dict[str, CheckedRecord] = {}
        for each in self.records:
            if each.is_current and each.predicate is not None:
                before = found.get(each.person)
                if before is None or not before.decides(SignOff.REJECTED) or self.is_signed(each):
                    found.pop(each.person, None)
                    found[each.person] = each
        return tuple(found.values())

    @property
    def is_decided(self) -> bool:
        """Whether the latest word of a reviewer on what is there now is approved or rejected."""
        return any(not each.decides(SignOff.ASKED) for each in self.latest)

    @property
    def approvals(self) -> tuple[CheckedRecord, ...]:
        """The approvals that count."""
        return tuple(each for each in self.latest if each.decides(SignOff.APPROVED) and self.counts(each))

    @property
    def approving_people(self) -> int:
        """How many people approved: several names with one key are one person."""
        return len({each.signature.key or each.person for each in self.approvals})

    def counts(self, record: CheckedRecord) -> bool:
        """Whether a record is signed as required and new enough."""
        return self.is_signed(record) and not self.is_too_old(record)

    def is_signed(self, record: CheckedRecord) -> bool:
        """Whether a known signer signed a record, if that is required."""
        return not self.options.require_signature or record.signature.state is SignatureState.GOOD

    def is_too_old(self, record: CheckedRecord) -> bool:
        first, predicate = self.options.not_before, record.predicate
        return first is not None and predicate is not None and predicate.time < first


def verify_path(path: Path, lens: Lens, options: VerifyOptions, as_format: str | None = None) -> CheckedPath:
    """Compare what is at `path` with its records; raises `OpenError` when there is nothing to compare.

    A change may make a source unrecognisable: its files are then compared, but not its parts.
    """
    files = _read_records(path, options)
    own = (
        recorded_source(each.statement.predicate, path.resolve())
        for each in files
        if each.statement is not None
    )
    known = next((each.format for each in own if each is not None), None)
    try:
        source = open_source(path, as_format or known)
        if (work := source.abilities.work) is not None and work.has_work(lens):
            source.findings(lens)
    except OpenError:
        if known is None or not path.exists():
            raise
        place = place_of(path)
        return _compared(path, subject_at(place.parent, [place]), files, None, lens, options)
    return check_source(source, lens, options)


def check_source(source: Source, lens: Lens, options: VerifyOptions) -> CheckedPath:
    """Compare the files of a source as they are now with its records."""
    subject = subject_at(place_of(source.path).parent, scope_of(source))
    return _compared(source.path, subject, _read_records(source.path, options), source, lens, options)


def _read_records(path: Path, options: VerifyOptions) -> list[ReviewFile]:
    return [*map(read_record, options.records or records_beside(path))]


def _compared(
    path: Path,
    subject: Subject,
    files: Sequence[ReviewFile],
    source: Source | None,
    lens: Lens,
    options: VerifyOptions,
) -> CheckedPath:
    if source is not None and files:
        subject = joined([subject, subject_at(subject.root, shown_beside(source, lens))])
    checked = []
    for file in files:
        statement = file.statement
        own = recorded_source(statement.predicate, path.resolve()) if statement is not None else None
        if statement is None:
            signature = SignatureCheck(SignatureState.UNSIGNED)
        else:
            signature = check_signature(file.path, file.digest, statement, options.allowed_signers)
        if statement is None or own is None:
            checked.append(CheckedRecord(file, signature, is_about=False))
            continue
        changed = tuple(_file_changes(statement, own, path, subject))
        parts: tuple[str, ...] = ()
        if changed and source is not None:
            state = source.reading(len(source.revisions) - 1, lens).state
            parts = tuple(changes_between(own.parts, part_digests(state)))
        checked.append(CheckedRecord(file, signature, True, changed, parts))
    return CheckedPath(path, subject, tuple(_in_order(checked)), options)


def last_review(sources: Sequence[Source], lens: Lens) -> LastReview | None:
    """Return the last decision about the reviewed sources, taken from the records beside the first one.

    A rejection of what is there now stays, also after an approval by another reviewer.
    """
    checked = [check_source(source, lens, VerifyOptions()) for source in sources]
    present = checked[0].latest
    decided = present or [each for each in checked[0].records if each.is_about]
    if not decided:
        return None
    # `decided` is oldest first, also within one second.
    last = ([each for each in present if each.decides(SignOff.REJECTED)] or decided)[-1]
    assert last.predicate is not None
    same = [
        next((each for each in path.records if each.file.digest == last.file.digest), last)
        for path in checked
    ]
    changes = dict.fromkeys(change for each in same for change in each.changes)
    predicate = last.predicate
    return LastReview(
        predicate.decision.value,
        predicate.reviewer,
        predicate.time.isoformat(),
        last.path,
        all(each.is_current for each in same),
        tuple(changes),
        last.file.digest,
    )


def _in_order(records: Sequence[CheckedRecord]) -> Iterator[CheckedRecord]:
    """Yield records oldest first; one that follows another comes after it, also with a slow clock."""
    waiting = sorted(records, key=_time)
    while waiting:
        later = {each.file.digest for each in waiting}
        # A digest cannot lead back to itself, so there is always a first one.
        first = next(
            each for each in waiting if each.predicate is None or each.predicate.follows not in later
        )
        waiting.remove(first)
        yield first


def _time(record: CheckedRecord) -> float:
    return record.predicate.time.timestamp() if record.predicate is not None else 0.0


def recorded_source(predicate: ReviewPredicate, path: Path) -> RecordedSource | None:
    """Return the source of a record that is at `path`: its path in the record is the end of the real one."""
    for source in predicate.sources:
        parts = PurePosixPath(source.path).parts
        if path.parts[-len(parts) :] == parts:
            return source
    return None


def _file_changes(
    statement: ReviewStatement, own: RecordedSource, path: Path, subject: Subject
) -> Iterator[str]:
    """Yield the differences between the recorded files of a source and those there now."""
    inside = len(path.resolve().parts) - len(place_of(path).parts)
    above = PurePosixPath(own.path).parents[inside].as_posix()
    prefix = "" if above == "." else f"{above}/"
    digests = {each.name: each.digest.sha256 for each in statement.subject}
    # A file beside a single file is known only by the record.
    recorded = [subject.root / name.removeprefix(prefix) for name in own.files if name.startswith(prefix)]
    # A folder that became a repository after the sign-off is still compared as a whole.
    whole = [] if own.repository else [place_of(path)]
    subject = joined([subject, subject_at(subject.root, [*recorded, *whole])])
    now = {f"{prefix}{name}": digest for name, digest in subject.files.items()}
    for name in own.files:
        if name not in now:
            yield f"removed file {name}"
        elif digests.get(name) != now[name]:
            yield f"changed file {name}"
    yield from (f"added file {name}" for name in sorted(now.keys() - {*own.files}))
    root = f"{own.path}/"
    before = {name: target for name, target in statement.predicate.links.items() if name.startswith(root)}
    after = {f"{prefix}{name}": target for name, target in subject.links.items()}
    changed = {name for name, _ in before.items() ^ after.items() if name.startswith(root)}
    yield from (f"changed link {name}" for name in sorted(changed))
    known = statement.predicate.not_covered
    unread = (f"{prefix}{visible(name)}" for name in sorted(subject.unread))
    yield from (f"unreadable file {name}" for name in unread if name not in known)
