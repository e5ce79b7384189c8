"""Sources for the tests of the inspector: a rich one, a huge one, an empty one, a hostile one."""

from __future__ import annotations

import json
import random

from ctxview.core.fields import ChoiceShape, Field, Form, Owner
from ctxview.core.findings import Effect, Finding, Severity
from ctxview.core.origin import JsonValue, Origin
from ctxview.core.state import Cursor, Gap, Ref, RefStatus, Todo, TodoItem
from tests.tui.fakes import TIERS, FakeSource, block, memory

FILE = "night/context.json"

RICH = memory(
    core=[
        block(
            "core-001",
            "You are Kestrel, the night watch of the Vardø light. Log every light that is not ours.",
        )
        | {"type": "identity", "decay": 0.05, "confidence": 0.97, "round": 1, "tags": ["agent", "identity"]},
        block(
            "core-002", "Ships are named by call sign first, then by flag; never guess a flag from the name."
        )
        | {"type": "constraint", "decay": 0.1, "confidence": 0.93, "round": 2, "tags": ["naming", "rule"]},
        block("core-003", "灯塔看守人会说挪威语、英语和中文；报告一律用英语。")
        | {"type": "preference", "decay": 0.12, "round": 3, "tags": ["语言"]},
        block("core-004", "The fog horn answers in Morse.") | {"decay": 0.41, "confidence": 0.88, "round": 4},
    ],
    working=[
        block("work-003", "Identify the trawler without AIS two miles north-east; ask the coast station.")
        | {"type": "task", "decay": 0.4, "confidence": 0.78, "tags": ["task", "active"]},
        block(
            "work-007",
            "Radar echo at 041° drifts against the current: perhaps a growler.\nAsk again at 03:00.",
        )
        | {"type": "task", "decay": 0.7, "confidence": 0.55, "round": 11, "tags": ["task", "radar"]},
        block("work-008-a-name-nobody-would-type-by-hand", "Lamp two flickers when the generator hands over.")
        | {"type": "observation", "decay": 0.3, "confidence": 0.66, "round": 13, "tags": ["lamp"]},
        block("work-009", "等待拖网渔船回复无线电呼叫，再记录航向。")
        | {"type": "task", "decay": 0.5, "confidence": 0.6, "round": 13, "tags": ["无线电"]},
    ],
    ephemeral=[
        block("temp-002", "Visibility 900 m and falling.")
        | {"type": "hint", "decay": 0.8, "confidence": 0.4},
        block("temp-003", "The kettle is on.")
        | {"type": "hint", "decay": 0.95, "confidence": 0.3, "round": 9},
    ],
    longterm=[
        block("lt-014", "[tag:lt-014] tide tables for the harbour, second half of the year")
        | {"type": "knowledge", "decay": 0.25, "confidence": 0.85, "round": 5, "tags": ["reference"]},
        block("lt-015", "Gale warnings come on channel 16 at a quarter past every sixth hour.")
        | {"type": "knowledge", "confidence": 0.91, "round": 6, "tags": ["radio", "reference"]},
    ],
)

HOSTILE_TEXT = (
    "red \x1b[31mALERT\x1b[0m \x9b2J \x1b]0;owned\x07 \u202egnp.exe [bold]x[/] [@click=app.quit]y[/] "
    "\ud800 \x00 tab\there"
)

TODO = Todo(
    summary="进行中 1/4（当前第2步）",
    total=4,
    step=2,
    cursor=Cursor(
        "doing", "todo_complete", 2, "finish the trawler, then lamp two", Origin(FILE, "/todo/cursor")
    ),
    items=(
        TodoItem(1, "Light the lamp", "done", False, Origin(FILE, "/todo/items/0")),
        TodoItem(2, "Identify the trawler", "open", True, Origin(FILE, "/todo/items/1")),
        TodoItem(3, "Check lamp two", "open", False, Origin(FILE, "/todo/items/2")),
        TodoItem(4, "Write the morning report", "open", False, Origin(FILE, "/todo/items/3")),
    ),
    form=Form(
        FILE,
        "/todo/cursor",
        (
            Field("summary", "1/4", Owner.DERIVED, "/todo/summary", why="computed from the list"),
            Field("phase", "doing", Owner.MODEL, "/todo/cursor/phase", ChoiceShape(("planning", "doing"))),
        ),
    ),
)

REFS = (
    Ref(
        "lt-014",
        "tag_ref",
        "tag:lt-014",
        RefStatus.RESOLVED,
        1840,
        7312,
        ("lt-014",),
        Origin(FILE, "/memory/longterm/0/tag_id"),
        "High water 03:12, low water 09:20 …",
    ),
    Ref(
        "core-004",
        "tag_ref",
        "tag:horn-2f9c81",
        RefStatus.DANGLING,
        None,
        None,
        ("core-004",),
        Origin(FILE, "/memory/core/3/tag_id"),
    ),
    Ref(
        "tag:old-chart",
        "payload",
        "tag:old-chart",
        RefStatus.ORPHAN,
        322,
        1204,
        (),
        Origin("night/memory.db"),
    ),
)

GAPS = (
    Gap(
        "tag:horn-2f9c81",
        "The payload of core-004 is not in the store",
        "error",
        "open",
        ("core-004",),
        "tag_ref without payload",
        Origin(FILE, "/memory/core/3"),
    ),
    Gap(
        "work-007",
        "Not shown to the model",
        "warning",
        "open",
        (),
        "decay 0.70 > 0.65",
        Origin(FILE, "/memory/working/1"),
    ),
)

FINDINGS = (
    Finding(
        "SNP060",
        Severity.ERROR,
        Effect.NONE,
        "core-004 refers to tag:horn-2f9c81, which has no payload",
        Origin(FILE, "/memory/core/3/tag_id"),
    ),
    Finding(
        "SNP029",
        Severity.WARNING,
        Effect.NONE,
        "todo.summary says 1/3, todo.total is 4",
        Origin(FILE, "/todo/summary"),
    ),
    Finding(
        "SNP024",
        Severity.INFO,
        Effect.NONE,
        "working is not in the order of quality",
        Origin(FILE, "/memory/working"),
    ),
)


def night() -> FakeSource:
    """Three rounds, a todo list, references, gaps and findings of every severity."""
    before = json.loads(json.dumps(RICH))
    before["memory"]["working"].pop()
    before["memory"]["working"][0]["decay"] = 0.2
    first = json.loads(json.dumps(before))
    first["memory"]["ephemeral"].clear()
    return FakeSource([first, before, RICH], todo=TODO, refs=REFS, missing=GAPS, more_findings=FINDINGS)


def huge(blocks: int = 2_000) -> FakeSource:
    chance = random.Random(14)
    words = ("lamp", "horn", "fog", "trawler", "watch", "tide", "course", "radio", "灯塔", "雾", "航向")
    tiers: dict[str, list[dict[str, JsonValue]]] = {name: [] for name in TIERS}
    for at in range(blocks):
        name = TIERS[at % 4]
        text = " ".join(chance.choice(words) for _ in range(chance.randint(4, 40)))
        figures: dict[str, JsonValue] = {
            "decay": round(chance.random(), 2),
            "confidence": round(chance.random(), 2),
        }
        tiers[name].append(block(f"{name[:4]}-{at:05}", text) | figures)
    return FakeSource([memory(**tiers)], title="huge")


def empty() -> FakeSource:
    return FakeSource([memory()], title="empty", budgets=False)


def broken() -> FakeSource:
    return FakeSource([RICH], title="broken", broken="the disk is on fire")


def hostile() -> FakeSource:
    document = memory(
        core=[block("ev\x1bil", HOSTILE_TEXT) | {"type": "\x07bell", "tags": ["\x1b]52;c;AAAA\x07"]}],
        working=[block("[/etc/passwd]", "x[/]y \u2028 line \u200b zero") | {"type": "[red]"}],
    )
    return FakeSource([document], title="night\x1b[31m", text=HOSTILE_TEXT)
