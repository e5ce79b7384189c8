"""What a line of the messages says: who speaks, the text, which tool calls it answers. Judges nothing."""

from __future__ import annotations

from collections.abc import Iterator

from ctxview.formats.session.history_line import HistoryLine
from ctxview.quick_dataclass import dataclass
from ctxview.state import JsonValue

DEEPEST = 8
"""How far parts may be nested in parts before they are left alone."""

CALL_TYPES = frozenset(("start", "tool_call", "approval_request"))
"""Events that carry an id but no output."""

LONGEST_SHOWN = 64 * 1024
"""How much of a broken or over-long line is shown."""


@dataclass(frozen=True, slots=True)
class Message:
    """`kind` is one word for what the line holds: text, image, tool result, broken, blank or too long."""

    role: str | None
    kind: str
    text: str
    run: str | None = None
    name: str | None = None
    answers: tuple[str, ...] = ()
    """The ids of the tool calls whose results it holds."""


def message_in(line: HistoryLine) -> Message:
    """The message on a line, whatever the line is."""
    value = line.value
    if value is None:
        return _no_message(line)
    content = value.get("content")
    role, run, name = (_string(value.get(key)) for key in ("role", "run", "name"))
    if isinstance(content, str):
        return Message(role, "text", content, run, name)
    answers = answers_in(content)
    kinds = {kind for part in parts_of(content) if isinstance(kind := part.get("type"), str)}
    kind = "tool result" if "tool_result" in kinds else "image" if kinds == {"image"} else "text"
    return Message(role, kind, content_text(content), run, name, answers)


def answers_in(content: JsonValue) -> tuple[str, ...]:
    """The ids of the tool calls whose results a content holds."""
    return tuple(
        call
        for part in parts_of(content)
        if part.get("type") == "tool_result" and isinstance(call := part.get("tool_call_id"), str)
    )


def outputs_in(value: dict[str, JsonValue], event: str) -> Iterator[str]:
    """What a record says that a tool call, or it itself under that id, has put out."""
    for part in parts_of(value.get("content")):
        if part.get("type") == "tool_result" and part.get("tool_call_id") == event:
            yield content_text(part.get("content"))
    if value.get("id") == event and value.get("type") not in CALL_TYPES:
        texts = (content_text(value.get(name)) for name in ("content", "output", "text"))
        yield from filter(None, texts)


def content_text(content: JsonValue, depth: int = 0) -> str:
    """The text of a content: a string, or the texts of its parts, a line each."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list) or depth > DEEPEST:
        return ""
    return "\n".join(filter(None, (_part_text(part, depth) for part in content)))


def prompt_text(value: dict[str, JsonValue]) -> str:
    """The text as the prompt takes it: of each part its text or its content, if that is a string."""
    content = value.get("content")
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = (part.get("text", part.get("content")) for part in content if isinstance(part, dict))
    return "\n".join(text for text in texts if isinstance(text, str))


def parts_of(content: JsonValue) -> Iterator[dict[str, JsonValue]]:
    if isinstance(content, list):
        yield from (part for part in content if isinstance(part, dict))


def large_texts(content: JsonValue, least: int) -> Iterator[str]:
    """The strings of a content that are worth keeping only once: of that many bytes at least."""
    # No text has more bytes than four for each character.
    for text in _texts(content):
        if len(text) * 4 >= least and size_of(text) >= least:
            yield text


def size_of(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _texts(content: JsonValue) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    for part in parts_of(content):
        inner = part.get("content", part.get("text"))
        if isinstance(inner, str):
            yield inner


def _part_text(part: JsonValue, depth: int) -> str:
    if not isinstance(part, dict):
        return ""
    for name in ("text", "content"):
        if name in part:
            return content_text(part[name], depth + 1)
    path = part.get("path")
    return f"[image {path}]" if isinstance(path, str) else ""


def _no_message(line: HistoryLine) -> Message:
    if line.is_blank:
        return Message(None, "blank", "")
    text = line.content[:LONGEST_SHOWN].decode("utf-8", "replace")
    return Message(None, "too long" if line.cut else "broken", text)


def _string(value: JsonValue) -> str | None:
    return value if isinstance(value, str) else None
