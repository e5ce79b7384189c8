"""Replace given texts in other text, in every spelling, and prove that none of them is left.

Copies are found by `CopyFinder`, also in part and encoded; spellings that a line end splits, and digests of
the texts, are found here. A replacement is the same everywhere, so that names and mentions of them agree.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from typing import Final
from urllib.parse import quote

from msgspec import Struct

from ctxview.analysis.text_copies import CopyFinder
from ctxview.formats.masked_bytes import MASK

SHORTEST: Final = 4
"""Characters of the shortest text that is searched for; shorter ones occur everywhere by chance."""
CHUNK: Final = 4_000_000
"""Characters that are searched at once; a second pass finds what lies on a border."""
LONGEST_SPLIT: Final = 4_000
"""Characters of a spelling that is searched for with line ends in it; of longer ones, parts are found."""
_ALGORITHMS: Final = ("md5", "sha1", "sha256", "sha384", "sha512")
_BREAK: Final = r"(?:[\s\u200b]|\\[nrt])*"
_BREAKS: Final = re.compile(r"(?:[\s\u200b]|\\[nrt])+")
_BASE64_RUN: Final = "A-Za-z0-9+/_="
_LONG_ENOUGH: Final = 6
"""Characters of an encoded spelling below which it may occur by chance."""
_LINE_SIGN: Final = re.compile(r"\s*(?:[-*+>#]+|\d+\.)\s+")
_ESCAPE: Final = re.compile(r"\\u[0-9a-fA-F]{4}")
_WORD: Final = re.compile(r"[A-Za-z_]+")


class RedactedValue(Struct, frozen=True):
    """A text to remove, and what replaces it. An `exact` text was typed: it is removed inside words too."""

    text: str
    mark: str
    exact: bool = False


class ReplacedSpan(Struct, frozen=True):
    start: int
    end: int
    replacement: str


class TextRedactor:
    """Removes some texts from other texts."""

    def __init__(self, values: Iterable[RedactedValue]) -> None:
        self.values = tuple(each for each in values if len(each.text.strip()) >= SHORTEST)
        self._finder = CopyFinder((each.text, each) for each in self.values)
        found = {(value, spelling) for value in self.values for spelling in spellings(value.text)}
        self.spellings: Sequence[tuple[RedactedValue, str]] = sorted(
            found, key=lambda each: (-len(each[1]), each[1])
        )
        """Every value in every spelling, the longest first."""
        typed = {
            (value, each.lower()) for value in self.values if value.exact for each in _readable(value.text)
        }
        self._typed = sorted(typed, key=lambda each: (-len(each[1]), each[1]))
        """What was typed, in lower case: it is searched for without regard to case, also inside words."""

    def __bool__(self) -> bool:
        return bool(self.values)

    def narrowed(self, text: str) -> TextRedactor:
        """Return a redactor for parts of `text`, which searches only for spellings that occur in it."""
        other = copy(self)
        bare = _BREAKS.sub("", text)
        other.spellings = [each for each in self.spellings if each[1] in bare or each[1] in text]
        return other

    def redacted(self, text: str) -> str:
        """Return `text` without the values; line ends inside a removed span stay."""
        for shift in (0, CHUNK // 2) if len(text) > CHUNK else (0,):
            pieces = _chunks(text, shift)
            text = "".join(map(self._redacted, pieces))
        return text

    def without_structures(self, text: str) -> str:
        """Return JSON without the objects and arrays that are values, in any layout."""
        for value, spelling in self.spellings:
            if spelling == value.text and spelling[:1] in ("{", "[") and len(spelling) <= LONGEST_SPLIT:
                pattern = _BREAK.join(map(re.escape, spelling))
                text = re.sub(pattern, _marked(spelling, value.mark), text)
        return text

    def leak(self, text: str) -> RedactedValue | None:
        """Return a value that a text still holds in some spelling, or None."""
        bare = _BREAKS.sub("", text)
        for value, spelling in self.spellings:
            if spelling in text or (len(spelling) >= SHORTEST and spelling in bare):
                return value
        lower, bare = (text.lower(), bare.lower()) if self._typed else ("", "")
        return next((value for value, each in self._typed if each in lower or each in bare), None)

    def digests(self) -> dict[str, str]:
        """The digests of the values in lower-case hexadecimal, and the digests that replace them."""
        return {
            getattr(hashlib, name)((each.text + end).encode()).hexdigest(): getattr(hashlib, name)(
                (each.mark + end).encode()
            ).hexdigest()
            for each in self.values
            for name in _ALGORITHMS
            for end in ("", "\n")
        }

    def _redacted(self, text: str) -> str:
        copies = [*self._copies(text), *self._split_copies(text)]
        found = sorted(
            (_with_whole_escapes(text, each) for each in copies), key=lambda each: (each.start, -each.end)
        )
        pieces: list[str] = []
        done = 0
        for each in found:
            start, end = max(each.start, done), each.end
            if start >= end:
                continue
            pieces += [
                text[done:start],
                _marked(text[start:end], each.replacement) if start == each.start else "",
            ]
            done = end
        return "".join([*pieces, text[done:]]) if pieces else text

    def _copies(self, text: str) -> Iterator[ReplacedSpan]:
        for start, end, value in self._finder.find(text):
            # A single word of a long text may be a word of the format.
            if not value.exact and end - start < len(value.text) and _WORD.fullmatch(text[start:end]):
                continue
            if end - start < len(value.text):
                start, end = _whole_lines(text, start, end)
            yield ReplacedSpan(start, end, value.mark)

    def _split_copies(self, text: str) -> Iterator[ReplacedSpan]:
        """Yield the spellings that the finder does not know: inside words, and split by line ends."""
        bare = _BREAKS.sub("", text) if self.spellings else ""
        for value, spelling in self.spellings:
            if len(spelling) > LONGEST_SPLIT or (spelling not in bare and spelling not in text):
                continue
            pattern = _BREAK.join(map(re.escape, spelling))
            around = _BASE64_RUN if spelling != value.text and spelling.isalnum() else ""
            for match in re.finditer(f"[{around}]*{pattern}[{around}]*" if around else pattern, text):
                yield ReplacedSpan(*match.span(), value.mark)
        lower, bare = (text.lower(), bare.lower()) if self._typed else ("", "")
        for value, spelling in self._typed:
            if len(spelling) <= LONGEST_SPLIT and (spelling in lower or spelling in bare):
                for match in re.finditer(_BREAK.join(map(re.escape, spelling)), text, re.IGNORECASE):
                    yield ReplacedSpan(*match.span(), value.mark)


def without_spans(data: bytes, spans: Sequence[tuple[int, int]]) -> bytes:
    """Return bytes with spans replaced so that JSON stays JSON; a span is a value, or a part of a text."""
    pieces: list[bytes] = []
    done = 0
    for start, end in spans:
        pieces += [data[done:start], _blank(data[start:end])]
        done = end
    return b"".join([*pieces, data[done:]])


def _blank(span: bytes) -> bytes:
    try:
        value = json.loads(span)
    except (ValueError, RecursionError):
        return MASK
    if isinstance(value, str):
        return b'"' + MASK + b'"'
    # A part of a text may read as a number or a list, so no quotes are added.
    return b"{}" if isinstance(value, dict) else b"[]" if isinstance(value, list) else b"0"


def _whole_lines(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span of a part of a value without the few characters of a first or last line.

    Two texts have those in common by chance: the end of a word, or the sign of the next item of a list.
    """
    first, last = text.find("\n", start, end), text.rfind("\n", start, end)
    if 0 <= first - start < SHORTEST:
        start = first + 1
        sign = _LINE_SIGN.match(text, start, end)
        start = sign.end() if sign is not None else start
    if 0 < end - last - 1 < SHORTEST and last > start:
        end = last
    return start, end


def _with_whole_escapes(text: str, span: ReplacedSpan) -> ReplacedSpan:
    """Return the span with the whole of an escape such as `\\u00d0` that it begins or ends in."""
    start, end = span.start, span.end
    for escape in _ESCAPE.finditer(text, max(0, start - 5), start + 5):
        start = escape.start() if escape.start() < start < escape.end() else start
    for escape in _ESCAPE.finditer(text, max(0, end - 5), end + 5):
        end = escape.end() if escape.start() < end < escape.end() else end
    return ReplacedSpan(start, end, span.replacement)


def _marked(removed: str, mark: str) -> str:
    """Return what replaces a text: the mark, numbered in each further line, so that no line repeats another.

    The signs of lists and headings stay, and an object or array of JSON stays one.
    """
    if removed[:1] in ("{", "[") and is_readable_json(removed):
        return json.dumps({mark: True} if removed[0] == "{" else [mark])
    first, *others = removed.split("\n")
    lines = [mark if first.strip() or not others else first]
    for number, line in enumerate(others, 2):
        sign = _LINE_SIGN.match(line)
        lines.append(f"{sign[0] if sign else ''}{mark}.{number}" if line.strip() else line)
    # A heading stays one also alone: the text below it belongs to it.
    if (sign := _LINE_SIGN.match(first)) and (others or "#" in sign[0]):
        lines[0] = f"{sign[0]}{mark}"
    return "\n".join(lines)


def is_readable_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def spellings(text: str) -> Iterator[str]:
    """Yield a text as files may write it: plain, escaped for JSON, in percents, base64 and hexadecimal."""
    yield from _readable(text)
    data = text.encode("utf-8", "surrogatepass")
    encoded = [data.hex(), data.hex().upper(), *_base64_cores(data)]
    yield from (each for each in encoded if len(each) >= _LONG_ENOUGH)


def _readable(text: str) -> Iterator[str]:
    """Yield the spellings whose letters are those of the text."""
    yield text
    for ascii_only in (True, False):
        escaped = json.dumps(text, ensure_ascii=ascii_only)[1:-1]
        yield escaped
        yield json.dumps(escaped)[1:-1]
    for safe in ("", "/", "/:@!$&'()*+,;="):
        yield quote(text, safe=safe)
    data = text.encode("utf-8", "surrogatepass")
    yield "".join(f"%{byte:02X}" for byte in data)
    yield "".join(f"%{byte:02x}" for byte in data)


def _base64_cores(data: bytes) -> Iterator[str]:
    """Yield the base64 digits of `data` at each of three offsets, without those shared with neighbours."""
    for offset in range(3):
        whole = base64.b64encode(b"\0" * offset + data).decode()
        first, last = -(-offset * 8 // 6), (offset + len(data)) * 8 // 6
        yield whole[first:last]
        yield whole[first:last].translate(str.maketrans("+/", "-_"))


def _chunks(text: str, shift: int) -> Iterator[str]:
    """Yield a text in pieces that end with a line; the first one is smaller by `shift`."""
    if len(text) <= CHUNK:
        # One pass over the whole text finds everything.
        yield text
        return
    start, end = 0, CHUNK - shift
    while start < len(text):
        cut = text.find("\n", end) + 1 or len(text)
        yield text[start:cut]
        start, end = cut, cut + CHUNK
