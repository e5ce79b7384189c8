"""Rules about the shape of a request: pairs of calls and results, roles, empty texts, limits (REQ)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ctxview.analysis.wording import excerpt
from ctxview.core.findings import Effect, Hit, Severity, rule
from ctxview.formats.transcript.model import Api, LogPart, PartKind
from ctxview.formats.transcript.requests.facts import RequestFacts
from ctxview.formats.transcript.requests.parts import UNSIGNED


@rule("REQ001", name="result-without-its-call", severity=Severity.ERROR, effect=Effect.REJECTED)
def result_without_its_call(request: RequestFacts) -> Iterator[Hit]:
    """A tool result does not answer a call of the message right before it, or stands behind other content.

    ## Why
    The provider refuses the whole request.
    ## Bad
    user: Run it
    user: result t1 ok
    assistant: call t1 shell
    ## Good
    user: Run it
    assistant: call t1 shell
    user: result t1 ok | text Now the next
    ## Fix
    Put the result into the message right behind the call, before any text.
    ## Source
    The Messages API: tool use.
    """
    asked: set[str | None] = set()
    for at, row in request.messages:
        results = [part for part in row.parts if part.kind is PartKind.RESULT and part.call_id is not None]
        for part in results:
            if part.call_id not in asked:
                where = "the message right before" if request.anthropic else "the request before it"
                yield Hit(request.origin(at), f"{request.name(at)}: no call {_id(part)} is in {where}")
            elif request.anthropic and any(
                each.kind is not PartKind.RESULT for each in row.parts[: part.place]
            ):
                text = f"{request.name(at)}: the result of {_id(part)} stands behind other content"
                yield Hit(request.origin(at), text)
        calls = {part.call_id for part in row.parts if part.kind is PartKind.CALL}
        keeps = not request.anthropic and (row.role != "assistant" or request.body.api is Api.RESPONSES)
        asked = asked | calls if keeps else calls


@rule("REQ002", name="call-without-its-result", severity=Severity.ERROR, effect=Effect.REJECTED)
def call_without_its_result(request: RequestFacts) -> Iterator[Hit]:
    """A tool call has no result before the next answer of the model.

    ## Why
    The provider refuses the whole request.
    ## Bad
    user: Run it
    assistant: call t1 shell
    user: Go on
    assistant: Done
    ## Good
    user: Run it
    assistant: call t1 shell
    ## Fix
    Add a result for every call; one that says that the call was cancelled will do.
    ## Source
    The Messages API and the Chat Completions API: tool use.
    """
    answered: set[str | None] = set()
    ended = False
    for at, row in reversed(request.messages):
        for part in row.parts:
            if part.kind is PartKind.CALL and part.call_id and part.call_id not in answered and ended:
                text = f"{request.name(at)}: the call {_id(part)} of {_tool(part)} has no result"
                yield Hit(request.origin(at), text)
        # Calls at the end of a request wait for their results.
        ended = ended or any(part.kind is not PartKind.CALL for part in row.parts if row.role != "assistant")
        ended = ended or (row.role == "assistant" and at != request.messages[-1][0])
        answered |= {part.call_id for part in row.parts if part.kind is PartKind.RESULT}


@rule("REQ003", name="no-first-prompt", severity=Severity.ERROR, effect=Effect.REJECTED)
def no_first_prompt(request: RequestFacts) -> Iterator[Hit]:
    """There are no messages, or the first one is not the user's.

    ## Why
    The provider refuses the request.
    ## Bad
    system: Help
    assistant: Hello
    user: Hi
    ## Good
    system: Help
    user: Hi
    ## Fix
    Begin with a message of the role `user`.
    ## Source
    The Messages API.
    """
    if not request.messages:
        if not request.body.on_server:
            yield Hit(request.place, "the request has no messages")
    elif request.anthropic and request.messages[0][1].role != "user":
        at, row = request.messages[0]
        yield Hit(request.origin(at), f"the first message has the role {row.role}, not user")


@rule("REQ004", name="same-role-twice", severity=Severity.INFO, effect=Effect.REPAIRED)
def same_role_twice(request: RequestFacts) -> Iterator[Hit]:
    """Two messages in a row have one role; the provider joins them.

    ## Why
    The model sees one message. Where a message begins is lost.
    ## Bad
    system: Help
    user: Hi
    user: Are you there?
    ## Good
    system: Help
    user: Hi
    assistant: Yes
    user: Good
    ## Fix
    Join them yourself, so that nothing depends on it.
    ## Source
    The Messages API.
    """
    if request.anthropic:
        for (_, before), (at, row) in zip(request.messages, request.messages[1:], strict=False):
            if before.role == row.role:
                text = f"{request.name(at)} has the role {row.role} like the message before it"
                yield Hit(request.origin(at), text)


@rule("REQ010", name="tool-names", severity=Severity.ERROR)
def tool_names(request: RequestFacts) -> Iterator[Hit]:
    """Two tools have one name, or a message calls a tool that is not defined.

    ## Why
    The provider refuses equal names, and the model cannot call a tool that it is not told of.
    ## Bad
    tool shell: Run a command
    user: Find it
    assistant: call t1 search
    user: result t1 ok
    ## Good
    tool shell: Run a command
    tool search: Search the files
    user: Find it
    assistant: call t1 search
    user: result t1 ok
    ## Fix
    Define every tool that the history calls, each once.
    ## Source
    The Messages API: tools.
    """
    names = Counter(part.tool for part in request.tools)
    for part in request.tools:
        if names[part.tool] > 1:
            yield Hit(request.origin(part.row), f"{names[part.tool]} tools have the name {_tool(part)}")
            names[part.tool] = 0
    # Messages without tools and model are a history, not a request that was sent.
    is_history = request.body.api is Api.BARE or not (names or request.call.model)
    if is_history or request.body.on_server:
        return
    told: set[str | None] = set()
    for part in request.facts.context.parts:
        if part.kind is PartKind.CALL and part.call_id is not None and part.tool not in {*names, *told}:
            told.add(part.tool)
            yield Hit(request.origin(part.row), f"the tool {_tool(part)} is called and not defined")


@rule("REQ011", name="no-room-for-the-answer", severity=Severity.WARNING, effect=Effect.REJECTED)
def no_room_for_the_answer(request: RequestFacts) -> Iterator[Hit]:
    """Input and output limit together exceed the window; it is an error when the provider said so.

    ## Why
    The provider refuses the request, or the answer ends early.
    ## Bad
    limit 64000
    user: word*700000
    ## Good
    limit 4000
    user: word*200
    ## Fix
    Shorten the input, or lower the output limit.
    ## Source
    The windows of the profile.
    """
    error = (request.body.error or "").casefold()
    if "too long" in error or "context_length" in error or "context length" in error:
        yield Hit(request.place, f"refused: {excerpt(request.body.error or '', 160)}", Severity.ERROR)
        return
    limit, window = request.call.limit, request.facts.window
    if limit is None:
        return
    used = request.call.sent or request.facts.sizes.total
    if used + limit > window.size and not window.known_by.startswith("assumed"):
        text = f"{used:,} tokens of input and {limit:,} for the answer exceed the window of {window.size:,}"
        yield Hit(request.place, f"{text} ({window.known_by})")


@rule("REQ012", name="context-on-the-server", severity=Severity.INFO)
def context_on_the_server(request: RequestFacts) -> Iterator[Hit]:
    """A part of the context is on the server.

    ## Why
    What the model gets is more than this file says, and the sizes are too small.
    ## Bad
    responses
    previous resp_1
    user: Go on
    ## Good
    responses
    user: Go on
    ## Fix
    Look at the requests before, or send the whole history.
    ## Source
    The Responses API: conversation state.
    """
    for row, kind, name in dict.fromkeys(request.body.on_server):
        yield Hit(request.origin(row), f"{kind} {excerpt(name)}: only the provider has what it stands for")


@rule("REQ013", name="blank-content", severity=Severity.ERROR, effect=Effect.REJECTED)
def blank_content(request: RequestFacts) -> Iterator[Hit]:
    """A text is empty or blank, or a message has no content.

    ## Why
    The Messages API refuses the whole request; other providers send the empty message.
    ## Bad
    system: Help
    user: Hi
    assistant: text
    user: Go on
    ## Good
    chat
    user: Run it
    assistant: call t1 shell
    user: result t1 ok
    ## Fix
    Leave the empty block or message out.
    ## Source
    The Messages API.
    """
    last = request.messages[-1][0] if request.messages else None
    for row, words in request.body.blank:
        final = row == last and request.facts.log.rows[row].role == "assistant"
        if not final:
            severity = None if request.anthropic else Severity.WARNING
            effect = None if request.anthropic else Effect.IGNORED
            yield Hit(request.origin(row), f"{request.name(row)}: {words}", severity, effect)


@rule("REQ014", name="thinking-removed", severity=Severity.WARNING, effect=Effect.REJECTED)
def thinking_removed(request: RequestFacts) -> Iterator[Hit]:
    """Thinking of the turn that runs was removed, or has no signature.

    ## Why
    With thinking turned on, the provider refuses a tool turn that does not begin with the signed thinking.
    ## Bad
    thinking
    user: Run it
    assistant: call t1 shell
    user: result t1 ok
    ## Good
    thinking
    user: Run it
    assistant: thinking sig First the tests | call t1 shell
    user: result t1 ok
    ## Fix
    Send the answers of the running turn back as they came.
    ## Source
    The Messages API: extended thinking.
    """
    if not request.anthropic:
        return
    for at, row in request.running_turn():
        kinds = [part.kind for part in row.parts]
        if any(part.kind is PartKind.THINKING and part.detail == UNSIGNED for part in row.parts):
            yield Hit(request.origin(at), f"{request.name(at)}: its thinking has no signature")
        elif request.body.thinking and PartKind.CALL in kinds and PartKind.THINKING not in kinds:
            yield Hit(request.origin(at), f"{request.name(at)}: the thinking before its call was removed")


def _id(part: LogPart) -> str:
    return excerpt(part.call_id or "?")


def _tool(part: LogPart) -> str:
    return excerpt(part.tool or "?")
