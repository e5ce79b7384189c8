"""Sources without files, and a small write policy."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from ctxview.core.edits import DeleteValue, Edit, EditRefused, InsertItem, MoveItem, SetValue, WritePolicy
from ctxview.core.fields import ChoiceShape, Field, Form, NumberShape, Owner, TagsShape, TextShape
from ctxview.core.findings import Effect, Finding, Severity
from ctxview.core.origin import JsonValue, Origin
from ctxview.core.state import Block, Budget, ContextState, Counts, Event, Gap, Ref, Segment, Tier, Todo
from ctxview.files.strict_json.document import JsonDocument, parse
from ctxview.formats import Abilities, Lens, Reading, Revision
from ctxview.formats.interface import AS_ON_DISK
from tests.figures import above, figures

TIERS = ("core", "working", "ephemeral", "longterm")
LIMITS = {"core": 0.35, "working": 0.65, "ephemeral": 0.80, "longterm": 0.45}


def memory(**tiers: list[dict[str, JsonValue]]) -> dict[str, JsonValue]:
    """The document of a fake source."""
    return {"round": 14, "memory": {name: list(tiers.get(name, [])) for name in TIERS}}


def block(id: str, content: str, **more: JsonValue) -> dict[str, JsonValue]:  # noqa: A002
    plain: dict[str, JsonValue] = {"type": "fact", "decay": 0.2, "confidence": 0.9, "round": 12, "tags": []}
    return {"id": id, **plain, "content": content, **more}


def spelled(document: dict[str, JsonValue]) -> bytes:
    return json.dumps(document, indent=2).encode()


@cache
def parsed(data: bytes) -> JsonDocument:
    return parse(data)


RANKS = ("ephemeral", "working", "longterm", "core")


@dataclass
class FakeSource:
    """A source made from JSON documents, one for each revision."""

    documents: Sequence[dict[str, Any]]
    title: str = "kestrel/night"
    format: str = "snapshot"
    path: Path = Path("night/context.json")
    profiles: Sequence[str] = ("atom-0.17", "strict")
    todo: Todo | None = None
    text: str | None = None
    refs: tuple[Ref, ...] = ()
    missing: tuple[Gap, ...] = ()
    more_findings: tuple[Finding, ...] = ()
    budgets: bool = True
    writable: bool = True
    broken: str = ""
    readings: list[Lens] = field(default_factory=list)

    @property
    def revisions(self) -> Sequence[Revision]:
        return [
            Revision(f"round {at + 1}", "round", self.path, at + 1, f"2026-02-2{at % 9}T03:1{at % 10}:00Z")
            for at in range(len(self.documents))
        ]

    def bytes_of(self, file: str) -> bytes:
        return spelled(self.documents[-1])

    def reading(self, revision: int, lens: Lens, overlay: Mapping[str, bytes] = AS_ON_DISK) -> Reading:
        if self.broken:
            raise ValueError(self.broken)
        self.readings.append(lens)
        newest = revision == len(self.documents) - 1
        draft = overlay.get(str(self.path)) if newest else None
        return self._reading(draft or spelled(self.documents[revision]), revision, lens)

    @property
    def abilities(self) -> Abilities:
        return Abilities()

    def findings_of(self, revision: int, lens: Lens, overlay: Mapping[str, bytes]) -> Sequence[Finding]:
        return self.reading(revision, lens, overlay).findings

    def findings(self, lens: Lens) -> Sequence[Finding]:
        return [found for at in range(len(self.documents)) for found in self.reading(at, lens).findings]

    def policy(self, file: str) -> WritePolicy | None:
        return FakePolicy() if self.writable else None

    @property
    def watched(self) -> Sequence[Path]:
        return ()

    def again(self) -> FakeSource:
        return self

    def _reading(self, data: bytes, revision: int, lens: Lens) -> Reading:
        tiers = tuple(self._tier(data, name, lens) for name in TIERS)
        blocks = [each for tier in tiers for each in tier.blocks]
        tokens = sum(each.tokens or 0 for each in blocks)
        shown = sum(1 for each in blocks if each.visible)
        state = ContextState(
            format=self.format,
            title=self.title,
            source=str(self.path),
            revision=f"round {revision + 1}",
            tiers=tiers,
            todo=self.todo,
            budgets=_budgets(tiers, lens) if self.budgets else (),
            refs=self.refs,
            missing=self.missing,
            timeline=(Event("lamp lit", "round", None, revision, Origin(str(self.path))),),
            counts=Counts(
                len(blocks), shown, len(blocks) - shown, tokens, lens.counter.exact, lens.counter.name
            ),
            form=_whole_form(str(self.path)),
            text=self.text,
            extra={"profile": lens.profile or self.profiles[0], "version": "3"},
        )
        hidden = (
            Finding(
                "SNP021", Severity.WARNING, Effect.HIDDEN, f"{each.id} is hidden: {each.why}", each.origin
            )
            for each in blocks
            if not each.visible
        )
        return Reading(state, (*hidden, *self.more_findings))

    def _tier(self, data: bytes, name: str, lens: Lens) -> Tier:
        limit = round(LIMITS[name] - (0.2 if lens.profile == "strict" else 0), 2)
        raw = parsed(data).value["memory"][name]  # type: ignore[index,call-overload]
        blocks = [self._block(data, name, at, each, limit, lens) for at, each in enumerate(raw)]  # type: ignore[arg-type]
        new = _block_form(str(self.path), f"/memory/{name}/-", block("", ""), exists=False)
        return Tier(name, tuple(blocks), new if self.writable else None, rank=RANKS.index(name), role=name)

    def _block(self, data: bytes, tier: str, at: int, raw: dict[str, Any], limit: float, lens: Lens) -> Block:
        pointer = f"/memory/{tier}/{at}"
        visible = raw["decay"] <= limit
        return Block(
            id=raw["id"],
            tier=tier,
            type=raw["type"],
            text=raw["content"],
            figures=figures(
                decay=raw["decay"],
                confidence=raw["confidence"],
                quality=round((1 - raw["decay"]) / 2 + raw["confidence"] / 2, 3),
            ),
            round=raw["round"],
            age=14 - raw["round"],
            tags=tuple(raw["tags"]),
            tokens=lens.counter.count(raw["content"]),
            visible=visible,
            reason=None if visible else above("decay", raw["decay"], limit, tier),
            state="tag_ref" if raw["content"].startswith("[tag:") else None,
            origin=parsed(data).origin(str(self.path), pointer),
            form=_block_form(str(self.path), pointer, raw, exists=True),
            rank=at if visible else None,
        )


class FakePolicy:
    """Allows writes below /memory, except to rounds."""

    def apply(self, data: bytes, edit: Edit) -> bytes:
        document = json.loads(data)
        if not edit.pointer.startswith("/memory/"):
            raise EditRefused("only memory may be written")
        if edit.pointer.endswith("/round"):
            raise EditRefused("the system counts the rounds")
        parent, last = _parent(document, edit.pointer)
        match edit:
            case SetValue():
                parent[last] = edit.value
            case InsertItem():
                parent.append(edit.value)
            case DeleteValue():
                del parent[last]
            case MoveItem():
                _parent(document, edit.to)[0].append(parent.pop(last))
        return spelled(document)

    def tampering(self, before: bytes, after: bytes) -> str | None:
        return None


def _parent(document: Any, pointer: str) -> tuple[Any, Any]:
    *path, last = pointer.split("/")[1:]
    for part in path:
        document = document[int(part)] if isinstance(document, list) else document[part]
    return document, int(last) if isinstance(document, list) and last != "-" else last


def _budgets(tiers: Sequence[Tier], lens: Lens) -> tuple[Budget, ...]:
    shown = [[each for each in tier.blocks if each.visible] for tier in tiers]
    used = [sum(each.tokens or 0 for each in blocks) for blocks in shown]
    parts = tuple(
        Segment(tier.name, tokens, exact=lens.counter.exact, estimator=lens.counter.name)
        for tier, tokens in zip(tiers, used, strict=True)
    )
    prompt = Segment("system", 118, exact=False, estimator="bytes/3")
    caps = tuple(
        Segment(tier.name, len(blocks), most)
        for tier, blocks, most in zip(tiers, shown, (24, 48, 24, 48), strict=True)
    )
    return (
        Budget("input window", "tokens", 600, sum(used) + 118, 96, (prompt, *parts)),
        Budget("blocks shown", "blocks", 144, sum(each.used for each in caps), None, caps),
    )


def _whole_form(file: str) -> Form:
    fields = (
        Field("version", 3, Owner.SYSTEM, "/version", why="the system writes it"),
        Field("active_task", "night watch", Owner.MODEL, "/active_task", TextShape(200)),
    )
    return Form(file, "", fields)


def _block_form(file: str, pointer: str, raw: dict[str, Any], *, exists: bool) -> Form:
    words = ChoiceShape(("fact", "task", "hint", "identity"))
    fields = (
        Field("id", raw["id"], Owner.MODEL, f"{pointer}/id", TextShape(64)),
        Field("type", raw["type"], Owner.MODEL, f"{pointer}/type", words),
        Field("decay", raw["decay"], Owner.MODEL, f"{pointer}/decay", NumberShape(0, 1)),
        Field("confidence", raw["confidence"], Owner.MODEL, f"{pointer}/confidence", NumberShape(0, 1)),
        Field("round", raw["round"], Owner.SYSTEM, f"{pointer}/round", why="the system counts the rounds"),
        Field("tags", raw["tags"], Owner.MODEL, f"{pointer}/tags", TagsShape(8, 32)),
        Field("content", raw["content"], Owner.MODEL, f"{pointer}/content", TextShape(512, multiline=True)),
    )
    return Form(file, pointer, fields, exists=exists, removable=exists)
