"""The rules about derived records by themselves: facts, decisions, references, indexes (ABI022 to 024).

Examples change a sound session, as in `layout`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct

from ctxview.analysis.wording import excerpt, json_excerpt, quoted
from ctxview.core.findings import Effect, Hit, Severity, rule
from ctxview.core.origin import JsonValue
from ctxview.formats.kit.json_records import JsonRecord, JsonRecordFile
from ctxview.formats.session import EVENTS, MESSAGES
from ctxview.formats.session.grammar import has_control, is_hash_id, is_name
from ctxview.formats.session.model import Session
from ctxview.formats.session.pack_candidates import source_fault
from ctxview.formats.session.profile import Profile
from ctxview.formats.session.survey.facts import SessionFacts

Fault = tuple[str, str]
"""The name of a wrong member, and the reason."""
ADDRESS = "a content address: those begin with sha256-"


class RecordKindSpec(Struct, frozen=True):
    """One kind of record: its file, the member that names it, its one-line texts, and its other checks."""

    file: JsonRecordFile
    key: str
    texts: tuple[str, ...]
    check: Callable[[JsonRecord, Profile], Iterator[Fault]]


@rule("ABI022", name="record-shape", severity=Severity.ERROR, effect=Effect.REJECTED)
def record_shape(facts: SessionFacts) -> Iterator[Hit]:
    """A line of a derived file is broken, or lacks a field that its kind of record has.

    ## Why
    The pack builder checks these files as a whole: one bad line, and no pack is built at all. A duplicate key
    hides one of its values.
    ## Bad
    context/facts.jsonl += {"id": "f3", "source": "messages:1"}
    ## Good
    context/facts.jsonl += {"id": "f3", "text": "It works.", "source": "messages:1"}
    ## Fix
    Complete the record, or remove the line: derived files can be rebuilt.
    ## Source
    Source document, Compression, Swap and Dedup: the examples. Runtime: context record inspection.
    """
    for kind in kinds_of(facts.session):
        for record in kind.file.records:
            if record.problem is not None:
                yield Hit(record.origin(), excerpt(record.problem, 160))
                continue
            wrong = [name for name in kind.texts if not isinstance(record.members.get(name), str)]
            not_texts = [_not_a(record, name, "string") for name in wrong]
            for name, reason in (*not_texts, *kind.check(record, facts.profile)):
                yield Hit(record.origin(name), reason)
            if record.document is not None and record.document.duplicates:
                key = record.document.duplicates[0]
                message = f"the key {quoted(key[1:])} occurs twice here"
                yield Hit(record.origin(key.rpartition("/")[2]), message)


@rule("ABI023", name="record-id-twice", severity=Severity.WARNING)
def record_id_twice(facts: SessionFacts) -> Iterator[Hit]:
    """Two records of one file have the same id.

    ## Why
    A reference to the id may mean either. The runtime does not check it.
    ## Bad
    context/facts.jsonl += {"id": "f1", "text": "It works.", "source": "messages:1"}
    ## Good
    context/facts.jsonl += {"id": "f3", "text": "It works.", "source": "messages:1"}
    ## Fix
    Give the later one another id.
    ## Source
    Source document, Compression: records are identified by id.
    """
    for kind in kinds_of(facts.session):
        if kind.key == "hash":
            continue
        seen: dict[str, int] = {}
        for record in kind.file.records:
            name = record.text(kind.key)
            if name is None:
                continue
            if name in seen:
                message = f"the {kind.key} {quoted(name)} is already that of line {seen[name]}"
                yield Hit(record.origin(kind.key), message)
            else:
                seen[name] = record.line


@rule("ABI024", name="record-text", severity=Severity.ERROR, effect=Effect.REJECTED)
def record_text(facts: SessionFacts) -> Iterator[Hit]:
    """A text of a record is empty, or holds control characters.

    ## Why
    These texts go into the prompt one a line. The runtime refuses an empty one, and one that could break the
    line or act on a terminal.
    ## Bad
    context/facts.jsonl += {"id": "f3", "text": "", "source": "messages:1"}
    ## Good
    context/facts.jsonl += {"id": "f3", "text": "It works.", "source": "messages:1"}
    ## Fix
    Write one line of plain text.
    ## Source
    Runtime: texts of context records are single lines that are not empty.
    """
    for kind in kinds_of(facts.session):
        for record in kind.file.records:
            for name in kind.texts:
                value = record.text(name)
                if value == "":
                    yield Hit(record.origin(name), f"{name} is empty")
                elif value is not None and has_control(value):
                    yield Hit(record.origin(name), f"{name} holds a control character: {quoted(value, 30)}")


def kinds_of(session: Session) -> Iterator[RecordKindSpec]:
    """Yield every file of records in the session."""
    yield RecordKindSpec(session.facts, "id", ("text", "source"), _named)
    yield RecordKindSpec(session.decisions, "id", ("decision", "source"), _named)
    yield RecordKindSpec(session.refs, "id", ("path", "summary"), _reference)
    for child in session.children:
        yield RecordKindSpec(child.refs, "id", ("path", "summary"), _reference)
    yield RecordKindSpec(session.swap.index, "id", ("summary",), _swapped)
    yield RecordKindSpec(session.dedup.index, "hash", (), _shared)


def _named(record: JsonRecord, profile: Profile) -> Iterator[Fault]:
    yield from _fitting(record, "id", is_name, "a valid name")


def _reference(record: JsonRecord, profile: Profile) -> Iterator[Fault]:
    yield from _named(record, profile)
    yield from _one_of(record, "kind", profile.words.ref_kinds)


def _swapped(record: JsonRecord, profile: Profile) -> Iterator[Fault]:
    yield from _fitting(record, "id", is_hash_id, ADDRESS)
    yield from _one_of(record, "kind", profile.words.swap_kinds)
    source = record.members.get("source")
    if not isinstance(source, str):
        yield _not_a(record, "source", "string")
    elif source not in (MESSAGES, EVENTS) and (reason := source_fault(source)):
        yield "source", f"nothing can be swapped out of {quoted(source, 60)}: {reason}"
    yield from _unsigned(record, "tokens")


def _shared(record: JsonRecord, profile: Profile) -> Iterator[Fault]:
    yield from _fitting(record, "hash", is_hash_id, ADDRESS)
    refs = record.members.get("refs")
    if not isinstance(refs, list) or not all(isinstance(each, str) for each in refs):
        yield _not_a(record, "refs", "list of strings")
    yield from _unsigned(record, "bytes", "tokens")


def _fitting(record: JsonRecord, name: str, fits: Callable[[str], bool], what: str) -> Iterator[Fault]:
    value = record.members.get(name)
    if not isinstance(value, str):
        yield _not_a(record, name, "string")
    elif not fits(value):
        yield name, f"the {name} {quoted(value)} is not {what}"


def _one_of(record: JsonRecord, name: str, words: tuple[str, ...]) -> Iterator[Fault]:
    value: JsonValue = record.members.get(name)
    if not isinstance(value, str):
        yield _not_a(record, name, "string")
    elif words and value not in words:
        yield name, f"the {name} is {quoted(value)}; it can be {', '.join(words)}"


def _unsigned(record: JsonRecord, *names: str) -> Iterator[Fault]:
    for name in names:
        if record.number(name) is None:
            yield _not_a(record, name, "unsigned number")


def _not_a(record: JsonRecord, name: str, kind: str) -> Fault:
    article = "an" if kind[0] in "aeiou" else "a"
    if name not in record.members:
        return name, f"there is no {name}"
    return name, f"{name} is {json_excerpt(record.members[name])}, not {article} {kind}"
