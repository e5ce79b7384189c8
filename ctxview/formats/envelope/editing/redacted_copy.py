"""The records of a redacted copy: items say that and why they were redacted, blocks are marked, events added.

The texts were replaced before; this makes the records agree with that, as an editor would have to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import PurePosixPath

from ctxview.core.edits import EditRefused
from ctxview.core.origin import JsonValue
from ctxview.files.strict_json.splice import SpliceError
from ctxview.formats.envelope.editing.field_changes import WAYS_BACK, block_marks, strictness
from ctxview.formats.envelope.editing.policy import append_record, with_values
from ctxview.formats.envelope.format import SUFFIXES
from ctxview.formats.envelope.model import Record
from ctxview.formats.envelope.parser import RecordFile, parse_record_file
from ctxview.formats.envelope.redactions import Redaction, is_redacted, texts_of_removed
from ctxview.formats.envelope.vocabulary import RecordKind

METHOD = "ctxview export --redact"
REASON = "removed from the copy that was handed on"
POLICY: JsonValue = [{"kind": "policy", "id": "redacted-copy"}]
_ONLY_MARK = re.compile(r"\s*REDACTED-\d+\s*")
_BYTES_PER_TOKEN = 4

Files = Mapping[str, bytes]


def consistent_records(before: Files, after: Files) -> dict[str, bytes]:
    """Return the files of a copy with the records of what was redacted; a file that is not JSON stays."""
    found = dict(after)
    changed = {name for name, data in after.items() if before.get(name) != data}
    for name in after:
        if not name.lower().endswith(SUFFIXES) or name not in before:
            continue
        was, now = parse_record_file(name, before[name]), parse_record_file(name, after[name])
        if not now.records or len(was.records) != len(now.records):
            continue
        try:
            found[name] = _with_records(was, now, after, changed)
        except (EditRefused, SpliceError):
            # A file with broken parts cannot be edited; its texts are redacted all the same.
            continue
    return _with_policies(found)


def _with_policies(files: Files) -> dict[str, bytes]:
    """Name the policy of the redactions on the envelopes around them that name no policy."""
    found = dict(files)
    parsed = [parse_record_file(name, files[name]) for name in files if name.lower().endswith(SUFFIXES)]
    redacted = [
        file for file in parsed if any(each.value.get("redaction_method") == METHOD for each in file.records)
    ]
    elsewhere = any(not _envelopes(file) for file in redacted)
    for file in (each for each in (parsed if elsewhere else redacted) if _envelopes(each)):
        lists = [each.at("policy_refs") for each in _envelopes(file) if not each.refs("policy_refs")]
        with suppress(EditRefused, SpliceError):
            found[file.file] = with_values(file, [(place, POLICY) for place in lists]).data
    return found


def _envelopes(file: RecordFile) -> list[Record]:
    return [each for each in file.records if each.kind is RecordKind.ENVELOPE]


def _with_records(was: RecordFile, now: RecordFile, after: Files, changed: set[str]) -> bytes:
    old = {record.pointer: record for record in was.records}
    values: list[tuple[str, JsonValue]] = []
    states: dict[tuple[RecordKind, str], str] = {}
    for record in now.records:
        earlier = old.get(record.pointer)
        if earlier is None or record.kind not in (RecordKind.ITEM, RecordKind.SUMMARY):
            continue
        file = _content_file(record)
        content, is_inline = record.value.get("content"), earlier.value.get("content") is not None
        is_changed = content != earlier.value.get("content") if is_inline else file in changed
        if not is_changed:
            continue
        state = "removed" if _is_removed(record) else "masked"
        size = len(after[file]) if file in after else None
        if isinstance(content, str):
            size = len(content.encode("utf-8", "surrogatepass"))
        values += _sizes(record, size)
        if strictness(state) > strictness(earlier.redaction):
            values += _redaction(record, state)
            states[record.kind, record.id or ""] = state
    for summary in _summaries_of_redacted(now, states):
        values += _redaction(summary, "summarized")
        states[summary.kind, summary.id or ""] = "summarized"
    for assembly in (each for each in now.records if each.kind is RecordKind.ASSEMBLY):
        for at, mark in block_marks(assembly, states).items():
            values.append((assembly.at("ordered_blocks", at, "redaction_state"), mark))
    copy = with_values(now, values)
    events = [each for each in copy.records if each.kind is RecordKind.EVENT]
    for kind, name in states if events else ():
        if kind is RecordKind.ITEM:
            copy = parse_record_file(copy.file, append_record(copy, _event(events[-1], name)))
    return copy.data


def _summaries_of_redacted(now: RecordFile, states: Mapping[tuple[RecordKind, str], str]) -> list[Record]:
    """Return the summaries of redacted items that kept their text and do not say so yet."""
    redacted = {name for kind, name in states if kind is RecordKind.ITEM}
    made_of: dict[str, set[str]] = {}
    for compaction in (each for each in now.records if each.kind is RecordKind.COMPACTION):
        items = {each.id or "" for each in compaction.refs("source_item_refs")}
        for each in compaction.refs("summary_ref"):
            made_of.setdefault(each.id or "", set()).update(items)
    return [
        record
        for record in now.records
        if record.kind is RecordKind.SUMMARY
        and (record.kind, record.id or "") not in states
        and not is_redacted(record.redaction)
        and redacted
        & {*made_of.get(record.id or "", ()), *(each.id for each in record.refs("source_item_refs"))}
    ]


def _is_removed(record: Record) -> bool:
    """Whether all text of an item is gone; `removed` would also hide sentences in its other fields."""
    content = record.value.get("content")
    is_mark = isinstance(content, str) and _ONLY_MARK.fullmatch(content) is not None
    if not is_mark or record.kind is not RecordKind.ITEM:
        return False
    return not any(texts_of_removed(Redaction("removed", (), "", record.id or ""), record.value))


def _content_file(record: Record) -> str:
    """The name of the file that a content reference leads to; empty for inline content."""
    reference = record.value.get("content_ref")
    if not isinstance(reference, str) or "://" in reference:
        return ""
    return str(PurePosixPath(record.file).parent / reference)


def _sizes(record: Record, size: int | None) -> Iterator[tuple[str, JsonValue]]:
    """Yield the figures of an item that depend on its content."""
    if size is None:
        return
    if isinstance(record.value.get("byte_size"), int):
        yield record.at("byte_size"), size
    if isinstance(record.value.get("token_estimate"), int):
        yield record.at("token_estimate"), -(-size // _BYTES_PER_TOKEN)


def _redaction(record: Record, state: str) -> Iterator[tuple[str, JsonValue]]:
    yield record.at("redaction_state"), state
    if record.kind is not RecordKind.ITEM:
        return
    yield record.at("redaction_method"), METHOD
    yield record.at("redacted_fields"), ["content"]
    yield record.at("redacted_by"), {"kind": "tool", "id": "ctxview"}
    yield record.at("redaction_reason"), REASON
    if not record.value.get("policy_refs"):
        yield record.at("policy_refs"), POLICY
    if not any(record.value.get(name) for name in WAYS_BACK):
        yield record.at("original_ref"), {"kind": "unredacted", "id": f"original-of-{record.id}"}


def _event(last: Record, subject: str) -> dict[str, JsonValue]:
    """The event of a redaction, at the time of the last event of the file and about the same run."""
    kept = {name: value for name, value in last.value.items() if name.endswith("_id") and name != "event_id"}
    return {
        "schema_version": last.value.get("schema_version"),
        "event_id": f"event-redacted-{subject}",
        "event_type": "context.redaction.applied",
        "source": "ctxview",
        "time": last.value.get("time"),
        "subject": subject,
        **kept,
        "policy_refs": POLICY,
        "data": {"method": METHOD},
    }
