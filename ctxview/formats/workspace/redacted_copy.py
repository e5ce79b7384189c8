"""The audit logs of a redacted copy of a workspace: the chain of hashes is made again where it was whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ctxview.core.origin import JsonValue
from ctxview.files.strict_json.document import JsonDocument, JsonError, parse
from ctxview.files.strict_json.splice import SpliceError, set_value
from ctxview.formats.workspace.history_checks import entry_hashes

_MAY_CHAIN = b'"prev_hash"'


def consistent_chains(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files of a copy with the hashes of changed audit entries, and of all that follow them."""
    return {
        name: b"\n".join(_chained(before[name].split(b"\n"), data.split(b"\n")))
        if name.endswith(".jsonl") and _MAY_CHAIN in data and before.get(name, data) != data
        else data
        for name, data in after.items()
    }


def _chained(old: list[bytes], new: list[bytes]) -> Iterator[bytes]:
    was, now = "", ""
    for place, line in enumerate(new):
        try:
            earlier = parse(old[place]) if place < len(old) else None
            document = parse(line)
        except JsonError:
            yield line
            continue
        stated = _member(earlier, "hash")
        spellings = entry_hashes(earlier) if earlier is not None else []
        if stated is None or stated not in spellings:
            yield line
            was = now = stated or ""
            continue
        try:
            if _member(earlier, "prev_hash") == was:
                line = set_value(document, "/prev_hash", now)
            now = entry_hashes(parse(line))[spellings.index(stated)]
            line = set_value(parse(line), "/hash", now)
        except SpliceError:
            pass
        was = stated
        yield line


def _member(document: JsonDocument | None, name: str) -> str | None:
    value: JsonValue = document.value if document is not None else None
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, str) else None
