"""Columnar stores for tests: the histories of a build moved into Parquet shards and a log."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence

import pyarrow
import pyarrow.parquet

from tests.formats.session.builders import Build, lines

STREAMS = ("messages", "events")


def columnar(build: Build, in_log: int = 2, rows_in_shard: int = 3) -> Build:
    """Move both histories into `.store`, the last `in_log` lines of each into the log."""
    log: list[dict[str, object]] = []
    rows: list[tuple[str, int, str]] = []
    heads: dict[str, dict[str, int]] = {}
    for stream in STREAMS:
        payloads = build.text(f"{stream}.jsonl").splitlines()
        split = max(0, len(payloads) - in_log)
        rows += [(stream, ordinal, payload) for ordinal, payload in enumerate(payloads[:split])]
        log += [
            {"stream": stream, "ordinal": ordinal, "payload": payload}
            for ordinal, payload in enumerate(payloads)
            if ordinal >= split
        ]
        size = sum(len(payload.encode()) + 1 for payload in payloads[:split])
        heads[stream] = {"lines": split, "bytes": size, "index_records": 0}
        build.set(f"{stream}.jsonl", "")
    shards = [rows[start : start + rows_in_shard] for start in range(0, len(rows), rows_in_shard)]
    for number, shard in enumerate(shards):
        build.set(f".store/data/part-{number:06}.parquet", parquet(shard))
    build.set(".store/wal.jsonl", lines(log))
    manifest = {"version": 1, "generation": 1, "next_shard": len(shards), **heads}
    return build.set(".store/manifest.json", json.dumps(manifest))


def parquet(rows: Sequence[tuple[str, int, str]]) -> bytes:
    values = [json.loads(payload) for _, _, payload in rows]
    columns = {
        "stream": [stream for stream, _, _ in rows],
        "ordinal": pyarrow.array([ordinal for _, ordinal, _ in rows], pyarrow.uint64()),
        "kind": [str(value.get("type", "")) for value in values],
        "role": [str(value.get("role", "")) for value in values],
        "run": [str(value.get("run", "")) for value in values],
        "payload_json": [payload for _, _, payload in rows],
    }
    buffer = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(columns), buffer)
    return buffer.getvalue()
