"""Generated snapshots for the benchmarks: valid, small, one for each round of a session."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

START = datetime(2026, 3, 12, 21, 0, tzinfo=UTC)
TIERS = {
    "core": (2, 0.1, 0.9),
    "working": (4, 0.4, 0.7),
    "ephemeral": (2, 0.6, 0.5),
    "longterm": (2, 0.2, 0.8),
}


def small_snapshot(number: int) -> str:
    """A few blocks in every tier, about four kilobytes."""
    return json.dumps(
        {
            "version": 3,
            "runtime": {
                "round": number + 2,
                "workspace": "/srv/agent/",
                "datetime": f"{START + timedelta(minutes=number):%Y-%m-%dT%H:%M:%S}.000Z",
                "startup_at": int(START.timestamp() * 1000),
            },
            "memory": {
                tier: [_block(tier, index, number) for index in range(TIERS[tier][0])] for tier in TIERS
            },
            "todo": {"summary": "暂无TODO", "total": 0, "step": 0, "cursor": None},
        },
        indent=2,
        ensure_ascii=False,
    )


def _block(tier: str, index: int, number: int) -> dict[str, object]:
    _, decay, confidence = TIERS[tier]
    return {
        "id": f"{tier}-{index}",
        "type": "note",
        "decay": decay,
        "confidence": confidence,
        "round": number + 1,
        "tags": ["bench", tier],
        "content": f"Note {index}, seen in round {number}: the {tier} tier keeps what the agent was told.",
    }
