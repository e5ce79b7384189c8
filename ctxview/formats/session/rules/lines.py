"""The rules about single lines of the histories (ABI013 to 016), asked of every line in one pass.

Examples change a sound session, as in `layout`; `(x * 20000)` stands for so many letters, `(torn)` for a last
line without its end.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from ctxview.analysis.wording import quoted, shown, spelled
from ctxview.findings import Effect, Hit, Severity, rule
from ctxview.formats.session.history_line import HistoryLine
from ctxview.formats.session.names import MESSAGES
from ctxview.formats.session.profile import Profile
from ctxview.formats.session.values import find_key, find_string
from ctxview.state import JsonValue

ROLES = ("system", "user", "assistant", "tool")
PARTS = {"text": ("text",), "image": ("path",), "tool_result": ("tool_call_id", "content")}
"""Kinds of content parts, and what each must have."""
DEEPEST = 8


@rule("ABI013", name="broken-line", severity=Severity.ERROR, effect=Effect.REJECTED)
def broken_line(line: HistoryLine, profile: Profile) -> Iterator[Hit]:
    """A line of a history is not one whole JSON object.

    ## Why
    The runtime refuses to add anything to a history with such a line, so the session is stuck. A last line
    without its end was torn by a crash. Of a key that stands twice one value is lost. A carriage return at
    the end of a line is only warned about: it is read, but would not be stored.
    ## Bad
    messages.jsonl += {"role": "user", "content":
    ## Good
    messages.jsonl += {"role": "user", "content": "hello"}
    ## Fix
    Histories are never edited here. Stop the agent, make a copy, and cut the torn end off by hand.
    ## Source
    Runtime: message and event streams are JSON lines; it appends to no stream that is not.
    """
    if line.is_blank or line.cut:
        return
    torn = "; the last line has no end, it was torn" if line.ending == 0 else ""
    if line.problem is not None:
        yield Hit(line.origin(), f"{shown(line.problem, 160)}{torn}")
    elif torn:
        yield Hit(line.origin(), "the last line has no line feed: nothing can be added behind it")
    elif line.has_duplicates():
        document = line.document()
        pointer = document.duplicates[0] if document is not None else ""
        key = pointer.rpartition("/")[2]
        yield Hit(line.origin(), f"the key {quoted(key)} stands twice in one object")
    elif line.ending == 2:
        message = "the line ends with a carriage return, which the store would refuse"
        yield Hit(line.origin(), message, Severity.WARNING)


@rule("ABI014", name="message-shape", severity=Severity.ERROR, effect=Effect.REJECTED)
def message_shape(line: HistoryLine, profile: Profile) -> Iterator[Hit]:
    """A message has no known role, or a content that is neither text nor a list of known parts.

    ## Why
    A role is system, user, assistant or tool. A content is a string or a list of text, image and tool_result
    parts with their fields. The runtime takes a stream with anything else for invalid as a whole.
    ## Bad
    messages.jsonl += {"role": "developer", "content": "hello"}
    ## Good
    messages.jsonl += {"role": "system", "content": [{"type": "text", "text": "hello"}]}
    ## Fix
    Find out what wrote the line; histories are never edited here.
    ## Source
    Runtime: message stream inspection.
    """
    value = line.value
    if line.stream != MESSAGES or value is None:
        return
    role = value.get("role")
    if role not in ROLES:
        told = f"the role is {spelled(role)}" if "role" in value else "there is no role"
        yield Hit(line.origin("role"), f"{told}; it can be {', '.join(ROLES)}")
    if "content" not in value:
        yield Hit(line.origin(), "there is no content")
    elif fault := content_fault(value["content"]):
        path, reason = fault
        yield Hit(line.origin("content", *path), reason)


@rule("ABI015", name="provider-native-key", severity=Severity.ERROR, effect=Effect.REJECTED)
def provider_native_key(line: HistoryLine, profile: Profile) -> Iterator[Hit]:
    """A line carries a key that belongs to one model provider, such as `response_id`.

    ## Why
    Sessions must work with any model. A provider's own thread or response id ties the history to a state that
    only that provider has, and the runtime refuses such a stream.
    ## Bad
    messages.jsonl += {"role": "user", "content": "hello", "response_id": "resp_1"}
    ## Good
    messages.jsonl += {"role": "user", "content": "the response_id is missing"}
    ## Fix
    Let the adapter keep these ids elsewhere.
    ## Source
    Runtime: provider-native fields are not part of the ABI.
    """
    keys = profile.words.provider_keys
    if not _may_name(line.content, keys):
        return
    found = find_key(line.value, frozenset(keys))
    if found is not None:
        yield Hit(line.origin(*found), f"the key {quoted(str(found[-1]))} belongs to a model provider")


@rule("ABI016", name="long-line", severity=Severity.WARNING, effect=Effect.HIDDEN)
def long_line(line: HistoryLine, profile: Profile) -> Iterator[Hit]:
    """A line is too long to reach the prompt, or even to be stored; or it holds a NUL.

    ## Why
    The prompt reader drops messages over 16 KiB before it chooses any: they stay in the history, but no model
    ever sees them. The columnar store refuses lines over 256 KiB, and texts with a NUL character.
    ## Bad
    messages.jsonl += {"role": "user", "content": "(x * 17000)"}
    ## Good
    messages.jsonl += {"role": "user", "content": "(x * 16000)"}
    ## Fix
    Keep large outputs in files and refer to them; swap or dedup what is already there.
    ## Source
    Runtime: 16 KiB for a line of the prompt, 256 KiB for a stored row; texts without NUL.
    """
    limits = profile.limits
    if limits.stored_line is not None and line.size > limits.stored_line:
        message = f"{line.size:,} bytes: the store takes no line over {limits.stored_line:,}"
        more = ", and it was not looked into" if line.cut else ""
        yield Hit(line.origin(), message + more, Severity.ERROR, Effect.REJECTED)
    elif limits.prompt_line is not None and line.size > limits.prompt_line and line.stream == MESSAGES:
        message = f"{line.size:,} bytes: lines over {limits.prompt_line:,} never reach the prompt"
        yield Hit(line.origin(), message)
    if b"\\u0000" in line.content:
        found = find_string(line.value, "\0")
        if found is not None:
            yield Hit(line.origin(*found), "the text holds a NUL character", Severity.ERROR, Effect.REJECTED)


@cache
def _anchors(keys: tuple[str, ...]) -> tuple[tuple[bytes, tuple[bytes, ...]], ...]:
    """How the keys end, quote included, and which keys end so: few searches do for many keys."""
    ended = [f'{key}"'.encode() for key in keys]
    endings = dict.fromkeys(key[-4:] for key in ended)
    return tuple((ending, tuple(key for key in ended if key.endswith(ending))) for ending in endings)


def _may_name(content: bytes, keys: tuple[str, ...]) -> bool:
    """Whether any of the keys stands before a quote; only then the line is looked through."""
    for ending, candidates in _anchors(keys):
        at = content.find(ending)
        while at >= 0:
            if content.endswith(candidates, 0, at + 4):
                return True
            at = content.find(ending, at + 1)
    return False


def content_fault(content: JsonValue, depth: int = 0) -> tuple[tuple[str | int, ...], str] | None:
    """What is wrong with a content, and where in it; None when nothing is."""
    if isinstance(content, str):
        return None
    if not isinstance(content, list) or depth > DEEPEST:
        return (), f"the content is {spelled(content)}, neither a string nor a list of parts"
    for index, part in enumerate(content):
        if not isinstance(part, dict):
            return (index,), f"part {index + 1} is {spelled(part)}, not an object"
        kind = part.get("type")
        if not isinstance(kind, str) or kind not in PARTS:
            return (index,), f"part {index + 1} is of the unknown type {spelled(kind)}"
        for name in PARTS[kind]:
            if name != "content" and not isinstance(part.get(name), str):
                return (index,), f"part {index + 1}, {kind}, lacks the string {name}"
        if kind == "tool_result" and (inner := content_fault(part.get("content"), depth + 1)):
            return (index, "content", *inner[0]), f"in part {index + 1}: {inner[1]}"
    return None
