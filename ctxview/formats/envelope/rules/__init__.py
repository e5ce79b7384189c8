"""The rules about Agent Context records (ENV), and the four questions they answer.

A rule is about what its first parameter says: one `Record`, one `Dossier` (an envelope and all that belongs
to it), all dossiers of a source (`Sequence[Dossier]`), or a `Stray`, a value that is no record. By that it is
gathered here; a new module only has to be named in `MODULES`. A record that belongs to two envelopes is seen
in both dossiers, and what is said about it is then equal: whoever asks says it once.

Where the data that a rule needs are absent it says nothing: unknown is neither right nor wrong. A rule's
docstring is its explanation, and the examples in it are run by the tests: changes to a sound bundle, `Bad`
must make the rule speak and `Good` must not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ctxview.findings import REGISTRY, Finding, Rule, rules_in, run
from ctxview.formats.envelope.files_beside import FileBeside
from ctxview.formats.envelope.model import Dossier, Record, Stray
from ctxview.formats.envelope.profile import Profile
from ctxview.formats.envelope.rules import (
    assembly,
    budget,
    compaction,
    envelopes,
    events,
    injection,
    items,
    missing,
    recommended,
    redaction,
    refs,
    selection,
    shape,
    sources,
    statements,
    window,
)

MODULES = (
    shape,
    recommended,
    refs,
    envelopes,
    statements,
    items,
    sources,
    selection,
    budget,
    window,
    assembly,
    injection,
    compaction,
    missing,
    redaction,
    events,
)


def check_stray(stray: Stray, profile: Profile) -> Iterator[Finding]:
    """Why a value that stands where a record should is none."""
    yield from run(STRAY_RULES, stray, profile)


def check_record(record: Record, profile: Profile) -> Iterator[Finding]:
    """What is wrong with one record taken by itself."""
    yield from run(RECORD_RULES, record, profile)


def check_file_beside(source: Record, file: FileBeside) -> Iterator[Finding]:
    """Whether the file that a source leads to is the one that was read: the rest of ENV030."""
    yield from run((replace(REGISTRY["ENV030"], check=sources.digest_of_file),), source, file)


def check_dossier(dossier: Dossier, profile: Profile) -> Iterator[Finding]:
    """What is wrong between the records that belong to one envelope."""
    yield from run(DOSSIER_RULES, dossier, profile)


def check_bundle(dossiers: Sequence[Dossier], profile: Profile) -> Iterator[Finding]:
    """What is wrong between the envelopes of one source."""
    yield from run(BUNDLE_RULES, dossiers, profile)


def _rules_about(subject: str) -> tuple[Rule, ...]:
    return tuple(each for each in rules_in(*MODULES) if _subject(each) == subject)


def _subject(each: Rule) -> str:
    """The type of the first parameter as it is written."""
    return str(next(iter(each.check.__annotations__.values())))


STRAY_RULES = _rules_about("Stray")
RECORD_RULES = _rules_about("Record")
DOSSIER_RULES = _rules_about("Dossier")
BUNDLE_RULES = _rules_about("Sequence[Dossier]")
