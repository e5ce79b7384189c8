"""The text that was assembled for one target of an envelope, and how far the records prove it.

The draft orders records; it does not define the text. A file or a text with the recorded hash is exact,
everything else is a guess and says so. Withheld content is never part of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from ctxview.core.origin import Origin
from ctxview.core.prompt import CutKind, Prompt, PromptCut, PromptError, PromptMessage, PromptPart
from ctxview.formats.envelope.assembled_blocks import (
    AS_RECORDED,
    PLAIN_WRAPPERS,
    SEPARATORS,
    AssembledBlock,
    EnvelopePromptInputs,
    assembled_blocks,
    has_digest,
    joined_blocks,
)
from ctxview.formats.envelope.model import EnvelopeRecords, Record
from ctxview.formats.envelope.outcomes import outcome_word, outcomes
from ctxview.formats.envelope.references import SiblingFile
from ctxview.formats.envelope.vocabulary import RecordKind

MODEL = "model"
_SEPARATOR_WORDS = {"blank line": "\n\n", "newline": "\n", "none": ""}
_ROLES = {
    "system_prompt": "system",
    "developer_prompt": "developer",
    "user_message_appendix": "user",
    "tool_argument": "tool",
    "tool_visible_resource": "tool",
}
"""The roles of the injection points that are messages; another point is its own name."""


class _MadeText(Struct, frozen=True):
    """The parts of one assembled text, whether they are proved, and by which way."""

    parts: tuple[PromptPart, ...]
    exact: bool
    way: str


def prompt_targets(records: EnvelopeRecords) -> list[str]:
    """Return the targets that something was assembled for, the model first."""
    named = (each.text("target") for each in records.of(RecordKind.ASSEMBLY))
    return sorted(dict.fromkeys(each for each in named if each), key=lambda target: target != MODEL)


def envelope_prompt(inputs: EnvelopePromptInputs, target: str) -> Prompt:
    """Return the text for one target. Raises `PromptError` when nothing was assembled for it."""
    mask = inputs.withheld.mask
    found = list(_assembled_for(inputs.records, target))
    if not found:
        known = ", ".join(prompt_targets(inputs.records)) or "no target"
        raise PromptError(mask(f"nothing was assembled for {target}, only for {known}"))
    made = [_text(inputs, assembly, injection) for assembly, injection in found]
    messages = []
    for (_, injection), text in zip(found, made, strict=True):
        point = injection.text("injection_point") if injection is not None else None
        messages.append(PromptMessage(_ROLES.get(point or "", mask(point or target)), text.parts))
    if target == MODEL:
        shown = {part.block for message in messages for part in message.parts if part.block is not None}
        left_out = tuple(_left_out(inputs, shown))
        messages[-1] = replace(messages[-1], parts=(*messages[-1].parts, *left_out))
    notes = [
        f"{mask(assembly.id or 'the assembly')} for {mask(target)}: {text.way}."
        for (assembly, _), text in zip(found, made, strict=True)
    ]
    return Prompt(tuple(messages), all(text.exact for text in made), tuple(notes))


def _assembled_for(records: EnvelopeRecords, target: str) -> list[tuple[Record, Record | None]]:
    """Return the assemblies of the envelope's injections in their order, else those of the envelope."""
    envelope = records.envelope
    listed = records.targets_of(envelope.refs("injection_refs")) if envelope is not None else ()
    injected = [
        (assembly, injection)
        for injection in listed or records.of(RecordKind.INJECTION)
        for assembly in records.targets_of(
            [each for each in injection.references if each.name == "assembly_id"]
        )
        if assembly.text("target") == target
    ]
    if injected:
        return [*injected]
    named = records.targets_of(envelope.refs("assembly_refs")) if envelope is not None else ()
    assemblies = named or records.of(RecordKind.ASSEMBLY)
    return [(assembly, None) for assembly in assemblies if assembly.text("target") == target]


def _text(inputs: EnvelopePromptInputs, assembly: Record, injection: Record | None) -> _MadeText:
    """Return the text of an assembly by the first way that holds: a file, a hash, a guess."""
    blocks = assembled_blocks(inputs, assembly)
    digest = injection.value.get("hash") if injection is not None else None
    is_withheld = any(block.is_withheld for block in blocks)
    if injection is not None and not is_withheld:
        reference = next((each.id for each in injection.refs("final_ref") if each.id), None)
        file = inputs.siblings.find(reference)
        # A file with a copy of withheld content would give away what the blocks hold back.
        if file is not None and not inputs.withheld.copies(file.text):
            origin = Origin(inputs.siblings.file(file), None, 0, len(file.data), 1, 1)
            if digest is None:
                return _MadeText(_in_file(file, blocks, origin), False, f"as recorded in {file.name}")
            if has_digest(file.data, digest):
                exact = _is_utf8(file.data)
                return _MadeText(_in_file(file, blocks, origin), exact, f"exact, {file.name} has the hash")
    if not is_withheld:
        for between in SEPARATORS:
            parts = joined_blocks(blocks, between)
            if has_digest("".join(part.text for part in parts), digest):
                return _MadeText(parts, True, "exact, the blocks have the hash of the injection")
    return _guess(inputs, assembly, blocks)


def _guess(inputs: EnvelopePromptInputs, assembly: Record, blocks: Sequence[AssembledBlock]) -> _MadeText:
    policy = assembly.value.get("separator_policy")
    word = policy.strip().casefold().removeprefix("one ") if isinstance(policy, str) else ""
    between = _SEPARATOR_WORDS.get(word, SEPARATORS[0])
    parts = joined_blocks(blocks, between)
    wrapping = assembly.value.get("wrapping_policy")
    if wrapping not in PLAIN_WRAPPERS:
        what = inputs.withheld.mask(f"wrapping {wrapping}")
        cut = PromptCut(kind=CutKind.ABSENT, what=what, reason="the draft defines no wrapping")
        parts = (PromptPart(cut=cut, origin=assembly.origin("wrapping_policy")), *parts)
    how = "the separator policy" if word in _SEPARATOR_WORDS else "a blank line"
    held = " without what is withheld" if any(block.is_withheld for block in blocks) else ""
    return _MadeText(parts, False, f"a guess, the blocks joined by {how}{held}; no hash proves it")


def _in_file(file: SiblingFile, blocks: Sequence[AssembledBlock], origin: Origin) -> tuple[PromptPart, ...]:
    """Return the text of a file, with the contents of items that are found in it in their order."""
    whole, at = file.text, 0
    parts: list[PromptPart] = []
    for part in (part for block in blocks for part in block.parts if part.block is not None):
        start = whole.find(part.text, at)
        if start < 0:
            continue
        if part.text and start > at:
            parts.append(PromptPart(text=whole[at:start], origin=origin))
        parts.append(part)
        at = start + len(part.text)
    return (*parts, *([PromptPart(text=whole[at:], origin=origin)] if at < len(whole) else ()))


def _left_out(inputs: EnvelopePromptInputs, shown: set[str]) -> Iterator[PromptPart]:
    """Yield the items that a selection left out, with their reason."""
    mask = inputs.withheld.mask
    for outcome in outcomes(inputs.records).values():
        name = mask(outcome.id)
        if not outcome.omitted or name in shown:
            continue
        reason = mask(f"left out by a selection: {outcome.omitted[0].reason or 'no reason given'}")
        tokens = outcome.item.count("token_estimate") if outcome.item is not None else None
        by = AS_RECORDED if tokens is not None else None
        cut = PromptCut(kind=CutKind.HIDDEN, what=name, reason=reason, tokens=tokens, counted_by=by)
        origin = outcome.item.origin() if outcome.item is not None else outcome.omitted[0].reference.origin
        yield PromptPart(block=name, tier=outcome_word(outcome), cut=cut, origin=origin)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
