"""`docs/json.md` lists every field that the commands print as JSON, with its types, and no other field."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from collections import defaultdict
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from msgspec.structs import replace

from ctxview.analysis.diff.model import ChangeKind
from ctxview.cli import main
from ctxview.commands.parser import all_commands, parser_of
from ctxview.core.fields import Owner
from ctxview.core.findings import Effect, Severity
from ctxview.core.prompt import CutKind
from ctxview.core.state import RefStatus
from ctxview.formats import formats
from ctxview.formats.envelope.state.inputs import LONGEST_VALUE
from ctxview.formats.raw import parser as raw
from ctxview.formats.session.state import tiers as session_tiers
from ctxview.formats.session.store.content import LARGEST
from ctxview.formats.session.store.dedup import DedupAction
from ctxview.formats.session.store.derived_files import WriteAction
from ctxview.formats.session.store.gc import GcOutcome
from ctxview.formats.snapshot.runtime.merge_fields import MergeEffect
from ctxview.formats.snapshot.state import tiers as snapshot_tiers
from ctxview.review.decisions import DecisionKind
from ctxview.review.points import PointKind
from ctxview.review.review import VerdictWord
from ctxview.review.words import SignatureState
from tests.commands.busy_session import busy_session
from tests.fleet.sources import read
from tests.formats.envelope import builders as envelope
from tests.formats.session.open_sessions import make_old
from tests.formats.snapshot.builders import block, reply_bytes, snapshot_value
from tests.formats.transcript import builders as transcript
from tests.running import Run

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "json.md").read_text("utf-8")
HEADING = re.compile(r"^##+ (.+)$", re.MULTILINE)
ROW = re.compile(r"^\| `([^`]+)` \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
LINK = re.compile(r"\[\w+\]\(#(\w+)\)")
EXAMPLES: list[tuple[str, str]] = re.findall(
    r"```console\n\$ ctxview ([^\n]+)\n```\n\n```json\n(.+?)\n```", PAGE, re.DOTALL
)
TYPES = {
    str: "text",
    int: "integer",
    float: "number",
    bool: "boolean",
    list: "list",
    dict: "object",
    type(None): "null",
}
_, *_PARTS = HEADING.split(PAGE)
SECTIONS = {
    heading: text
    for heading, text in zip(_PARTS[::2], _PARTS[1::2], strict=True)
    if "\n| path | type | meaning |\n" in text
}
"""The text of each section with a table of fields, by its heading."""
OPTIONS = ("--undo", "--rebuild", "--verify", "messages")
"""The options with which a command prints other fields."""

LIGHTHOUSE = "sample_sessions/snapshot/lighthouse"
BROKEN = "sample_sessions/snapshot/broken"
CODER = "sample_sessions/session/coder/home/1000/agent/coder/session/default"
KEEPER = "sample_sessions/session/damaged/home/1000/agent/keeper/session/default"
DAY = "sample_sessions/transcript/refund-day/5f0c2a7e-1111-4222-8333-9a0b1c2d3e4f.jsonl"
ODD = """
u1 user : Fix it
a1 call id=t1 : ls
r2 result id=t2 : text
~{"type":"system","subtype":"compact_boundary","uuid":"b1","parentUuid":null,"logicalParentUuid":"r2"}
s1 < b1 summary : We fixed it
a2 call id=t3 : ls
r3 < a2 result id=t4 : text
"""
"""A transcript without usage, with a call and a result that do not belong together."""
RUNS = [
    *(
        f"show {path} --json --tokens bytes/4"
        for path in (
            LIGHTHOUSE,
            f"{LIGHTHOUSE} --at 9",
            "no-words.json",
            f"{BROKEN}/truncated.txt",
            "sample_sessions/snapshot/agent-workspace",
            CODER,
            KEEPER,
            "sample_sessions/envelope/handoff",
            "sample_sessions/workspace/workspace-home --window 16K",
            "sample_sessions/workspace/webshop",
            DAY,
            f"{DAY} --at 8",
            "odd.jsonl",
            "sample_sessions/README.md",
            "one-budget.json",
        )
    ),
    "check sample_sessions --format json",
    "compact sample_sessions/workspace/workspace-after --from answer.md --json",
    "compact sample_sessions/workspace/workspace-after --from good.md --write --json",
    f"diff {LIGHTHOUSE} --at 9 9 --json",
    f"diff {LIGHTHOUSE} --at 3 8 --json",
    f"diff {LIGHTHOUSE}/round-09.received.json {LIGHTHOUSE}/round-09.reply.txt --json",
    f"diff {CODER} --at 3 5 --json",
    "diff before-compaction.json after-compaction.json --json",
    "diff before.json after.json --json",
    f"why {LIGHTHOUSE} h1-time-zone --json",
    f"why {LIGHTHOUSE} lt-keeper-snapshots --json",
    f"why {LIGHTHOUSE} h1 --json",
    "why sample_sessions/memory/exhibition-faults nordhav --json",
    f"prompt {LIGHTHOUSE} --at 9 --as json --tokens bytes/4",
    "prompt sample_sessions/envelope/handoff --as json --tokens bytes/4",
    *(f"prompt {path} --as messages" for path in (LIGHTHOUSE, CODER)),
    *(
        f"export {path} --to json --tokens bytes/4"
        for path in (
            *(f"{LIGHTHOUSE} --at 9", f"{LIGHTHOUSE} --at #1", CODER),
            *("sample_sessions/README.md", "reviewed"),
        )
    ),
    f"merge {LIGHTHOUSE}/round-09.received.json {LIGHTHOUSE}/round-09.reply.txt --json",
    f"merge {LIGHTHOUSE}/round-09.received.json {BROKEN}/trailing-comma.txt --json",
    *(f"{command} {KEEPER} --json" for command in ("pack", "gc", "swap --rebuild", "dedup")),
    *(f"{command} bare --json" for command in ("pack", "gc", "dedup")),
    "swap busy --range 3-5 --write --json",
    "dedup busy --write --json",
    "gc busy --apply --json",
    "trim sample_sessions/memory/exhibition-faults --json",
    "swap busy --rebuild --write --json",
    "gc busy --undo --json",
    "pack busy --write --json",
    "fleet report tables findings-by-week --format json",
    "review sample_sessions/envelope/handoff --json --tokens bytes/4",
    "review sample_sessions/workspace/workspace-home --window 16K --json --tokens bytes/4",
    "review reviewed --accept ENV078=known --json --tokens bytes/4",
    "review --verify reviewed --json",
    "review --verify sample_sessions/envelope/handoff --format json",
    "rules --json",
    "formats --json",
    "config --json",
]
WORDS: dict[tuple[str, str], type[StrEnum]] = {
    ("show", "refs[].status"): RefStatus,
    ("check", "[].severity"): Severity,
    ("check", "[].effect"): Effect,
    ("change", "kind"): ChangeKind,
    ("change", "deltas[].owner"): Owner,
    ("merge", "changes[].kind"): MergeEffect,
    ("written", "deed"): WriteAction,
    ("gc", "items[].fate"): GcOutcome,
    ("prompt", "messages[].parts[].cut.kind"): CutKind,
    ("dedup", "items[].act"): DedupAction,
    ("review", "verdict.word"): VerdictWord,
    ("review", "points[].kind"): PointKind,
    ("review", "points[].decision.kind"): DecisionKind,
    ("review --verify", "paths[].records[].signature"): SignatureState,
}


class DocumentedField(NamedTuple):
    """A field on the page: its section and path there, and its types."""

    row: tuple[str, str]
    types: set[str]


@pytest.fixture
def samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The current folder: the bundled samples, and small inputs for the fields that they do not have."""
    monkeypatch.chdir(tmp_path)
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    shutil.copytree(ROOT / "sample_sessions", "sample_sessions")
    config = tmp_path / "XDG_CONFIG_HOME" / "ctxview" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[keys]\ncopy = "ctrl+y"\n')
    gap = [envelope.missing(), envelope.item("no-content", None), envelope.envelope()]
    lost = envelope.item("rows", "file 17 holds 168 rows")
    text = "The parser rejects a file that has a {}."
    documents = {
        "one-budget": [*gap, envelope.budget(max_tokens=10)],
        "no-words": snapshot_value(core=[block(type=...)], todo={"cursor": {}}),
        "before-compaction": [*gap, lost],
        "after-compaction": [*gap, envelope.compaction(["rows"], "summary-1")],
        "before": snapshot_value(core=[block("a", content=text.format("BOM")), block("b", decay=0.2)]),
        "after": snapshot_value(core=[block("a", content=text.format("tab")), block("b", decay=0)]),
    }
    for name, value in documents.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(value))
    (tmp_path / "answer.md").write_text("<think>Hm.</think>\n## Task\n[What is the user doing?]\n")
    sections = ("## Task\nRead the logs.", "## Decisions", "## Facts", "## Pending", "## Errors")
    transcript.write(tmp_path, ODD, "odd.jsonl")
    (tmp_path / "good.md").write_text("\n\n".join(sections))
    (tmp_path / "bare" / "context").mkdir(parents=True)
    (tmp_path / "bare" / "messages.jsonl").touch()
    with (tmp_path / "bare" / "context" / "too-large-to-compare").open("wb") as large:
        large.truncate(LARGEST + 1)
    read("odd.jsonl", tmp_path / "tables")
    planted = shutil.copytree("sample_sessions/envelope/planted", "reviewed") / Path("planted.json")
    reasons = [
        part for rule in ("ENV078", "ENV056", "ENV080", "ENV075") for part in ("--accept", f"{rule}=known")
    ]
    assert (
        main(["review", "reviewed", "--looked-at", "all", *reasons, "--comment", "Good.", "--approve"]) == 0
    )
    planted.write_text(planted.read_text("utf-8").replace("source-handbok", "source-handbook"), "utf-8")
    (tmp_path / "reviewed.2.ctxreview.json").write_text("{}")
    another = replace(formats()[0], name="another")
    monkeypatch.setattr("ctxview.commands.formats.formats", lambda: (*formats(), another))
    busy = busy_session(tmp_path / "home").write()
    make_old(busy, 60)
    (tmp_path / "busy").symlink_to(busy)
    pack = (busy / "context" / "pack.md").stat()
    # A file that a program writes to is not collected, and saving it gives a warning.
    for module in ("removal", "system_calls"):
        monkeypatch.setattr(
            f"ctxview.files.{module}.has_writer", lambda held: os.path.samestat(os.fstat(held), pack)
        )


def test_the_page_has_every_field_that_is_printed_and_no_other(samples: None, ctxview: Run) -> None:
    unknown = set[str]()
    printed = defaultdict[tuple[str, str], set[str]](set)
    for line in RUNS:
        section = _section_of(line)
        fields = _fields(section)
        for path, kind in _paths(ctxview(*shlex.split(line)).json, "", fields):
            if path in fields:
                printed[fields[path].row].add(kind)
            else:
                unknown.add(f"{section}: {path}")

    assert unknown == set()
    documented = {(name, path): _types(types) for name in SECTIONS for path, types, _ in _rows(name)}
    wrong = {row: (types, printed[row]) for row, types in documented.items() if types != printed[row]}
    assert wrong == {}, "documented types, printed types"


def test_every_command_that_prints_json_has_a_section() -> None:
    options = {
        name: [each for action in parser_of(name, command)._actions for each in _json_options(action)]
        for name, command in all_commands().items()
    }
    printing = {name for name, found in options.items() if found}
    sections = {*map(_section_of, RUNS)}

    assert {section.partition(" ")[0] for section in sections} == printing
    assert sections <= SECTIONS.keys()


@pytest.mark.parametrize(("typed", "shown"), EXAMPLES, ids=[typed.split()[0] for typed, _ in EXAMPLES])
def test_an_example_is_a_part_of_the_output(
    typed: str, shown: str, ctxview: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)

    assert _is_part(json.loads(shown), ctxview(*shlex.split(typed)).json)


@pytest.mark.parametrize(("section", "path"), WORDS)
def test_a_field_with_a_set_of_words_lists_all_of_them(section: str, path: str) -> None:
    (meaning,) = (meaning for name, _, meaning in _rows(section) if name == path)
    words = {word.value for word in WORDS[section, path]}

    assert set(re.findall(r"`([^`]+)`", meaning)) - {"--write"} == words


def test_text_is_exact_with_its_secrets_and_control_characters(samples: None, ctxview: Run) -> None:
    for name in ("secret.json", "escape-sequences.json"):
        stored = json.loads(Path(BROKEN, name).read_text("utf-8"))["memory"]
        ran = ctxview("show", Path(BROKEN, name), "--json")

        shown = [each["text"] for tier in ran.json["tiers"] for each in tier["blocks"]]
        assert shown == [each["content"] for tier in stored.values() for each in tier]
        assert all(line.isprintable() for line in ran.out.split("\n"))


def test_an_infinite_number_is_null_in_a_state_and_text_in_a_merge(tmp_path: Path, ctxview: Run) -> None:
    received, reply = tmp_path / "received.json", tmp_path / "reply.txt"
    received.write_text(json.dumps(snapshot_value(core=[block(decay=0.5)])).replace("0.5", "1e400"))
    reply.write_bytes(reply_bytes(snapshot_value(core=[block()])))

    (tier, *_) = ctxview("show", received, "--json").json["tiers"]
    changes = ctxview("merge", received, reply, "--json").json["changes"]

    assert tier["blocks"][0]["decay"] is None
    assert "inf" in [each["before"]["decay"] for each in changes if each["name"] == "a"]


@pytest.mark.parametrize(
    "limit", [session_tiers.LONGEST_TEXT, raw.LONGEST_TEXT, LONGEST_VALUE, snapshot_tiers.LONGEST_ODD_VALUE]
)
def test_the_page_states_where_long_texts_are_cut(limit: int) -> None:
    assert f" {limit:,}" in PAGE


def _section_of(line: str) -> str:
    command, *words = line.split()
    return " ".join([command, *(word for word in words if word in OPTIONS)])


def _json_options(action: Any) -> Iterator[str]:
    if "--json" in action.option_strings or "json" in (action.choices or ()):
        yield from action.option_strings


def _rows(section: str) -> list[tuple[str, str, str]]:
    """The rows of the table of a section: path, type and meaning."""
    return ROW.findall(SECTIONS[section])


def _types(text: str) -> set[str]:
    return set(re.split(r", | or ", LINK.sub("object", text)))


def _fields(section: str) -> dict[str, DocumentedField]:
    """Every field of a section by its path, with the fields of the shared objects that it links to."""
    found: dict[str, DocumentedField] = {}
    for path, types, _ in _rows(section):
        found[path] = DocumentedField((section, path), _types(types))
        for shared in LINK.findall(types):
            found |= {f"{path}.{below}": field for below, field in _fields(shared).items()}
    return found


def _paths(value: Any, path: str, fields: dict[str, DocumentedField]) -> Iterator[tuple[str, str]]:
    """Every path of a value with its type, as the page spells them; nothing below a value of any type.

    A documented key that an object lacks gives a path that is not on the page.
    """
    types = fields[path].types if path in fields else set[str]()
    if "any" in types:
        yield path, "any"
        return
    if path:
        kind = TYPES[type(value)]
        yield path, "number" if kind == "integer" and "number" in types else kind
    if isinstance(value, list):
        for each in value:
            yield from _paths(each, f"{path}[]", fields)
    elif isinstance(value, dict):
        prefix = f"{path}." if path else ""
        if f"{prefix}*" in fields:
            for each in value.values():
                yield from _paths(each, f"{prefix}*", fields)
            return
        for key, each in value.items():
            yield from _paths(each, f"{prefix}{key}", fields)
        for other in fields:
            parent, _, key = other.rpartition(".")
            if parent == path and key.isidentifier() and key not in value:
                may_be_absent = "absent" in fields[other].types
                yield (other if may_be_absent else f"{path} without {key}"), "absent"


def _is_part(part: Any, whole: Any) -> bool:
    """Whether `whole` has every member of `part`, and its elements in the same order."""
    if isinstance(part, dict) and isinstance(whole, dict):
        return all(key in whole and _is_part(each, whole[key]) for key, each in part.items())
    if isinstance(part, list) and isinstance(whole, list) and part:
        rest = iter(whole)
        return all(any(_is_part(each, other) for other in rest) for each in part)
    return bool(part == whole)
