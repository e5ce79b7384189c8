from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ctxview.formats.masked_bytes import MASK, mask_bytes, showable_bytes
from tests.tui.handoff_story import FILE, SECRET, Handoff
from tests.tui.snapshot_stories import night

SPANS = st.lists(st.integers(0, 60), max_size=8, unique=True).map(
    lambda edges: list(zip(sorted(edges)[::2], sorted(edges)[1::2], strict=False))
)


def test_a_span_becomes_a_mark_and_the_rest_stays() -> None:
    masked = mask_bytes(b'{"a": "secret", "b": 1}', [(7, 13)])
    assert masked.data == b'{"a": "[withheld]", "b": 1}'
    assert (masked.size, masked.hidden) == (23, 1)


def test_masking_keeps_line_ends() -> None:
    masked = mask_bytes(b"one\ntwo\n\nthree\nfour", [(2, 12)])
    assert masked.data == b"on[withheld]\n[withheld]\n\n[withheld]ee\nfour"


def test_offsets_are_mapped_to_masked_offsets() -> None:
    masked = mask_bytes(b"0123SECRET89", [(4, 10)])
    assert masked.place(3) == 3
    assert masked.place(6) == 4
    assert masked.data[masked.place(10) :] == b"89"
    assert masked.data[slice(*masked.span(2, 6))] == b"23" + MASK
    assert masked.data[slice(*masked.span(5, 11))] == MASK + b"8"


@given(st.binary(max_size=60), SPANS)
def test_every_visible_byte_is_found_at_its_masked_offset(data: bytes, spans: list[tuple[int, int]]) -> None:
    masked = mask_bytes(data, spans)
    assert masked.data.count(b"\n") == data.count(b"\n")
    for at, byte in enumerate(data):
        if not any(start <= at < end for start, end in spans):
            assert masked.data[masked.place(at)] == byte
            start, end = masked.span(at, at + 1)
            assert masked.data[start:end] == bytes([byte])


def test_spans_that_overlap_or_go_beyond_the_end_are_withheld() -> None:
    assert mask_bytes(b"0123456789", [(2, 5), (4, 7), (9, 40)]).data == b"01[withheld][withheld]78[withheld]"


def test_a_source_that_withholds_nothing_shows_its_bytes() -> None:
    assert showable_bytes(night(), "x", b"anything").data == b"anything"


def test_the_spans_of_a_draft_are_withheld() -> None:
    shown = showable_bytes(Handoff(), FILE, f"longer than before: {SECRET}!".encode())
    assert shown.data == b"longer than before: [withheld]!"
