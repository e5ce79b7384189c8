"""Small states of made-up revisions, and the facts that are kept of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ctxview.analysis.revisions.facts import FactsCollector, KnownRevisions, RevisionName
from ctxview.core.findings import Effect, Finding, Severity
from ctxview.core.origin import Origin
from ctxview.core.state import Block, Budget, ContextState, Counts, Segment, Tier
from tests.figures import changed


def memory(name: str, tier: str = "working", **fields: Any) -> Block:
    plain = Block(
        id=name, tier=tier, text=f"what {name} says", visible=True, tokens=10, origin=Origin("notes.json")
    )
    return changed(plain, **fields)


def window(used: int, limit: int | None = 100, **fields: Any) -> Budget:
    values = {"target": "window", "unit": "tokens", "reserved": None, "segments": (), **fields}
    return Budget(limit=limit, used=used, **values)


def segments(**sizes: int) -> tuple[Segment, ...]:
    return tuple(Segment(name.replace("_", " "), used) for name, used in sizes.items())


def state(*blocks: Block, budgets: Sequence[Budget] = (), **fields: Any) -> ContextState:
    names = dict.fromkeys(("working", *(block.tier for block in blocks)))
    tiers = tuple(Tier(name, tuple(each for each in blocks if each.tier == name)) for name in names)
    shown = sum(block.visible is True for block in blocks)
    return ContextState(
        format="test",
        title="test",
        source="notes.json",
        revision=fields.pop("revision", "now"),
        tiers=tiers,
        counts=Counts(len(blocks), shown, len(blocks) - shown, 0, True, "words"),
        budgets=tuple(budgets),
        **fields,
    )


def finding(rule: str, severity: Severity = Severity.ERROR, effect: Effect = Effect.NONE) -> Finding:
    return Finding(rule, severity, effect, f"what {rule} reports", Origin("notes.json"))


def rounds(count: int) -> tuple[RevisionName, ...]:
    return tuple(
        RevisionName(f"round {n + 1}", f"round {n + 1}", f"round {n + 1}", None, False, n - 1 if n else None)
        for n in range(count)
    )


def known(
    *states: ContextState,
    findings: dict[int, Sequence[Finding]] | None = None,
    names: Sequence[RevisionName] | None = None,
) -> KnownRevisions:
    """The facts of successive states: rounds from 1 on, each after the one before."""
    called = tuple(names) if names is not None else rounds(len(states))
    collector = FactsCollector(called)
    facts = {}
    for number, each in enumerate(states):
        previous = called[number].previous
        before = states[previous] if previous is not None else None
        facts[number] = collector.collect(number, each, (findings or {}).get(number, ()), before)
    return KnownRevisions(called, facts)
