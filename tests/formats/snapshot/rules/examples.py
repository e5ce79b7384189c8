"""Runs the `Bad` and `Good` examples of a snapshot rule: changes to a sound thing, line by line.

`PATH = VALUE` sets a member (VALUE is JSON, `(absent)`, `"x" * 513` or `25 blocks`), `PATH += {…}` adds a
copy of a tier's first block with these members, `(injected)` and `(lite)` say what it is, `---` stands
between the two of a pair. The examples of the rules about replies are the replies themselves.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from ctxview.files.json_document import JsonError, parse
from ctxview.findings import Finding, Rule
from ctxview.formats.snapshot import rules
from ctxview.formats.snapshot.model import AgentStore, QueueLine, Role, Snapshot
from ctxview.formats.snapshot.profiles import load_profile
from tests.formats.snapshot.builders import block, log_of, reply_from, snapshot_of
from tests.formats.snapshot.rules import template

PROFILE = load_profile()


def findings_of(number: int, example: str) -> list[Finding]:
    """Everything the family of rule `number` says about an example."""
    if _is_of(rules.REPLY_RULES, number):
        return list(rules.check_reply(reply_from(example.encode()), PROFILE))
    if _is_of(rules.LOG_RULES, number):
        return list(rules.check_log(_log(example), PROFILE))
    if _is_of(rules.EXCHANGE_RULES, number):
        return list(rules.check_exchange(*_pair(example, Role.INJECTED, Role.EMITTED), PROFILE))
    if _is_of(rules.SUCCESSION_RULES, number):
        return list(rules.check_succession(*_pair(example, Role.STORED, Role.STORED), PROFILE))
    if _is_of(rules.STORE_RULES, number):
        store = _store(example)
        return list(rules.check_store(store, snapshot_of(template.template()), PROFILE))
    return list(rules.check_snapshot(_snapshot(example, Role.STORED), PROFILE))


def _is_of(family: Sequence[Rule], number: int) -> bool:
    return any(each.id == f"SNP{number:03}" for each in family)


def _snapshot(example: str, role: Role) -> Snapshot:
    if example.startswith("(injected)"):
        role, example = Role.INJECTED, example.removeprefix("(injected)")
    return snapshot_of(_changed(template.template(), example), role=role)


def _pair(example: str, first: Role, second: Role) -> tuple[Snapshot, Snapshot]:
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
