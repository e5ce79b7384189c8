"""The derived files of a redacted copy of a session: sizes and tokens that were right are counted again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Final

from ctxview.analysis.tokens import ESTIMATES
from ctxview.core.origin import JsonValue
from ctxview.files.strict_json.document import JsonError, parse
from ctxview.files.strict_json.splice import SpliceError, set_value
from ctxview.formats.session.pack_candidates import estimate
from ctxview.formats.session.profile import Profile, load_profile

PACK: Final = "context/pack.json"
STORES: Final = {"context/swap/": ("id", "chunk/"), "context/dedup/": ("hash", "blob/")}
Files = Mapping[str, bytes]


def consistent_figures(before: Files, after: Files) -> dict[str, bytes]:
    """Return the files of a copy with the figures of packs, indexes and references to ranges made to fit."""
    found, profile = dict(after), load_profile(None)
    if PACK in after and PACK in before:
        found[PACK] = _with(after[PACK], _pack_tokens(before, after, profile))
    for store, (key, folder) in STORES.items():
        for name in after:
            if name.startswith(store + folder):
                found[name] = _with(after[name], _range_hash(before[name], before, after))
        index = f"{store}index.jsonl"
        if index in after and index in before:
            rows = zip(before[index].split(b"\n"), after[index].split(b"\n"), strict=False)
            lines = [
                _with(row, _blob_figures(old, store + folder, key, before, found, profile))
                for old, row in rows
            ]
            found[index] = b"\n".join(lines)
    return found


def _with(data: bytes, values: Iterator[tuple[str, JsonValue]]) -> bytes:
    try:
        for pointer, value in values:
            data = set_value(parse(data), pointer, value)
    except (JsonError, SpliceError):
        return data
    return data


def _value(data: bytes) -> Mapping[str, JsonValue]:
    try:
        value = parse(data).value
    except JsonError:
        return {}
    return value if isinstance(value, dict) else {}


def _pack_tokens(before: Files, after: Files, profile: Profile) -> Iterator[tuple[str, JsonValue]]:
    items = _value(before[PACK]).get("items")
    for at, item in enumerate(items if isinstance(items, list) else ()):
        source = item.get("source") if isinstance(item, dict) else None
        if isinstance(item, dict) and isinstance(source, str) and source in before and source in after:
            old, new = (_tail(files[source], item.get("range")) for files in (before, after))
            tokens = _counted_again(item.get("tokens"), old, new, profile)
            if tokens is not None:
                yield f"/items/{at}/tokens", tokens


def _tail(data: bytes, wanted: JsonValue) -> str:
    """The text that an item of a pack takes from its source: all of it, or its last lines."""
    if not isinstance(wanted, str) or not wanted.startswith("tail:") or not wanted[5:].isdecimal():
        return data.decode("utf-8", "replace")
    lines = [line for line in data.split(b"\n") if line.strip()][-int(wanted[5:]) :]
    return "".join(f"{line.decode('utf-8', 'replace')}\n" for line in lines)


def _counted_again(tokens: JsonValue, old: str, new: str, profile: Profile) -> int | None:
    """Return the tokens of `new` by the count that gave `tokens` for `old`; None when none did."""
    if not isinstance(tokens, int) or old == new:
        return None
    if estimate(old, profile) == tokens:
        return estimate(new, profile)
    counters = (each for each in ESTIMATES.values() if max(1, each.count(old)) == tokens)
    return next((max(1, each.count(new)) for each in counters), None)


def _blob_figures(
    row: bytes, folder: str, key: str, before: Files, after: Files, profile: Profile
) -> Iterator[tuple[str, JsonValue]]:
    members = _value(row)
    name = f"{folder}{members.get(key)}"
    if name not in before or name not in after or before[name] == after[name]:
        return
    if members.get("bytes") == len(before[name]):
        yield "/bytes", len(after[name])
    old, new = (files[name].decode("utf-8", "replace") for files in (before, after))
    tokens = _counted_again(members.get("tokens"), old, new, profile)
    if tokens is not None:
        yield "/tokens", tokens


def _range_hash(chunk: bytes, before: Files, after: Files) -> Iterator[tuple[str, JsonValue]]:
    """Yield the new hash of a chunk that only refers to lines of a history, if its hash was theirs."""
    members = _value(chunk) if len(chunk) < 10_000 else {}
    source, lines, hashed = (members.get(key) for key in ("source", "range", "hash"))
    if not isinstance(source, str) or not isinstance(lines, str) or not isinstance(hashed, str):
        return
    first, _, last = lines.partition("-")
    if source not in before or source not in after or not (first.isdecimal() and last.isdecimal()):
        return
    for end in (b"\n", b""):
        old, new = (
            b"\n".join(files[source].split(b"\n")[int(first) - 1 : int(last)]) + end
            for files in (before, after)
        )
        digest = hashlib.sha256(old).hexdigest()
        if digest in hashed:
            yield "/hash", hashed.replace(digest, hashlib.sha256(new).hexdigest())
            return
