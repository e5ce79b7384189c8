"""The prompt of a file that already is one: a `<context>` text, or a saved list of messages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from ctxview.core.origin import JsonValue
from ctxview.core.prompt import Prompt, PromptError, PromptMessage, PromptPart
from ctxview.files.strict_json.document import JsonDocument
from ctxview.files.strict_json.tree import join, split
from ctxview.files.strict_json.values import value_at
from ctxview.formats.snapshot.model import Snapshot
from ctxview.formats.snapshot.parser import SnapshotFile
from ctxview.formats.snapshot.toon import ToonDocument

NOTE = "As recorded: the file is a prompt itself."
_LINE = re.compile(rb"[^\n]*\n|[^\n]+")
_OPENING, _CLOSING = len("<context>"), len("</context>")


def recorded_prompt(file: SnapshotFile) -> Prompt:
    """Return the block as it stands; of a saved list, all messages. Raises `PromptError`."""
    document = file.document
    if not isinstance(document, ToonDocument):
        raise PromptError("the file has no context block")
    start, end = document.start - _OPENING, document.end + _CLOSING
    if document.inside is None:
        block = PromptMessage("system", tuple(_lines(document, file.snapshot, start, end)))
        return Prompt((block,), notes=(NOTE,))
    around, place = document.inside
    *path, tagged, _ = split(place) or [""]
    found = value_at(around.value, path)
    messages = []
    for index, value in enumerate(found if isinstance(found, list) else ()):
        if str(index) == tagged:
            parts = tuple(_lines(document, file.snapshot, 0, len(document.data)))
            messages.append(PromptMessage(_role(value), parts))
        else:
            messages.append(_message(value, around, file.file, join("", *path, index)))
    return Prompt(tuple(messages), notes=(NOTE,))


def _message(value: JsonValue, document: JsonDocument, file: str, pointer: str) -> PromptMessage:
    content = value.get("content") if isinstance(value, dict) else value
    if content is None:
        return PromptMessage(_role(value), in_text=False)
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    part = PromptPart(text=text, origin=document.origin(file, join(pointer, "content")))
    return PromptMessage(_role(value), (part,), in_text=False)


def _role(message: JsonValue) -> str:
    role = message.get("role") if isinstance(message, dict) else None
    return role if isinstance(role, str) else "unknown"


def _lines(document: ToonDocument, snapshot: Snapshot | None, start: int, end: int) -> Iterator[PromptPart]:
    """Yield the lines of the document's data from `start` to `end`, with the blocks found in them."""
    file = snapshot.file if snapshot is not None else ""
    places = dict(_places(document, snapshot)) if snapshot is not None else {}
    owner = PromptPart()
    owned_until = start
    for line in _LINE.findall(document.data, start, end):
        at = start + len(line) - len(line.lstrip(b" "))
        start += len(line)
        if at in places:
            owner, owned_until = places[at]
        elif at >= owned_until:
            owner = PromptPart()
        text = line.decode("utf-8", "surrogatepass" if document.inside else "replace")
        origin = document.origin_at(file, "", at, start) if document.inside is None else owner.origin
        yield PromptPart(text=text, block=owner.block, tier=owner.tier, field=owner.field, origin=origin)


def _places(document: ToonDocument, snapshot: Snapshot) -> Iterator[tuple[int, tuple[PromptPart, int]]]:
    """Yield, by the offset of its first line, what each tier, block and field of a block owns up to where."""
    for tier in snapshot.section("memory"):
        if span := document.span(snapshot.at("memory", tier)):
            yield span[0], (PromptPart(tier=tier), span[1])
    for block in snapshot.blocks:
        for name in (None, *block.members):
            if span := document.span(join(block.pointer, *(() if name is None else (name,)))):
                field = None if name == "content" else name
                origin = document.origin(snapshot.file, block.pointer)
                yield (
                    span[0],
                    (
                        PromptPart(tier=block.tier, block=block.name, field=field, origin=origin),
                        span[1],
                    ),
                )
