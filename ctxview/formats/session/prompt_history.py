"""The messages that reach the prompt of a session: read, chosen and written as the runtime does it.

Messages reach the model only as lines of text inside the system message, the newest first until the room is
full. `prompt` puts these lines into the template.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

import orjson
from msgspec import Struct

from ctxview.core.origin import JsonValue
from ctxview.files.strict_json.document import JsonError, parse
from ctxview.formats.kit.history_line import HistoryLine
from ctxview.formats.session.messages import parts_of, size_of
from ctxview.formats.session.profile import Profile

DEEPEST = 127
"""The deepest nesting that the runtime's JSON parser accepts."""
WHITE_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
"""Unicode White_Space, which the runtime trims; unlike str.strip it keeps U+001C to U+001F."""
_EXPONENT = re.compile(r'("(?:[^"\\]|\\.)*")|e\+?(-?)0*([0-9]+)')


class PromptVerdict(Struct, frozen=True):
    """Whether a line reaches the prompt, and if not why."""

    line: HistoryLine
    visible: bool
    reason: str | None
    entry: str | None = None
    """The line of the prompt, `- role: text`; None for a line that is skipped without being counted."""


def prompt_view(tail: Sequence[HistoryLine], profile: Profile) -> list[PromptVerdict]:
    """Return for each of the last lines whether the prompt shows it, in their order, without blank lines."""
    room = _PromptRoom(profile)
    return [verdict for line in reversed(tail) for verdict in room.taken(line)][::-1]


def prompt_entry(line: HistoryLine) -> str | None:
    """Return a message as the prompt has it; None when the runtime cannot take it from this line."""
    value = strict_record(line)
    role, text = (value.get("role"), prompt_text(value)) if value is not None else (None, "")
    return f"- {role}: {text}" if isinstance(role, str) and text else None


def why_dropped(line: HistoryLine, profile: Profile) -> str | None:
    """Return why a line never reaches the prompt, even as the newest, or None when it may."""
    limit = profile.limits.prompt_line
    if limit is not None and line.size > limit:
        return f"{line.size:,} bytes: lines over {limit:,} never reach the prompt"
    value = strict_record(line)
    if value is None:
        return line.problem or "the runtime cannot read the line: a lone surrogate, a number or the nesting"
    if not isinstance(value.get("role"), str):
        return "the message has no role"
    return None if prompt_text(value) else "the message has no text"


def prompt_text(value: dict[str, JsonValue]) -> str:
    """Return the trimmed text that the prompt takes from a message: of parts, the first string of each."""
    content = value.get("content", "")
    if isinstance(content, list):
        texts = (
            next((part[name] for name in ("text", "content") if isinstance(part.get(name), str)), None)
            for part in parts_of(content)
        )
        content = "\n".join(text for text in texts if isinstance(text, str))
    elif not isinstance(content, str):
        content = _compact_json(content)
    return content.strip(WHITE_SPACE)


class _PromptRoom:
    """The space in the prompt, filled from the newest message back until the first that does not fit."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._read = self._used = 0
        self._full = False

    def taken(self, line: HistoryLine) -> Iterator[PromptVerdict]:
        """Yield the verdict on the line; nothing for a blank one."""
        self._read += line.size + line.ending
        if line.is_blank:
            return
        window, most = self._profile.limits.prompt_window, self._profile.limits.prompt_history
        reason = why_dropped(line, self._profile)
        # The runtime drops everything up to the first newline of the window, also a line that starts it.
        if reason is None and window is not None and self._read + (not _is_first(line)) > window:
            reason = f"the prompt reads only the last {window:,} bytes of the messages"
        if reason is not None:
            yield PromptVerdict(line, False, reason)
            return
        entry = prompt_entry(line) or ""
        if most is not None:
            cost = size_of(entry) + (self._used > 0)
            self._full = self._full or self._used + cost > most
            if self._full:
                reason = f"the prompt holds only {most:,} bytes of messages, the newest first"
                yield PromptVerdict(line, False, reason, entry)
                return
            self._used += cost
        yield PromptVerdict(line, True, None, entry)


def _is_first(line: HistoryLine) -> bool:
    return line.start == 0 and not line.number


def strict_record(line: HistoryLine) -> dict[str, JsonValue] | None:
    """Return the object on a line as the runtime's strict parser reads it, or None."""
    if line.cut or line.unreadable:
        return None
    try:
        value = orjson.loads(line.content)
    except orjson.JSONDecodeError:
        # Bytes that are not UTF-8 become U+FFFD before the runtime parses a line.
        try:
            value = orjson.loads(line.content.decode("utf-8", "replace"))
        except orjson.JSONDecodeError:
            return None
    if line.content.count(b"[") + line.content.count(b"{") > DEEPEST and _depth(line.content) > DEEPEST:
        return None
    return value if isinstance(value, dict) else None


def _depth(content: bytes) -> int:
    try:
        return parse(content.decode("utf-8", "replace").encode()).outline.depth
    except JsonError:
        return DEEPEST + 1


def _compact_json(value: JsonValue) -> str:
    """Return JSON as the runtime writes it: sorted keys, no spaces, exponents without sign and zeros."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return _EXPONENT.sub(lambda found: found[1] or f"e{found[2]}{found[3]}", text)
