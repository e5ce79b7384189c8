"""Which findings came and which went."""

from __future__ import annotations

from ctxview.finding_difference import Reviewed, difference
from ctxview.findings import Effect, Finding, Severity
from ctxview.state import Origin


def finding(pointer: str | None, start: int = 0, end: int = 1, message: str = "bad") -> Finding:
    return Finding("T001", Severity.ERROR, Effect.NONE, message, Origin("f", pointer, start, end, line=start))


def test_a_finding_whose_bytes_moved_is_the_same() -> None:
    found = difference(Reviewed(b"", [finding("/a", 5)]), Reviewed(b"", [finding("/a", 9)]), shifted=False)

    assert (found.added, found.removed) == ((), ())
    assert [each.origin.start for each in found.kept] == [9]


def test_another_message_another_place_or_one_more_is_new() -> None:
    before = [finding("/a"), finding("/b")]
    after = [finding("/a", message="worse"), finding("/b"), finding("/b"), finding("/c")]

    found = difference(Reviewed(b"", before), Reviewed(b"", after), shifted=False)

    assert [(each.message, each.origin.pointer) for each in found.added] == [
        ("worse", "/a"),
        ("bad", "/b"),
        ("bad", "/c"),
    ]
    assert [each.origin.pointer for each in found.removed] == ["/a"]


def test_where_elements_shifted_the_same_bytes_make_it_the_same() -> None:
    before, after = Reviewed(b"xyz", [finding("/t/0", 1, 3)]), Reviewed(b"aayz", [finding("/other/4", 2, 4)])

    assert difference(before, after, shifted=True).added == ()
    assert len(difference(before, after, shifted=False).added) == 1


def test_where_elements_shifted_a_like_place_makes_it_the_same() -> None:
    before, after = Reviewed(b"x", [finding("/t/0/tags/1")]), Reviewed(b"y", [finding("/t/7/tags/2")])

    assert difference(before, after, shifted=True).removed == ()
    assert len(difference(before, Reviewed(b"y", [finding("/t/7")]), shifted=True).removed) == 1
