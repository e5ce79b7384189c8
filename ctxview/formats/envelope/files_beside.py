"""Files that records refer to and that lie beside them: found, read within bounds, and held to their digests.

Only relative paths inside the folder are followed, and no links; everything else stays a name.
"""

from __future__ import annotations

import re
from pathlib import Path
from threading import Lock
from urllib.parse import unquote

from ctxview.files.reading import Unreadable, outside, read_beneath
from ctxview.formats.envelope.digests import Digest
from ctxview.quick_dataclass import dataclass

LARGEST = 8 * 1024 * 1024
MOST_BYTES = 64 * 1024 * 1024
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


@dataclass(frozen=True, slots=True)
class FileBeside:
    """A file that a reference leads to."""

    name: str
    data: bytes

    @property
    def text(self) -> str:
        return self.data.decode("utf-8", "replace")

    def matches(self, digest: str | None) -> bool | None:
        """Whether the bytes have that digest; None when it is none that can be verified."""
        found = Digest.parse(digest or "")
        return found.matches(self.data) if found.fault is None else None


class FilesBeside:
    """The files of one folder, each read once."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._known: dict[str, FileBeside | None] = {}
        self._room = MOST_BYTES
        self._lock = Lock()

    def find(self, reference: str | None) -> FileBeside | None:
        """The file that a uri or a path names; None when it leads elsewhere or cannot be read."""
        name = path_inside(reference)
        if name is None or self._folder is None:
            return None
        with self._lock:
            if name not in self._known:
                self._known[name] = self._read(self._folder, name)
            return self._known[name]

    def _read(self, folder: Path, name: str) -> FileBeside | None:
        try:
            data = read_beneath(folder, name, min(LARGEST, self._room))
        except Unreadable:
            return None
        self._room -= len(data)
        return FileBeside(name, data)


def path_inside(reference: str | None) -> str | None:
    """The relative path that a uri names; None when it has a scheme, is absolute, or climbs out."""
    if not reference:
        return None
    path = reference.removeprefix("file:") if not reference.startswith("file:/") else ""
    if not path or _SCHEME.match(path):
        return None
    path = unquote(path.partition("#")[0]).removeprefix("./")
    return path if outside(path) is None and "\\" not in path else None
