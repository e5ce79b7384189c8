"""Counting tokens: exactly where a published table is at hand, by a named estimate otherwise.

Never raises on any text and never touches the network. Where tables come from is `token_tables`' business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from threading import RLock
from typing import TYPE_CHECKING, Protocol

from ctxview.analysis.token_tables import ENCODINGS, TableMissing, load
from ctxview.quick_dataclass import dataclass

if TYPE_CHECKING:
    from tiktoken import Encoding

DEFAULT_ENCODING = "o200k_base"

# A run of a million spaces makes tiktoken panic; a tenth of that is safe.
PIECE = 100_000


@dataclass(frozen=True, slots=True)
class Count:
    """A number of tokens, and whether it is the true one."""

    value: int
    exact: bool


class TokenCounter(Protocol):
    """Counts a text. `exact` says whether its figures are true as a rule; `measure` says it of one figure."""

    @property
    def name(self) -> str: ...
    @property
    def exact(self) -> bool: ...
    def count(self, text: str) -> int: ...
    def measure(self, text: str) -> Count: ...


@dataclass(frozen=True, slots=True)
class Estimate:
    """A rule of thumb, named after its formula."""

    name: str
    formula: Callable[[str], int]
    exact: bool = False

    def count(self, text: str) -> int:
        return self.formula(text)

    def measure(self, text: str) -> Count:
        return Count(self.formula(text), exact=False)


@dataclass(frozen=True, slots=True)
class ExactCounter:
    """Counts as the named encoding does, piece by piece."""

    name: str
    encoding: Encoding
    exact: bool = True

    def count(self, text: str) -> int:
        return self.measure(text).value

    def measure(self, text: str) -> Count:
        """Not exact where a piece had to be cut inside a token, or is no proper text (a lone surrogate)."""
        counts = [self._measure_piece(piece, clean) for piece, clean in pieces(text)]
        return Count(sum(each.value for each in counts), all(each.exact for each in counts))

    def _measure_piece(self, piece: str, clean: bool) -> Count:
        try:
            piece.encode()
        except UnicodeEncodeError:
            piece, clean = _without_surrogates(piece), False
        try:
            return Count(len(self.encoding.encode_ordinary(piece)), clean)
        except BaseException as error:
            # A panic of the Rust engine derives from BaseException; nothing may die of a strange text.
            if type(error).__name__ != "PanicException":
                raise
            return ESTIMATES["bytes/4"].measure(piece)


def size(text: str) -> int:
    """The length in UTF-8 bytes; a lone surrogate takes three, as the replacement character for it does."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def words(text: str, piece: int = PIECE) -> int:
    """How many words there are between white space; piece by piece, as a list of all takes much memory."""
    counted = 0
    for start in range(0, len(text), piece):
        counted += len(text[start : start + piece].split())
        if start and not text[start - 1].isspace() and not text[start].isspace():
            counted -= 1  # the cut went through a word
    return counted


ESTIMATES: dict[str, TokenCounter] = {
    each.name: each
    for each in (
        Estimate("bytes/4", lambda text: size(text) // 4),
        Estimate("(bytes+3)/4", lambda text: (size(text) + 3) // 4),
        Estimate("bytes/3", lambda text: -(-size(text) // 3)),
        Estimate("words", words),
    )
}

COUNTERS: tuple[str, ...] = (*ENCODINGS, *ESTIMATES)
"""Every name `counter_named` knows, the default first."""


def counter_named(name: str) -> TokenCounter:
    """The counter a person asked for; raises `KeyError` for a name that is not in `COUNTERS`."""
    return ESTIMATES[name] if name in ESTIMATES else exact_counter(ENCODINGS[name].name)


def exact_counter(encoding: str = DEFAULT_ENCODING) -> TokenCounter:
    """The counter of a published encoding, or an estimate whose name says that the table is missing.

    Never raises. The first call for an encoding takes a third of a second; later ones nothing.
    """
    with _loading:
        return _counter_apart(encoding) if encoding in _apart else _counter(encoding)


def counter_here(encoding: str = DEFAULT_ENCODING) -> TokenCounter:
    """The same, and it counts in this process whatever was said to `count_apart`."""
    with _loading:
        return _counter(encoding)


def count_apart() -> None:
    """From now on exact counters load their tables, and count, in processes of their own if that can be."""
    _apart.update(ENCODINGS)


def pieces(text: str, limit: int = PIECE) -> Iterator[tuple[str, bool]]:
    """`text` in parts of at most `limit` characters, each with whether its end is a sure token boundary.

    In both encodings no token holds a letter or digit followed by white space, so a cut between the two is
    exact. A part without such a place is cut at the limit, and its count may be off by a token or so.
    """
    start = 0
    while len(text) - start > limit:
        end = _boundary(text, start, start + limit)
        yield text[start : end or start + limit], end is not None
        start = end or start + limit
    yield text[start:], True


_loading = RLock()
_apart: set[str] = set()


@cache
def _counter_apart(encoding: str) -> TokenCounter:
    from ctxview.analysis.counting_process import CountingProcess, NotStarted

    try:
        return CountingProcess(encoding)
    except NotStarted:
        return _counter(encoding)


@cache
def _counter(encoding: str) -> TokenCounter:
    if encoding not in ENCODINGS:
        return Estimate(f"bytes/4 ({encoding} is not known)", ESTIMATES["bytes/4"].count)
    try:
        return ExactCounter(encoding, load(ENCODINGS[encoding]))
    except TableMissing:
        return Estimate(f"bytes/4 (no {encoding} table)", ESTIMATES["bytes/4"].count)


def _boundary(text: str, start: int, end: int) -> int | None:
    """The last place in (start, end] where a space or newline follows a letter or digit."""
    for place in range(end, start, -1):
        if text[place] in " \n" and text[place - 1].isalnum():
            return place
    return None


def _without_surrogates(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
