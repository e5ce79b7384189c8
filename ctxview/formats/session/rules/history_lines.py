"""The rules about single lines of the histories (ABI013 to 017), checked for every line in one pass.

Examples change a sound session, as in `layout`; `(x * 20000)` means 20,000 letters x, `(torn)` a last line
without its end.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial

from ctxview.analysis.wording import excerpt, json_excerpt, quoted
from ctxview.core.findings import Effect, LazyHit, Severity, rule
from ctxview.core.origin import JsonValue
from ctxview.files.strict_json.values import find_key, find_string
from ctxview.formats.kit.history_line import HistoryLine
from ctxview.formats.session import EVENTS, MESSAGES
from ctxview.formats.session.grammar import is_name
from ctxview.formats.session.profile import Profile

ROLES = ("system", "user", "assistant", "tool")
PARTS = {"text": ("text",), "image": ("path",), "tool_result": ("tool_call_id", "content")}
"""The required members of each type of content part."""
DEEPEST = 8


@rule("ABI013", name="broken-line", severity=Severity.ERROR, effect=Effect.REJECTED)
def broken_line(line: HistoryLine, profile: Profile) -> Iterator[LazyHit]:
    """A line of a history is not one whole JSON object.

    ## Why
    The runtime refuses to add anything to a history with such a line, so the session is stuck. A last line
    without its end was torn by a crash. Of a duplicate key one value is lost. A carriage return at the end of
    a line is only warned about: it is read, but would not be stored.
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
    if line.is_broken:
        yield LazyHit(line.origin, lambda: f"{excerpt(line.problem or '', 160)}{torn}")
    elif torn:
        yield LazyHit(line.origin, "the last line has no line feed: nothing can be added after it")
    elif line.has_duplicates():
        yield LazyHit(line.origin, lambda: f"the key {quoted(_duplicate(line))} occurs twice in one object")
    elif line.ending == 2:
        message = "the line ends with a carriage return, which the store would refuse"
        yield LazyHit(line.origin, message, Severity.WARNING)


def _duplicate(line: HistoryLine) -> str:
    document = line.document()
    return document.duplicates[0].rpartition("/")[2] if document is not None else ""


@rule("ABI014", name="message-shape", severity=Severity.ERROR, effect=Effect.REJECTED)
def message_shape(line: HistoryLine, profile: Profile) -> Iterator[LazyHit]:
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
        fault = f"the role is {json_excerpt(role)}" if "role" in value else "there is no role"
        yield LazyHit(partial(line.origin, "role"), f"{fault}; it can be {', '.join(ROLES)}")
    if "content" not in value:
        yield LazyHit(line.origin, "there is no content")
    elif found := content_fault(value["content"]):
        path, reason = found
        yield LazyHit(partial(line.origin, "content", *path), reason)


@rule("ABI015", name="provider-native-key", severity=Severity.ERROR, effect=Effect.REJECTED)
def provider_native_key(line: HistoryLine, profile: Profile) -> Iterator[LazyHit]:
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
    keys, value = profile.words.provider_keys, line.value or {}
    if any(isinstance(each, dict | list) for each in value.values()):
        named = _may_name(line.content, keys)
    else:
        named = not value.keys().isdisjoint(keys)
    found = find_key(value, frozenset(keys)) if named else None
    if found is not None:
        message = f"the key {quoted(str(found[-1]))} belongs to a model provider"
        yield LazyHit(partial(line.origin, *found), message)


@rule("ABI016", name="long-line", severity=Severity.WARNING, effect=Effect.HIDDEN)
def long_line(line: HistoryLine, profile: Profile) -> Iterator[LazyHit]:
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
        more = ", and it was not parsed" if line.cut else ""
        yield LazyHit(line.origin, message + more, Severity.ERROR, Effect.REJECTED)
    elif limits.prompt_line is not None and line.size > limits.prompt_line and line.stream == MESSAGES:
        message = f"{line.size:,} bytes: lines over {limits.prompt_line:,} never reach the prompt"
        yield LazyHit(line.origin, message)
    if b"\\u0000" in line.content:
        found = find_string(line.value, "\0")
        if found is not None:
            message = "the text holds a NUL character"
            yield LazyHit(partial(line.origin, *found), message, Severity.ERROR, Effect.REJECTED)


@cache
def _anchors(keys: tuple[str, ...]) -> tuple[tuple[bytes, tuple[bytes, ...]], ...]:
    """The keys by their last characters, quote included: few searches find many keys."""
    ended = [f'{key}"'.encode() for key in keys]
    endings = dict.fromkeys(key[-4:] for key in ended)
    return tuple((ending, tuple(key for key in ended if key.endswith(ending))) for ending in endings)


def _may_name(content: bytes, keys: tuple[str, ...]) -> bool:
    """Whether the line may have one of the keys: it occurs before a quote, or escapes may spell it."""
    if b"\\u" in content:
        return True
    for ending, candidates in _anchors(keys):
        at = content.find(ending)
        while at >= 0:
            if content.endswith(candidates, 0, at + 4):
                return True
            at = content.find(ending, at + 1)
    return False


def content_fault(content: JsonValue, depth: int = 0) -> tuple[tuple[str | int, ...], str] | None:
    """Return the path and the reason of the first fault in a content, or None."""
    if isinstance(content, str):
        return None
    if not isinstance(content, list) or depth > DEEPEST:
        return (), f"the content is {json_excerpt(content)}, neither a string nor a list of parts"
    for index, part in enumerate(content):
        if not isinstance(part, dict):
            return (index,), f"part {index + 1} is {json_excerpt(part)}, not an object"
        kind = part.get("type")
        if not isinstance(kind, str) or kind not in PARTS:
            return (index,), f"part {index + 1} is of the unknown type {json_excerpt(kind)}"
        for name in PARTS[kind]:
            if name != "content" and not isinstance(part.get(name), str):
                return (index,), f"part {index + 1}, {kind}, lacks the string {name}"
        if kind == "tool_result" and (inner := content_fault(part.get("content"), depth + 1)):
            return (index, "content", *inner[0]), f"in part {index + 1}: {inner[1]}"
    return None


EventObject = dict[str, JsonValue]
EventFault = tuple[str, str]
"""The name of a wrong member, and the reason."""


@rule("ABI017", name="event-shape", severity=Severity.ERROR, effect=Effect.REJECTED)
def event_shape(line: HistoryLine, profile: Profile) -> Iterator[LazyHit]:
    """An event has no type, no run, or not the fields of its type.

    ## Why
    Tools that follow a run (waiting for it, showing its output, exporting it) rely on these fields. A type
    the runtime does not list is only warned about: the vocabulary has grown before.
    ## Bad
    events.jsonl += {"type": "done", "run": "r1", "status": "finished"}
    ## Good
    events.jsonl += {"type": "done", "run": "r1", "status": "ok"}
    ## Fix
    Find out what wrote the line; histories are never edited here.
    ## Source
    Runtime: event stream inspection.
    """
    value = line.value
    if line.stream != EVENTS or value is None:
        return
    words = profile.words
    kind = value.get("type")
    if not isinstance(kind, str):
        fault = f"the type is {json_excerpt(kind)}" if "type" in value else "there is no type"
        yield LazyHit(partial(line.origin, "type"), fault)
        return
    if words.event_types and kind not in words.event_types:
        message = f"unknown event type {quoted(kind)}"
        yield LazyHit(partial(line.origin, "type"), message, Severity.WARNING, Effect.IGNORED)
        return
    # The oldest starts name their run by id alone.
    needs_run = kind not in words.event_types_without_run and not (kind == "start" and "id" in value)
    if words.event_types and (needs_run or "run" in value):
        yield from (_event_hit(line, kind, *fault) for fault in _names(value, "run"))
    yield from (_event_hit(line, kind, *fault) for fault in _event_faults(kind, value, profile))


def _event_hit(line: HistoryLine, kind: str, member: str, reason: str) -> LazyHit:
    return LazyHit(partial(line.origin, member), f"{kind}: {reason}")


def _event_faults(kind: str, value: EventObject, profile: Profile) -> Iterator[EventFault]:
    match kind:
        case "start":
            yield from _start(value, profile)
        case "delta" | "reasoning_delta":
            yield from _strings(value, "text")
        case "message" | "reasoning_message":
            if value.get("role") not in ROLES:
                yield "role", f"the role is {json_excerpt(value.get('role'))}; it can be {', '.join(ROLES)}"
            if (fault := content_fault(value.get("content"))) is not None:
                yield "content", fault[1]
        case "tool_call":
            yield from _names(value, "id", "name")
        case "usage":
            for name in ("input_tokens", "output_tokens"):
                count = value.get(name)
                if not isinstance(count, int) or isinstance(count, bool) or count < 0:
                    yield name, f"{name} is {json_excerpt(count)}, not an unsigned number"
        case "error":
            codes = profile.words.error_codes
            if codes and value.get("code") not in codes:
                yield "code", f"the code is {json_excerpt(value.get('code'))}, which the runtime does not use"
            yield from _strings(value, "message")
        case "done":
            yield from _one_of(value, "status", ("ok", "error", "cancelled"))
        case "approval_request":
            yield from _strings(value, "id", "name")
            arguments = value.get("args")
            if not isinstance(arguments, list) or not all(isinstance(each, str) for each in arguments):
                yield "args", f"args is {json_excerpt(arguments)}, not a list of strings"
        case "approval_result":
            yield from _strings(value, "id")
            yield from _one_of(value, "decision", ("allow_once", "deny"))
        case "agent.child.cancel":
            yield from _names(value, "parent", "child")
            yield from _one_of(value, "reason", ("parent_dead",))
        case "agent.stop":
            yield from _names(value, "agent")
            yield from _one_of(value, "status", ("cancelled",))


def _start(value: EventObject, profile: Profile) -> Iterator[EventFault]:
    yield from _names(value, "id")
    own, run = value.get("id"), value.get("run")
    if isinstance(run, str) and isinstance(own, str) and own != run:
        yield "id", f"the id is {quoted(own)}, but the run is {quoted(run)}"
    if not isinstance(value.get("client_id", ""), str):
        yield "client_id", f"client_id is {json_excerpt(value['client_id'])}, not a string"
    if "scope" in value and profile.words.scopes:
        yield from _one_of(value, "scope", profile.words.scopes)
    if not isinstance(value.get("cwd"), str | None):
        yield "cwd", f"cwd is {json_excerpt(value['cwd'])}, neither a string nor null"


def _strings(value: EventObject, *names: str) -> Iterator[EventFault]:
    for name in names:
        found = value.get(name)
        if not isinstance(found, str):
            yield name, f"{name} is {json_excerpt(found)}, not a string" if name in value else f"no {name}"


def _names(value: EventObject, *names: str) -> Iterator[EventFault]:
    for name in names:
        found = value.get(name)
        if not isinstance(found, str) or not is_name(found):
            stated = f"{name} is {json_excerpt(found)}, not a valid name"
            yield name, stated if name in value else f"there is no {name}"


def _one_of(value: EventObject, name: str, words: tuple[str, ...]) -> Iterator[EventFault]:
    if value.get(name) not in words:
        known = words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
        yield name, f"{name} is {json_excerpt(value.get(name))}; it can be {known}"
