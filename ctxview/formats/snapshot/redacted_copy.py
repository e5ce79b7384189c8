"""The logs of a redacted copy of snapshots: recorded sizes that were right are counted again."""

from __future__ import annotations

from collections.abc import Mapping

from ctxview.files.strict_json.document import JsonDocument, JsonError, parse
from ctxview.files.strict_json.splice import SpliceError, set_value
from ctxview.files.strict_json.values import path_keys, walk
from ctxview.formats.snapshot.rules.log import compact_size

SIZES = ("rawContextBytes", "modelContextBytes")
_MAY_RECORD = b"ContextBytes"


def consistent_sizes(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files of a copy with the sizes of the snapshots in their logs made to fit."""
    found = dict(after)
    for name, data in after.items():
        if _MAY_RECORD in data and name in before and before[name] != data:
            try:
                found[name] = _with_sizes(parse(before[name]), data)
            except (JsonError, SpliceError):
                continue
    return found


def _with_sizes(old: JsonDocument, data: bytes) -> bytes:
    meta = old.value.get("meta") if isinstance(old.value, dict) else None
    for name in SIZES:
        recorded = meta.get(name) if isinstance(meta, dict) else None
        # The size is that of an object of the log: the one that had exactly this size.
        sized = (
            path_keys(path)
            for path, value in walk(old.value)
            if isinstance(value, dict) and compact_size(value) == recorded
        )
        keys = next(sized, None) if isinstance(recorded, int) else None
        if keys is not None:
            document = parse(data)
            value = document.value
            for key in keys:
                value = value[key] if isinstance(value, dict) and isinstance(key, str) else None
            data = set_value(document, f"/meta/{name}", compact_size(value))
    return data
