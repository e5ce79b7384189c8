"""Which revision a person means by a name, a number, a part of a name, or a time."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxview.formats import Revision
from ctxview.formats.revisions import NoSuchRevision, before, find

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
def test_a_revision_is_found_by_what_people_call_it(wanted: str, place: int) -> None:
    assert find(NIGHT, wanted) == place


def test_a_time_of_day_is_the_last_one_before_the_end() -> None:
    walls = [
        Revision("a", "file", Path("a"), None, "2026-03-11T23:00:00"),
        Revision("b", "file", Path("b"), None, "2026-03-12T01:00:00"),
    ]

    assert find(walls, "00:30") == 0
    assert find(walls, "01:00") == 1
    assert find(walls, "23:30") == 0


def test_a_part_that_fits_several_names_says_which() -> None:
    with pytest.raises(NoSuchRevision, match="day could be monday, tuesday, wednesday"):
        find(FILES, "day")


@pytest.mark.parametrize("wanted", ["0", "99", "-5", "#0", "#99", "", "friday", "25:99", "2026-13-01"])
def test_what_is_not_there_is_answered_with_what_is(wanted: str) -> None:
    with pytest.raises(NoSuchRevision, match="monday, tuesday, wednesday"):
        find(FILES, wanted)


def test_a_time_before_everything_names_the_first() -> None:
    with pytest.raises(NoSuchRevision, match="the first is round 2"):
        find(NIGHT, "2020-01-01")


def test_a_time_needs_revisions_that_have_one() -> None:
    with pytest.raises(NoSuchRevision, match="have no times"):
        find(FILES, "2026-03-12")


def test_a_revision_is_compared_with_what_it_goes_on_from() -> None:
    assert [before(NIGHT, place) for place in range(4)] == [None, 0, 0, 2]


def test_one_that_goes_on_from_nothing_known_is_compared_with_the_one_before() -> None:
    lost = [FILES[0], Revision("x", "file", Path("x"), follows="gone")]

    assert before(lost, 1) == 0


def test_unix_seconds_are_a_time_too() -> None:
    assert find(NIGHT, "1773275500") == 2


def test_a_time_before_the_first_known_one_names_those_without() -> None:
    session = [*FILES[:2], Revision("now", "session", Path("s"), time="2026-03-16T15:26:30Z")]

    assert find(session, "2026-03-17") == 2
    with pytest.raises(NoSuchRevision, match=r"has a time is now, 2026-.*there are monday, tuesday"):
        find(session, "2026-03-16T12:00:00Z")
