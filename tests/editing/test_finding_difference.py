"""The difference between the findings of two versions."""

from __future__ import annotations

from ctxview.core.findings import Effect, Finding, Severity
from ctxview.core.origin import Origin
from ctxview.editing.draft import ReviewedVersion, finding_difference


def finding(pointer: str | None, start: int = 0, end: int = 1, message: str = "bad") -> Finding:
    return Finding("T001", Severity.ERROR, Effect.NONE, message, Origin("f", pointer, start, end, line=start))


def test_a_finding_whose_bytes_moved_is_the_same() -> None:
    found = finding_difference(
        ReviewedVersion(b"", [finding("/a", 5)]), ReviewedVersion(b"", [finding("/a", 9)]), shifted=False
    )

    assert (found.added, found.removed) == ((), ())
    assert [each.origin.start for each in found.kept] == [9]


def test_another_message_another_place_or_one_more_is_new() -> None:
    before = [finding("/a"), finding("/b")]
    after = [finding("/a", message="worse"), finding("/b"), finding("/b"), finding("/c")]

    found = finding_difference(ReviewedVersion(b"", before), ReviewedVersion(b"", after), shifted=False)

    assert [(each.message, each.origin.pointer) for each in found.added] == [
        ("worse", "/a"),
        ("bad", "/b"),
        ("bad", "/c"),
    ]
    assert [each.origin.pointer for each in found.removed] == ["/a"]


def test_a_finding_about_shifted_but_equal_bytes_is_the_same() -> None:
    before, after = (
        ReviewedVersion(b"xyz", [finding("/t/0", 1, 3)]),
        ReviewedVersion(b"aayz", [finding("/other/4", 2, 4)]),
    )

    assert finding_difference(before, after, shifted=True).added == ()
    assert len(finding_difference(before, after, shifted=False).added) == 1


def test_a_finding_at_a_shifted_index_is_the_same() -> None:
    before, after = (
        ReviewedVersion(b"x", [finding("/t/0/tags/1")]),
        ReviewedVersion(b"y", [finding("/t/7/tags/2")]),
    )

    assert finding_difference(before, after, shifted=True).removed == ()
    assert (
        len(finding_difference(before, ReviewedVersion(b"y", [finding("/t/7")]), shifted=True).removed) == 1
    )
