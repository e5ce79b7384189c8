"""The rules about the JSON after the separator (SNP002, 003, 005, 006, 008, 009).

One thing that stops the parser is told once, by the rule that names it best; the examples are whole replies.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxview.analysis.json_rules import unsafe_number_message, unsafe_numbers
from ctxview.analysis.wording import quoted, shown, spelled
from ctxview.findings import Effect, Hit, Severity, rule
from ctxview.formats.snapshot.model import SEPARATOR, Reply
from ctxview.formats.snapshot.profile import Profile
from ctxview.formats.snapshot.rules.diagnosis import Cause, diagnose, origin_in


@rule("SNP002", name="payload-not-json", severity=Severity.ERROR, effect=Effect.REJECTED)
def payload_not_json(reply: Reply, profile: Profile) -> Iterator[Hit]:
    """The payload is not JSON as `JSON.parse` understands it.

    ## Why
    The runtime parses it without any repair. One trailing comma, NaN or unescaped line break fails the
    whole turn: the task attempt ends with an error and nothing is merged. When the cause is text around the
    JSON (SNP003), a second separator (SNP004) or a fence, tag or comment (SNP006), that rule speaks
    instead.
    ## Bad
    Done.
    <<<CONTEXT>>>
    {"version": 3.0, "memory": {},}
    ## Good
    Done.
    <<<CONTEXT>>>
    {"version": 3.0, "memory": {}}
    ## Fix
    Mend the place that is named. A snapshot that was cut off in the middle cannot be mended: ask again with
    more room for output.
    ## Source
    Context Protocol 3.0, rules 4 and 5. Runtime: parse error, the generation fails.
    """
    found = diagnose(reply) if reply.enabled else None
    if found is None:
        return
    if found.cause is Cause.EMPTY:
        yield Hit(
            origin_in(reply, found.start, found.end),
            f"nothing follows {SEPARATOR}; the whole reply is rejected",
        )
    elif found.cause is Cause.GRAMMAR:
        message = f"not JSON: {shown(found.reason, 200)}; the whole reply is rejected, nothing is merged"
        yield Hit(origin_in(reply, found.start, found.end), message)


@rule("SNP003", name="text-around-payload", severity=Severity.ERROR, effect=Effect.REJECTED)
def text_around_payload(reply: Reply, profile: Profile) -> Iterator[Hit]:
    """Something other than space, tab or line ends stands before or after the JSON.

    ## Why
    `JSON.parse` takes the payload whole. A closing sentence, a byte order mark or a no-break space is
    enough to fail the turn.
    ## Bad
    Done.
    <<<CONTEXT>>>
    {"version": 3.0, "memory": {}}
    Let me know if you need more!
    ## Good
    Done. Let me know if you need more!
    <<<CONTEXT>>>
    {"version": 3.0, "memory": {}}
    ## Fix
    Move the text before the separator, or remove it.
    ## Source
    Context Protocol 3.0, rules 2 and 6. Runtime: parse error, the generation fails.
    """
    found = diagnose(reply) if reply.enabled else None
    if found is None or found.cause not in (Cause.BEFORE, Cause.AFTER):
        return
    text = reply.data[found.start : found.end].decode("utf-8", "replace").strip(" \t\r\n")
    where = "before" if found.cause is Cause.BEFORE else "after"
    origin = origin_in(reply, found.start, found.end)
    yield Hit(origin, f"{quoted(text)} stands {where} the JSON; the whole reply is rejected")


@rule("SNP005", name="payload-not-object", severity=Severity.ERROR, effect=Effect.IGNORED)
def payload_not_object(reply: Reply, profile: Profile) -> Iterator[Hit]:
    """The payload is JSON, but not an object.

    ## Why
    The runtime merges objects only and ignores an array, a string or a number without a word: the turn
    succeeds and remembers nothing.
    ## Bad
    Done.
    <<<CONTEXT>>>
    [{"version": 3.0, "memory": {}}]
    ## Good
    Done.
    <<<CONTEXT>>>
    {"version": 3.0, "memory": {}}
    ## Fix
    Send the snapshot object itself.
    ## Source
    Context Protocol 3.0, context JSON template.
    """
    if reply.enabled and reply.document is not None and not isinstance(reply.document.value, dict):
        found = spelled(reply.document.value)
        yield Hit(
            reply.document.origin(reply.file, ""), f"the payload is {found}, not an object; it is ignored"
        )


@rule("SNP006", name="formatted-payload", severity=Severity.ERROR, effect=Effect.REJECTED)
def formatted_payload(reply: Reply, profile: Profile) -> Iterator[Hit]:
    """A code fence, an XML tag or a comment stands around or inside the JSON.

    ## Why
    Models like to wrap JSON for display. The runtime does not unwrap it: the turn fails.
    ## Bad
    Done.
    <<<CONTEXT>>>
    ```json
    {"version": 3.0, "memory": {}}
    ```
    ## Good
    Done.
    <<<CONTEXT>>>
    {"version": 3.0, "memory": {}}
    ## Fix
    Remove the wrapping or the comment; send bare JSON.
    ## Source
    Context Protocol 3.0, strict output format: no markdown, no XML tags, no comments.
    """
    found = diagnose(reply) if reply.enabled else None
    if found is None or found.cause not in _FORMATTING:
        return
    text = reply.data[found.start : found.end].decode("utf-8", "replace")
    origin = origin_in(reply, found.start, found.end)
    yield Hit(
        origin, f"{_FORMATTING[found.cause]} {quoted(text)} in the payload; the whole reply is rejected"
    )


@rule("SNP008", name="duplicate-key", severity=Severity.WARNING, effect=Effect.IGNORED)
def duplicate_key(reply: Reply, profile: Profile) -> Iterator[Hit]:
    """An object in the payload holds the same key twice.

    ## Why
    The last value wins and the others vanish without a word: with two `working` keys the first tier is
    lost.
    ## Bad
    Done.
    <<<CONTEXT>>>
    {"version": 3.0, "memory": {"core": [{"id": "a"}], "core": []}}
    ## Good
    Done.
    <<<CONTEXT>>>
    {"version": 3.0, "memory": {"core": [], "working": []}}
    ## Fix
    Merge the two values under one key.
    ## Source
    Context Protocol 3.0, rule 5: what JSON.parse makes of it counts.
    """
    document = reply.document
    if not reply.enabled or document is None:
        return
    for pointer in document.duplicates:
        key = pointer.rpartition("/")[2].replace("~1", "/").replace("~0", "~")
        yield Hit(
            document.origin(reply.file, pointer),
            f"the key {quoted(key)} stands twice; only the last value counts",
        )


@rule("SNP009", name="number-out-of-range", severity=Severity.WARNING, effect=Effect.STORED)
def number_out_of_range(reply: Reply, profile: Profile) -> Iterator[Hit]:
    """A number in the payload is beyond what JavaScript can hold.

    ## Why
    Integers beyond 9007199254740991 lose their last digits, so a time or an id changes on the way. A number
    such as 1e400 becomes infinity, and null when the snapshot is saved.
    ## Bad
    Done.
    <<<CONTEXT>>>
    {"version": 3.0, "memory": {}, "ticket": 9007199254740993}
    ## Good
    Done.
    <<<CONTEXT>>>
    {"version": 3.0, "memory": {}, "ticket": 9007199254740991}
    ## Fix
    Write great ids as strings.
    ## Source
    Context Protocol 3.0, rule 5; ECMAScript Number.MAX_SAFE_INTEGER.
    """
    document = reply.document
    if not reply.enabled or document is None:
        return
    for pointer, value in unsafe_numbers(document):
        message, effect = unsafe_number_message(document, pointer, value)
        yield Hit(document.origin(reply.file, pointer), message, effect=effect)


_FORMATTING = {Cause.FENCE: "code fence", Cause.TAG: "tag", Cause.COMMENT: "comment"}
