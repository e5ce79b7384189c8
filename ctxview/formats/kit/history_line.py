"""One line of a history, decoded when it is needed: a record, or the reason why it is not one."""

from __future__ import annotations

import json
import re
from typing import Final

import msgspec
import orjson

from ctxview.core.origin import JsonValue, Origin
from ctxview.files.strict_json.document import JsonDocument, JsonError, parse
from ctxview.files.strict_json.tree import join

LONGEST_DECODED: Final = 16 * 1024 * 1024
"""Of a longer line only the beginning is shown, and it is not parsed."""
STEP = 64 * 1024
"""Bytes of work between two reports of a pass."""
LINE = 1024
"""The fixed cost of a line, in bytes of work."""
DEEPEST: Final = 1000
"""From this nesting on, orjson may refuse what JSON.parse accepts."""
REFUSED: Final = "not JSON"
"""The problem of a line until it is put into words, which takes long for many lines."""
_GREAT: Final = re.compile(rb"[0-9]{300}|[0-9][eE]\+?[0-9]{3}")


class HistoryLine:
    """A line of a history file. `content` may be cut; `number` is None until the lines are counted."""

    __slots__ = (
        "_decoded",
        "_problem",
        "_record",
        "content",
        "end",
        "ending",
        "file",
        "number",
        "start",
        "stream",
    )

    def __init__(
        self,
        stream: str,
        file: str,
        number: int | None,
        start: int,
        end: int,
        content: bytes,
        ending: int = 1,
        problem: str | None = None,
    ) -> None:
        self.stream = stream
        self.file = file
        self.number = number
        self.start = start
        self.end = end
        self.content = content
        self.ending = ending
        """The bytes that end the line: 1 for a newline, 2 with a carriage return, 0 for none."""
        self._problem = problem
        self._record: dict[str, JsonValue] | None = None
        self._decoded = problem is not None

    @property
    def size(self) -> int:
        return self.end - self.start

    @property
    def cut(self) -> bool:
        return len(self.content) < self.size

    @property
    def is_blank(self) -> bool:
        # NUL bytes are not blank: a tail of NULs is damage, not an empty line.
        return not self.content.strip() and self._problem is None

    @property
    def unreadable(self) -> bool:
        """Whether the content of the line could not be read at all."""
        return not self.content and self._problem is not None

    @property
    def is_broken(self) -> bool:
        """Whether there is a `problem`, which takes longer to put into words than to find."""
        self._decode()
        return self._problem is not None

    @property
    def problem(self) -> str | None:
        """Why this line is not a record; None for a good or a blank line."""
        self._decode()
        if self._problem == REFUSED:
            self._problem = _parse_strictly(self.content)[1]
        return self._problem

    @property
    def value(self) -> dict[str, JsonValue] | None:
        """The record; None when the line is blank, broken, too long or JSON of another kind."""
        if not self._decoded:
            self._decode()
        return self._record

    def has_duplicates(self) -> bool:
        """Whether any object in the record has a duplicate key."""
        if self.value is None or _is_canonical(self.content, self.value):
            return False
        return _repeats_a_key(self.content)

    def document(self) -> JsonDocument | None:
        """Parse the record with the positions of all its values, counted from the start of the line."""
        try:
            return parse(self.content) if self.value is not None else None
        except JsonError:
            return None

    def origin(self, *path: str | int) -> Origin:
        """Return the origin of the line, or of the value at `path` in it."""
        line = None if self.number is None else self.number + 1
        pointer = None if self.number is None else f"/{self.number}"
        document = self.document() if path else None
        if document is None:
            return Origin(self.file, pointer, self.start, self.end, line, 1)
        found = document.origin(self.file, join("", *path))
        inner = None if pointer is None else f"{pointer}{found.pointer or ''}"
        start, end = (found.start or 0) + self.start, (found.end or 0) + self.start
        return Origin(self.file, inner, start, end, line, found.column)

    def _decode(self) -> None:
        if self._decoded:
            return
        self._decoded = True
        if self.is_blank:
            return
        if self.cut:
            self._problem = f"the line has {self.size:,} bytes, too many to be parsed"
            return
        value: JsonValue = None
        try:
            value = orjson.loads(self.content)
        except orjson.JSONDecodeError:
            if _may_be_strict(self.content):
                value, self._problem = _parse_strictly(self.content)
            else:
                self._problem = REFUSED
        if isinstance(value, dict):
            self._record = value
        elif self._problem is None:
            self._problem = "the line is JSON, but not an object"


class PassClock:
    """Decides when a pass over a history reports its progress."""

    def __init__(self) -> None:
        self._walked = 0

    def due(self, size: int) -> bool:
        """Whether to report now, after a line of `size` bytes."""
        self._walked += size + LINE
        if self._walked < STEP:
            return False
        self._walked = 0
        return True


def _may_be_strict(content: bytes) -> bool:
    """Whether JSON.parse may accept what orjson refused: half a character, a great number, deep nesting."""
    deep = content.count(b"[") + content.count(b"{") >= DEEPEST
    return deep or b"\\u" in content or _GREAT.search(content) is not None


def _parse_strictly(content: bytes) -> tuple[JsonValue, str | None]:
    """Parse a line that the fast parser refused, or say what is wrong with it."""
    if not content.strip(b"\0"):
        return None, f"{len(content):,} NUL bytes: the file was not written to its end"
    try:
        return parse(content).value, None
    except JsonError as error:
        return None, f"not JSON: column {error.place.column}: {error.reason}"


def _is_canonical(content: bytes, value: JsonValue) -> bool:
    """Whether writing the value, without or with spaces, gives the same bytes; then no key was lost."""
    try:
        written = orjson.dumps(value)
        return written == content or msgspec.json.format(written, indent=0) == content
    except (TypeError, ValueError, RecursionError):
        return False


def _repeats_a_key(content: bytes) -> bool:
    repeated = False

    def check(pairs: list[tuple[str, object]]) -> None:
        nonlocal repeated
        repeated = repeated or len({key for key, _ in pairs}) < len(pairs)

    try:
        json.loads(content, object_pairs_hook=check)
    except (ValueError, RecursionError):
        # The standard parser cannot read it; the strict one is slow but exact.
        return bool(parse(content).duplicates)
    return repeated
