"""The write policies of a bundle: an edit appends a line and never changes one.

An edited context document is a new snapshot; edited tags are a line that names the entry. A second edit in
the same draft replaces the line that the first one added.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final
from uuid import uuid4

import orjson
from msgspec import Struct

from ctxview.analysis.rfc3339 import parse_time
from ctxview.core.edits import DeleteValue, Edit, EditRefused, SetValue
from ctxview.core.origin import JsonValue
from ctxview.files.strict_json.tree import split
from ctxview.formats.kit.json_records import line_spans
from ctxview.formats.kit.text_file import checked_edit
from ctxview.formats.memory.document import with_line
from ctxview.formats.memory.model import ContextSnapshot
from ctxview.formats.memory.profile import Profile
from ctxview.formats.memory.records import CONTEXTS, PLACEHOLDER, spelled, text_of, unwrapped

ONLY_APPENDS: Final = "Lines of a memory are never changed; an edit only appends a line."
NOT_THIS: Final = "Only the latest context and the tags of an entry can be edited."
Members = dict[str, JsonValue]


class AppendPolicy(Struct, frozen=True):
    """The policy of `contexts.jsonl` or `entries.jsonl`; `size` is the length of the file on disk."""

    name: str
    size: int
    profile: Profile
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    def apply(self, data: bytes, edit: Edit) -> bytes:
        return checked_edit(self, data, lambda: self._changed(data, edit))

    def tampering(self, before: bytes, after: bytes) -> str | None:
        kept = before[: self.size]
        return None if after.startswith(kept) and len(after) >= len(kept) else ONLY_APPENDS

    def _changed(self, data: bytes, edit: Edit) -> bytes:
        tokens = split(edit.pointer) or []
        if not isinstance(edit, SetValue | DeleteValue) or len(tokens) < 2:
            raise EditRefused(NOT_THIS)
        members = _record(data, tokens[0])
        value = edit.value if isinstance(edit, SetValue) else None
        if self.name == CONTEXTS and tokens[1] == "context" and len(tokens) == 3 and tokens[2].isdigit():
            text = unwrapped(text_of(members, "context") or "")
            changed = with_line(text, int(tokens[2]), value if isinstance(value, str) else None)
            return self._with_snapshot(data, members, changed)
        if not isinstance(edit, SetValue):
            raise EditRefused(NOT_THIS)
        if self.name == CONTEXTS and tokens[1:] == ["context"]:
            return self._with_snapshot(data, members, edit.value)
        if self.name != CONTEXTS and tokens[1] == "tags":
            return self._with_tags(data, members, _changed_tags(members, tokens[2:], edit.value))
        raise EditRefused(NOT_THIS)

    def _with_snapshot(self, data: bytes, members: Members, value: JsonValue) -> bytes:
        cap = self.profile.caps.context
        if not isinstance(value, str) or not value.strip():
            raise EditRefused("The context must not be blank.")
        # A context over its cap may become shorter step by step.
        if len(value) > cap and len(value) >= len(unwrapped(text_of(members, "context") or "")):
            raise EditRefused(
                f"The context has {len(value):,} characters; the cap is {cap:,}. See ctxview trim."
            )
        if value.strip() == PLACEHOLDER:
            raise EditRefused("This is the default placeholder, which means that there is no context.")
        made = {**members, spelled(members, "contextId"): str(uuid4()), "context": value}
        made[spelled(members, "creationTime")] = self._later_time(data, members)
        return self._appended(data, made, spelled(members, "memoryId"))

    def _with_tags(self, data: bytes, members: Members, tags: JsonValue) -> bytes:
        if not isinstance(tags, dict):
            raise EditRefused('Tags are an object such as {"role": "user"}.')
        key = spelled(members, "entryId")
        if text_of(members, "entryId") is None:
            raise EditRefused("An entry without an id cannot be named, so its tags cannot be changed.")
        ids = {name: members[name] for name in (key, spelled(members, "memoryId")) if name in members}
        time = "update_time" if key == "entry_id" else "updateTime"
        return self._appended(data, {**ids, "tags": tags, time: self._later_time(data, members)}, key)

    def _appended(self, data: bytes, record: Members, key: str) -> bytes:
        """Append a line, in the place of one for the same thing that this draft added before."""
        kept = data[: self.size]
        if kept and not kept.endswith(b"\n"):
            kept += b"\n"
        for _, start, end in line_spans(data):
            if start >= len(kept) and _parsed(data[start:end]).get(key) != record.get(key):
                kept += data[start:end] + b"\n"
        return kept + orjson.dumps(record) + b"\n"

    def _later_time(self, data: bytes, members: Members) -> str:
        """Return the present time, or one later than the last record of the file."""
        last = _parsed(data[: self.size].rstrip(b"\n").rpartition(b"\n")[2])
        known = (
            parse_time(text_of(each, name))
            for each in (members, last)
            for name in ("creationTime", "updateTime")
        )
        latest = max(filter(None, known), default=None)
        now = self.now()
        if latest is not None and latest >= now:
            now = latest + timedelta(microseconds=1)
        return f"{now:%Y-%m-%dT%H:%M:%S.%f}Z"


def append_snapshot(folder: Path, snapshot: ContextSnapshot, text: str, profile: Profile) -> None:
    """Append a snapshot beside running servers, under their lock; raises `EditRefused`, `StorageFailed`."""
    from ctxview.formats.memory.server.log_files import LogFolder

    line = snapshot.place.line()
    name = Path(line.file).name
    logs = LogFolder(folder, (name,))
    try:
        with logs.locked():
            data = line.content + b"\n"
            edit = SetValue("/0/context", text)
            made = AppendPolicy(CONTEXTS, len(data), profile).apply(data, edit)
            logs.files[name].append(made[len(data) :])
            logs.sync()
    finally:
        logs.close()


def _changed_tags(members: Members, path: list[str], value: JsonValue) -> JsonValue:
    """Return the tags with one of them changed, or as a whole."""
    if not path:
        return value
    tags = members.get("tags")
    if len(path) != 1:
        raise EditRefused(NOT_THIS)
    return {**(tags if isinstance(tags, dict) else {}), path[0]: value}


def _record(data: bytes, line: str) -> Members:
    for index, start, end in line_spans(data):
        if str(index) == line:
            if found := _parsed(data[start:end]):
                return found
            raise EditRefused(f"Line {index + 1} is not a record.")
    raise EditRefused(f"There is no line {line} in this file.")


def _parsed(line: bytes) -> Members:
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}
