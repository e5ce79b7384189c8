"""The rules about the frame of a reply: prose, one separator, one payload (SNP001, 004, 007, 010).

The examples are whole replies. `payload` has the rules about the JSON after the separator.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxview.analysis.wording import quoted
from ctxview.core.findings import Effect, Hit, Severity, rule
from ctxview.files.line_columns import LineColumns
from ctxview.formats.snapshot.model import SEPARATOR, Reply
from ctxview.formats.snapshot.profile import Profile
from ctxview.formats.snapshot.rules.payload import MARKER, PayloadFault, diagnose, is_json, origin_in
from ctxview.formats.snapshot.runtime.javascript import trim


@rule("SNP001", name="separator-presence", severity=Severity.ERROR, effect=Effect.IGNORED)
def separator_presence(reply: Reply, profile: Profile) -> Iterator[Hit]:
    """The separator is missing in enabled mode, or present in disabled mode.

    ## Why
    The runtime finds the snapshot only behind the separator. Without it the reply counts as an empty patch:
    no error is raised, and everything the model wanted to remember in this turn is forgotten. In disabled
    mode the protocol forbids the separator; what follows it is still cut off from the answer.
    ## Bad
    All tests pass now.
    ## Good
    All tests pass now.
    <<<CONTEXT>>>
    {"version": 3.0, "memory": {}}
    ## Fix
    End the reply with `<<<CONTEXT>>>` and the snapshot. If a look-alike of the separator is there, SNP007
    names it. In disabled mode send the answer alone.
    ## Source
    Context Protocol 3.0, runtime switch and rules 1 to 3. The protocol calls it an error; the runtime does
    not report it.
    """
    if reply.payload_start is not None:
        if not reply.enabled:
            origin = origin_in(reply, reply.prose_end, reply.payload_start)
            message = f"{SEPARATOR} in a reply although context is disabled; the text after it is not shown"
            yield Hit(origin, message, effect=Effect.HIDDEN)
        return
    if not reply.enabled:
        return
    if reply.document is not None:
        start, end = reply.document.start, reply.document.end
        message = f"the snapshot is in <context> tags, as in version 1.2; a 3.0 runtime looks for {SEPARATOR}"
        yield Hit(origin_in(reply, start, end), message, Severity.WARNING)
        return
    origin = origin_in(reply, len(reply.data), len(reply.data))
    yield Hit(
        origin, f"no {SEPARATOR} in the reply; the runtime stores nothing of this turn, without an error"
    )


@rule("SNP004", name="separator-twice", severity=Severity.ERROR, effect=Effect.REJECTED)
def separator_twice(reply: Reply, profile: Profile) -> Iterator[Hit]:
    """The separator appears twice: quoted in the prose, or again after the JSON.

    ## Why
    The runtime cuts at the first separator, wherever it is, and takes all that follows for JSON. An
    answer that explains the separator by quoting it, or that carries two snapshots, fails as a whole.
    Inside a JSON string the separator is harmless.
    ## Bad
    I end every reply with <<<CONTEXT>>> and a snapshot.
    <<<CONTEXT>>>
    {"version": 3.0, "memory": {}}
    ## Good
    I end every reply with the separator and a snapshot.
    <<<CONTEXT>>>
    {"version": 3.0, "memory": {"core": []}, "active_task": "explain <<<CONTEXT>>>"}
    ## Fix
    Do not write the separator in the answer; describe it. Send one snapshot only.
    ## Source
    Context Protocol 3.0, rules 2, 3 and 6. Runtime: the parse error fails the whole turn, nothing is
    merged.
    """
    found = diagnose(reply) if reply.enabled else None
    if found is None or reply.payload_start is None:
        return
    origin = origin_in(reply, found.start, found.end)
    if found.cause is PayloadFault.QUOTED_SEPARATOR:
        last = reply.data.rindex(MARKER)
        line = LineColumns(reply.data).at(last).line
        sound = is_json(reply.data, last + len(MARKER))
        hint = (
            f"the reply would parse from the one at line {line}"
            if sound
            else f"another one is at line {line}"
        )
        yield Hit(origin, f"{SEPARATOR} is already here, in the prose, and the runtime cuts here; {hint}")
    elif found.cause is PayloadFault.SECOND_SEPARATOR:
        yield Hit(origin, f"a second {SEPARATOR} follows the JSON; the runtime rejects the whole reply")


@rule("SNP007", name="near-miss-separator", severity=Severity.WARNING, effect=Effect.LEAKED)
def near_miss_separator(reply: Reply, profile: Profile) -> Iterator[Hit]:
    """Something looks like the separator, but is not spelled like it.

    ## Why
    The runtime knows one spelling only. With any other it finds no snapshot, shows the whole JSON to the
    user as part of the answer, and remembers nothing. The "strict output format" section of the protocol
    itself shows an escaped form that models copy.
    ## Bad
    All tests pass now.
    <<CONTEXT>>
    {"version": 3.0, "memory": {}}
    ## Good
    All tests pass now.
    <<<CONTEXT>>>
    {"version": 3.0, "memory": {}}
    ## Fix
    Write exactly `<<<CONTEXT>>>`: three ASCII brackets on each side, upper case, no spaces, no markdown.
    ## Source
    Context Protocol 3.0, rule 3, and its strict output format section.
    """
    from ctxview.formats.snapshot.separator import near_misses

    if not reply.enabled or reply.payload_start is not None or reply.document is not None:
        return
    near = near_misses(reply.data)
    if not near:
        return
    found = ([each for each in near if each.before_json] or near)[-1]
    written = reply.data[found.start : found.end].decode("utf-8", "replace")
    origin = origin_in(reply, found.start, found.end)
    leak = "; the JSON after it is shown to the user" if found.before_json else ""
    yield Hit(origin, f"{quoted(written)} is not {SEPARATOR}{leak}")


@rule("SNP010", name="no-prose", severity=Severity.INFO)
def no_prose(reply: Reply, profile: Profile) -> Iterator[Hit]:
    """The prose before the separator is empty.

    ## Why
    The user gets an empty answer. Usually the model spent its output on the snapshot or was cut off.
    ## Bad
    <<<CONTEXT>>>
    {"version": 3.0, "memory": {}}
    ## Good
    Done.
    <<<CONTEXT>>>
    {"version": 3.0, "memory": {}}
    ## Fix
    Answer first, then the separator and the snapshot.
    ## Source
    Context Protocol 3.0, strict output format: response content comes before the separator.
    """
    if reply.enabled and reply.payload_start is not None and not trim(reply.prose):
        yield Hit(
            origin_in(reply, 0, reply.prose_end), f"there is no text before {SEPARATOR}: the answer is empty"
        )
