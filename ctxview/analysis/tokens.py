"""Token counters: exact where a published table is installed, otherwise a named estimate.

They never raise on any text and never use the network. `token_tables` finds the tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from threading import RLock
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from ctxview.analysis.token_tables import ENCODINGS, TableMissing, load_encoding

if TYPE_CHECKING:
    from tiktoken import Encoding


DEFAULT_ENCODING = "o200k_base"

# A run of a million spaces makes tiktoken panic; a tenth of that is safe.
PIECE = 100_000


class TokenCount(Struct, frozen=True):
    """A number of tokens, and whether it is exact."""

    value: int
    exact: bool


class TokenCounter(Protocol):
    """Counts a text. `exact` is for the counter in general, the `exact` of `measure` for one count."""

    @property
    def name(self) -> str: ...
    @property
    def exact(self) -> bool: ...
    def count(self, text: str) -> int: ...
    def measure(self, text: str) -> TokenCount: ...


class Estimate(Struct, frozen=True):
    """An estimate, named after its formula."""

    name: str
    formula: Callable[[str], int]
    exact: bool = False

    def count(self, text: str) -> int:
        return self.formula(text)

    def measure(self, text: str) -> TokenCount:
        return TokenCount(self.formula(text), exact=False)


class ExactCounter(Struct, frozen=True):
    """Counts as the named encoding does, piece by piece."""

    name: str
    encoding: Encoding
    exact: bool = True

    def count(self, text: str) -> int:
        return self.measure(text).value

    def measure(self, text: str) -> TokenCount:
        """Count the tokens; not exact if a piece was cut inside a token or has a lone surrogate."""
        counts = [self._measure_piece(piece, clean) for piece, clean in token_pieces(text)]
        return TokenCount(sum(each.value for each in counts), all(each.exact for each in counts))

    def _measure_piece(self, piece: str, clean: bool) -> TokenCount:
        try:
            piece.encode()
        except UnicodeEncodeError:
            piece = piece.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
            clean = False
        try:
            return TokenCount(len(self.encoding.encode_ordinary(piece)), clean)
        except BaseException as error:
            # A panic of the Rust engine derives from BaseException; no text may end the program.
            if type(error).__name__ != "PanicException":
                raise
            return ESTIMATES["bytes/4"].measure(piece)


def byte_size(text: str) -> int:
    """The length in UTF-8 bytes; a lone surrogate takes three, like the replacement character."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def word_count(text: str, piece: int = PIECE) -> int:
    """The number of words between white space, counted piece by piece to save memory."""
    counted = 0
    for start in range(0, len(text), piece):
        counted += len(text[start : start + piece].split())
        if start and not text[start - 1].isspace() and not text[start].isspace():
            counted -= 1  # the cut went through a word
    return counted


ESTIMATES: dict[str, TokenCounter] = {
    each.name: each
    for each in (
        Estimate("bytes/4", lambda text: byte_size(text) // 4),
        Estimate("(bytes+3)/4", lambda text: (byte_size(text) + 3) // 4),
        Estimate("bytes/3", lambda text: -(-byte_size(text) // 3)),
        Estimate("words", word_count),
    )
}

COUNTERS: tuple[str, ...] = (*ENCODINGS, *ESTIMATES)
"""Every name that `counter_named` accepts, the default first."""


def counter_named(name: str) -> TokenCounter:
    """The counter with this name; raises `KeyError` if it is not in `COUNTERS`."""
    return ESTIMATES[name] if name in ESTIMATES else exact_counter(ENCODINGS[name].name)


def exact_counter(encoding: str = DEFAULT_ENCODING) -> TokenCounter:
    """The counter of a published encoding, or an estimate whose name says that the table is missing.

    Never raises. The first call for an encoding takes a third of a second, later calls no time.
    """
    with _loading:
        return _process_counter(encoding) if encoding in _in_process else _counter(encoding)


def local_counter(encoding: str = DEFAULT_ENCODING) -> TokenCounter:
    """Like `exact_counter`, but always counts in this process."""
    with _loading:
        return _counter(encoding)


def use_counting_processes() -> None:
    """Let exact counters load their tables and count in separate processes, if these can be started."""
    _in_process.update(ENCODINGS)


def token_pieces(text: str, limit: int = PIECE) -> Iterator[tuple[str, bool]]:
    """Yield `text` in parts of at most `limit` characters, each with whether it ends at a token boundary.

    In both encodings no token has a letter or digit followed by white space, so a cut between the two is
    exact. A part without such a place is cut at the limit, and its count may be wrong by a token or two.
    """
    start = 0
    while len(text) - start > limit:
        places = range(start + limit, start, -1)
        end = next((each for each in places if text[each] in " \n" and text[each - 1].isalnum()), None)
        yield text[start : end or start + limit], end is not None
        start = end or start + limit
    yield text[start:], True


_loading = RLock()
_in_process: set[str] = set()


@cache
def _process_counter(encoding: str) -> TokenCounter:
    from ctxview.analysis.token_process import CountingProcess, ProcessError

    try:
        return CountingProcess(encoding)
    except ProcessError:
        return _counter(encoding)


@cache
def _counter(encoding: str) -> TokenCounter:
    if encoding not in ENCODINGS:
        return Estimate(f"bytes/4 (unknown encoding {encoding})", ESTIMATES["bytes/4"].count)
    try:
        return ExactCounter(encoding, load_encoding(ENCODINGS[encoding]))
    except TableMissing:
        return Estimate(f"bytes/4 (no {encoding} table)", ESTIMATES["bytes/4"].count)
