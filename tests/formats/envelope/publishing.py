"""The means to publish edits of envelopes in tests: files, edits, and the written values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ctxview.analysis.tokens import ESTIMATES
from ctxview.core.edits import Edit, MoveItem, SetValue
from ctxview.formats import Lens
from ctxview.formats.envelope.model import Record
from ctxview.formats.envelope.source import EnvelopeSource
from ctxview.formats.interface import Publication, Signature
from tests.formats.envelope.bundles import good, named

LENS = Lens(ESTIMATES["bytes/4"])
WHY = Signature("reviewer", "the plan changed")
Json = dict[str, Any]


def write(path: Path, values: Any) -> None:
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(each) + "\n" for each in values))
    else:
        path.write_text(json.dumps(values, indent=2))


def one_file(folder: Path, values: list[Json] | None = None, name: str = "handoff.json") -> EnvelopeSource:
    write(folder / name, good() if values is None else values)
    return EnvelopeSource(folder / name)


def several_files(folder: Path, values: list[Json] | None = None) -> EnvelopeSource:
    """A bundle as an envelope, a file of lines with the items, and a list with the rest."""
    values = values or good()
    items = [each for each in values if "item_id" in each]
    write(folder / "envelope.json", named(values, "ctx-1"))
    write(folder / "items.jsonl", items)
    write(folder / "rest.json", [each for each in values[1:] if each not in items])
    return EnvelopeSource(folder)


def record(source: EnvelopeSource, id_: str) -> Record:
    return next(each for each in source.bundle.groups[-1].records if each.id == id_)


def edited(source: EnvelopeSource, *edits: tuple[str, Edit], editor: str = "reviewer") -> dict[str, bytes]:
    """The drafts after edits, each given with its file."""
    drafts: dict[str, bytes] = {}
    for file, edit in edits:
        policy = source.policy_of(file, editor)
        assert policy is not None
        drafts[file] = policy.apply(drafts.get(file, source.bytes_of(file)), edit)
    return drafts


def setting(source: EnvelopeSource, id_: str, name: str, value: Any) -> tuple[str, Edit]:
    found = record(source, id_)
    return found.file, SetValue(found.at(name), value)


def moving(source: EnvelopeSource, item: str, start: str, end: str) -> tuple[str, Edit]:
    selection = record(source, "selection-1")
    entry = next(each for each in selection.refs(f"{start}_item_refs") if each.id == item)
    return selection.file, MoveItem(selection.at(*entry.path), selection.at(f"{end}_item_refs", "-"))


def publish(
    source: EnvelopeSource, *edits: tuple[str, Edit], editor: str = "reviewer", write: bool = True
) -> Publication:
    """Publish edits of the last revision."""
    drafts = edited(source, *edits, editor=editor)
    made = source.publication(len(source.revisions) - 1, drafts, Signature(editor, "the plan changed"))
    if write:
        made.file.write_bytes(made.data)
    return made


def values_of(made: Publication) -> list[Json]:
    found: list[Json] = json.loads(made.data)
    return found


def new_events(values: list[Json]) -> list[tuple[str, str]]:
    return [(each["event_type"], each["subject"]) for each in values if each.get("source") == "ctxview"]
