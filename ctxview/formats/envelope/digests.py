"""Digests as they are written in records, and the bytes of a record that one may be compared with."""

from __future__ import annotations

import hashlib
import re

from ctxview.formats.envelope.fates import is_redacted
from ctxview.formats.envelope.model import Record
from ctxview.formats.envelope.vocabulary import Kind
from ctxview.quick_dataclass import dataclass

LENGTHS = {"md5": 32, "sha1": 40, "sha224": 56, "sha256": 64, "sha384": 96, "sha512": 128}
"""Hexadecimal digits by algorithm; other algorithms are taken as they are."""
_FORM = re.compile(r"(?P<algorithm>[A-Za-z][A-Za-z0-9_-]*):(?P<hex>[0-9A-Fa-f]+)")


@dataclass(frozen=True, slots=True)
class Digest:
    """A digest taken apart; `algorithm` is None when it has not the form algorithm:hex."""

    algorithm: str | None
    hex: str

    @classmethod
    def parse(cls, written: str) -> Digest:
        found = _FORM.fullmatch(written)
        if found is None:
            return cls(None, "")
        name = re.sub(r"[-_]", "", found["algorithm"].lower())
        return cls(name, found["hex"].lower())

    @property
    def fault(self) -> str | None:
        """What is wrong with how it is written, as the end of a sentence."""
        if self.algorithm is None:
            return "is not an algorithm and hexadecimal digits, such as sha256:…"
        wanted = LENGTHS.get(self.algorithm)
        if wanted is not None and len(self.hex) != wanted:
            return f"has {len(self.hex)} digits; {self.algorithm} has {wanted}"
        return None

    def matches(self, content: bytes) -> bool | None:
        """Whether it is that of `content`; None when the algorithm is not known."""
        if self.algorithm not in LENGTHS:
            return None
        return hashlib.new(self.algorithm, content, usedforsecurity=False).hexdigest() == self.hex


def bytes_at_hand(record: Record) -> bytes | None:
    """What the digest of a record was taken of, when that stands in the record itself."""
    if is_redacted(record.text("redaction_state")):
        return None
    content = record.text("content")
    if record.kind is Kind.ITEM and record.text("content_mode") not in ("inline", "embedded_resource"):
        return None
    if content is not None:
        return content.encode("utf-8", "surrogatepass")
    uri = record.text("uri") if record.kind is Kind.SOURCE else None
    return _data_of(uri) if uri is not None and uri[:5].lower() == "data:" else None


def _data_of(uri: str) -> bytes | None:
    """The bytes in a `data:` address; None when it is a broken one."""
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
