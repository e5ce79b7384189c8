"""A source of a handoff: eleven items, seven selected, six shown, one blocking gap, one withheld text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ctxview.analysis.tokens import ESTIMATES
from ctxview.core.edits import Edit, EditRefused, SetValue, WritePolicy
from ctxview.core.fields import ChoiceShape, Field, Form, Owner, TextShape
from ctxview.core.figures import Reason, ReasonKind
from ctxview.core.findings import Effect, Finding, Severity
from ctxview.core.flow import Flow, FlowLink, FlowNode, FlowStage
from ctxview.core.origin import Origin
from ctxview.core.state import Block, Budget, ContextState, Counts, Gap, Reach, Segment, Tier, Todo, TodoItem
from ctxview.formats import Abilities, Lens, Reading, Revision
from ctxview.formats.interface import AS_ON_DISK
from tests.tui.fakes import parsed, spelled

FILE = "handoff/envelope.json"
SECRET = "Patient record of Ingrid Moe"

TARGETS = ("model", "tool", "runtime", "ui", "user", "reviewer", "peer_agent", "evidence_export")

ITEMS: tuple[tuple[str, str, str, str, str, str | None], ...] = (
    ("itm-brief", "injected", "manual_note", "src-desk", "The night desk hands the ferry case to you.", None),
    ("itm-rules", "injected", "policy_note", "src-policy", "Never name a passenger before kin know.", None),
    ("itm-ais", "injected", "tool_result", "src-ais", "MS Hulda: course 041, 9 knots, 03:12.", None),
    ("itm-log", "injected", "session_history", "src-desk", "Calls between 01:00 and 03:00, in order.", None),
    ("itm-sum", "injected", "computed_summary", "src-desk", "The evening in four sentences.", None),
    ("itm-plan", "injected", "file_excerpt", "src-plan", "Deck plan, car deck, lines 40 to 88.", None),
    ("itm-chart", "assembled", "artifact_ref", "src-plan", "Chart 104 of the sound.", "only for the tool"),
    ("itm-wind", "omitted", "retrieval_result", "src-ais", "Wind for the whole week.", "low_relevance"),
    ("itm-crew", "omitted", "document_excerpt", "src-plan", "Crew list of last year.", "stale"),
    (
        "itm-kin",
        "redacted",
        "document_excerpt",
        "src-kin",
        "[withheld: removed by policy-7]",
        "policy_blocked",
    ),
    ("itm-old", "compacted", "session_history", "src-desk", "Calls before 01:00.", "superseded_by_summary"),
)

REACHES: Mapping[str, str] = {
    "itm-brief": "IIOOIIIO",
    "itm-rules": "IOOOXIOO",
    "itm-ais": "IIIOOIOO",
    "itm-log": "IXXOXIOO",
    "itm-sum": "IOOOIIIO",
    "itm-plan": "IAOOOIOX",
    "itm-chart": "OAOOOOXX",
    "itm-wind": "OOOOOOOO",
    "itm-crew": "OXXXXOXX",
    "itm-kin": "XXXXXUXX",
    "itm-old": "OOUUUOUU",
}
LETTERS = dict(zip("IAOXVU", Reach, strict=True))

DOCUMENT = {
    "context_id": "ctx-ferry-night",
    "items": [
        {"item_id": name, "title": name, "kind": kind, "content": SECRET if name == "itm-kin" else text}
        for name, _, kind, _, text, _ in ITEMS
    ],
    "missing": {"missing_id": "mis-manifest", "status": "requested", "note": "asked the harbour office"},
    "history": f"They said: {SECRET}, line one.",
}


def item_form(at: int, editor: str | None) -> Form:
    """A reviewer may change the title; for the model it is read-only."""
    pointer = f"/items/{at}"
    shape, why = (TextShape(80), "") if editor == "reviewer" else (None, "only a reviewer may")
    title = Field("title", ITEMS[at][0], Owner.MODEL, f"{pointer}/title", shape, why)
    kind = Field("kind", ITEMS[at][2], Owner.SYSTEM, f"{pointer}/kind", why="it was recorded so")
    return Form(FILE, pointer, (title, kind))


@dataclass
class Handoff:
    """A source with editors and withheld content."""

    title: str = "ferry night"
    format: str = "envelope"
    path: Path = Path(FILE)
    profiles: Sequence[str] = ("draft-0.1.1",)
    editors: Sequence[str] = ("model", "reviewer")
    lenses: list[Lens] = field(default_factory=list)
    flow: Flow | None = None

    @property
    def revisions(self) -> Sequence[Revision]:
        return [Revision("ctx-ferry-night", "envelope", self.path)]

    def bytes_of(self, file: str) -> bytes:
        return spelled(DOCUMENT)

    def policy(self, file: str) -> WritePolicy | None:
        return self.policy_of(file, self.editors[0])

    def policy_of(self, file: str, editor: str) -> WritePolicy | None:
        return _TitlePolicy() if editor == "reviewer" else None

    def withheld(self, file: str, data: bytes | None = None) -> Sequence[tuple[int, int]]:
        text, found = data if data is not None else self.bytes_of(file), []
        at = text.find(SECRET.encode())
        while at >= 0:
            found.append((at, at + len(SECRET)))
            at = text.find(SECRET.encode(), at + 1)
        return found

    def records(self, stage: str) -> tuple[FlowNode, ...]:
        return next(each.nodes for each in flow(self.bytes_of(FILE)).stages if each.name == stage)

    def blocks(self) -> list[Block]:
        return list(self.reading(0, Lens(ESTIMATES["bytes/3"])).state.blocks())

    @property
    def watched(self) -> Sequence[Path]:
        return ()

    def again(self) -> Handoff:
        return self

    @property
    def abilities(self) -> Abilities:
        return Abilities(editors=self, redactor=self)

    def findings_of(self, revision: int, lens: Lens, overlay: Mapping[str, bytes]) -> Sequence[Finding]:
        return self.reading(revision, lens, overlay).findings

    def findings(self, lens: Lens) -> Sequence[Finding]:
        return self.reading(0, lens).findings

    def reading(self, revision: int, lens: Lens, overlay: Mapping[str, bytes] = AS_ON_DISK) -> Reading:
        self.lenses.append(lens)
        data = overlay.get(FILE, self.bytes_of(FILE))
        tiers = _tiers(data, lens)
        blocks = [block for tier in tiers for block in tier.blocks]
        shown = sum(block.visible is True for block in blocks)
        state = ContextState(
            format=self.format,
            title=self.title,
            source=FILE,
            revision="ctx-ferry-night · handoff",
            tiers=tiers,
            todo=Todo("one action waits", None, None, None, (TodoItem(None, "send the list", "blocked"),)),
            budgets=(_budget(lens),),
            missing=GAPS,
            counts=Counts(11, shown, 11 - shown, 540, lens.counter.exact, lens.counter.name),
            flow=self.flow or flow(data),
            extra={"scope": "handoff"},
        )
        return Reading(state, FINDINGS)


class _TitlePolicy:
    """Allows writes to titles only."""

    def apply(self, data: bytes, edit: Edit) -> bytes:
        parts = edit.pointer.split("/")[1:]
        if not isinstance(edit, SetValue) or parts[-1] != "title":
            raise EditRefused("only titles may be written")
        document = json.loads(data)
        document[parts[0]][int(parts[1])]["title"] = edit.value
        return spelled(document)

    def tampering(self, before: bytes, after: bytes) -> str | None:
        return None


def _tiers(data: bytes, lens: Lens) -> tuple[Tier, ...]:
    names = list(dict.fromkeys(tier for _, tier, *_ in ITEMS))
    return tuple(
        Tier(name, tuple(_block(data, at, lens) for at, item in enumerate(ITEMS) if item[1] == name))
        for name in names
    )


def _block(data: bytes, at: int, lens: Lens) -> Block:
    name, tier, kind, _, text, reason = ITEMS[at]
    reach = dict(zip(TARGETS, (LETTERS[letter] for letter in REACHES[name]), strict=True))
    visible = reach["model"] is Reach.INJECTED
    return Block(
        id=name,
        tier=tier,
        type=kind,
        text=text,
        tokens=lens.counter.count(text),
        visible=visible,
        reason=None if visible else Reason(ReasonKind.NOT_CHOSEN, reason),
        state="injected@model" if visible else tier,
        origin=parsed(data).origin(FILE, f"/items/{at}"),
        form=item_form(at, lens.editor),
        rank=at if visible else None,
        reach=reach,
    )


def _budget(lens: Lens) -> Budget:
    parts = (Segment("history", 210), Segment("policy", 90), Segment("tools", 140), Segment("notes", 100))
    return Budget("model", "tokens", 600, 540, 60, parts)


def flow(data: bytes) -> Flow:
    """Five sources, one surface with eleven items, one selection, two targets."""

    def node(id_: str, label: str, detail: str, text: str = "", **more: object) -> FlowNode:
        return FlowNode(id_, label, detail, Origin(FILE, f"/{id_}"), text or f"{label}\n{detail}", **more)  # type: ignore[arg-type]

    sources = ("src-desk", "src-policy", "src-ais", "src-plan", "src-kin")
    items = tuple(
        FlowNode(name, name, kind, parsed(data).origin(FILE, f"/items/{at}"), text, block=name)
        for at, (name, _, kind, _, text, _) in enumerate(ITEMS)
    )
    held = [item[0] for item in ITEMS if item[1] == "injected"]
    words = ChoiceShape(("requested", "waiting", "resolved"))
    gap_form = Form(FILE, "/missing", (Field("status", "requested", Owner.MODEL, "/missing/status", words),))
    read = [node(each, each, f"file, read at 03:1{at}") for at, each in enumerate(sources)]
    gap = node("mis-manifest", "mis-manifest", "blocking · requested", "Who is on board?", form=gap_form)
    stages = (
        FlowStage("sources", tuple(read)),
        FlowStage("surface", (node("srf-night", "srf-night", "11 items could be had"), *items)),
        FlowStage(
            "selection",
            (
                node(
                    "sel-2",
                    "sel-2",
                    "7 of 11 chosen, 4 left out",
                    "Chosen for the handoff.\n\nLeft out:\nitm-wind: low_relevance\nitm-crew: stale\n"
                    "itm-kin: policy_blocked\nitm-old: superseded_by_summary",
                ),
            ),
        ),
        FlowStage("missing", (gap,), "selection"),
        FlowStage("budget", (node("bud-model", "bud-model", "540 of 600 tokens, 60 kept back"),)),
        FlowStage("compaction", (node("cmp-1", "cmp-1", "itm-old → itm-sum, 2,000 → 140 tokens"),), "budget"),
        FlowStage(
            "assembly",
            (
                node("asm-model", "asm-model", "6 items in 6 blocks for the model"),
                node("asm-tool", "asm-tool", "3 items in 2 blocks for the tool"),
            ),
        ),
        FlowStage(
            "injection",
            (
                node("inj-model", "inj-model", "into the system prompt of turn 12"),
                node("inj-tool", "inj-tool", "into the argument of chart_lookup"),
            ),
        ),
        FlowStage("evidence", (node("evd-9", "evd-9", "cites ctx-ferry-night"),)),
    )
    links = (
        *(FlowLink(source, name, 1) for name, _, _, source, _, _ in ITEMS),
        FlowLink("srf-night", "sel-2", 11),
        FlowLink("sel-2", "mis-manifest", 1, "nothing lists who is on board"),
        FlowLink("sel-2", "bud-model", 7, "4 left out"),
        FlowLink("bud-model", "cmp-1", 1),
        FlowLink("bud-model", "asm-model", 6),
        *(FlowLink(name, "asm-model", 0) for name in held),
        FlowLink("itm-chart", "asm-tool", 0),
        FlowLink("asm-model", "inj-model", 6),
        FlowLink("asm-tool", "inj-tool", 2),
        FlowLink("inj-model", "evd-9", 6),
    )
    return Flow(stages, links)


GAPS = (
    Gap(
        "mis-wind",
        "Is the wind still from the north?",
        "low",
        "open",
        (),
        "asked for in case of a tow",
        Origin(FILE, "/a"),
    ),
    Gap(
        "mis-deck",
        "Which cars stand on the lower deck?",
        "high",
        "waiting",
        ("plan the tow",),
        "the harbour office looks it up",
        Origin(FILE, "/b"),
    ),
    Gap(
        "mis-bridge",
        "Who has the bridge?",
        "blocking",
        "resolved",
        ("call the bridge",),
        "answered by radio",
        Origin(FILE, "/c"),
    ),
    Gap(
        "mis-manifest",
        "Who is on board? The passenger manifest cannot be reached.",
        "blocking",
        "requested",
        ("send the list to the hospital", "call the kin"),
        "requested from the harbour office; look for manifest.pdf",
        Origin(FILE, "/missing"),
    ),
)

FINDINGS = (
    Finding(
        "ENV075",
        Severity.WARNING,
        Effect.NONE,
        "a blocking gap is open while the handoff is injected",
        Origin(FILE, "/missing"),
    ),
)
