"""Unpack compressed transcripts: gzip always, zstd with the optional package `zstandard`.

The unpacked bytes go to a temporary file of this process; nothing is written beside the transcript.
"""

from __future__ import annotations

import zlib
from enum import StrEnum
from io import RawIOBase
from pathlib import Path
from typing import IO, Final, Protocol, cast
from weakref import finalize

from ctxview.formats.interface import OpenError

MOST_UNPACKED: Final = 2 * 1024 * 1024 * 1024
_STEP: Final = 1024 * 1024
INSTALL: Final = "pip install 'ctxview[zstd]'"


class Packing(StrEnum):
    ZSTD = "zstd"
    GZIP = "gzip"


class _Zstd(Protocol):
    """The part of `zstandard` that is used."""

    def stream_reader(self, source: IO[bytes], /) -> RawIOBase: ...


class Unpacked:
    """A temporary folder with one unpacked file; it is removed with this object."""

    name: Final = "unpacked.jsonl"

    def __init__(self) -> None:
        # Every folder is shown to this format, and hardly any is a compressed transcript.
        from shutil import rmtree
        from tempfile import mkdtemp

        self.path = Path(mkdtemp(prefix="ctxview-"))
        self.left_out: str | None = None
        """Why only the beginning was unpacked."""
        finalize(self, rmtree, self.path, ignore_errors=True)


def packing_of(head: bytes) -> Packing | None:
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        return Packing.ZSTD
    return Packing.GZIP if head.startswith(b"\x1f\x8b") else None


def can_unpack(packing: Packing) -> bool:
    return packing is Packing.GZIP or _zstd() is not None


def unpacked_head(path: Path, packing: Packing, most: int) -> bytes:
    """Return the first bytes of a compressed file; empty when it cannot be unpacked."""
    try:
        with path.open("rb") as file, _reader(file, packing) as reader:
            return reader.read(most) or b""
    except (OSError, EOFError, zlib.error, ValueError, _zstd_error()):
        return b""


def unpack(path: Path, packing: Packing) -> Unpacked:
    """Unpack a file; without an unpacker the result is empty. Raises `OpenError`."""
    made = Unpacked()
    size = 0
    with (made.path / made.name).open("wb") as target:
        if can_unpack(packing):
            try:
                with path.open("rb") as file, _reader(file, packing) as reader:
                    while piece := reader.read(_STEP):
                        if size >= MOST_UNPACKED:
                            made.left_out = f"only the first {size:,} bytes were unpacked"
                            break
                        size += target.write(piece)
            except (OSError, EOFError, zlib.error, ValueError, _zstd_error()) as error:
                if not size:
                    raise OpenError(f"{path}: cannot be unpacked: {error}") from None
                made.left_out = f"only the first {size:,} bytes could be unpacked: {error}"
    return made


def _reader(file: IO[bytes], packing: Packing) -> RawIOBase:
    if packing is Packing.GZIP:
        import gzip

        return cast("RawIOBase", gzip.GzipFile(fileobj=file))
    unpacker = _zstd()
    if unpacker is None:
        raise ValueError("zstandard is not installed")
    return unpacker.stream_reader(file)


def _zstd() -> _Zstd | None:
    try:
        import zstandard
    except ImportError:
        return None
    return cast("_Zstd", zstandard.ZstdDecompressor())


def _zstd_error() -> type[Exception]:
    try:
        import zstandard
    except ImportError:
        return ValueError
    return cast("type[Exception]", zstandard.ZstdError)
