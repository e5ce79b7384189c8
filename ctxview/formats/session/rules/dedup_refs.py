"""The references of the dedup index: whether each leads somewhere, and which still holds a blob's content."""

from __future__ import annotations

import hashlib

from ctxview.files.strict_json.values import as_texts
from ctxview.formats.kit.folder import EntryKind
from ctxview.formats.kit.json_records import JsonRecord
from ctxview.formats.session import EVENTS, MESSAGES
from ctxview.formats.session.grammar import digest_in, parse_citation
from ctxview.formats.session.store.content import ContentMissing, RawContent
from ctxview.formats.session.store.repetitions import content_at, file_of
from ctxview.formats.session.survey.citations import CitationStatus, resolve_citation, stream_of
from ctxview.formats.session.survey.facts import SessionFacts


def refs_of(record: JsonRecord) -> tuple[str, ...]:
    """Return the references of an index line that are texts."""
    return as_texts(record.members.get("refs"))


def is_resolved(facts: SessionFacts, ref: str) -> bool:
    return unresolved(facts, ref) is None


def unresolved(facts: SessionFacts, ref: str) -> str | None:
    """Return why a reference of the dedup index leads nowhere; None when it is valid, or not known yet."""
    kind, _, name = ref.partition(":")
    file = file_of(ref)
    if kind in ("messages", "events"):
        citation = resolve_citation(parse_citation(ref), facts.survey)
        if citation.resolution in (CitationStatus.BEYOND, CitationStatus.REVERSED):
            return f"there are {citation.count} lines"
        return "this is not a range" if citation.resolution is CitationStatus.FREE else None
    if kind == "tool":
        survey = facts.survey
        known = survey is None or any((stream, name) in survey.id_lines for stream in (EVENTS, MESSAGES))
        if survey is not None and not (survey.events.whole and survey.messages.whole):
            return None
        return None if known else "no call and no event has this id"
    if kind == "swap":
        index = facts.session.swap.index
        listed = {word for record in index.records for word in (record.text("id"), record.text("summary"))}
        unread = index.part.exists and not index.part.readable
        return None if name in listed or unread else "the swap index has no such entry"
    if kind == "child" and "/" not in name:
        known = facts.session.has_child(name) or "context/child" in facts.session.closed
        return None if known else "there is no such child"
    if file is None:
        return "this names neither messages, events, a tool call, a file, a child nor a swap entry"
    if kind == "file" and name.startswith("/"):
        # A path outside the session may be right on the machine of the agent: it is never followed.
        return None
    absent = facts.session.folder.entry(file).kind is EntryKind.ABSENT
    return "there is no such file" if absent else None


def holder_of(facts: SessionFacts, record: JsonRecord) -> str | None:
    """Return a place in the session that still holds the content of an index line; None without one."""
    digest = digest_in(record.text("hash") or "")
    if digest is None or facts.survey is None:
        return None
    raw = RawContent(facts.session.folder, facts.history, facts.survey)
    found = next((ref for ref in refs_of(record) if _holds(facts, raw, ref, digest)), None)
    return "a message" if found is None and digest in facts.survey.contents else found


def _holds(facts: SessionFacts, raw: RawContent, ref: str, digest: str) -> bool:
    kind, _, name = ref.partition(":")
    cited = parse_citation(ref)
    try:
        if cited.first is not None and cited.last is not None:
            lines = raw.range(stream_of(cited), cited.first, cited.last)
            whole = hashlib.sha256(lines).hexdigest() == digest
            return whole or (cited.first == cited.last and content_at(raw, ref, digest) is not None)
        if kind == "tool":
            return hashlib.sha256(raw.output(name)).hexdigest() == digest
        if kind == "swap":
            chunk = facts.session.swap.blob(name)
            known = facts.blob_facts(chunk) if chunk is not None else None
            return known is not None and known.digest == digest
        return file_of(ref) is not None and content_at(raw, ref, digest) is not None
    except ContentMissing:
        return False
