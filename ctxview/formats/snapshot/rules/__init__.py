"""The rules about v3 snapshots (SNP), and the six questions they answer.

A rule's docstring is its explanation, and the examples in it are run by the tests: `Bad` must make the rule
speak and `Good` must not. Each module says how its examples are read.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxview.findings import Finding, rules_in, run
from ctxview.formats.snapshot.model import AgentStore, Reply, SavedLog, Snapshot
from ctxview.formats.snapshot.profile import Profile
from ctxview.formats.snapshot.rules import (
    block_state,
    blocks,
    exchange,
    log,
    payload,
    reply,
    snapshot,
    store,
    succession,
    tampering,
    task,
    todo,
    visibility,
)


def check_reply(reply: Reply, profile: Profile) -> Iterator[Finding]:
    """What is wrong with a reply as a text. The snapshot in it is asked about separately."""
    yield from run(REPLY_RULES, reply, profile)


def check_snapshot(snapshot: Snapshot, profile: Profile) -> Iterator[Finding]:
    """What is wrong with one snapshot, seen in its role."""
    yield from run(SNAPSHOT_RULES, snapshot, profile)


def check_log(log: SavedLog, profile: Profile) -> Iterator[Finding]:
    """Where a saved log contradicts itself."""
    yield from run(LOG_RULES, log, profile)


def check_exchange(received: Snapshot, emitted: Snapshot, profile: Profile) -> Iterator[Finding]:
    """What a reply does to the snapshot it answers."""
    yield from run(EXCHANGE_RULES, received, emitted, profile)


def check_succession(previous: Snapshot, following: Snapshot, profile: Profile) -> Iterator[Finding]:
    """What does not follow from one stored snapshot to the next."""
    yield from run(SUCCESSION_RULES, previous, following, profile)


def check_store(store: AgentStore, latest: Snapshot | None, profile: Profile) -> Iterator[Finding]:
    """What is wrong with an agent's memory store, queue and todo list, seen with its newest snapshot."""
    yield from run(STORE_RULES, store, latest, profile)


REPLY_RULES = rules_in(reply, payload)
SNAPSHOT_RULES = rules_in(snapshot, blocks, visibility, block_state, todo, task)
LOG_RULES = rules_in(log)
EXCHANGE_RULES = rules_in(exchange, tampering)
SUCCESSION_RULES = rules_in(succession)
STORE_RULES = rules_in(store)
