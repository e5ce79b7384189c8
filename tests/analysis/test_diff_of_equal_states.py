"""States with the same meaning do not differ: key order, numbers, blanks, escapes, line ends."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxview.analysis.diff import diff
from ctxview.analysis.diff.report import lines_of
from ctxview.analysis.tokens import ESTIMATES
from ctxview.core.origin import JsonValue
from ctxview.core.state import ContextState
from ctxview.formats import Lens, open_source
from ctxview.samples import samples_folder
from tests.formats.session.builders import sound

LENS = Lens(ESTIMATES["bytes/4"])
SNAPSHOTS = ("round-06.full-log.json", "round-10.reply.txt")
SEPARATOR = "<<<CONTEXT>>>"


def respelled(value: JsonValue, random: Random, *, lines: bool) -> str:
    """The same JSON in other bytes; without `lines`, on one line."""

    def blank() -> str:
        return random.choice(("", "", " ", "\r\n\t" if lines else " "))

    def text(plain: str) -> str:
        return f'"{"".join(_escaped(each, random) for each in plain)}"'

    match value:
        case dict():
            members = random.sample([*value.items()], len(value))
            inner = (
                f"{blank()}{text(key)}{blank()}:{blank()}{respelled(each, random, lines=lines)}"
                for key, each in members
            )
            return "{" + ",".join(inner) + blank() + "}"
        case list():
            return "[" + ",".join(respelled(each, random, lines=lines) + blank() for each in value) + "]"
        case str():
            return text(value)
        case bool() | None:
            return json.dumps(value)
        case int():
            return (
                random.choice((str(value), f"{value}.0", f"{value}e0")) if abs(value) < 2**53 else str(value)
            )
        case _:
            return random.choice((repr(value), f"{value:.17e}"))


def _escaped(letter: str, random: Random) -> str:
    if random.random() < 0.8 or not letter.isalpha() or ord(letter) > 0xFFFF:
        return json.dumps(letter, ensure_ascii=False)[1:-1]
    return f"\\u{ord(letter):04x}"


def snapshots(place: Path, random: Random) -> Iterator[tuple[Path, Path]]:
    for name in SNAPSHOTS:
        given, other = samples_folder() / "snapshot/lighthouse" / name, place / name
        prose, separator, payload = given.read_text("utf-8").rpartition(SEPARATOR)
        other.write_bytes((prose + separator + respelled(json.loads(payload), random, lines=True)).encode())
        yield given, other


def envelopes(place: Path, random: Random) -> Iterator[tuple[Path, Path]]:
    given, other = samples_folder() / "envelope/handoff", place / "handoff"
    shutil.copytree(given, other)
    file = other / "handoff.json"
    records = json.loads(file.read_text("utf-8"))
    if random.random() < 0.5:
        content = "\r\n".join(respelled(each, random, lines=False) for each in records)
        file = file.rename(other / "handoff.jsonl")
    else:
        content = respelled(records, random, lines=True)
    file.write_bytes(content.encode())
    yield given, other


def sessions(place: Path, random: Random) -> Iterator[tuple[Path, Path]]:
    """Respell all files except the histories, whose bytes the names of chunks depend on."""
    given, other = (sound(place / side).write() for side in ("one", "two"))
    for file in other.rglob("*.json"):
        file.write_bytes(respelled(json.loads(file.read_text("utf-8")), random, lines=True).encode())
    for file in other.glob("context/*.jsonl"):
        rows = file.read_text("utf-8").splitlines()
        shuffled = (dict(random.sample([*json.loads(row).items()], len(json.loads(row)))) for row in rows)
        respelled_rows = (json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in shuffled)
        file.write_bytes("".join(f"{row}\n" for row in respelled_rows).encode())
    for name in ("summary.md", "todo.md"):
        file = other / "context" / name
        file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    yield given, other


@pytest.mark.parametrize("pairs", [snapshots, envelopes, sessions])
@given(seed=st.integers(0, 2**32))
@settings(max_examples=2)
def test_states_with_other_bytes_and_the_same_meaning_do_not_differ(
    pairs: Callable[[Path, Random], Iterator[tuple[Path, Path]]], seed: int
) -> None:
    with TemporaryDirectory() as place:
        for one, other in pairs(Path(place), Random(seed)):
            for before, after in zip(_states(one), _states(other), strict=True):
                assert lines_of(diff(before, after)) == ["No difference in meaning."]


def _states(path: Path) -> list[ContextState]:
    source = open_source(path)
    return [source.reading(place, LENS).state for place in range(len(source.revisions))]
