"""Digests in records and the bytes to verify them, sibling files, and the resolution of references."""

from __future__ import annotations

import hashlib
import re
from enum import StrEnum
from pathlib import Path, PurePosixPath
from stat import S_ISDIR, S_ISREG
from threading import Lock
from urllib.parse import unquote

from msgspec import Struct

from ctxview.files.reading import ReadError, is_content, path_problem, read_beneath
from ctxview.formats.envelope.model import EnvelopeRecords, Record, RecordReference
from ctxview.formats.envelope.parser import embedded
from ctxview.formats.envelope.redactions import is_redacted
from ctxview.formats.envelope.vocabulary import ID_KEYS, KIND_OF_ID, RecordKind

LENGTHS = {"md5": 32, "sha1": 40, "sha224": 56, "sha256": 64, "sha384": 96, "sha512": 128}
"""The number of hexadecimal digits by algorithm; digests of other algorithms are not verified."""
_FORM = re.compile(r"(?P<algorithm>[A-Za-z][A-Za-z0-9_-]*):(?P<hex>[0-9A-Fa-f]+)")
LARGEST = 8 * 1024 * 1024
MOST_BYTES = 64 * 1024 * 1024
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|(?:urn|data|mailto|doi):", re.IGNORECASE)


class RefResolution(StrEnum):
    RESOLVED = "resolved"
    EMBEDDED = "embedded"
    EXTERNAL = "external"
    BROKEN = "broken"


def resolve_reference(reference: RecordReference, records: EnvelopeRecords) -> RefResolution:
    """How a reference resolves; objects of other standards and addresses are external."""
    if embedded(reference) is not None:
        return RefResolution.EMBEDDED
    if records.resolve(reference) is not None:
        return RefResolution.RESOLVED
    if not reference.leads_to or _is_external(reference):
        return RefResolution.EXTERNAL
    return RefResolution.BROKEN


class Digest(Struct, frozen=True):
    """A parsed digest; `algorithm` is None when it does not have the form algorithm:hex."""

    algorithm: str | None
    hex: str

    @classmethod
    def parse(cls, written: str) -> Digest:
        found = _FORM.fullmatch(written)
        if found is None:
            return cls(None, "")
        name = re.sub(r"[-_]", "", found["algorithm"].lower())
        return cls(name, found["hex"].lower())

    @classmethod
    def of(cls, algorithm: str, content: bytes) -> Digest:
        return cls(algorithm, hashlib.new(algorithm, content, usedforsecurity=False).hexdigest())

    @property
    def fault(self) -> str | None:
        """Why the digest is malformed, as the end of a sentence, or None."""
        if self.algorithm is None:
            return "is not an algorithm and hexadecimal digits, such as sha256:…"
        wanted = LENGTHS.get(self.algorithm)
        if wanted is not None and len(self.hex) != wanted:
            return f"has {len(self.hex)} digits; {self.algorithm} has {wanted}"
        return None

    def matches(self, content: bytes) -> bool | None:
        """Whether this is the digest of `content`; None when the algorithm is not known."""
        if self.algorithm not in LENGTHS:
            return None
        return Digest.of(self.algorithm, content) == self


def inline_bytes(record: Record) -> bytes | None:
    """The bytes that the digest of a record was computed from, if the record itself holds them."""
    if is_redacted(record.redaction):
        return None
    content = record.text("content")
    if record.kind is RecordKind.ITEM and record.text("content_mode") not in ("inline", "embedded_resource"):
        return None
    if content is not None:
        return content.encode("utf-8", "surrogatepass")
    uri = record.text("uri") if record.kind is RecordKind.SOURCE else None
    return data_of(uri) if uri is not None and uri[:5].lower() == "data:" else None


class SiblingFile(Struct, frozen=True):
    """A file beside the records that a reference leads to."""

    name: str
    data: bytes

    @property
    def text(self) -> str:
        return self.data.decode("utf-8", "replace")

    def matches(self, digest: str | None) -> bool | None:
        """Whether the bytes have this digest; None when it cannot be verified."""
        found = Digest.parse(digest or "")
        return found.matches(self.data) if found.fault is None else None


class UnreadSibling(Struct, frozen=True):
    """A file beside the records that cannot be read, or is too large to be read, and why."""

    file: str
    reason: str
    is_large: bool


class SiblingFiles:
    """The files of one folder, each read at most once."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._cached: dict[str, SiblingFile | UnreadSibling | None] = {}
        self._bytes_left = MOST_BYTES
        self._lock = Lock()

    def find(self, reference: str | None) -> SiblingFile | None:
        """The file that a URI or path names; None when it is outside the folder or cannot be read."""
        found = self._read(reference)
        return found if isinstance(found, SiblingFile) else None

    def problem(self, reference: str | None) -> UnreadSibling | None:
        """Why the file that a URI or path names was not read; None when it was, or when there is none."""
        found = self._read(reference)
        return found if isinstance(found, UnreadSibling) else None

    def _read(self, reference: str | None) -> SiblingFile | UnreadSibling | None:
        name = path_inside(reference)
        if name is None or self._folder is None:
            return None
        with self._lock:
            if name not in self._cached:
                limit = min(LARGEST, self._bytes_left)
                try:
                    data = read_beneath(self._folder, name, limit)
                except ReadError as error:
                    self._cached[name] = _unread(self._folder / name, error.reason, limit)
                else:
                    self._bytes_left -= len(data)
                    self._cached[name] = SiblingFile(name, data)
            return self._cached[name]

    def file(self, found: SiblingFile) -> str:
        """Return the file's name in origins."""
        return str((self._folder or Path()) / found.name)


def _unread(path: Path, reason: str, limit: int) -> UnreadSibling | None:
    """Return why a file was not read; None for a folder, and when nothing is there."""
    try:
        status = path.lstat()
    except PermissionError:
        return UnreadSibling(str(path), reason, is_large=False)
    except OSError:
        return None
    is_large = S_ISREG(status.st_mode) and status.st_size > limit
    return None if S_ISDIR(status.st_mode) else UnreadSibling(str(path), reason, is_large=is_large)


def path_inside(reference: str | None) -> str | None:
    """The relative path in a URI; None when it has a scheme, is absolute, or leaves the folder.

    What no review covers is not content either: review records, and the folders of version control.
    """
    if not reference:
        return None
    path = reference.removeprefix("file:") if not reference.startswith("file:/") else ""
    if not path or _SCHEME.match(path):
        return None
    path = unquote(path.partition("#")[0]).removeprefix("./")
    is_safe = path_problem(path) is None and "\\" not in path
    return path if is_safe and all(map(is_content, PurePosixPath(path).parts)) else None


def data_of(uri: str) -> bytes | None:
    """The bytes in a `data:` address; None when it is malformed."""
    from base64 import b64decode
    from urllib.parse import unquote_to_bytes

    head, comma, body = uri.partition(",")
    if not comma:
        return None
    found = unquote_to_bytes(body)
    if not head.lower().endswith(";base64"):
        return found
    try:
        return b64decode(found, validate=True)
    except ValueError:
        return None


def _is_external(reference: RecordReference) -> bool:
    members = reference.members
    if members.get("external") is True:
        return True
    if "uri" in members and not any(name in members for name in (*KIND_OF_ID, *ID_KEYS)):
        return True
    return reference.id is not None and _ADDRESS.match(reference.id) is not None
