"""Small made-up snapshots, each a little different, for the benchmarks."""

from __future__ import annotations

import json


def small_snapshot(number: int) -> str:
    """A sound snapshot with a few blocks in every tier, about two kilobytes."""
    tiers = {
        "core": (2, 0.1, 0.9),
        "working": (4, 0.4, 0.7),
        "ephemeral": (2, 0.6, 0.5),
        "longterm": (2, 0.2, 0.8),
    }
    memory = {
        tier: [
            {
                "id": f"{tier}-{number}-{index}",
                "type": "note",
                "decay": decay,
                "confidence": confidence,
                "round": number % 7 + 3,
                "tags": ["bench", tier],
                "content": f"Fact {index} of file {number}: the {tier} tier keeps what the agent was told.",
            }
            for index in range(count)
        ]
        for tier, (count, decay, confidence) in tiers.items()
    }
    snapshot = {
        "version": 3,
        "runtime": {
            "round": number % 7 + 4,
            "workspace": "/srv/agent/",
            "datetime": "2025-03-04T05:06:07.000Z",
            "startup_at": 1741064000000,
        },
        "memory": memory,
        "todo": {"summary": "", "total": 0, "step": 0, "cursor": None},
        "active_task": f"task {number}",
    }
    return json.dumps(snapshot, indent=2)
