"""The messages of a session: parsed lines, their rows and their texts to check."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from ctxview.core.origin import JsonValue
from ctxview.files.strict_json.values import as_text
from ctxview.formats.kit.history_line import HistoryLine

DEEPEST = 8
"""How deep nested parts are read."""

CALL_TYPES = frozenset(("start", "tool_call", "approval_request"))
"""Events that carry an id but no output."""

LONGEST_SHOWN = 64 * 1024
"""How much of a broken or over-long line is shown."""


class Message(Struct, frozen=True):
    """One line of the messages; `kind` is text, image, tool result, broken, blank or too long."""

    role: str | None
    kind: str
    text: str
    run: str | None = None
    name: str | None = None
    answers: tuple[str, ...] = ()
    """The ids of the tool calls whose results this message holds."""


def message_in(line: HistoryLine) -> Message:
    """Return the message on a line; a broken or blank line is a message too."""
    value = line.value
    if value is None:
        if line.is_blank:
            return Message(None, "blank", "")
        text = line.content[:LONGEST_SHOWN].decode("utf-8", "replace")
        return Message(None, "too long" if line.cut else "broken", text)
    content = value.get("content")
    role, run, name = (as_text(value.get(key)) for key in ("role", "run", "name"))
    if isinstance(content, str):
        return Message(role, "text", content, run, name)
    answers = answers_in(content)
    kinds = {kind for part in parts_of(content) if isinstance(kind := part.get("type"), str)}
    kind = "tool result" if "tool_result" in kinds else "image" if kinds == {"image"} else "text"
    return Message(role, kind, content_text(content), run, name, answers)


def answers_in(content: JsonValue) -> tuple[str, ...]:
    """Return the ids of the tool calls whose results `content` holds."""
    return tuple(
        call
        for part in parts_of(content)
        if part.get("type") == "tool_result" and isinstance(call := part.get("tool_call_id"), str)
    )


def outputs_in(value: dict[str, JsonValue], event: str) -> Iterator[str]:
    """Yield the outputs that a record gives for the tool call or the event with the id `event`."""
    for part in parts_of(value.get("content")):
        if part.get("type") == "tool_result" and part.get("tool_call_id") == event:
            yield content_text(part.get("content"))
    if value.get("id") == event and value.get("type") not in CALL_TYPES:
        texts = (content_text(value.get(name)) for name in ("content", "output", "text"))
        yield from filter(None, texts)


def content_text(content: JsonValue, depth: int = 0) -> str:
    """Return the text of `content`: a string, or the texts of its parts, a line each."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list) or depth > DEEPEST:
        return ""
    return "\n".join(filter(None, (_part_text(part, depth) for part in content)))


def parts_of(content: JsonValue) -> Iterator[dict[str, JsonValue]]:
    if isinstance(content, list):
        yield from (part for part in content if isinstance(part, dict))


def large_texts(content: JsonValue, least: int) -> Iterator[str]:
    """Yield the texts of `content` with at least `least` bytes, which are worth storing only once.

    They are the text itself or that of each part; a tool result in parts is one text.
    """
    own = (content,) if isinstance(content, str) else ()
    for value in (*own, *(part.get("content", part.get("text")) for part in parts_of(content))):
        text = content_text(value)
        # A character has at most four bytes, so short texts need no encoding.
        if len(text) * 4 >= least and size_of(text) >= least:
            yield text


def size_of(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _part_text(part: JsonValue, depth: int) -> str:
    if not isinstance(part, dict):
        return ""
    for name in ("text", "content"):
        if name in part:
            return content_text(part[name], depth + 1)
    path = part.get("path")
    return f"[image {path}]" if isinstance(path, str) else ""
