"""The meaning of a state as digests: of the whole, and of each part, so that a record can say what changed.

Places in files, counts, users and secrets do not enter a digest: a moved block is the same block, and a
digest of a short secret would give it away.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256

from ctxview.analysis.secrets import mask_secrets
from ctxview.core.origin import JsonValue
from ctxview.core.state import ContextState
from ctxview.reports.json_output import as_json, state_as_json

_PLACES = frozenset(("origin", "file", "source"))
_VOLATILE = frozenset(("origin", "tokens", "rank", "age", "used_by"))


def state_digest(state: ContextState) -> str:
    """The SHA-256 of the state as `show --json` prints it, without places, with secrets masked."""
    return _digest(_without(state_as_json(state), _PLACES))


def part_digests(state: ContextState) -> dict[str, str]:
    """The digests of the parts of a state by name: `block item-patch`, `gap gap-senders` …"""
    found: dict[str, str] = {}
    for name, value in _parts(state):
        unique, number = name, 2
        while unique in found:
            unique, number = f"{name} ({number})", number + 1
        found[unique] = _digest(_without(value, _VOLATILE))[:16]
    return found


def changes_between(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    """Yield `changed block item-patch`, `added …`, `removed …`."""
    yield from (f"changed {name}" for name in after if name in before and before[name] != after[name])
    yield from (f"added {name}" for name in after if name not in before)
    yield from (f"removed {name}" for name in before if name not in after)


def _parts(state: ContextState) -> Iterable[tuple[str, JsonValue]]:
    for block in state.blocks():
        reach: JsonValue = {target: reached.value for target, reached in block.reach.items()}
        yield f"block {mask_secrets(block.id)}", [as_json(block), reach, block.redaction]
    for gap in state.missing:
        yield f"gap {mask_secrets(gap.id)}", as_json(gap)
    for ref in state.refs:
        yield f"reference {mask_secrets(ref.id)}", as_json(ref)
    for at, item in enumerate(state.todo.items if state.todo is not None else ()):
        yield f"todo {item.id if item.id is not None else at + 1}", as_json(item)
    for budget in state.budgets:
        yield f"limit {budget.target} ({budget.unit})", budget.limit
    for name, fact in state.extra.items():
        yield f"fact {name}", fact
    if state.text is not None:
        yield "text", state.text


def _without(value: JsonValue, names: frozenset[str]) -> JsonValue:
    if isinstance(value, dict):
        return {key: _without(each, names) for key, each in value.items() if key not in names}
    if isinstance(value, list):
        return [_without(each, names) for each in value]
    return mask_secrets(value) if isinstance(value, str) else value


def _digest(value: JsonValue) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
