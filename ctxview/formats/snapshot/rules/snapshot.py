"""The rules about a snapshot as a whole: version, runtime, tiers, other members (SNP011 to 014, 034).

Each line of an example sets one member of the template snapshot; `(absent)` takes it away.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from ctxview.analysis.wording import json_excerpt, listed, quoted
from ctxview.core.findings import Effect, Hit, Severity, rule
from ctxview.core.lazy import lazy_pattern
from ctxview.core.origin import JsonValue
from ctxview.formats.snapshot.forms import KNOWN_MEMBERS
from ctxview.formats.snapshot.model import TIERS, Snapshot, SnapshotRole, integer, number, text
from ctxview.formats.snapshot.profile import Profile
from ctxview.formats.snapshot.rules.lookups import as_written, expected_layout
from ctxview.formats.snapshot.versions import CURRENT, LAYOUTS, declared_version, disagreement


@rule("SNP011", name="wrong-version", severity=Severity.ERROR)
def wrong_version(snapshot: Snapshot, profile: Profile) -> Iterator[Hit]:
    """`version` is missing or is not the number 3.

    ## Why
    The version says which rules the rest follows. A missing or unknown one is an error. The string "3.0", a
    known older version, and a version that the shape of the file contradicts are warnings: the file is then
    read by its shape. The runtime itself throws a model's version away and puts its own there.
    ## Bad
    version = "3.0"
    ## Good
    version = 3.0
    ## Fix
    Write the number 3.0 (saved files have 3, which is the same). A file of an older version is read as what
    it is; to migrate it, add what that version did not have yet, or let a 3.0 runtime write the next one.
    ## Source
    Context Protocol 3.0, rule 8 and template. Runtime: never checked, restored after every reply.
    """
    effect = Effect.RESTORED if snapshot.role is SnapshotRole.EMITTED else None
    if "version" not in snapshot.value:
        yield Hit(snapshot.origin(), "version is missing: the protocol wants 3.0", effect=effect)
        return
    value, declared = snapshot.value["version"], declared_version(snapshot)
    contradiction = disagreement(snapshot)
    if number(value) is not None and declared == CURRENT and contradiction is None:
        return
    origin = snapshot.origin("version")
    if contradiction is not None:
        applied = f"it is checked as {expected_layout(snapshot).version}"
        message = f"version and shape disagree: {contradiction}; {applied}"
        yield Hit(origin, message, Severity.WARNING, effect)
    if declared in LAYOUTS and declared != CURRENT:
        message = f"version {declared} is an older protocol, read as such; 3.0 is current: migrate the file"
        yield Hit(origin, message, Severity.WARNING, effect)
    elif text(value) is not None and declared in (CURRENT, "3"):
        yield Hit(
            origin,
            f"version is the string {json_excerpt(value)}; it must be the number 3.0",
            Severity.WARNING,
            effect,
        )
    elif number(value) is None or declared != CURRENT:
        yield Hit(
            origin,
            f"version is {as_written(snapshot, snapshot.at('version'), value)}, not 3.0",
            effect=effect,
        )


@rule("SNP012", name="runtime-incomplete", severity=Severity.ERROR)
def runtime_incomplete(snapshot: Snapshot, profile: Profile) -> Iterator[Hit]:
    """`runtime` is missing, or one of its four fields is missing or of the wrong type.

    ## Why
    Round, workspace, time and start identify the turn and the process; ages and the order of files depend
    on them. They are the system's: a model has to send them back as it got them.
    ## Bad
    runtime.round = "7"
    ## Good
    runtime.round = 7
    ## Fix
    Copy the whole `runtime` object from the snapshot that was received.
    ## Source
    Context Protocol 3.0, rule 8 and structural notes. Runtime: puts its own values back after a reply.
    """
    layout = expected_layout(snapshot)
    effect = Effect.RESTORED if snapshot.role is SnapshotRole.EMITTED else None
    if not layout.runtime_fields:
        return
    runtime = snapshot.value.get("runtime")
    if not isinstance(runtime, dict):
        found = f"{json_excerpt(runtime)}, not an object" if "runtime" in snapshot.value else "missing"
        yield Hit(
            snapshot.origin("runtime"),
            f"runtime is {found}: round, workspace and times are unknown",
            effect=effect,
        )
        return
    for name in layout.runtime_fields:
        wanted = _wanted(name, runtime.get(name), layout.version)
        if name not in runtime:
            yield Hit(snapshot.origin("runtime"), f"runtime.{name} is missing", effect=effect)
        elif wanted is not None:
            found = as_written(snapshot, snapshot.at("runtime", name), runtime[name])
            yield Hit(
                snapshot.origin("runtime", name), f"runtime.{name} is {found}, not {wanted}", effect=effect
            )


@rule("SNP013", name="runtime-implausible", severity=Severity.WARNING)
def runtime_implausible(snapshot: Snapshot, profile: Profile) -> Iterator[Hit]:
    """A runtime field has the right type but not the form the system writes.

    ## Why
    The system appends the path separator, writes times in UTC with a `Z`, and starts in milliseconds.
    Something else wrote this value, and comparing or sorting by it gives wrong results: a start in seconds
    looks like 1970.
    ## Bad
    runtime.startup_at = 1700000000
    ## Good
    runtime.startup_at = 1700000000000
    ## Fix
    Take the value from the system; do not write it by hand.
    ## Source
    Context Protocol 3.0, structural notes on runtime; forms as the runtime writes them.
    """
    if not {"workspace", "startup_at"} <= set(expected_layout(snapshot).runtime_fields):
        return
    workspace = text(snapshot.runtime.get("workspace"))
    if workspace and not workspace.endswith(("/", "\\")):
        message = f"workspace {quoted(workspace, 60)} does not end with a path separator"
        yield Hit(snapshot.origin("runtime", "workspace"), message)
    written = text(snapshot.runtime.get("datetime"))
    time = _utc_time(written) if written else None
    if written and time is None:
        message = f"datetime {quoted(written)} is not ISO 8601 in UTC, like 2026-02-25T10:00:00.000Z"
        yield Hit(snapshot.origin("runtime", "datetime"), message)
    started = snapshot.startup_at
    if started is None:
        return
    if not 10**12 <= started < 10**13:
        seconds = ", it looks like seconds" if 10**9 <= started < 10**10 else ""
        found = as_written(snapshot, snapshot.at("runtime", "startup_at"), started)
        message = f"startup_at {found} is not a time in milliseconds (13 digits){seconds}"
        yield Hit(snapshot.origin("runtime", "startup_at"), message)
    elif time is not None and (time - _EPOCH) // timedelta(milliseconds=1) < started:
        start = datetime.fromtimestamp(started / 1000, UTC).isoformat(timespec="milliseconds")
        message = f"datetime {quoted(written or '')} is before the start, {start}"
        yield Hit(snapshot.origin("runtime", "datetime"), message)


@rule("SNP014", name="memory-shape", severity=Severity.ERROR, effect=Effect.IGNORED)
def memory_shape(snapshot: Snapshot, profile: Profile) -> Iterator[Hit]:
    """`memory` is missing or not an object, or a tier is unknown, absent or not an array.

    ## Why
    The runtime knows four tiers and reads arrays only. Blocks under any other name are silently
    ignored. A reply may leave tiers out; a complete snapshot has all four, so an absent one is worth a
    warning.
    ## Bad
    memory.workng = []
    ## Good
    memory.working = []
    ## Fix
    Put blocks under core, working, ephemeral or longterm.
    ## Source
    Context Protocol 3.0, rule 10. Runtime: unknown tiers and tiers that are not arrays are ignored.
    """
    memory = snapshot.value.get("memory")
    if not isinstance(memory, dict):
        found = f"{json_excerpt(memory)}, not an object" if "memory" in snapshot.value else "missing"
        yield Hit(snapshot.origin("memory"), f"memory is {found}: no block can be read")
        return
    for name, items in memory.items():
        if name not in TIERS:
            message = f"{quoted(name)} is not one of the tiers {', '.join(TIERS)}; its blocks are ignored"
            yield Hit(snapshot.origin("memory", name), message)
        elif not isinstance(items, list):
            message = f"{name} is {json_excerpt(items)}, not an array; it is ignored"
            yield Hit(snapshot.origin("memory", name), message)
    missing = [name for name in expected_layout(snapshot).tiers if name not in memory]
    if missing and snapshot.role is not SnapshotRole.EMITTED:
        message = f"{listed(missing)} missing: a complete snapshot has every tier, even an empty one"
        yield Hit(snapshot.origin("memory"), message, Severity.WARNING, Effect.NONE)


@rule("SNP034", name="unknown-member", severity=Severity.WARNING, effect=Effect.STORED)
def unknown_member(snapshot: Snapshot, profile: Profile) -> Iterator[Hit]:
    """A top-level key is unknown to the protocol and the runtime.

    ## Why
    It is allowed and kept, but nothing reads it; it costs room in every prompt from now on. Often it is a
    misspelled name.
    ## Bad
    activetask = "write the report"
    ## Good
    active_task = "write the report"
    ## Fix
    Use the known name, or put the fact into a memory block. A key that is already stored goes away only by
    hand.
    ## Source
    Context Protocol 3.0, template. Runtime: unknown keys are merged deeply and kept.
    """
    known = (
        (*KNOWN_MEMBERS, *("round", "task")) if expected_layout(snapshot).version == "1.2" else KNOWN_MEMBERS
    )
    for key in snapshot.value:
        if key not in known:
            yield Hit(
                snapshot.origin(key),
                f"the top-level key {quoted(key)} is unknown; it is kept, but not used",
            )


_EPOCH = datetime.fromtimestamp(0, UTC)
_ISO_UTC = lazy_pattern(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|\+00:00)", re.ASCII)


def _wanted(name: str, value: JsonValue, version: str) -> str | None:
    """Return what a runtime field should be instead of `value`; None when `value` is valid."""
    early = version in ("2.1", "2.2")
    if name == "round":
        found = integer(value)
        return None if found is not None and found >= 1 else "a whole number from 1"
    if name == "startup_at":
        fine = integer(value) is not None or (early and text(value))
        return None if fine else "a time in milliseconds"
    fine = bool(text(value)) or (early and name == "datetime" and number(value) is not None)
    return None if fine else "a non-empty text"


def _utc_time(written: str) -> datetime | None:
    """Parse an ISO 8601 time in UTC; None when it is not one."""
    if not _ISO_UTC.fullmatch(written):
        return None
    try:
        return datetime.fromisoformat(written)
    except ValueError:
        return None
