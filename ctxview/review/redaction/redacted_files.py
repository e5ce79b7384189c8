"""Redact the files of one or more trees: their text, their names, and every digest of what changed.

A digest of a changed file, line or text is replaced by the digest of what it became, wherever it is written,
so that names and references made of digests still fit. A file that cannot be searched is left out.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final, TypeAlias

from msgspec import Struct

from ctxview.review.redaction.redacted_database import DatabaseRefused, is_database, redacted_database
from ctxview.review.redaction.redacted_text import TextRedactor, is_readable_json

Files: TypeAlias = Mapping[str, bytes]
Withheld: TypeAlias = Mapping[tuple[str, bytes], bytes]
Repair: TypeAlias = Callable[[Files, Files], Files]
"""Takes the files before and after, and returns those after with what their format derives from them."""

NOT_TEXT: Final = "it is not text, so it cannot be searched for what was redacted"
MOST_ROUNDS: Final = 8
"""Digests of files that hold digests of files, and so on."""
_ALGORITHMS: Final = ("sha256", "sha1", "md5", "sha512")
_HEX: Final = re.compile(r"(?<![0-9A-Za-z])[0-9a-f]{8,128}(?![0-9A-Za-z])", re.IGNORECASE)
_BASE64: Final = re.compile(r"(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_-]{22,88}={0,2}(?![A-Za-z0-9+/_=-])")
SHORT: Final = 8
"""Digits from which on the beginning of a digest is taken for the digest."""
_STANDARD, _FOR_ADDRESSES = str.maketrans("-_", "+/"), str.maketrans("+/", "-_")
_LITERAL: Final = re.compile(r'"(?:[^"\\]|\\.)*"')
_LITERAL_OR_NUMBER: Final = re.compile(r'"((?:[^"\\]|\\.)*)"|-?\d[\d.eE+-]*')


class RedactedTree(Struct, frozen=True):
    """The files of a copy by their new names; `names` are the new names by the old ones."""

    files: Files
    names: Mapping[str, str]
    changed: tuple[str, ...]
    """The old names of the files with other content or another name."""
    left_out: Mapping[str, str]
    """The files that are not in the copy, and why."""


def as_text(data: bytes) -> str | None:
    """Return the bytes of a text file as text, or None when they are something else."""
    if b"\0" in data:
        return None
    text = data.decode("utf-8", "surrogateescape")
    foreign = sum("\udc80" <= char <= "\udcff" for char in text) if not data.isascii() else 0
    return text if foreign * 10 <= len(text) else None


def redact_trees(
    trees: Sequence[Files],
    redactor: TextRedactor,
    repairs: Sequence[Repair],
    withheld: Withheld | None = None,
) -> list[RedactedTree]:
    """Return copies of the trees without the values of `redactor`; all of them share their digests.

    `withheld` has the files with withheld content, by name and bytes, without it.
    """
    known: dict[tuple[str, bytes], bytes | str] = {}
    in_databases: dict[str, str] = {}
    bases: list[dict[str, bytes]] = []
    left_out: list[dict[str, str]] = []
    for tree in trees:
        base: dict[str, bytes] = {}
        without: dict[str, str] = {}
        for name, data in tree.items():
            key = (name if withheld else "", data)
            if key not in known:
                known[key] = _redacted((withheld or {}).get(key, data), redactor, in_databases)
            found = known[key]
            if isinstance(found, bytes):
                base[name] = found
            else:
                without[name] = found
        bases.append(base)
        left_out.append(without)
    digests = Digests(redactor.digests())
    for old_text, new_text in in_databases.items():
        digests.add(_bytes(old_text), _bytes(new_text))
    current = _repaired(trees, bases, repairs)
    replaced = bases
    for _ in range(MOST_ROUNDS):
        pairs = {
            (tree[name], copied[name], data)
            for tree, files, copied in zip(trees, current, replaced, strict=True)
            for name, data in files.items()
            if name in tree and tree[name] != data
        }
        for old, copied_data, new in pairs:
            digests.add(old, new)
            for before, after in _changes(old, copied_data):
                digests.add(before, after)
        made: dict[bytes, bytes] = {}
        for data in (data for base in bases for data in base.values()):
            if data not in made:
                made[data] = digests.replaced(data)
        replaced = [{name: made[data] for name, data in base.items()} for base in bases]
        following = _repaired(trees, replaced, repairs)
        if following == current:
            break
        current = following
    return [
        _named(tree, files, without, redactor, digests)
        for tree, files, without in zip(trees, current, left_out, strict=True)
    ]


def _repaired(trees: Sequence[Files], copies: Sequence[Files], repairs: Sequence[Repair]) -> list[Files]:
    for repair in repairs:
        copies = [repair(tree, copy) for tree, copy in zip(trees, copies, strict=True)]
    return list(copies)


def _redacted(data: bytes, redactor: TextRedactor, in_databases: dict[str, str]) -> bytes | str:
    """Return the redacted bytes of a file, or why it is left out; note the changed texts of a database."""

    def redact(text: str) -> str:
        new = redactor.redacted(text)
        if new != text:
            in_databases[text] = new
        return new

    if is_database(data):
        try:
            return redacted_database(data, redact)
        except DatabaseRefused as refused:
            return str(refused)
    text = as_text(data)
    if text is None:
        return NOT_TEXT
    redacted = _redacted_text(text, redactor)
    return redacted.encode("utf-8", "surrogateescape") if redacted != text else data


def _redacted_text(text: str, redactor: TextRedactor) -> str:
    """Return a text without the values; JSON, and lines of JSON in it, stay JSON."""
    if redactor.redacted(text) == text:
        return text
    narrowed = redactor.narrowed(text)
    if _is_json(text):
        return _in_json(text, narrowed)
    found = []
    for is_json, lines in groupby(text.split("\n"), key=_is_json):
        part = "\n".join(lines)
        found.append(_in_json(part, narrowed) if is_json else narrowed.redacted(part))
    return "\n".join(found)


def _in_json(text: str, redactor: TextRedactor) -> str:
    """Redact each string and each number of JSON by itself; a number becomes a string.

    An object or array that was chosen as a whole is replaced by one that holds its mark.
    """

    def redact(match: re.Match[str]) -> str:
        if match[1] is not None:
            return f'"{_in_literal(match[1], redactor)}"'
        new = redactor.redacted(match[0])
        return match[0] if new == match[0] else f'"{new}"'

    return redactor.without_structures(_LITERAL_OR_NUMBER.sub(redact, text))


def _in_literal(literal: str, redactor: TextRedactor) -> str:
    """Redact the inside of a JSON literal as the text that it stands for, so that equal texts stay equal."""
    redacted = redactor.redacted(literal)
    if redacted == literal:
        return literal
    text = json.loads(f'"{literal}"', strict=False)
    if any("\ud800" <= char <= "\udfff" for char in text):
        return redacted
    written = json.dumps(redactor.redacted(text), ensure_ascii=literal.isascii())[1:-1]
    return redactor.redacted(written)


def _is_json(text: str) -> bool:
    return text.lstrip()[:1] in ("{", "[") and is_readable_json(text)


class Digests:
    """Digests in lower-case hexadecimal and what replaces each; of the texts themselves also short forms."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self.values = values
        self.changed: dict[str, str] = {}
        self._beginnings = frozenset(each[:SHORT] for each in values)

    def add(self, old: bytes, new: bytes) -> None:
        """Add the digests of something that changed, also with a line end behind it."""
        for name in _ALGORITHMS:
            for end in (b"", b"\n"):
                self.changed[hashlib.new(name, old + end).hexdigest()] = hashlib.new(
                    name, new + end
                ).hexdigest()

    def replaced(self, data: bytes) -> bytes:
        """Return the bytes of a file with every known digest replaced."""
        if is_database(data):
            return redacted_database(data, self.replaced_in_text)
        text = as_text(data)
        if text is None:
            return data
        replaced = self.replaced_in_text(text)
        return replaced.encode("utf-8", "surrogateescape") if replaced != text else data

    def replaced_in_text(self, text: str) -> str:
        return _BASE64.sub(self._in_base64, _HEX.sub(self._in_hex, text))

    def _in_hex(self, match: re.Match[str]) -> str:
        digits = match[0].lower()
        found = self.changed.get(digits) or self.values.get(digits)
        if found is None:
            short = (new for old, new in self.values.items() if old.startswith(digits))
            found = next(short, None) if digits[:SHORT] in self._beginnings else None
        if found is None:
            return match[0]
        found = found[: len(digits)]
        return found.upper() if match[0].isupper() else found

    def _in_base64(self, match: re.Match[str]) -> str:
        digits = match[0].rstrip("=").translate(_STANDARD)
        if len(digits) % 4 == 1:
            return match[0]
        old = base64.b64decode(digits + "=" * (-len(digits) % 4)).hex()
        found = self.changed.get(old) or self.values.get(old)
        if found is None:
            return match[0]
        spelled = base64.b64encode(bytes.fromhex(found)).decode()
        spelled = spelled if match[0].endswith("=") else spelled.rstrip("=")
        return spelled.translate(_FOR_ADDRESSES) if set(match[0]) & {"-", "_"} else spelled


def _changes(before: bytes, after: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the lines and the texts of a file that changed, and what they became."""
    old_text, new_text = as_text(before), as_text(after)
    if old_text is not None and new_text is not None:
        yield from _paired(old_text.split("\n"), new_text.split("\n"), lambda line: line)
        yield from _paired(_LITERAL.findall(old_text), _LITERAL.findall(new_text), _literal_text)


def _paired(
    old: Sequence[str], new: Sequence[str], read: Callable[[str], str]
) -> Iterator[tuple[bytes, bytes]]:
    if len(old) == len(new):
        for earlier, later in zip(old, new, strict=True):
            if earlier != later:
                yield _bytes(read(earlier)), _bytes(read(later))


def _literal_text(literal: str) -> str:
    try:
        return str(json.loads(literal))
    except ValueError:
        return literal


def _bytes(text: str) -> bytes:
    return text.encode(
        "utf-8", "surrogateescape" if any("\udc80" <= char <= "\udcff" for char in text) else "replace"
    )


def _named(
    tree: Files, files: Files, without: Mapping[str, str], redactor: TextRedactor, digests: Digests
) -> RedactedTree:
    """Give the files their new names, and leave out those that still hold a value."""
    found: dict[str, bytes] = {}
    names: dict[str, str] = {}
    left_out = dict(without)
    for name, data in files.items():
        text = data.decode("utf-8", "surrogateescape")
        if redactor.leak(text) is not None:
            left_out[name] = "it still holds a redacted text in a form that cannot be replaced"
            continue
        # Each folder by itself first: a value that ends in a slash must not join two of them.
        new = digests.replaced_in_text(redactor.redacted("/".join(map(redactor.redacted, name.split("/")))))
        if redactor.leak(new) is not None or not new.strip("/ "):
            new = "REDACTED-name"
        number, free = 2, new
        while free in found:
            free, number = f"{new}-{number}", number + 1
        names[name], found[free] = free, data
    changed = tuple(name for name, new in names.items() if new != name or tree.get(name) != found[new])
    return RedactedTree(found, names, changed, left_out)
