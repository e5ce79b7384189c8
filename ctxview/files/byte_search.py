"""Find byte strings in huge files, in either direction, with or without regard to case; it knows no lines.

The search looks for the rarest byte of a needle first, which is as fast as memory, and compares the rest only
there. A sample of the file shows which byte is rare.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Final

from ctxview.files.open_file import SLICE, OpenFile

_SAMPLE: Final = 16 * 1024
# With more false starts in a slice than this, a plain search is quicker.
_FALSE_STARTS: Final = 1000
_PLAIN_SLICES: Final = 16


def needle_variants(text: str, ignore_case: bool = False) -> tuple[bytes, ...]:
    """Return all spellings of `text` in a JSON file: as it is, and escaped as JSON strings are.

    With `ignore_case` they include the text in small letters, in capitals and with capital initials. This
    matters beyond ASCII only: `find_bytes` ignores the case of ASCII letters itself.
    """
    texts = [text]
    if ignore_case and not text.isascii():
        texts += [text.lower(), text.upper(), text.title()]
    spellings = [spelling for each in texts for spelling in _spellings(each) if spelling]
    return tuple(dict.fromkeys(spelling.encode("utf-8", "surrogatepass") for spelling in spellings))


def find_bytes(
    file: OpenFile,
    size: int,
    needles: Sequence[bytes],
    start: int,
    backwards: bool,
    ignore_case: bool,
    cancelled: Callable[[], bool],
) -> int | None:
    """Return the offset of the first needle at or after `start`, or `backwards` of the last before it.

    Only the first `size` bytes are searched. None when there is no needle, or when cancelled.
    """
    wanted = [_Needle(needle, ignore_case) for needle in needles if needle]
    if not wanted:
        return None
    longest = max(needle.length for needle in wanted)
    width = max(SLICE, 4 * longest)
    buffer = bytearray(width + longest - 1)
    start = min(max(start, 0), size)
    while (start > 0 if backwards else start < size) and not cancelled():
        # A needle that begins in this slice may end in the next one.
        low, high = (max(start - width, 0), start) if backwards else (start, min(start + width, size))
        window = memoryview(buffer)[: min(high + longest - 1, size) - low]
        read = file.read_into(window, low)
        starts = [needle.find(buffer, read, high - low, backwards) for needle in wanted]
        if found := [at for at in starts if at >= 0]:
            return low + (max(found) if backwards else min(found))
        start = low if backwards else high
    return None


class _Needle:
    """One byte string, and the fastest way to find it in this file."""

    def __init__(self, needle: bytes, ignore_case: bool) -> None:
        self.length = len(needle)
        self._needle = needle.lower() if ignore_case else needle
        self._ignore_case = ignore_case
        self._anchor: int | None = None
        self._plain_slices = 0

    def find(self, buffer: bytearray, read: int, starts: int, last: bool) -> int:
        """Return where the first (or `last`) match begins in the first `starts` bytes, or -1."""
        starts = min(starts, read - self.length + 1)
        if starts <= 0:
            return -1
        if not self._plain_slices and self._anchor is None:
            self._choose_anchor(buffer[: min(_SAMPLE, read)])
        if self._plain_slices or self._anchor is None:
            self._plain_slices -= 1
            return self._plainly(buffer, starts, last)
        found = self._by_anchor(buffer, self._anchor, starts, last)
        if found is None:
            self._search_plainly_for_a_while()
            return self._plainly(buffer, starts, last)
        return found

    def _choose_anchor(self, sample: bytearray) -> None:
        """Choose the position in the needle whose byte is rarest, if it is rare enough."""
        counts = {byte: sum(map(sample.count, self._cases(byte))) for byte in set(self._needle)}
        rarest = min(counts, key=counts.__getitem__)
        if counts[rarest] * (SLICE // _SAMPLE) > _FALSE_STARTS:
            self._search_plainly_for_a_while()
        else:
            self._anchor = self._needle.index(rarest)

    def _search_plainly_for_a_while(self) -> None:
        self._anchor = None
        self._plain_slices = _PLAIN_SLICES

    def _by_anchor(self, buffer: bytearray, anchor: int, starts: int, last: bool) -> int | None:
        """Compare at each occurrence of the anchor; None when it occurs too often."""
        found, false_starts = -1, 0
        low, high = anchor, anchor + starts
        seek = buffer.rfind if last else buffer.find
        for byte in self._cases(self._needle[anchor]):
            start, end = low, high
            while (at := seek(byte, start, end)) >= 0:
                if self._matches_at(buffer, at - anchor):
                    found = at - anchor
                    # A match by the other case counts only if it is further out.
                    low, high = (at + 1, high) if last else (low, at)
                    break
                false_starts += 1
                if false_starts > _FALSE_STARTS:
                    return None
                start, end = (start, at) if last else (at + 1, end)
        return found

    def _matches_at(self, buffer: bytearray, at: int) -> bool:
        if self._ignore_case:
            return buffer[at : at + self.length].lower() == self._needle
        return buffer.startswith(self._needle, at)

    def _plainly(self, buffer: bytearray, starts: int, last: bool) -> int:
        text = buffer.lower() if self._ignore_case else buffer
        end = starts + self.length - 1
        # Searching forwards is much faster, and most slices have no match.
        found = text.find(self._needle, 0, end)
        return text.rfind(self._needle, found, end) if last and found >= 0 else found

    def _cases(self, byte: int) -> tuple[bytes, ...]:
        one = bytes((byte,))
        return (one, one.upper()) if self._ignore_case and one.islower() else (one,)


def _spellings(text: str) -> tuple[str, ...]:
    escaped = [json.dumps(character)[1:-1] for character in text]
    return (
        text,
        json.dumps(text, ensure_ascii=False)[1:-1],
        "".join(escaped),
        "".join(each.upper().replace("\\U", "\\u") if each.startswith("\\u") else each for each in escaped),
    )
