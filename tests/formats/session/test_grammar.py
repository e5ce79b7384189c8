"""The small grammars: names, hash ids, ranges, durations, keys."""

from __future__ import annotations

import pytest

from ctxview.formats.session.grammar import (
    CitedRange,
    SourceKind,
    cited_range,
    cwd_key,
    digest_in,
    duration,
    is_clean_path,
    is_hash_id,
    is_name,
    parse_citation,
    tail_count,
)
from ctxview.formats.session.pack_candidates import source_fault


@pytest.mark.parametrize("name", ["a", "A9._+-", "x" * 64, "rev-1", "a.sockets", "0"])
def test_a_valid_name(name: str):
    assert is_name(name)


@pytest.mark.parametrize("name", ["", "-a", ".a", "a b", "a/b", "x" * 65, "a.sock", "a.d", "é", "a\n"])
def test_an_invalid_name(name: str):
    assert not is_name(name)


def test_a_full_hash_id_is_valid_although_longer_than_a_name():
    full = f"sha256-{'a' * 64}"
    assert not is_name(full)
    assert is_hash_id(full)
    assert digest_in(full) == "a" * 64
    assert digest_in("sha256:" + "b" * 64) == "b" * 64


@pytest.mark.parametrize("name", ["sha256-abc", "sha256-" + "A" * 64, "sha256-" + "a" * 63])
def test_a_placeholder_has_no_digest(name: str):
    assert is_hash_id(name)
    assert digest_in(name) is None


def test_the_key_of_a_working_directory_is_the_published_one():
    assert cwd_key("/workspace") == "cwd-990e10b3394addcf"


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("messages:12-18", CitedRange(SourceKind.MESSAGES, 12, 18)),
        ("events:4", CitedRange(SourceKind.EVENTS, 4, 4)),
        ("user:latest", CitedRange(SourceKind.LATEST_USER)),
        ("messages:", CitedRange(SourceKind.OTHER)),
        ("messages:1-2-3", CitedRange(SourceKind.OTHER)),
        ("messages:1- 2", CitedRange(SourceKind.OTHER)),
        ("a book", CitedRange(SourceKind.OTHER)),
        ("messages:" + "9" * 5000, CitedRange(SourceKind.OTHER)),
    ],
)
def test_a_source_is_parsed_as_a_citation(source: str, found: CitedRange):
    assert parse_citation(source) == found


def test_a_range_without_a_history_takes_that_of_its_source():
    assert cited_range("messages.jsonl", "1-120") == CitedRange(SourceKind.MESSAGES, 1, 120)
    assert cited_range("events.jsonl", "7-7") == CitedRange(SourceKind.EVENTS, 7, 7)
    assert cited_range("context/summary.md", "1-2").kind is SourceKind.OTHER
    assert parse_citation("messages:3-2").reversed


@pytest.mark.parametrize(
    ("text", "seconds"), [("1d", 86400), ("2w", 1209600), ("0s", 0), ("d", None), ("1 d", None)]
)
def test_a_duration_is_parsed_in_seconds(text: str, seconds: int | None):
    assert duration(text) == seconds


@pytest.mark.parametrize(("text", "count"), [("tail:40", 40), ("tail:", None), ("head:3", None)])
def test_a_tail_is_parsed_as_a_count(text: str, count: int | None):
    assert tail_count(text) == count


@pytest.mark.parametrize(
    ("path", "clean"), [("/", True), ("/a/b", True), ("/a/", False), ("a", False), ("/a\tb", False)]
)
def test_a_clean_path_is_absolute_and_normalised(path: str, clean: bool):
    assert is_clean_path(path) is clean


@pytest.mark.parametrize(
    "source",
    [
        "messages.jsonl",
        "state",
        "context/plan.json",
        "context/pinned/system.md",
        "context/child/rev-1/result.md",
        "context/child/rev-1/artifact/report.md",
    ],
)
def test_a_pack_may_take_this_source(source: str):
    assert source_fault(source) is None


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("", "empty"),
        ("/x", "absolute"),
        ("context//x", "empty part"),
        ("./state", "part ."),
        ("context/../state", "part .."),
        ("context/gc.policy", "not the place of a pack source"),
        ("context/swap/chunk/sha256-a", "not the place of a pack source"),
        ("context/child/rev-1/status", "of a child only"),
        ("context/child/rev-1/artifact/a/b", "of a child only"),
        ("notes.md", "not the place of a pack source"),
    ],
)
def test_a_pack_may_not_take_this_source(source: str, reason: str):
    assert reason in (source_fault(source) or "")
