"""The rule about the shape of events (ABI017), asked of every line in one pass.

Examples change a sound session, as in `layout`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ctxview.analysis.wording import quoted, spelled
from ctxview.findings import Effect, Hit, Severity, rule
from ctxview.formats.session.history_line import HistoryLine
from ctxview.formats.session.names import EVENTS, is_name
from ctxview.formats.session.profile import Profile
from ctxview.formats.session.rules.lines import ROLES, content_fault
from ctxview.state import JsonValue

Event = dict[str, JsonValue]
Fault = tuple[str, str]
"""The member that is wrong, and what is wrong with it."""


@rule("ABI017", name="event-shape", severity=Severity.ERROR, effect=Effect.REJECTED)
def event_shape(line: HistoryLine, profile: Profile) -> Iterator[Hit]:
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
        told = f"the type is {spelled(kind)}" if "type" in value else "there is no type"
        yield Hit(line.origin("type"), told)
        return
    if words.event_types and kind not in words.event_types:
        yield Hit(
            line.origin("type"), f"nothing knows the type {quoted(kind)}", Severity.WARNING, Effect.IGNORED
        )
        return
    # The oldest starts name their run by id alone.
    needs_run = kind not in words.event_types_without_run and not (kind == "start" and "id" in value)
    if words.event_types and needs_run and not isinstance(value.get("run"), str):
        told = f"the run is {spelled(value['run'])}" if "run" in value else "there is no run"
        yield Hit(line.origin("run"), f"{kind}: {told}")
    for name, reason in _faults(kind, value, profile):
        yield Hit(line.origin(name), f"{kind}: {reason}")


def _faults(kind: str, value: Event, profile: Profile) -> Iterator[Fault]:
    check = _SHAPES.get(kind)
    if check is not None:
        yield from check(value, profile)


def _start(value: Event, profile: Profile) -> Iterator[Fault]:
    if "id" in value:
        yield from _names(value, "id")
        run = value.get("run")
        if isinstance(run, str) and isinstance(value["id"], str) and value["id"] != run:
            yield "id", f"the id is {quoted(value['id'])}, but the run is {quoted(run)}"
    for name in ("client_id", "scope"):
        if name in value and not isinstance(value[name], str):
            yield name, f"{name} is {spelled(value[name])}, not a string"
    if not isinstance(value.get("cwd"), str | None):
        yield "cwd", f"cwd is {spelled(value['cwd'])}, neither a string nor null"


def _text(value: Event, profile: Profile) -> Iterator[Fault]:
    yield from _strings(value, "text")


def _message(value: Event, profile: Profile) -> Iterator[Fault]:
    if value.get("role") not in ROLES:
        yield "role", f"the role is {spelled(value.get('role'))}; it can be {', '.join(ROLES)}"
    fault = content_fault(value.get("content"))
    if fault is not None:
        yield "content", fault[1]


def _tool_call(value: Event, profile: Profile) -> Iterator[Fault]:
    yield from _names(value, "id", "name")


def _usage(value: Event, profile: Profile) -> Iterator[Fault]:
    for name in ("input_tokens", "output_tokens"):
        count = value.get(name)
        if not isinstance(count, int) or isinstance(count, bool) or count < 0:
            yield name, f"{name} is {spelled(count)}, not an unsigned number"


def _error(value: Event, profile: Profile) -> Iterator[Fault]:
    codes = profile.words.error_codes
    if codes and value.get("code") not in codes:
        yield "code", f"the code is {spelled(value.get('code'))}, none that the runtime uses"
    yield from _strings(value, "message")


def _done(value: Event, profile: Profile) -> Iterator[Fault]:
    yield from _one_of(value, "status", ("ok", "error", "cancelled"))


def _approval_request(value: Event, profile: Profile) -> Iterator[Fault]:
    yield from _strings(value, "id", "name")
    arguments = value.get("args")
    if not isinstance(arguments, list) or not all(isinstance(each, str) for each in arguments):
        yield "args", f"args is {spelled(arguments)}, not a list of strings"


def _approval_result(value: Event, profile: Profile) -> Iterator[Fault]:
    yield from _strings(value, "id")
    yield from _one_of(value, "decision", ("allow_once", "deny"))


def _child_cancel(value: Event, profile: Profile) -> Iterator[Fault]:
    yield from _names(value, "parent", "child")
    yield from _one_of(value, "reason", ("parent_dead",))


def _agent_stop(value: Event, profile: Profile) -> Iterator[Fault]:
    yield from _names(value, "agent")
    yield from _one_of(value, "status", ("cancelled",))


_SHAPES: dict[str, Callable[[Event, Profile], Iterator[Fault]]] = {
    "start": _start,
    "delta": _text,
    "reasoning_delta": _text,
    "message": _message,
    "reasoning_message": _message,
    "tool_call": _tool_call,
    "usage": _usage,
    "error": _error,
    "done": _done,
    "approval_request": _approval_request,
    "approval_result": _approval_result,
    "agent.child.cancel": _child_cancel,
    "agent.stop": _agent_stop,
}


def _strings(value: Event, *names: str) -> Iterator[Fault]:
    for name in names:
        if not isinstance(value.get(name), str):
            yield (
                name,
                f"{name} is {spelled(value.get(name))}, not a string" if name in value else f"no {name}",
            )


def _names(value: Event, *names: str) -> Iterator[Fault]:
    for name in names:
        found = value.get(name)
        if not isinstance(found, str) or not is_name(found):
            told = (
                f"{name} is {spelled(found)}, not a proper name" if name in value else f"there is no {name}"
            )
            yield name, told


def _one_of(value: Event, name: str, words: tuple[str, ...]) -> Iterator[Fault]:
    if value.get(name) not in words:
        known = words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
        yield name, f"{name} is {spelled(value.get(name))}; it can be {known}"
