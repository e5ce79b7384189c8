"""The texts of rows of Claude Code sessions, as they are shown."""

from __future__ import annotations

import re

from ctxview.core.origin import JsonValue
from ctxview.formats.transcript.model import LogPart, PartKind, Record
from ctxview.formats.transcript.values import content_text, json_text, record, text

_OUTPUT = "<local-command-stdout>"
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_CONTEXT = re.compile(
    r"([\d.]+)(k|m)?\s*/\s*([\d.]+)(k|m)\s*tokens|Tokens:\W+([\d.]+)(k|m)?\s*/\s*([\d.]+)(k|m)", re.IGNORECASE
)
_STATED = re.compile(
    r"(System prompt|System tools|MCP tools|Custom agents|Memory files|Skills|Messages|Autocompact buffer)"
    r"(?:[^\d\n|]{1,12}([\d.]+)(k|m)?\s*tokens|\s*\|\s*([\d.]+)(k|m)?\s*\|)",
    re.IGNORECASE,
)
"""A line of the list, or a row of the table that newer versions print."""


def attachment_text(attachment: Record) -> str:
    """Return the text that stands for an attachment: its content where it has one."""
    file = record(record(attachment, "content"), "file")
    for value, name in ((file, "content"), (attachment, "snippet"), (attachment, "prompt")):
        if (found := text(value, name)) is not None:
            return found
    content = attachment.get("content")
    if isinstance(content, str):
        return content
    return json_text({name: each for name, each in attachment.items() if name != "type"})


def part_text(value: Record, part: LogPart) -> str:
    """Return the text of a part of a record."""
    if value.get("type") == "attachment":
        return attachment_text(record(value, "attachment"))
    if value.get("type") == "system":
        return text(value, "content") or ""
    content = record(value, "message").get("content")
    blocks: list[JsonValue] = content if isinstance(content, list) else [content]
    if part.place >= len(blocks):
        return ""
    block = blocks[part.place]
    if part.kind is PartKind.CALL:
        return json_text(record(block, "input"))
    return (
        content_text(record({"b": block}, "b").get("content"))
        if part.kind is PartKind.RESULT
        else (content_text([block]))
    )


def context_dump(words: str) -> tuple[int, dict[str, int]] | None:
    """Return the window and the sizes of the parts that `/context` printed; None for another text."""
    if _OUTPUT not in words:
        return None
    plain = _COLOUR.sub("", words)
    if (found := _CONTEXT.search(plain)) is None:
        return None
    return _size(found[3] or found[7], found[4] or found[8]), {
        name.lower(): _size(figure or cell, unit or cell_unit)
        for name, figure, unit, cell, cell_unit in _STATED.findall(plain)
    }


def _size(figure: str, unit: str) -> int:
    scale = {"k": 1000, "m": 1_000_000}.get(unit.lower(), 1)
    try:
        return round(float(figure) * scale)
    except ValueError:
        return 0
