"""Replies are paired with what they answer by name and neighbours, and the files are put in order of time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ctxview.analysis.tokens import ESTIMATES
from ctxview.core.findings import Severity
from ctxview.formats import Lens, Source, open_source
from ctxview.formats.revisions import previous_revision
from tests.formats.snapshot.builders import (
    STARTUP,
    Json,
    at,
    block,
    full_log_value,
    labels,
    reply_bytes,
    to_bytes,
)

LENS = Lens(ESTIMATES["bytes/4"])
FULL = {"core": [block("a")], "working": [block("w")]}


def forged(number: int, **changes: Any) -> Json:
    """A reply to round `number` that wipes core and states another clock; `...` takes `runtime` away."""
    value = at(number, working=[block("w")])
    if changes.get("runtime", 0) is ...:
        del value["runtime"]
    else:
        value["runtime"] |= changes
    return value


FORGERIES = [
    {"startup_at": STARTUP + 1},
    {"round": 3, "datetime": "2026-02-25T09:00:00.000Z"},
    {"runtime": ...},
    {"startup_at": 5, "round": 77, "datetime": "now", "workspace": "/elsewhere/"},
]


def found(source: Source, file: str) -> set[str]:
    return {each.rule for each in source.findings(LENS) if Path(each.origin.file).name == file}


@pytest.mark.parametrize("changes", FORGERIES, ids=str)
@pytest.mark.parametrize("alone", [True, False])
def test_a_reply_of_the_same_name_is_compared_whatever_clock_it_states(
    tmp_path: Path, changes: Json, alone: bool
) -> None:
    (tmp_path / "round-09.received.json").write_bytes(to_bytes(at(9, **FULL)))
    (tmp_path / "round-09.reply.txt").write_bytes(reply_bytes(forged(9, **changes)))
    for number in () if alone else (8, 10):
        (tmp_path / f"round-{number:02}.received.json").write_bytes(to_bytes(at(number, **FULL)))
        (tmp_path / f"round-{number:02}.reply.txt").write_bytes(reply_bytes(at(number, **FULL)))
    source = open_source(tmp_path)
    assert {"SNP042", "SNP043"} <= found(source, "round-09.reply.txt")
    assert "round 9 reply" in labels(source)


@pytest.mark.parametrize("changes", FORGERIES, ids=str)
def test_a_reply_between_two_snapshots_is_compared_with_the_one_before(tmp_path: Path, changes: Json) -> None:
    for name, number in (("a", 8), ("c", 9), ("e", 10)):
        (tmp_path / f"{name}.json").write_bytes(to_bytes(at(number, **FULL)))
    (tmp_path / "b.txt").write_bytes(reply_bytes(at(8, **FULL)))
    (tmp_path / "d.txt").write_bytes(reply_bytes(forged(9, **changes)))
    source = open_source(tmp_path)
    assert labels(source) == ["round 8", "round 8 reply", "round 9", "round 9 reply", "round 10"]
    assert {"SNP042", "SNP043"} <= found(source, "d.txt")


@pytest.mark.parametrize("changes", FORGERIES, ids=str)
@pytest.mark.parametrize(("given", "sent"), [("a.json", "b.txt"), ("b.json", "a.txt")])
def test_one_reply_beside_one_snapshot_is_compared_with_it(
    tmp_path: Path, given: str, sent: str, changes: Json
) -> None:
    (tmp_path / given).write_bytes(to_bytes(at(9, **FULL)))
    (tmp_path / sent).write_bytes(reply_bytes({**forged(9, **changes), "version": 4, "todo": {"total": 9}}))
    assert {"SNP042", "SNP043"} <= found(open_source(tmp_path), sent)


def test_a_reply_with_its_own_name_is_paired_by_the_fields_it_repeats(tmp_path: Path) -> None:
    for number in (1, 2, 3):
        (tmp_path / f"r{number}.json").write_bytes(to_bytes(at(number, **FULL)))
    (tmp_path / "reply.txt").write_bytes(reply_bytes(at(2, **FULL)))
    source = open_source(tmp_path)
    assert labels(source) == ["round 1", "round 2", "round 2 reply", "round 3"]
    assert "SNP042" not in found(source, "reply.txt")


@pytest.mark.parametrize(
    ("received", "reply"),
    [
        ("received-9.json", "reply-09.txt"),
        ("turn9_request.json", "turn9_response.md"),
        ("received.json", "answer.txt"),
        ("round-9.full-log.json", "round-9.emitted.txt"),
    ],
)
def test_words_for_the_role_do_not_make_another_name(tmp_path: Path, received: str, reply: str) -> None:
    (tmp_path / received).write_bytes(to_bytes(at(9, **FULL)))
    (tmp_path / reply).write_bytes(reply_bytes(forged(9, **FORGERIES[3])))
    assert {"SNP042", "SNP043"} <= found(open_source(tmp_path), reply)


def test_a_reply_without_a_separator_is_paired_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "round-9.received.json").write_bytes(to_bytes(at(9, **FULL)))
    (tmp_path / "round-9.reply.txt").write_bytes(b"I forgot everything.")
    source = open_source(tmp_path)
    state = source.reading(1, LENS).state
    assert [each.id for each in state.kept.blocks()] == ["a", "w"]


@pytest.mark.parametrize(
    "changes", [*FORGERIES, {"round": 10, "datetime": "2026-02-25T10:10:00.000Z"}], ids=str
)
@pytest.mark.parametrize(
    "names", ["ctx-{}.json model-{}.txt", "round-{}.prompt.json round-{}.completion.txt"]
)
@pytest.mark.parametrize("alone", [True, False])
def test_the_number_in_its_name_pairs_a_reply_whatever_clock_it_states(
    tmp_path: Path, changes: Json, names: str, alone: bool
) -> None:
    given, sent = names.split()
    for number in (8, 9, 10):
        (tmp_path / given.format(f"{number:02}")).write_bytes(to_bytes(at(number, **FULL)))
        if number == 9 or not alone:
            value = forged(9, **changes) if number == 9 else at(number, **FULL)
            (tmp_path / sent.format(number)).write_bytes(reply_bytes(value))
    source = open_source(tmp_path)
    replies = {each.file.name: each.follows for each in source.revisions if each.kind == "reply"}
    assert replies[sent.format(9)] == "round 9"
    assert {"SNP042", "SNP043"} <= found(source, sent.format(9))


def test_a_number_that_several_snapshots_have_does_not_pair(tmp_path: Path) -> None:
    for name, number in (("a-1.json", 8), ("b-1.json", 9)):
        (tmp_path / name).write_bytes(to_bytes(at(number, **FULL)))
    (tmp_path / "c-1.txt").write_bytes(reply_bytes(at(8, **FULL)))
    assert labels(open_source(tmp_path)) == ["round 8", "round 8 reply", "round 9"]


@pytest.mark.parametrize("number", [9, 77])
@pytest.mark.parametrize("cut", [0, 1])
def test_a_bare_snapshot_that_is_called_a_reply_is_an_empty_patch(
    tmp_path: Path, number: int, cut: int
) -> None:
    for each in (8, 9, 10):
        (tmp_path / f"round-{each:02}.received.json").write_bytes(to_bytes(at(each, **FULL)))
    bare = to_bytes(at(number, working=[block("w")]))
    (tmp_path / "round-09.reply.txt").write_bytes(bare[: len(bare) - cut])
    source = open_source(tmp_path)
    assert [(each.rule, Path(each.origin.file).name) for each in source.findings(LENS)] == [
        ("SNP001", "round-09.reply.txt")
    ]
    place = [each.file.name for each in source.revisions].index("round-09.reply.txt")
    assert source.revisions[place].follows == "round 9"
    assert [each.id for each in source.reading(place, LENS).state.kept.blocks()] == ["a", "w"]


@pytest.mark.parametrize("name", ["replying.json", "round-09.received.json", "autoreply.json"])
def test_a_bare_snapshot_of_another_name_is_a_snapshot(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(to_bytes(at(9, **FULL)))
    assert [each.kind for each in open_source(tmp_path).revisions] == ["snapshot"]


@pytest.mark.parametrize(
    "destroyed", [bytes(4096), b'{"version": 3, "memory": {"core": [', b""], ids=["zeros", "cut", "empty"]
)
def test_a_reply_whose_snapshot_is_destroyed_is_compared_with_no_other(
    tmp_path: Path, destroyed: bytes
) -> None:
    for number in (7, 8, 9):
        (tmp_path / f"round-{number:02}.received.json").write_bytes(to_bytes(at(number, **FULL)))
        (tmp_path / f"round-{number:02}.reply.txt").write_bytes(reply_bytes(at(number, **FULL)))
    (tmp_path / "round-08.received.json").write_bytes(destroyed)
    source = open_source(tmp_path)
    assert "SNP042" not in found(source, "round-08.reply.txt")
    assert found(source, "round-08.received.json")
    names = [each.file.name for each in source.revisions]
    assert source.revisions[names.index("round-08.reply.txt")].follows is None
    assert source.revisions[names.index("round-09.reply.txt")].follows == "round 9"


# -- rounds that go back -------------------------------------------------------------------------------------


def log(number: int, time: str, saved: str) -> bytes:
    return to_bytes({**full_log_value(at(number, time=time, **FULL)), "saved_at": saved})


@pytest.mark.parametrize("hour", [11, 10, 9])
@pytest.mark.parametrize("names", [("context_1.log", "context_2.log"), ("z.json", "a.json")])
def test_a_later_log_with_an_earlier_round_is_the_error(
    tmp_path: Path, names: tuple[str, str], hour: int
) -> None:
    first, second = "2026-02-25T10:00:00.000Z", "2026-02-25T11:00:00.000Z"
    (tmp_path / names[0]).write_bytes(log(10, first, first))
    (tmp_path / names[1]).write_bytes(log(8, f"2026-02-25T{hour:02}:00:00.000Z", second))
    source = open_source(tmp_path)
    clock = [each for each in source.findings(LENS) if each.rule == "SNP052"]
    errors = [Path(each.origin.file).name for each in clock if each.severity is Severity.ERROR]
    assert errors == [names[1]]
    assert {Path(each.origin.file).name for each in clock} == {names[1]}
    assert labels(source) == ["round 10 log", "round 8 log"]


def test_one_missing_turn_is_singular(tmp_path: Path) -> None:
    for number in (8, 10, 13):
        (tmp_path / f"r{number}.json").write_bytes(to_bytes(at(number, **FULL)))
    messages = [each.message for each in open_source(tmp_path).findings(LENS) if each.rule == "SNP052"]
    assert messages == [
        "the round jumps from 8 to 10: 1 turn is missing",
        "the round jumps from 10 to 13: 2 turns are missing",
    ]


def test_rounds_and_names_prove_that_a_time_went_back(tmp_path: Path) -> None:
    for number, hour in ((9, 12), (10, 11), (11, 13)):
        time = f"2026-02-25T{hour}:00:00.000Z"
        (tmp_path / f"r{number}.json").write_bytes(to_bytes(at(number, time=time, **FULL)))
    source = open_source(tmp_path)
    clock = [each for each in source.findings(LENS) if each.rule == "SNP052"]
    assert [(each.severity, Path(each.origin.file).name) for each in clock] == [
        (Severity.WARNING, "r10.json")
    ]


# -- the state that a revision continues ---------------------------------------------------------------------


def test_no_snapshot_continues_a_reply(tmp_path: Path) -> None:
    (tmp_path / "r1.reply.txt").write_bytes(reply_bytes(at(1, **FULL)))
    (tmp_path / "r2.json").write_bytes(to_bytes(at(2, **FULL)))
    (tmp_path / "r2.reply.txt").write_bytes(reply_bytes(at(2)))
    (tmp_path / "r3.lite.json").write_bytes(to_bytes({"modelContext": at(3), "meta": {}}))
    revisions = open_source(tmp_path).revisions
    before = [previous_revision(revisions, place) for place in range(len(revisions))]
    kinds = [None if place is None else revisions[place].kind for place in before]
    assert "reply" not in kinds
    by_name = {each.file.name: place for place, each in enumerate(revisions)}
    assert before[by_name["r3.lite.json"]] == by_name["r2.json"]
