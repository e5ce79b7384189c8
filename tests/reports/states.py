"""Builders of states to print; a test passes only the parts that it checks."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from ctxview.core.origin import Origin
from ctxview.core.state import (
    Block,
    Budget,
    ContextState,
    Counts,
    Cursor,
    Event,
    Gap,
    Ref,
    RefStatus,
    Segment,
    Tier,
    Todo,
    TodoItem,
)
from tests.figures import changed, figures

PLACE = Origin("round.json", "/memory/core/0", start=10, end=20, line=3, column=5)


def block(name: str = "core-001", **changes: Any) -> Block:
    plain = Block(
        id=name,
        tier="core",
        type="identity",
        text="You keep the light.",
        figures=figures(decay=0.05, confidence=0.95, quality=0.95),
        round=3,
        age=2,
        tags=("self",),
        tokens=5,
        visible=True,
        origin=PLACE,
    )
    return changed(plain, **changes)


def budget(**changes: Any) -> Budget:
    segments = (
        Segment("core", 120, 400),
        Segment("working", 900, None, exact=False, estimator="bytes/3"),
    )
    return replace(Budget("model", "tokens", 1000, 1020, 64, segments), **changes)


def state(**changes: Any) -> ContextState:
    whole = ContextState(
        format="snapshot",
        title="round.json",
        source="round.json",
        revision="round 5",
        tiers=(Tier("core", (block(),)), Tier("working", ())),
        todo=Todo(
            "1/2", 2, 2, Cursor("doing", "todo_complete", 2, "nearly", PLACE), (TodoItem(1, "Wake", "done"),)
        ),
        budgets=(budget(),),
        refs=(Ref("lt-1", "tag_ref", "tag:lt-1", RefStatus.DANGLING, None, 12, ("lt-1",), PLACE),),
        missing=(
            Gap("lt-1", "What did lt-1 say?", "error", "open", ("lt-1",), "its payload is gone", PLACE),
        ),
        timeline=(Event("round 5", "round", "2026-03-12T22:00:00Z", 0, PLACE),),
        counts=Counts(1, 1, 0, 5, True, "o200k_base"),
    )
    return replace(whole, **changes)
