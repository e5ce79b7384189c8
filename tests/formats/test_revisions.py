"""Revisions are found by a name, a number, a part of a name, or a time."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxview.formats import Revision
from ctxview.formats.revisions import RevisionError, find_revision, previous_revision

NIGHT = [
    Revision("round 2", "snapshot", Path("a"), 2, "2026-03-11T22:04:12Z"),
    Revision("round 2 reply", "reply", Path("b"), 2, "2026-03-11T22:04:12Z"),
    Revision("round 3", "snapshot", Path("c"), 3, "2026-03-12T00:31:05Z", "round 2"),
    Revision("round 12", "snapshot", Path("d"), 12, "2026-03-12T02:24:33Z", "round 3"),
]
FILES = [Revision(name, "file", Path(name)) for name in ("monday", "tuesday", "wednesday")]


@pytest.mark.parametrize(
    ("wanted", "place"),
    [
        ("round 2", 0),
        ("2", 0),
        ("3", 2),
        ("12", 3),
        ("1", 0),
        ("4", 3),
        ("#2", 1),
        ("#1", 0),
        ("-1", 3),
        ("-4", 0),
        ("reply", 1),
        ("REPLY", 1),
        ("round 1", 3),
        ("2026-03-12T01:00:00Z", 2),
        ("2026-03-12T01:00", 2),
        ("2026-03-12", 3),
        ("2026-03-11", 1),
    ],
)
def test_a_revision_is_found_by_name_number_part_or_time(wanted: str, place: int) -> None:
    assert find_revision(NIGHT, wanted) == place


def test_a_time_of_day_is_the_last_one_before_the_end() -> None:
    walls = [
        Revision("a", "file", Path("a"), None, "2026-03-11T23:00:00"),
        Revision("b", "file", Path("b"), None, "2026-03-12T01:00:00"),
    ]

    assert find_revision(walls, "00:30") == 0
    assert find_revision(walls, "01:00") == 1
    assert find_revision(walls, "23:30") == 0


def test_an_ambiguous_part_lists_the_revisions_it_fits() -> None:
    with pytest.raises(RevisionError, match="day is ambiguous: it could be monday, tuesday, wednesday"):
        find_revision(FILES, "day")


@pytest.mark.parametrize("wanted", ["0", "99", "-5", "#0", "#99", "", "friday", "25:99", "2026-13-01"])
def test_an_unknown_revision_is_answered_with_the_known_ones(wanted: str) -> None:
    with pytest.raises(RevisionError, match="monday, tuesday, wednesday"):
        find_revision(FILES, wanted)


def test_a_time_before_everything_names_the_first() -> None:
    with pytest.raises(RevisionError, match="the first is round 2"):
        find_revision(NIGHT, "2020-01-01")


def test_a_time_needs_revisions_that_have_one() -> None:
    with pytest.raises(RevisionError, match="have no times"):
        find_revision(FILES, "2026-03-12")


def test_a_revision_is_compared_with_the_one_it_continues() -> None:
    assert [previous_revision(NIGHT, place) for place in range(4)] == [None, 0, 0, 2]


def test_a_revision_that_continues_an_unknown_one_is_compared_with_the_one_before() -> None:
    lost = [FILES[0], Revision("x", "file", Path("x"), follows="gone")]

    assert previous_revision(lost, 1) == 0


def test_unix_seconds_are_a_time_too() -> None:
    assert find_revision(NIGHT, "1773275500") == 2


def test_a_time_before_the_first_one_lists_the_revisions_without_a_time() -> None:
    session = [*FILES[:2], Revision("now", "session", Path("s"), time="2026-03-16T15:26:30Z")]

    assert find_revision(session, "2026-03-17") == 2
    with pytest.raises(RevisionError, match=r"has a time is now, 2026-.*there are monday, tuesday"):
        find_revision(session, "2026-03-16T12:00:00Z")
