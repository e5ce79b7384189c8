"""Find copies of given texts in other text: whole or in part, and in other spellings.

Case, spaces and invisible characters do not count. JSON, percent and HTML escapes, base64 and hexadecimal
digits are decoded and searched too. The time grows with the length of the text, not with the number of texts.
"""

from __future__ import annotations

import base64
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, Generic, TypeVar
from urllib.parse import unquote

from ctxview.core.lazy import lazy_pattern

T = TypeVar("T")

LONG: Final = 24
"""A common run of at least this many characters is a copy; shorter texts are found as a whole."""
SENTENCE: Final = 12
"""The shortest sentence or line of a text that is found by itself."""
ANYWHERE: Final = 8
"""From this length on a text is found inside words too; shorter ones only as whole words."""
SHORTEST: Final = 3
"""Texts below this length are found only when they are the whole other text."""
GRAM: Final = 12
"""Two texts with a common run of `LONG` characters have a common gram at every twelfth place of one."""
LARGE: Final = 500_000
"""With more characters in all texts, every twelfth gram of the texts is kept, to save memory."""
SAMPLE: Final = 5
LONGEST_QUOTE: Final = 200
DEEPEST: Final = 3
"""How many encodings inside each other are decoded."""
MOST_KNOWN: Final = 200_000

_MARK: Final = lazy_pattern(r"REDACTED-[0-9]")

_IGNORED: Final = lazy_pattern(r"[\s\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff]+")
_SENTENCE_END: Final = lazy_pattern(r"(?<=[.!?;:])\s+|[\r\n]+|(?<=[\u3002\uff01\uff1f])")
_EDGES: Final = " \t\r\n.,;:!?\"'()[]"
_JOINTS: Final = "-:.,/"
"""Between digits these make one figure, such as a date."""
_JSON_ESCAPE: Final = r'(?:\\u[0-9a-fA-F]{4})+|(?:\\x[0-9a-fA-F]{2})+|\\["\\/bfnrt]'
_OTHER_ESCAPE: Final = (
    r"(?:%[0-9a-fA-F]{2})+|(?<=\S)\+(?=\S)|&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]{2,8});"
)
_ESCAPES: Final = (lazy_pattern(_JSON_ESCAPE), lazy_pattern(f"{_JSON_ESCAPE}|{_OTHER_ESCAPE}"))
_ESCAPE_MARKS: Final = lazy_pattern(r"[\\%+&]")
_CONTROLS: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
# Encoded text nearly always has a capital or a digit, and most words have none.
_BASE64: Final = lazy_pattern(r"(?<![A-Za-z0-9+/_-])(?![a-z]+(?![A-Za-z0-9+/_=-]))[A-Za-z0-9+/_-]{4,}={0,2}")
_HEX: Final = lazy_pattern(r"(?:[0-9a-fA-F]{2}[ :,-]?){3,}+")
_STANDARD: Final = str.maketrans("-_", "+/")


def redaction_mark(number: int) -> str:
    """Return what stands for a removed text in a redacted copy."""
    return f"REDACTED-{number}"


def holds_redaction_mark(text: str) -> bool:
    """Whether a text was removed here, so that neither its wording nor its size can be judged."""
    return _MARK.search(text) is not None


class _FoldedCharacters(dict[int, str]):
    """Letters of any width, with or without accents, in one piece or several, as plain small letters."""

    def __missing__(self, code: int) -> str:
        parts = unicodedata.normalize("NFKD", chr(code).lower())
        self[code] = "".join(each for each in parts if not unicodedata.combining(each)).lower()
        return self[code]


_FOLDED: Final = _FoldedCharacters()


class CopyFinder(Generic[T]):
    """Finds copies of some texts, each given with a value that its copies are reported with."""

    def __init__(self, texts: Iterable[tuple[str, T]]) -> None:
        long: dict[str, T] = {}
        self._short: dict[str, T] = {}
        self._tiny: dict[str, T] = {}
        for text, value in texts:
            for piece in _pieces(text):
                size = len(piece)
                kept = long if size >= LONG else self._short if size >= SHORTEST else self._tiny
                kept.setdefault(piece, value)
        self._words = _heads(self._short, SHORTEST, range(SHORTEST, ANYWHERE))
        self._heads = _heads(self._short, ANYWHERE, range(ANYWHERE, LONG))
        self._samples = {
            each[at : at + SAMPLE] for each in self._short for at in range(len(each) - SAMPLE + 1)
        }
        openings = {each[:LONG]: value for each, value in (*long.items(), *self._short.items())}
        self._openings = sorted(each for each in openings if len(each) >= ANYWHERE)
        self._opening_values = openings
        self._set_grams(long)
        # Four digits of base64 are three bytes, and a character is one byte or more.
        self._least_encoded = min(map(len, (*long, *self._short, *self._tiny)), default=0) * 4 // 3
        self._known: dict[str, tuple[tuple[int, int, T], ...]] = {}

    def __bool__(self) -> bool:
        return bool(self._tiny or self._short or self._all)

    def find(self, text: str) -> tuple[tuple[int, int, T], ...]:
        """Return start, end and value of the copies in `text`, in order and not overlapping."""
        found = self._known.get(text)
        if found is None:
            if not self:
                return ()
            found = tuple(_merged([*self._find(text, 0), *self._cut_off(text)]))
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            self._known[text] = found
        return found

    def _set_grams(self, long: Mapping[str, T]) -> None:
        self._all = "\0".join(long)
        self._values = list(long.values())
        self._starts = [0]
        for each in long:
            self._starts.append(self._starts[-1] + len(each) + 1)
        self._is_large = len(self._all) > LARGE
        self._grams: dict[str, int] = {}
        # The last place of each gram that occurs more than once.
        self._again: dict[str, int] = {}
        for at in range(0, len(self._all) - GRAM + 1, GRAM if self._is_large else 1):
            gram = self._all[at : at + GRAM]
            if self._grams.setdefault(gram, at) != at:
                self._again[gram] = at

    def _find(self, text: str, depth: int) -> Iterator[tuple[int, int, T]]:
        yield from self._plain(text)
        if depth == DEEPEST:
            return
        for pattern in _ESCAPES if _ESCAPE_MARKS.search(text) else ():
            decoded, place = _unescaped(text, pattern)
            if decoded != text:
                for start, end, value in self._find(decoded, depth + 1):
                    yield place(start)[0], place(end - 1)[1], value
        for start, end, decoded in _encoded_runs(text, self._least_encoded):
            for _, _, value in self._find(decoded, depth + 1):
                yield start, end, value
                break

    def _plain(self, text: str) -> Iterator[tuple[int, int, T]]:
        bare = bare_text(text)
        if bare in self._tiny:
            yield 0, len(text), self._tiny[bare]
        found = [*self._common_runs(bare), *self._short_copies(bare)]
        if not found:
            return
        places: Sequence[int] = range(len(text))
        if len(bare) != len(text) or not text.isascii():
            sizes = {char: range(len(bare_text(char))) for char in set(text)}
            places = [at for at, char in enumerate(text) for _ in sizes[char]]
        for first, last, value in found:
            start, end = places[first], places[last - 1] + 1
            if last - first >= ANYWHERE or _is_word(text, start, end):
                yield start, end, value

    def _common_runs(self, bare: str) -> Iterator[tuple[int, int, T]]:
        """Yield the runs that `bare` has in common with a long text."""
        if len(bare) < LONG or not self._grams:
            return
        grams, step = self._grams, 1 if self._is_large else GRAM
        done = 0
        for at in [at for at in range(0, len(bare) - GRAM + 1, step) if bare[at : at + GRAM] in grams]:
            if at < done:
                continue
            gram = bare[at : at + GRAM]
            reached = done
            for place in {grams[gram], self._again.get(gram, grams[gram])}:
                first = at - _common_before(bare, at, self._all, place, at - done)
                last = at + _common_after(bare, at, self._all, place)
                if last - first >= LONG:
                    yield first, last, self._values[bisect_right(self._starts, place) - 1]
                    reached = max(reached, last)
            # What was covered is not compared again, so that repetitive texts take no longer.
            done = reached

    def _short_copies(self, bare: str) -> Iterator[tuple[int, int, T]]:
        """Yield the short texts in `bare`; only around samples that occur in one is every place tried."""
        if self._heads:
            tried = 0
            sampled = range(0, len(bare) - SAMPLE + 1, ANYWHERE - SAMPLE + 1)
            for at in [at for at in sampled if bare[at : at + SAMPLE] in self._samples]:
                for start in range(max(tried, at - LONG + SAMPLE), at + 1):
                    yield from self._short_at(bare, start, self._heads, ANYWHERE)
                tried = at + 1
        if words := self._words:
            size = SHORTEST
            for start in [at for at in range(len(bare) - size + 1) if bare[at : at + size] in words]:
                yield from self._short_at(bare, start, words, size)

    def _short_at(
        self, bare: str, start: int, heads: Mapping[str, Sequence[int]], size: int
    ) -> Iterator[tuple[int, int, T]]:
        for length in heads.get(bare[start : start + size], ()):
            piece = bare[start : start + length]
            if piece in self._short:
                yield start, start + len(piece), self._short[piece]

    def _cut_off(self, text: str) -> Iterator[tuple[int, int, T]]:
        """Yield the beginnings of texts before a `…`, as in messages that quote long values."""
        end = text.find("…")
        while end >= 0:
            tail, start = "", end
            while start > max(0, end - LONGEST_QUOTE) and len(tail) < LONG:
                start -= 1
                tail = bare_text(text[start]) + tail
                at = bisect_left(self._openings, tail) if len(tail) >= ANYWHERE else len(self._openings)
                if at < len(self._openings) and self._openings[at].startswith(tail):
                    yield start, end, self._opening_values[self._openings[at]]
            end = text.find("…", end + 1)


def _pieces(text: str) -> Iterator[str]:
    """Yield what is searched for: the bare text, also without punctuation around it, and short sentences."""
    whole = bare_text(text)
    if whole:
        yield whole
    if len(whole) < LONG and (core := bare_text(text.strip(_EDGES))):
        yield core
    for sentence in _SENTENCE_END.split(text):
        piece = bare_text(sentence.strip(_EDGES))
        if SENTENCE <= len(piece) < LONG:
            yield piece


def bare_text(text: str) -> str:
    """Return a text in lower case without spaces, invisible characters and accents, for comparison.

    Each character is folded by itself, so that places in the result can be led back to the text.
    """
    return _IGNORED.sub("", text.lower() if text.isascii() else text.translate(_FOLDED))


def _heads(texts: Iterable[str], size: int, lengths: range) -> Mapping[str, Sequence[int]]:
    """The lengths of the texts by their first characters."""
    found: dict[str, set[int]] = {}
    for each in texts:
        if len(each) in lengths:
            found.setdefault(each[:size], set()).add(len(each))
    return {head: sorted(each, reverse=True) for head, each in found.items()}


def _is_word(text: str, start: int, end: int) -> bool:
    """Whether no letter or digit adjoins a span, and a number is not a part of a date or larger figure."""
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    if before[-1:].isalnum() or after[:1].isalnum():
        return False
    if not text[start:end].isdigit():
        return True
    joined = (before[:-1].isdigit() and before[-1] in _JOINTS, after[1:].isdigit() and after[0] in _JOINTS)
    return not any(joined)


def _common_after(one: str, at: int, other: str, place: int) -> int:
    """The length of the common run of two texts from these places on."""
    size, step = 0, GRAM
    while one[at + size : at + size + step] == other[place + size : place + size + step] and (
        at + size + step <= len(one) and place + size + step <= len(other)
    ):
        size, step = size + step, step * 2
    while step := step // 2:
        while one[at + size : at + size + step] == other[place + size : place + size + step] and (
            at + size + step <= len(one) and place + size + step <= len(other)
        ):
            size += step
    return size


def _common_before(one: str, at: int, other: str, place: int, most: int) -> int:
    size = 0
    while size < min(most, place) and one[at - size - 1] == other[place - size - 1]:
        size += 1
    return size


def _merged(copies: list[tuple[int, int, T]]) -> Iterator[tuple[int, int, T]]:
    """Yield the copies in order, overlapping ones as one with the value of the first."""
    current: tuple[int, int, T] | None = None
    for start, end, value in sorted(copies, key=lambda each: (each[0], -each[1])):
        if current is not None and start < current[1]:
            current = current[0], max(end, current[1]), current[2]
            continue
        if current is not None:
            yield current
        current = start, end, value
    if current is not None:
        yield current


def _unescaped(text: str, pattern: re.Pattern[str]) -> tuple[str, Callable[[int], tuple[int, int]]]:
    """Return the text with its escapes decoded, and a function from its places to spans of `text`."""
    pieces: list[str] = []
    starts, spans = [0], [(0, 0, False)]
    size = done = 0
    for match in pattern.finditer(text):
        decoded = _decoded_escape(match[0])
        pieces += [text[done : match.start()], decoded]
        starts.append(size + match.start() - done)
        spans.append((match.start(), match.end(), True))
        size = starts[-1] + len(decoded)
        starts.append(size)
        done = match.end()
        spans.append((done, done, False))
    pieces.append(text[done:])

    def place(at: int) -> tuple[int, int]:
        number = bisect_right(starts, at) - 1
        start, end, is_escape = spans[number]
        return (start, end) if is_escape else (start + at - starts[number], start + at - starts[number] + 1)

    return "".join(pieces), place


def _decoded_escape(escape: str) -> str:
    if escape == "+":
        return " "
    if escape[0] == "%":
        return unquote(escape, errors="replace")
    if escape[0] == "&":
        import html  # most texts have no such escape, and it is loaded at every start

        return html.unescape(escape)
    if escape[1] == "u":
        units = bytes.fromhex(escape.replace("\\u", ""))
        return units.decode("utf-16-be", "replace")
    if escape[1] == "x":
        return bytes.fromhex(escape.replace("\\x", "")).decode("utf-8", "replace")
    return _CONTROLS.get(escape[1], escape[1])


def _encoded_runs(text: str, least: int) -> Iterator[tuple[int, int, str]]:
    """Yield the span and the decoded text of each run of base64 or hexadecimal digits that may be text."""
    for match in _HEX.finditer(text):
        if match.end() - match.start() < least:
            continue
        digits = re.sub(r"[ :,-]", "", match[0])
        end = match.start() + len(match[0].rstrip(" :,-"))
        yield from _if_text(match.start(), end, bytes.fromhex(digits))
    for match in _BASE64.finditer(text):
        if match.end() - match.start() < least:
            continue
        digits = match[0].rstrip("=").translate(_STANDARD)
        # The run may begin with other characters, such as the folder of a path.
        for start in range(min(4, len(digits) - 3)):
            rest = digits[start:]
            rest = rest[:-1] if len(rest) % 4 == 1 else rest
            yield from _if_text(*match.span(), base64.b64decode(rest + "=" * (-len(rest) % 4)))


def _if_text(start: int, end: int, data: bytes) -> Iterator[tuple[int, int, str]]:
    decoded = data.decode("utf-8", "replace")
    if decoded.count("\ufffd") * 4 <= len(decoded):
        yield start, end, decoded
