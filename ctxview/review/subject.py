"""The subject of a review: every reviewed file with its SHA-256, found without following links.

Review records, their signatures and files that ctxview is writing do not belong to a subject, nor do the
folders of version control.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from msgspec import Struct

from ctxview.core.prompt import Prompt
from ctxview.core.state import ContextState
from ctxview.files.reading import (
    REVIEW_SUFFIX,
    VERSION_CONTROL,
    ReadError,
    error_text,
    is_content,
    is_review_file,
    open_beneath,
    path_problem,
    read_bytes,
    require_regular,
)
from ctxview.files.strict_json.document import JsonError, parse
from ctxview.files.visible_text import visible
from ctxview.formats.interface import Source
from ctxview.review.words import PREDICATES

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
    root = Path(os.path.commonpath([place_of(source.path).parent for source in sources]))
    return [subject_at(root, scope_of(source)) for source in sources]


def place_of(path: Path) -> Path:
    """Return the real path of a source: `store.db` for the source `store.db/session-1`."""
    real = path.resolve()
    return next((each for each in real.parents if each.is_file()), real)


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

    A folder is a subject with all that is in it, and with what the source is made of although it has the name
    of a record or leftover; of a repository, only what the source is made of. Only a link that the user named
    is followed.
    """
    scope, own = source.abilities.file_scope, source.path
    made_of = [*scope.made_of] if scope is not None else []
    if scope is None or not is_repository(own):
        made_of = [own, *(each for each in made_of if each.is_relative_to(own))]
    files = (*made_of, *(each.file for each in source.revisions if each.file != own))
    return tuple(
        dict.fromkeys(place_of(own) if each == own else each.parent.resolve() / each.name for each in files)
    )


def is_repository(path: Path) -> bool:
    return any(os.path.lexists(path / each) for each in VERSION_CONTROL)


def files_beside(source: Source, state: ContextState, prompts: Iterable[Prompt]) -> Sequence[Path]:
    """Return the other files that were read for a source that is a single file.

    These are the files behind the parts of its prompts, and those that its references name.
    """
    own = place_of(source.path)
    if own.is_dir():
        return ()
    parts = (part for prompt in prompts for message in prompt.messages for part in message.parts)
    origins = [part.origin for part in parts if part.origin is not None]
    origins += [block.origin for block in state.blocks()]
    named = [Path(origin.file).resolve() for origin in origins]
    named += [own.parent / ref.target for ref in state.refs if path_problem(ref.target) is None]
    return [
        each
        for each in dict.fromkeys(named)
        if each != own and each.is_relative_to(own.parent) and each.is_file() and not each.is_symlink()
    ]


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
        if path.parent.resolve() != path.parent:
            unread[path.relative_to(root).as_posix()] = "the path goes through a symbolic link"
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


def watched_paths(subject: Subject, path: Path) -> tuple[Path, ...]:
    """Return the paths whose change may change the review of `path`: files, their folders, and records."""
    files = [subject.root / name for name in (*subject.files, *subject.links, *subject.unread)]
    inside = (each for file in files for each in file.parents if subject.root in each.parents)
    return (*dict.fromkeys((*files, *inside)), *records_beside(path), free_record(path))


def records_beside(path: Path) -> list[Path]:
    """Return the records of the subject `path` that lie beside it, by number; a missing number hides none."""
    files = (file for _, file in _record_names(path))
    return [file for file in files if file.is_file() and not file.is_symlink()]


def free_record(path: Path) -> Path:
    """Return a name for a record after all others of the subject `path`."""
    folder, name = _record_place(path)
    number = max((number for number, _ in _record_names(path)), default=0) + 1
    return folder / f"{name}{f'.{number}' if number > 1 else ''}{REVIEW_SUFFIX}"


def _record_names(path: Path) -> list[tuple[int, Path]]:
    """The number and the place of all that is named like a record of the subject `path`, by number."""
    folder, name = _record_place(path)
    named = re.compile(rf"{re.escape(name)}(?:\.([0-9]{{1,9}}))?{re.escape(REVIEW_SUFFIX)}")
    try:
        found = [(named.fullmatch(each.name), each) for each in folder.iterdir()]
    except OSError:
        return []
    return sorted((int(match[1] or 1), file) for match, file in found if match is not None)


def _record_place(path: Path) -> tuple[Path, str]:
    """The folder of the records of a subject, and how their names begin: `store.db-session-1`."""
    place = place_of(path)
    return place.parent, "-".join((place.name, *path.resolve().parts[len(place.parts) :]))


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
        kept = (each for each in names if is_content(each) or _only_looks_like_a_record(path / each))
        waiting += [f"{current}/{each}" if current != "." else each for each in kept]


def _only_looks_like_a_record(path: Path) -> bool:
    """Whether a path has the name of a record, a signature or a leftover, but another runtime may read it."""
    if path.name in VERSION_CONTROL:
        return False
    if path.is_symlink() or not path.is_file():
        return True
    if not is_review_file(path.name):
        return False
    try:
        data = read_bytes(path)
        if path.suffix == ".sig":
            return not data.startswith(b"-----BEGIN SSH SIGNATURE-----")
        value = parse(data).value
    except (ReadError, JsonError):
        return True
    kind = value.get("predicateType") if isinstance(value, dict) else None
    return not isinstance(kind, str) or not kind.startswith(PREDICATES)


def _require_text(name: str) -> None:
    """Raise `UnicodeError` for a name that a record cannot hold."""
    name.encode("utf-8")


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
