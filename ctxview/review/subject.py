"""The subject of a review: every reviewed file with its SHA-256, found without following links.

Review records, their signatures and files that ctxview is writing do not belong to a subject, nor do the
folders of version control.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from msgspec import Struct

from ctxview.files.reading import (
    ReadError,
    error_text,
    is_leftover,
    is_review_file,
    open_beneath,
    require_regular,
)
from ctxview.files.visible_text import visible
from ctxview.formats.interface import Source

VERSION_CONTROL = frozenset((".git", ".hg", ".svn"))
_READ_AT_ONCE = 1024 * 1024


class Subject(Struct, frozen=True):
    """The reviewed files below the folder `root`: their SHA-256 by relative name, and what is not covered."""

    root: Path
    files: Mapping[str, str]
    sizes: Mapping[str, int]
    links: Mapping[str, str]
    """The targets of symbolic links, which are not followed."""
    unread: Mapping[str, str]
    """Why a file or folder could not be read, by name."""

    @property
    def digest(self) -> str:
        """The SHA-256 of the names, digests and links: equal for equal subjects in any place."""
        lines = [f"{digest}  {name}\n" for name, digest in sorted(self.files.items())]
        lines += [f"link  {name} -> {target}\n" for name, target in sorted(self.links.items())]
        return sha256("".join(lines).encode("utf-8", "surrogateescape")).hexdigest()

    @property
    def bytes(self) -> int:
        return sum(self.sizes.values())


def subjects_of(sources: Sequence[Source]) -> list[Subject]:
    """Return the subject of each source, read now, with names relative to a folder that holds all of them."""
    root = Path(os.path.commonpath([source.path.resolve().parent for source in sources]))
    return [subject_at(root, scope_of(source)) for source in sources]


def joined(subjects: Sequence[Subject]) -> Subject:
    """Return the subject that several ones with the same root make together."""
    files: dict[str, str] = {}
    sizes: dict[str, int] = {}
    links: dict[str, str] = {}
    unread: dict[str, str] = {}
    for each in subjects:
        files |= each.files
        sizes |= each.sizes
        links |= each.links
        unread |= each.unread
    return Subject(subjects[0].root, files, sizes, links, unread)


def scope_of(source: Source) -> Sequence[Path]:
    """Return the real paths of the files and whole folders that a source is read from.

    Only a link that the user named is followed.
    """
    scope, own = source.abilities.file_scope, source.path
    made_of = (scope.made_of if scope is not None else ()) or (own,)
    files = (*made_of, *(revision.file for revision in source.revisions))
    return tuple(
        dict.fromkeys(each.resolve() if each == own else each.parent.resolve() / each.name for each in files)
    )


def subject_at(root: Path, paths: Iterable[Path]) -> Subject:
    """Return the subject of real files and folders below `root`; what lies elsewhere is not covered."""
    files: dict[str, str] = {}
    sizes: dict[str, int] = {}
    links: dict[str, str] = {}
    unread: dict[str, str] = {}
    for path in paths:
        if not path.is_relative_to(root):
            unread[str(path)] = "it is outside of the reviewed folder"
            continue
        for name in _walk(root, path.relative_to(root).as_posix(), unread):
            if name in files or not os.path.lexists(root / name):
                continue
            try:
                _require_text(name)
                if (root / name).is_symlink():
                    target = os.readlink(root / name)  # noqa: PTH115 - a target may hold anything
                    links[name] = os.fsencode(target).decode("utf-8", "backslashreplace")
                else:
                    files[name], sizes[name] = _digest(root, name)
            except UnicodeError:
                unread[visible(name)] = "its name is not valid UTF-8"
            except ReadError as error:
                unread[name] = error.reason
            except OSError as error:
                unread[name] = error_text(error)
    return Subject(root, files, sizes, links, unread)


def _walk(root: Path, name: str, unread: dict[str, str]) -> Iterator[str]:
    """Yield the names of all files and links at or below `name`, in order."""
    waiting = [name]
    while waiting:
        current = waiting.pop()
        path = root / current
        if path.is_symlink() or not path.is_dir():
            yield current
            continue
        try:
            names = sorted((each.name for each in path.iterdir()), reverse=True)
        except OSError as error:
            unread[current] = error_text(error)
            continue
        waiting += [f"{current}/{each}" if current != "." else each for each in names if _is_reviewed(each)]


def _require_text(name: str) -> None:
    """Raise `UnicodeError` for a name that a record cannot hold."""
    name.encode("utf-8")


def _is_reviewed(name: str) -> bool:
    return not (is_review_file(name) or is_leftover(name) or name in VERSION_CONTROL)


def _digest(root: Path, name: str) -> tuple[str, int]:
    descriptor = open_beneath(root, name)
    try:
        require_regular(os.fstat(descriptor), root / name)
        digest, size = sha256(), 0
        while piece := os.read(descriptor, _READ_AT_ONCE):
            digest.update(piece)
            size += len(piece)
        return digest.hexdigest(), size
    finally:
        os.close(descriptor)
