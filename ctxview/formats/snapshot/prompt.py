"""The prompt of a snapshot: the messages of one call, with the context block as the runtime writes it.

Only the block is computed. The base prompt, the user's input and continuation texts are used where a file
holds them, and are cuts otherwise. A file that already is a prompt (a `<context>` text, or a saved list of
messages) is used as it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from ctxview.analysis.tokens import TokenCounter, byte_size
from ctxview.core.lazy import lazy_pattern
from ctxview.core.origin import JsonValue, Origin
from ctxview.core.prompt import CutKind, Prompt, PromptCut, PromptError, PromptMessage, PromptPart
from ctxview.files.reading import ReadError, read_beneath
from ctxview.files.strict_json.document import JsonDocument, JsonError, parse
from ctxview.files.strict_json.tree import join, split
from ctxview.files.strict_json.values import value_at
from ctxview.formats.snapshot.model import TIERS, MemoryBlock, Snapshot, SnapshotRole, integer, member_at
from ctxview.formats.snapshot.parser import SnapshotFile, SnapshotFileKind
from ctxview.formats.snapshot.profile import Profile
from ctxview.formats.snapshot.runtime.javascript import cut, trim
from ctxview.formats.snapshot.runtime.projection import Projection, project
from ctxview.formats.snapshot.runtime.prompt_payload import prompt_payload
from ctxview.formats.snapshot.toon import ToonDocument
from ctxview.formats.snapshot.toon_writer import WRITTEN_ALIKE, ToonLine, ValuePath, toon_lines

PlacedBlocks: TypeAlias = dict[ValuePath, tuple[MemoryBlock, str]]
"""The blocks by their place in the payload, each with its id as the model is given it."""
NOTE = "As recorded: the file is a prompt itself."
_LINE = lazy_pattern(rb"[^\n]*\n|[^\n]+")
_OPENING, _CLOSING = len("<context>"), len("</context>")


class PromptOptions(Struct, frozen=True):
    """How to make the prompt. `agent_folder` is the `.agent` folder, when it is of the same time."""

    profile: Profile
    counter: TokenCounter
    agent_folder: Path | None = None
    has_origins: bool = True
    """Whether lines say where they come from; a prompt that is only measured need not."""


def file_prompt(file: SnapshotFile, given: Snapshot | None, options: PromptOptions) -> Prompt:
    """Return the prompt of a file; for a reply, of the snapshot that it was `given`. Raises `PromptError`."""
    is_reply = file.kind is SnapshotFileKind.REPLY
    if file.kind is SnapshotFileKind.PROMPT:
        return recorded_prompt(file)
    if is_reply and given is not None:
        return snapshot_prompt(given, options)
    if file.snapshot is None:
        raise PromptError(str(file.error) if file.error is not None else "the file holds no snapshot")
    # A lite log has the model's copy as it was given, which counts more than the stored one.
    recorded = file.log.injected if file.log and file.log.injected_key == "modelContext" else None
    found = snapshot_prompt(recorded or file.snapshot, options)
    if is_reply:
        doubt = "A guess: the JSON of the reply taken as the state. The snapshot that it answers is not here."
    elif file.error is not None:
        doubt = f"A guess: the runtime would refuse the file: {file.error}"
    else:
        return found
    return replace(found, exact=False, notes=(doubt, *found.notes))


def snapshot_prompt(snapshot: Snapshot, options: PromptOptions) -> Prompt:
    """Return the prompt as it would be made now, in the same round. Raises `PromptError`."""
    profile = options.profile
    block = PromptMessage("system", tuple(_ContextBlock(snapshot, options).parts()))
    others = (_base_prompt(options.agent_folder), _user_message(snapshot), *_continuations(snapshot))
    notes = list(_notes(snapshot, profile))
    if profile.toon not in WRITTEN_ALIKE:
        notes.append(f"Written as TOON {WRITTEN_ALIKE[-1]}; {profile.name} uses {profile.toon}.")
    messages = _with_recorded_size(snapshot, profile, (block, *others))
    return Prompt(messages, profile.toon in WRITTEN_ALIKE, tuple(notes))


class _ContextBlock(Struct, frozen=True):
    """Writes the block of one snapshot as parts, a line each, with the blocks that are left out as cuts."""

    snapshot: Snapshot
    options: PromptOptions

    def parts(self) -> Iterator[PromptPart]:
        yield PromptPart(text="<context>\n")
        if self.snapshot.role is SnapshotRole.INJECTED:
            # A log keeps the model's copy as an object; the runtime has projected it already.
            blocks: PlacedBlocks = {
                ("memory", block.tier, block.index): (block, block.name) for block in self.snapshot.blocks
            }
            yield from (self._line(line, blocks) for line in toon_lines(self.snapshot.value))
        else:
            yield from self._projected(project(self.snapshot, self.options.profile))
        yield PromptPart(text="</context>")

    def _projected(self, projection: Projection) -> Iterator[PromptPart]:
        blocks: PlacedBlocks = {
            ("memory", tier.name, index): (shown.block, shown.normal.id)
            for tier in projection.tiers
            for index, shown in enumerate(tier.shown)
        }
        tier = None
        for line in toon_lines(prompt_payload(self.snapshot, projection)):
            part = self._line(line, blocks)
            if tier != part.tier:
                yield from self._hidden(projection, tier)
            tier = part.tier
            yield part
            if part.block is not None and part.field is None:
                yield from self._shortened(part, blocks[line.path[:3]][0])
        yield from self._hidden(projection, tier)

    def _line(self, line: ToonLine, blocks: PlacedBlocks) -> PromptPart:
        path, text = line.path, f"{line.text}\n"
        found, placed = blocks.get(path[:3]), self.options.has_origins
        if found is None:
            tier = str(path[1]) if path[0] == "memory" and len(path) > 1 else None
            return PromptPart(text=text, tier=tier, origin=self.snapshot.origin(*path) if placed else None)
        block, name = found
        field = str(path[3]) if len(path) > 3 and path[3] != "content" else None
        origin = self.snapshot.origin_of(join(block.pointer, *path[3:])) if placed else None
        return PromptPart(text=text, block=name, tier=str(path[1]), field=field, origin=origin)

    def _shortened(self, content: PromptPart, block: MemoryBlock) -> Iterator[PromptPart]:
        whole = trim(block.content or "")
        limit = self.options.profile.limits.content
        rest = whole[len(cut(whole, limit)) :]
        if rest:
            reason = f"the content is cut at {limit} UTF-16 units"
            yield replace(
                content, text="", cut=self._cut(CutKind.SHORTENED, content.block or "", reason, rest)
            )

    def _hidden(self, projection: Projection, tier: str | None) -> Iterator[PromptPart]:
        if tier is None:
            return
        elsewhere = projection.elsewhere if tier == TIERS[-1] else ()
        for each in (*projection.tier(tier).hidden, *elsewhere):
            block = each.block
            content = cut(trim(block.content or ""), self.options.profile.limits.content)
            yield PromptPart(
                block=block.name,
                tier=block.tier,
                origin=self.snapshot.origin_of(block.pointer),
                cut=self._cut(CutKind.HIDDEN, block.name, each.verdict.text, content),
            )

    def _cut(self, kind: CutKind, what: str, reason: str, text: str) -> PromptCut:
        count = self.options.counter.count(text)
        return PromptCut(kind=kind, what=what, reason=reason, tokens=count, bytes=byte_size(text))


# -- the messages beside the block ---------------------------------------------------------------------


def _absent(role: str, what: str, reason: str) -> PromptMessage:
    cut = PromptCut(kind=CutKind.ABSENT, what=what, reason=reason)
    return PromptMessage(role, absent=cut, in_text=False)


def _base_prompt(agent_folder: Path | None) -> PromptMessage:
    """Return the compiled base prompt of an agent workspace, if it was made from the present AGENT.md."""
    name, reason = "compiled_prompt.md", "not in this file"
    if agent_folder is not None:
        import hashlib

        try:
            compiled = read_beneath(agent_folder, name)
            checksum = _member(read_beneath(agent_folder, "compiled_prompt.meta.json"), "agentChecksum")
            agent = read_beneath(agent_folder.parent, "AGENT.md")
        except ReadError as error:
            reason = f"not in this folder: {error}"
        else:
            if checksum == hashlib.sha256(agent).hexdigest():
                origin = Origin(str(agent_folder / name), start=0, end=len(compiled), line=1)
                text = compiled.decode("utf-8", "replace")
                return PromptMessage("system", (PromptPart(text=text, origin=origin),), in_text=False)
            reason = f"{name} was made from another AGENT.md"
    return _absent("system", "base prompt", reason)


def _member(data: bytes, name: str) -> JsonValue:
    try:
        return member_at(parse(data).value, (name,))[1]
    except JsonError:
        return None


def _user_message(snapshot: Snapshot) -> PromptMessage:
    """Return the user's input: the task, while it runs and was not compressed."""
    task = snapshot.value.get("active_task")
    stage = _budget(snapshot).get("degrade_stage")
    if isinstance(stage, str) and stage.startswith(("compress_", "downshift_")):
        return _absent("user", "user input", f"compressed by the runtime ({stage})")
    if isinstance(task, str) and snapshot.section("active_task_meta").get("status") == "running":
        origin = snapshot.origin("active_task")
        return PromptMessage("user", (PromptPart(text=task, origin=origin),), in_text=False)
    return _absent("user", "user input", "not in this file")


def _continuations(snapshot: Snapshot) -> Iterator[PromptMessage]:
    _, used = member_at(snapshot.value, ("active_task_meta", "execution", "continuations", "used"))
    for number in range(1, min(integer(used) or 0, 100) + 1):
        yield _absent("user", f"continuation {number}", "written by the runtime, not in this file")


def _with_recorded_size(
    snapshot: Snapshot, profile: Profile, messages: tuple[PromptMessage, ...]
) -> tuple[PromptMessage, ...]:
    """Give the first message that no file holds the size that the runtime recorded for all of them."""
    recorded = integer(_budget(snapshot).get("estimated_input_tokens"))
    absent = [message.absent for message in messages if message.absent is not None]
    if recorded is None or not absent or profile.budget.units_per_token is None:
        return messages
    rest = recorded - sum(max(1, profile.budget.estimate(each.text)) for each in messages if not each.absent)
    if rest < 0:
        return messages
    others = ", with all that is not here" if len(absent) > 1 else ""
    counted_by = f"recorded by the runtime ({profile.budget.estimator}){others}"
    first = replace(absent[0], tokens=rest, counted_by=counted_by)
    return tuple(replace(each, absent=first) if each.absent is absent[0] else each for each in messages)


def _notes(snapshot: Snapshot, profile: Profile) -> Iterator[str]:
    if snapshot.role is SnapshotRole.STORED and snapshot.round is not None:
        following = snapshot.round + 1
        yield f"As it would be made now. The next user turn has round {following} and another datetime."
    stage = _budget(snapshot).get("degrade_stage")
    if stage is not None and stage == profile.budget.exhausted_stage:
        yield f"The runtime made no call with this context: {stage}."


def _budget(snapshot: Snapshot) -> dict[str, JsonValue]:
    found = snapshot.runtime.get("budget")
    return found if isinstance(found, dict) else {}


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
