from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ctxview.tui.veil import MARK, may_be_shown, veil
from tests.tui.handoff import FILE, SECRET, Handoff
from tests.tui.stories import night

SPANS = st.lists(st.integers(0, 60), max_size=8, unique=True).map(
    lambda edges: list(zip(sorted(edges)[::2], sorted(edges)[1::2], strict=False))
)


def test_a_span_becomes_a_mark_and_the_rest_stays() -> None:
    veiled = veil(b'{"a": "secret", "b": 1}', [(7, 13)])
    assert veiled.data == b'{"a": "[withheld]", "b": 1}'
    assert (veiled.size, veiled.hidden) == (23, 1)


def test_lines_stay_lines() -> None:
    veiled = veil(b"one\ntwo\n\nthree\nfour", [(2, 12)])
    assert veiled.data == b"on[withheld]\n[withheld]\n\n[withheld]ee\nfour"


def test_places_move_with_their_bytes() -> None:
    veiled = veil(b"0123SECRET89", [(4, 10)])
    assert veiled.place(3) == 3
    assert veiled.place(6) == 4
    assert veiled.data[veiled.place(10) :] == b"89"
    assert veiled.data[slice(*veiled.span(2, 6))] == b"23" + MARK
    assert veiled.data[slice(*veiled.span(5, 11))] == MARK + b"8"


@given(st.binary(max_size=60), SPANS)
def test_what_is_not_withheld_is_found_at_its_place(data: bytes, spans: list[tuple[int, int]]) -> None:
    veiled = veil(data, spans)
    assert veiled.data.count(b"\n") == data.count(b"\n")
    for at, byte in enumerate(data):
        if not any(start <= at < end for start, end in spans):
            assert veiled.data[veiled.place(at)] == byte
            start, end = veiled.span(at, at + 1)
            assert veiled.data[start:end] == bytes([byte])


def test_spans_that_overlap_or_reach_too_far_are_withheld_all_the_same() -> None:
    assert veil(b"0123456789", [(2, 5), (4, 7), (9, 40)]).data == b"01[withheld][withheld]78[withheld]"


def test_a_source_that_withholds_nothing_shows_its_bytes() -> None:
    assert may_be_shown(night(), "x", b"anything").data == b"anything"


def test_a_draft_is_asked_for_its_own_spans() -> None:
    shown = may_be_shown(Handoff(), FILE, f"longer than before: {SECRET}!".encode())
    assert shown.data == b"longer than before: [withheld]!"
