"""Typed looks into records of unknown shape, and the size of message contents."""

from __future__ import annotations

import re

import orjson

from ctxview.analysis.wording import beginning
from ctxview.core.origin import JsonValue
from ctxview.formats.transcript.model import Record

LONG = 1500
"""Texts from this length on are compared with each other."""
_ABOUT = ("file_path", "notebook_path", "path", "filePath", "workdir", "url", "pattern", "skill", "query")
_PLACES = frozenset(_ABOUT)


def text(value: JsonValue, name: str) -> str | None:
    """Return a member that is a non-empty text."""
    found = value.get(name) if type(value) is dict else None
    return found if type(found) is str and found else None


def number(value: JsonValue, name: str) -> int | None:
    """Return a member that is a count."""
    found = value.get(name) if type(value) is dict else None
    return found if type(found) is int and found >= 0 else None


def record(value: JsonValue, name: str) -> Record:
    """Return a member that is an object, or an empty one."""
    found = value.get(name) if type(value) is dict else None
    return found if type(found) is dict else {}


def records(value: JsonValue, name: str) -> list[Record]:
    """Return the objects of a member that is a list."""
    found = value.get(name) if isinstance(value, dict) else None
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def json_text(value: JsonValue) -> str:
    """Return a value as it counts in a prompt: as written, without spaces."""
    if isinstance(value, str):
        return value
    try:
        return orjson.dumps(value).decode("utf-8")
    except (TypeError, ValueError, RecursionError):
        pass
    try:
        return str(value)
    except RecursionError:
        return "(nested too deeply to be shown)"


def content_text(content: JsonValue) -> str:
    """Return the text of a content: a text, or a list of blocks. Images and other data are not text."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return "" if content is None else json_text(content)
    return "\n".join(filter(None, map(block_text, content)))


def block_text(block: JsonValue) -> str:
    """Return the text of one block of a content."""
    if isinstance(block, str):
        return block
    if block is None:
        return ""
    for name in ("text", "thinking", "refusal"):
        if (found := text(block, name)) is not None:
            return found
    if isinstance(block, dict) and "content" in block and block.get("type") in ("tool_result", "document"):
        return content_text(block["content"])
    kind = text(block, "type")
    return "" if is_image(block) or kind in ("thinking", "redacted_thinking", "text") else json_text(block)


def is_image(block: JsonValue) -> bool:
    return text(block, "type") in ("image", "input_image", "image_url")


def image_count(content: JsonValue) -> int:
    return sum(map(is_image, content)) if isinstance(content, list) else 0


def digest_of(shown: str) -> int:
    """Return a hash of a long text, for comparing; 0 for a short one."""
    return hash(shown) or 1 if len(shown) >= LONG else 0


def about_of(arguments: JsonValue) -> str | None:
    """Return the path or the beginning of the command that a tool call is about."""
    if isinstance(arguments, str):
        return beginning(" ".join(arguments.split()), 80) or None
    if not isinstance(arguments, dict):
        return None
    if not _PLACES.isdisjoint(arguments):
        for name in _ABOUT:
            if (found := text(arguments, name)) is not None:
                return beginning(found, 400)
    command = arguments.get("command") or arguments.get("cmd")
    if isinstance(command, list):
        command = " ".join(map(str, command[-1:]))
    if isinstance(command, str):
        return beginning(" ".join(command.split()), 80) or None
    return beginning(text(arguments, "description") or "", 80) or None


_PERSISTED = re.compile(r"Output too large \(([^)]{1,40})\)\. Full output saved to: (\S+)")
_CUT = re.compile(r"\[(\d[\d,]*) (lines|characters|tokens) truncated\]|…?(\d+) tokens truncated…?")


def persisted_output(shown: str) -> tuple[str, str] | None:
    """Return size and path of an output of which only a preview was sent."""
    if "<persisted-output>" not in shown[:40]:
        return None
    found = _PERSISTED.search(shown[:2000])
    return (found[1], found[2]) if found else ("", "")


def cut_output(shown: str) -> str | None:
    """Return the words of a program about the part of an output that it left out."""
    # The word is found much faster than the pattern.
    found = _CUT.search(shown) if "truncated" in shown else None
    return found[0].strip("[]…") if found else None
