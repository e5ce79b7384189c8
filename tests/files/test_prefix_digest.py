from __future__ import annotations

from hashlib import sha256

from ctxview.files.line_file import never_cancelled
from ctxview.files.open_file import PrefixDigest

DATA = bytes(range(256)) * 2000


def test_digests_are_those_of_the_first_bytes_and_nothing_is_read_twice() -> None:
    asked: list[int] = []

    def read(start: int, end: int) -> bytes:
        asked.append(start)
        return DATA[start:end]

    first = PrefixDigest()
    assert first.digests(read, [0, 300_000], never_cancelled) == tuple(
        sha256(DATA[:length]).hexdigest() for length in (0, 300_000)
    )
    later = first.copy()
    assert later.digests(read, [300_000, len(DATA)], never_cancelled) == tuple(
        sha256(DATA[:length]).hexdigest() for length in (300_000, len(DATA))
    )
    assert asked == sorted(asked)
    assert later.digests(read, [7], never_cancelled) == (sha256(DATA[:7]).hexdigest(),)
    assert first.digests(read, [300_000], never_cancelled) == (sha256(DATA[:300_000]).hexdigest(),)


def test_a_shorter_file_and_a_cancelled_reading_have_no_digest() -> None:
    def read(start: int, end: int) -> bytes:
        return DATA[start:end][: 10 - start]

    assert PrefixDigest().digests(read, [11], never_cancelled) is None
    assert PrefixDigest().digests(read, [10], lambda: True) is None
    assert PrefixDigest().digests(read, [10], never_cancelled) == (sha256(DATA[:10]).hexdigest(),)
