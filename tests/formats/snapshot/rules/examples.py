"""Runs the `Bad` and `Good` examples of a snapshot rule: line by line, changes to a valid snapshot or log.

`PATH = VALUE` sets a member (VALUE is JSON, `(absent)`, `"x" * 513` or `25 blocks`), `PATH += {…}` adds a
copy of a tier's first block with these members, `(injected)` and `(lite)` name the kind, `---` separates
the two of a pair. The examples of the rules about replies are the replies themselves.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from ctxview.core.findings import Finding, Rule
from ctxview.files.strict_json.document import JsonError, parse
from ctxview.formats.snapshot import rules
from ctxview.formats.snapshot.model import AgentStore, QueueLine, Snapshot, SnapshotRole
from ctxview.formats.snapshot.profile import load_profile
from tests.formats.snapshot.builders import block, log_of, reply_from, snapshot_of
from tests.formats.snapshot.rules import template

PROFILE = load_profile()


def findings_of(number: int, example: str) -> list[Finding]:
    """Return all findings of the family of rule `number` for an example."""
    if _is_in(rules.REPLY_RULES, number):
        return list(rules.check_reply(reply_from(example.encode()), PROFILE))
    if _is_in(rules.LOG_RULES, number):
        return list(rules.check_log(_log(example), PROFILE))
    if _is_in(rules.EXCHANGE_RULES, number):
        return list(
            rules.check_exchange(*_pair(example, SnapshotRole.INJECTED, SnapshotRole.EMITTED), PROFILE)
        )
    if _is_in(rules.SUCCESSION_RULES, number):
        return list(
            rules.check_succession(*_pair(example, SnapshotRole.STORED, SnapshotRole.STORED), PROFILE)
        )
    if _is_in(rules.STORE_RULES, number):
        store = _store(example)
        return list(rules.check_store(store, snapshot_of(template.template()), PROFILE))
    return list(rules.check_snapshot(_snapshot(example, SnapshotRole.STORED), PROFILE))


def _is_in(family: Sequence[Rule], number: int) -> bool:
    return any(each.id == f"SNP{number:03}" for each in family)


def _snapshot(example: str, role: SnapshotRole) -> Snapshot:
    if example.startswith("(injected)"):
        role, example = SnapshotRole.INJECTED, example.removeprefix("(injected)")
    return snapshot_of(_changed(template.template(), example), role=role)


def _pair(example: str, first: SnapshotRole, second: SnapshotRole) -> tuple[Snapshot, Snapshot]:
    above, _, below = f"\n{example}\n".partition("\n---\n")
    return _snapshot(above.strip(), first), _snapshot(below.strip(), second)


def _log(example: str) -> Any:
    lite = example.startswith("(lite)")
    envelope = template.lite_log() if lite else template.full_log()
    return log_of(_changed(envelope, example.removeprefix("(lite)")))


def _changed(value: dict[str, Any], example: str) -> dict[str, Any]:
    for line in filter(None, map(str.strip, example.splitlines())):
        change = re.fullmatch(r"(\S+) (\+?=) (.*)", line)
        assert change is not None, line
        path, operator, written = change.groups()
        keys = [int(part) if part.isdigit() else part for part in re.findall(r"\w+", path)]
        *above, last = keys
        holder: Any = value
        for key in above:
            holder = holder.setdefault(key, {}) if isinstance(holder, dict) else holder[key]
        if operator == "+=":
            holder[last].append({**holder[last][0], **json.loads(written)})
        elif written == "(absent)":
            del holder[last]
        else:
            holder[last] = _value(written)
    return value


def _value(written: str) -> Any:
    if blocks := re.fullmatch(r"(\d+) blocks", written):
        return [block(f"b-{number}") for number in range(int(blocks[1]))]
    if repeated := re.fullmatch(r'"(.)" \* (\d+)', written):
        return repeated[1] * int(repeated[2])
    return json.loads(written)


def _store(example: str) -> AgentStore:
    store = template.store()
    for line in example.splitlines():
        name, _, written = line.partition(" = ")
        if name.startswith("entry."):
            assert store.entries is not None
            changed = replace(store.entries[0], **{name.removeprefix("entry."): json.loads(written)})
            store = replace(store, entries=(changed,))
        elif name == "payload":
            store = replace(store, payloads={json.loads(written): "the whole text"})
        elif name == "queue":
            store = replace(store, queue_lines=tuple(_queue(written)))
        elif name.startswith("todo[0]."):
            assert store.todo_rows is not None
            first = replace(store.todo_rows[0], **{name.removeprefix("todo[0]."): json.loads(written)})
            store = replace(store, todo_rows=(first, *store.todo_rows[1:]))
        else:
            store = replace(store, **{name: json.loads(written)})
    return store


def _queue(written: str) -> Iterator[QueueLine]:
    if written == "(absent)":
        return
    data = written.encode()
    try:
        job = parse(data).value
    except JsonError as error:
        yield QueueLine(1, 0, len(data), None, error.reason)
    else:
        assert isinstance(job, dict)
        yield QueueLine(1, 0, len(data), job, None)
