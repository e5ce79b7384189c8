"""Finds large content that a session holds more than once, in memory that does not grow with the histories.

It makes one pass over both histories and the files of the context. Of a content seen once it keeps only the
hash and the place; contents with the same hash are equal. The runtime writes a tool result to messages and to
events, so those two count as one copy.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator

from msgspec import Struct, field

from ctxview.core.origin import JsonValue
from ctxview.files.line_file import never_cancelled
from ctxview.files.open_file import open_file_beneath
from ctxview.files.reading import ReadError, read_beneath
from ctxview.formats.kit.folder import EntryKind
from ctxview.formats.session import EVENTS, MESSAGES
from ctxview.formats.session.messages import large_texts, size_of
from ctxview.formats.session.store.content import LARGEST, RawContent

MOST_CONTENTS = 500_000
"""The number of different contents that are compared; later ones are compared only with these."""
MOST_PLACES = 200
MOST_FILES = 20_000
DEEPEST = 6
PIECES = frozenset(("delta", "reasoning_delta"))
SKIPPED = frozenset(("context/pack.json", "context/pack.md", "context/swap", "context/dedup"))
"""Derived from the rest, or already content-addressed."""

_FILE = 2
_CODES = {MESSAGES: 0, EVENTS: 1}
_WORDS = ("messages", "events")


class Repetition(Struct, frozen=True):
    """One content and its places. `times` counts a message and its copy in the events once."""

    digest: str
    size: int
    times: int
    refs: tuple[str, ...]
    """The first places, as the dedup index writes them."""
    left_out: int = 0
    """The number of further places."""


class Repetitions(Struct, frozen=True):
    found: tuple[Repetition, ...]
    contents: int
    """The number of large contents that were compared."""
    notes: tuple[str, ...] = ()


def find_repetitions(raw: RawContent, least: int, wanted: Collection[str] = ()) -> Repetitions:
    """Find every content of at least `least` bytes that occurs twice or more, and every `wanted` hash."""
    finder = _Finder(raw, least, {bytes.fromhex(digest) for digest in wanted})
    for stream in (MESSAGES, EVENTS):
        finder.read_stream(stream)
    finder.read_files()
    return finder.result()


def content_at(raw: RawContent, ref: str, digest: str) -> bytes | None:
    """Return the content of that hash at a place; None when it is no longer there."""
    for content in _contents_at(raw, ref):
        if hashlib.sha256(content).hexdigest() == digest:
            return content
    return None


def file_of(ref: str) -> str | None:
    """Return the file of a reference, relative to the session; None for a history."""
    kind, _, name = ref.partition(":")
    if kind == "child":
        return f"context/child/{name}"
    return name if kind == "file" else None


class _Copies(Struct):
    size: int
    places: list[int]
    counts: list[int] = field(default_factory=lambda: [0, 0, 0])


class _Finder:
    def __init__(self, raw: RawContent, least: int, wanted: set[bytes]) -> None:
        self._raw = raw
        self._least = least
        self._wanted = wanted
        self._single: dict[bytes, int] = {}
        self._many: dict[bytes, _Copies] = {}
        self._files: list[str] = []
        self._contents = 0
        self._notes: dict[str, None] = {}

    def read_stream(self, stream: str) -> None:
        code = _CODES[stream]
        least = 1 if self._wanted else self._least
        for record, line in self._raw.records(stream):
            if line.cut:
                self._notes[f"a line of {line.size:,} bytes in {stream} was not parsed"] = None
            if line.size < least or line.value is None:
                continue
            for text in texts_in(line.value, least):
                data = text.encode("utf-8", "surrogatepass")
                self._see(hashlib.sha256(data).digest(), len(data), record * 3 + code)

    def read_files(self) -> None:
        folder = self._raw.folder
        walked = folder.walk("context", DEEPEST, MOST_FILES, SKIPPED.__contains__)
        files = ((name, each.size) for name, each in walked.entries if each.kind is EntryKind.FILE)
        for name, size in files:
            if size > LARGEST:
                self._notes[f"{name} is larger than {LARGEST // 1024 // 1024} MiB and was left out"] = None
            elif size and (size >= self._least or self._wanted):
                try:
                    digests = open_file_beneath(folder.root, name).digests([size], never_cancelled)
                except ReadError:
                    digests = None
                if digests:
                    self._files.append(name)
                    self._see(bytes.fromhex(digests[0]), size, (len(self._files) - 1) * 3 + _FILE)

    def result(self) -> Repetitions:
        found = [self._repetition(digest, copies) for digest, copies in self._many.items()]
        worth = (each for each in found if each.times > 1 or bytes.fromhex(each.digest) in self._wanted)
        ordered = sorted(worth, key=lambda each: (-each.size * (each.times - 1), each.digest))
        return Repetitions(tuple(ordered), self._contents, tuple(self._notes))

    def _see(self, digest: bytes, size: int, place: int) -> None:
        """Count one occurrence; `place` is its number times 3 plus a code for messages, events or file."""
        wanted = digest in self._wanted
        if size < self._least and not wanted:
            return
        self._contents += 1
        copies = self._many.get(digest)
        if copies is None:
            first = self._single.pop(digest, None)
            if first is None and not wanted:
                if len(self._single) < MOST_CONTENTS:
                    self._single[digest] = place
                else:
                    many = f"there are more than {MOST_CONTENTS:,} different contents"
                    self._notes[f"{many}; later ones were compared with these only"] = None
                return
            copies = self._many[digest] = _Copies(size, [])
            if first is not None:
                self._add(copies, first)
        self._add(copies, place)

    def _add(self, copies: _Copies, place: int) -> None:
        copies.counts[place % 3] += 1
        if len(copies.places) < MOST_PLACES:
            copies.places.append(place)

    def _repetition(self, digest: bytes, copies: _Copies) -> Repetition:
        messages, events, files = copies.counts
        refs = tuple(dict.fromkeys(self._ref(place) for place in copies.places))
        left_out = sum(copies.counts) - len(copies.places)
        return Repetition(digest.hex(), copies.size, max(messages, events) + files, refs, left_out)

    def _ref(self, place: int) -> str:
        number, code = divmod(place, 3)
        if code != _FILE:
            return f"{_WORDS[code]}:{number}"
        name = self._files[number]
        below = name.removeprefix("context/child/")
        return f"file:{name}" if below == name else f"child:{below}"


def texts_in(value: dict[str, JsonValue], least: int) -> Iterator[str]:
    """Yield the texts of a record of at least `least` bytes; deltas are skipped, a message repeats them."""
    if value.get("type") in PIECES:
        return
    yield from large_texts(value.get("content"), least)
    for name in ("text", "output"):
        text = value.get(name)
        if isinstance(text, str) and size_of(text) >= least:
            yield text


def _contents_at(raw: RawContent, ref: str) -> Iterator[bytes]:
    name = file_of(ref)
    if name is not None:
        try:
            yield read_beneath(raw.folder.root, name, LARGEST)
        except ReadError:
            return
    else:
        word, _, number = ref.partition(":")
        stream = MESSAGES if word == _WORDS[0] else EVENTS
        for line in raw.lines(stream, int(number), int(number)):
            for text in texts_in(line.value or {}, 1):
                yield text.encode("utf-8", "surrogatepass")
