"""The files of a bundle, opened as streams: a folder with any of them, or one file of entries or calls."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from ctxview.files.line_file import LineFile
from ctxview.files.reading import ReadError
from ctxview.formats.kit.history import FileHistoryStream
from ctxview.formats.memory.format import file_kind, sampled_lines
from ctxview.formats.memory.records import ENTRIES, FILES
from ctxview.formats.peek import Peek

SMALL: Final = 1024 * 1024
"""Bundles up to this size in bytes are read whole at once."""


class BundleFiles:
    """The open files by their name in the bundle, and why others cannot be read."""

    def __init__(
        self,
        path: Path,
        streams: Mapping[str, FileHistoryStream],
        problems: Mapping[str, str],
        grown: bool = False,
    ) -> None:
        self.path = path
        self.streams = streams
        self.problems = problems
        self.grown = grown
        """Whether the files only grew since the look before."""

    @classmethod
    def at(cls, path: Path) -> BundleFiles:
        streams: dict[str, FileHistoryStream] = {}
        problems: dict[str, str] = {}
        for name, (root, relative) in _places(path).items():
            file = str(root / relative)
            try:
                streams[name] = FileHistoryStream(LineFile(root, relative), name, file)
            except ReadError as error:
                problems[name] = error.reason
        return cls(path, streams, problems)

    def again(self) -> BundleFiles:
        """Return the files as they are now; this object itself when nothing changed."""
        grown, streams = True, {}
        for name, stream in self.streams.items():
            streams[name], same = stream.again()
            grown = grown and same
        names = _places(self.path).keys()
        unchanged = all(streams[name] is self.streams[name] for name in streams)
        if unchanged and names == streams.keys() | self.problems.keys() and not self.problems:
            return self
        if names != streams.keys() or self.problems:
            fresh = BundleFiles.at(self.path)
            kept = {name: streams.get(name, stream) for name, stream in fresh.streams.items()}
            return BundleFiles(self.path, kept, fresh.problems, grown)
        return BundleFiles(self.path, streams, {}, grown)

    @property
    def size(self) -> int:
        return sum(stream.size for stream in self.streams.values())

    @property
    def names(self) -> dict[str, str]:
        """The names of the files in origins, by their names in the bundle."""
        return {name: str(stream.path) for name, stream in self.streams.items()}

    @property
    def held_back(self) -> tuple[Path, ...]:
        return tuple(stream.path for stream in self.streams.values() if stream.held_back)


def _places(path: Path) -> dict[str, tuple[Path, str]]:
    if path.is_dir():
        return {name: (path, name) for name in FILES if (path / name).exists() or (path / name).is_symlink()}
    return {file_kind(sampled_lines(Peek(path).head)) or ENTRIES: (path.parent, path.name)}
