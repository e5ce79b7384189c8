"""The duplicate and contradiction map: pairs of statements in the files that reach the prompt.

The map keeps what it compared, so that after one file changed only the pairs of that file are made again.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import combinations, count
from math import log
from threading import Lock

from msgspec import Struct

from ctxview.core.origin import Origin
from ctxview.formats.workspace.markdown import MarkdownDocument, Statement
from ctxview.formats.workspace.model import Role, Workspace, WorkspaceFile
from ctxview.formats.workspace.similarity import (
    ComparedText,
    Likeness,
    compare,
    differing_values,
    prepare,
    sentences,
    shared_words,
)

RAREST = 4
"""The stems of a sentence by which others are found that may be like it."""
MOST_POSTINGS = 400
"""A stem that is in more sentences than this finds no others."""
MOST_PAIRS = 2000
_FIELD = re.compile(r"\*\*[^*]{1,40}(?:\*\*:|:\*\*)\s*\S{1,20}(?:\s\S{1,20}){0,2}$")
"""A label with a short value, such as `**Owner**: team A`: it is about the heading that it stands under."""
_SURE = 82
"""The score of a near duplicate in ordinary repositories, where a wrong alarm costs more."""


class Said(Struct, frozen=True, eq=False):
    """One sentence at its place. `rank` orders the files: the one with the lower rank keeps a statement."""

    name: str
    document: MarkdownDocument
    statement: Statement
    compared: ComparedText
    rank: int
    readers: tuple[str, ...] = ()
    scoped: bool = False

    @property
    def place(self) -> str:
        return f"{self.name}:{self.statement.line}"

    @property
    def origin(self) -> Origin:
        return self.document.origin(self.statement.line, self.statement.last)


class Pair(Struct, frozen=True, eq=False):
    """Two statements that say the same, or contradict each other. `drop` is the one to remove."""

    likeness: Likeness
    keep: Said
    drop: Said
    score: float

    @property
    def shared(self) -> tuple[str, ...]:
        return shared_words(self.drop.compared, self.keep.compared)

    @property
    def values(self) -> tuple[str, str] | None:
        """The differing values, first of `drop`."""
        return differing_values(self.drop.compared, self.keep.compared)

    @property
    def together(self) -> bool:
        """Whether some agent loads both in one prompt."""
        readers = self.keep.readers
        return not readers or bool(set(readers) & set(self.drop.readers))


_RANKS = {Role.BOOTSTRAP: 0, Role.INSTRUCTIONS: 0, Role.CONTEXT: 40, Role.SESSION: 41, Role.MEMORY: 50}


class ComparedFile(Struct, frozen=True, eq=False):
    """A file to compare. Its `key` changes when its bytes do."""

    name: str
    document: MarkdownDocument
    rank: int
    readers: tuple[str, ...] = ()
    scoped: bool = False
    copy_of: str = ""
    """The session whose text it repeats by design: such files are not compared with each other."""


def compared_files(workspace: Workspace) -> list[ComparedFile]:
    """Return the files of the prompt, in the order in which they keep statements."""
    found = []
    for at, file in enumerate(_by_rank(workspace)):
        if file.role is Role.ON_DEMAND and "/rules/" not in file.name and "/instructions/" not in file.name:
            continue
        scoped = file.role is Role.ON_DEMAND
        rank = 30 if scoped else _RANKS[file.role] + min(at, 29)
        found.append(ComparedFile(file.name, file.document, rank, file.readers, scoped))
    for document in workspace.documents:
        name, rank = document.name, _RANKS[document.role]
        found.append(ComparedFile(name, document.markdown, rank, copy_of=document.channel or "CONTEXT"))
    return found


def _by_rank(workspace: Workspace) -> Iterator[WorkspaceFile]:
    yield from workspace.bootstrap
    yield from workspace.of(Role.INSTRUCTIONS, Role.ON_DEMAND)
    yield from workspace.of(Role.MEMORY)


class DuplicateMap:
    """All pairs between files, kept up to date. Any thread may call `update`."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._files: dict[str, tuple[ComparedFile, list[int]]] = {}
        self._said: dict[int, Said] = {}
        self._postings: dict[str, set[int]] = defaultdict(set)
        """The numbers of the sentences that have a stem."""
        self._numbers = count()
        self._pairs: dict[tuple[str, str], list[Pair]] = {}

    def update(self, files: Sequence[ComparedFile], least: float) -> tuple[Pair, ...]:
        """Return the pairs of `files`; only files with other bytes than last time are compared again."""
        with self._lock:
            wanted = {each.name: each for each in files}
            changed = [name for name, each in wanted.items() if not self._is_known(each)]
            for name in {*changed, *(self._files.keys() - wanted.keys())}:
                self._forget(name)
            for name in changed:
                self._add(wanted[name])
            for pair in self._new_pairs(changed, least):
                self._pairs.setdefault((pair.keep.name, pair.drop.name), []).append(pair)
            found = [pair for pairs in self._pairs.values() for pair in pairs]
        found.sort(key=lambda pair: (pair.drop.rank, pair.drop.name, pair.drop.statement.line, -pair.score))
        return tuple(found[:MOST_PAIRS])

    def _is_known(self, file: ComparedFile) -> bool:
        if file.name not in self._files:
            return False
        known = self._files[file.name][0]
        same = (known.rank, known.readers, known.scoped, known.copy_of) == (
            (file.rank, file.readers, file.scoped, file.copy_of)
        )
        return same and (known.document is file.document or known.document.data == file.document.data)

    def _forget(self, name: str) -> None:
        _, numbers = self._files.pop(name, (None, []))
        for number in numbers:
            for stem in self._said.pop(number).compared.stems:
                self._postings[stem].discard(number)
        for names in [each for each in self._pairs if name in each]:
            del self._pairs[names]

    def _add(self, file: ComparedFile) -> None:
        numbers = []
        for each in _said(file):
            number = next(self._numbers)
            numbers.append(number)
            self._said[number] = each
            for stem in each.compared.stems:
                self._postings[stem].add(number)
        self._files[file.name] = (file, numbers)

    def _new_pairs(self, changed: Sequence[str], least: float) -> Iterator[Pair]:
        """Yield the pairs of the changed files with each other and with all others."""
        everything = len(self._said)

        @cache
        def weight(stem: str) -> float:
            return log(1 + everything / (1 + len(self._postings[stem])))

        seen: set[tuple[int, int]] = set()
        for name in changed:
            for number in self._files[name][1]:
                for other in self._candidates(number):
                    both = (number, other) if number < other else (other, number)
                    if both in seen:
                        continue
                    seen.add(both)
                    pair = self._pair(self._said[both[0]], self._said[both[1]], weight, least)
                    if pair is not None:
                        yield pair

    def _pair(self, one: Said, other: Said, weight: Callable[[str], float], least: float) -> Pair | None:
        file, theirs = (self._files[each.name][0] for each in (one, other))
        same_file = other.name == one.name
        if same_file and (other.statement.line <= one.statement.line or _FIELD.match(one.statement.text)):
            return None
        if not same_file and file.copy_of and theirs.copy_of:
            return None
        limit = _SURE if one.readers or other.readers else least
        found = compare(one.compared, other.compared, weight, limit)
        if found is None or (found[0] is not Likeness.EXACT and (same_file or one.scoped or other.scoped)):
            return None
        keep, drop = sorted((one, other), key=lambda each: (each.rank, each.statement.line))
        return Pair(found[0], keep, drop, found[1])

    def _candidates(self, number: int) -> set[int]:
        """Return the sentences that have two of the rarest stems of this one, or its only one."""
        postings = sorted((self._postings[stem] for stem in self._said[number].compared.stems), key=len)
        if len(postings) == 1 and len(postings[0]) <= MOST_POSTINGS:
            return postings[0] - {number}
        found: set[int] = set()
        for one, other in combinations(postings[:RAREST], 2):
            if len(one) > MOST_POSTINGS:
                break
            found |= one & other
        found.discard(number)
        return found


def _said(file: ComparedFile) -> Iterator[Said]:
    name, document, rank = file.name, file.document, file.rank
    for _, statement in document.statements():
        for text in sentences(statement.text):
            compared = prepare(text)
            if compared.is_comparable and not is_cross_reference(text):
                yield Said(name, document, statement, compared, rank, file.readers, file.scoped)


def is_cross_reference(text: str) -> bool:
    """Whether a statement only leads to another file, such as `see SOUL.md`."""
    names_file = ".md" in text.lower() or "http" in text
    return names_file and len(text.split()) <= 14
