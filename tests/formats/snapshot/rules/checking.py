"""The findings of one rule, and snapshots with changed members, for tests of rules."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ctxview.core.findings import Finding
from ctxview.formats.snapshot import rules
from ctxview.formats.snapshot.model import AgentStore, SavedLog, Snapshot, SnapshotRole
from ctxview.formats.snapshot.profile import load_profile
from tests.formats.snapshot.builders import reply_from, snapshot_of
from tests.formats.snapshot.rules.template import template

ATOM = load_profile()
BARE = load_profile("protocol-3.0")


def only(rule: int, findings: Iterable[Finding]) -> list[Finding]:
    return [each for each in findings if each.rule == f"SNP{rule:03}"]


def of_reply(rule: int, text: str | bytes, enabled: bool = True) -> list[Finding]:
    data = text.encode() if isinstance(text, str) else text
    return only(rule, rules.check_reply(reply_from(data, enabled=enabled), ATOM))


def rules_of_reply(text: str | bytes, enabled: bool = True) -> list[str]:
    data = text.encode() if isinstance(text, str) else text
    return [each.rule for each in rules.check_reply(reply_from(data, enabled=enabled), ATOM)]


def of_snapshot(rule: int, snapshot: Snapshot, profile: Any = ATOM) -> list[Finding]:
    return only(rule, rules.check_snapshot(snapshot, profile))


def of_value(
    rule: int, value: dict[str, Any], role: SnapshotRole = SnapshotRole.STORED, profile: Any = ATOM
) -> list[Finding]:
    return of_snapshot(rule, snapshot_of(value, role=role), profile)


def of_log(rule: int, log: SavedLog) -> list[Finding]:
    return only(rule, rules.check_log(log, ATOM))


def of_exchange(rule: int, received: Snapshot, emitted: Snapshot, profile: Any = ATOM) -> list[Finding]:
    return only(rule, rules.check_exchange(received, emitted, profile))


def of_succession(rule: int, previous: Snapshot, following: Snapshot) -> list[Finding]:
    return only(rule, rules.check_succession(previous, following, ATOM))


def of_store(rule: int, store: AgentStore, latest: Snapshot | None = None) -> list[Finding]:
    return only(rule, rules.check_store(store, latest, ATOM))


def changed(**members: Any) -> dict[str, Any]:
    """The template with top-level members replaced; `...` leaves one out."""
    whole = {**template(), **members}
    return {key: value for key, value in whole.items() if value is not ...}


def with_block(tier: str, **fields: Any) -> dict[str, Any]:
    """The template with fields of the tier's first block replaced; `...` leaves one out."""
    whole = template()
    block = {**whole["memory"][tier][0], **fields}
    whole["memory"][tier][0] = {key: value for key, value in block.items() if value is not ...}
    return whole


def with_runtime(**fields: Any) -> dict[str, Any]:
    runtime = {**template()["runtime"], **fields}
    return changed(runtime={key: value for key, value in runtime.items() if value is not ...})


def with_todo(**fields: Any) -> dict[str, Any]:
    todo = {**template()["todo"], **fields}
    return changed(todo={key: value for key, value in todo.items() if value is not ...})


def with_cursor(**fields: Any) -> dict[str, Any]:
    cursor = {**template()["todo"]["cursor"], **fields}
    return with_todo(cursor={key: value for key, value in cursor.items() if value is not ...})
