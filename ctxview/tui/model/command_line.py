"""The commands of the `:` line: actions, revisions, blocks, sources, themes and paths, matched loosely.

A command is found by its name, also with letters left out or mistyped, and then by the words of its preview.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import islice
from pathlib import Path

from msgspec import Struct

from ctxview.analysis.wording import excerpt
from ctxview.core.state import Block
from ctxview.core.transcript import Transcript
from ctxview.formats.interface import Revision
from ctxview.tui.model.reading_index import ItemId, ReadingIndex

MOST_MATCHES = 200
MOST_PATHS = 500
"""Entries of a folder that are offered."""
LEAST_LIKENESS = 80
"""The likeness in percent from which a mistyped name is still recognised."""
LEAST_LIKENESS_OF_WORD = 50
"""The likeness of each of its words."""


class CommandKind(StrEnum):
    ACTION = "action"
    REVISION = "revision"
    BLOCK = "block"
    SOURCE = "source"
    THEME = "theme"
    PATH = "open"
    ROW = "goto"
    WHY = "why"


class Command(Struct, frozen=True):
    """A command: `name` is matched and completed, `value` is what the kind of command needs to run."""

    kind: CommandKind
    name: str
    about: str = ""
    value: str = ""
    key: str = ""
    item: ItemId | None = None


GOTO = Command(CommandKind.ROW, "goto", "goto NUMBER: go to a message, or to a row of the list", "")
OPEN = Command(CommandKind.PATH, "open", "open PATH: open a file or a folder", "")


def revision_commands(revisions: Sequence[Revision]) -> list[Command]:
    """One command for each revision, by its label."""
    return [
        Command(
            CommandKind.REVISION,
            revision.label,
            " · ".join(
                part for part in (f"revision {number + 1}", revision.kind, revision.time or "") if part
            ),
            str(number),
        )
        for number, revision in enumerate(revisions)
    ]


def block_commands(index: ReadingIndex, blocks: Iterable[ItemId]) -> Iterator[Command]:
    for item in blocks:
        value = index.value(item)
        if isinstance(value, Block):
            about = f"{value.tier}: {' '.join(value.text[:200].split())}"
            yield Command(CommandKind.BLOCK, value.id, about, item=item)


def theme_commands(names: Iterable[str]) -> list[Command]:
    return [
        Command(CommandKind.THEME, f"theme {name.removeprefix('ctxview-')}", "use this theme", name)
        for name in names
    ]


def goto_command(typed: str) -> Command | None:
    """The command of `goto 5000` or of a bare number; None for anything else."""
    word, _, rest = typed.strip().partition(" ")
    number = (rest if word == "goto" else typed).strip().replace(",", "")
    if number.isascii() and number.isdigit() and int(number):
        return Command(CommandKind.ROW, f"goto {number}", "go to this message, or to this row", number)
    if word == "goto" and number:
        return Command(CommandKind.ROW, "goto", f"{excerpt(number)} is not a number from 1")
    return None


def why_commands(typed: str, commands: Sequence[Command]) -> list[Command]:
    """The commands of `why NAME`: the name as typed, then blocks of such a name; none for anything else."""
    word, _, name = typed.strip().partition(" ")
    if word != "why" or not (name := name.strip()):
        return []
    blocks = (each.name for each in commands if each.kind is CommandKind.BLOCK)
    return [
        Command(CommandKind.WHY, f"why {each}", "explain where it went, when and by what", each)
        for each in dict.fromkeys([name, *(block for block in blocks if name.lower() in block.lower())])
    ]


def row_of_message(transcript: Transcript, number: int) -> int | None:
    """The row of a message by its number; blank lines before it, which have no number, move it down."""
    row = number - 1
    while 0 <= row < len(transcript):
        found = transcript.row(row)
        if found.kind == "blank" or (found.number is not None and found.number < number):
            row += 1
        else:
            return row
    return None


def path_typed(typed: str) -> str | None:
    """The path after `open`, empty when none is typed yet; None for another command."""
    word, space, path = typed.lstrip().partition(" ")
    return path.strip() if word == "open" and space else None


def path_commands(typed: str, folder: Path) -> list[Command]:
    """The files and folders that the path `typed` after `open` may become; reads the folder."""
    full = folder / _in_home(typed)
    parent, start = (full, "") if typed == "" or typed.endswith(os.sep) else (full.parent, full.name)
    shown = typed[: len(typed) - len(start)] if start else typed
    found = [_open(typed, full, "open this path")] if typed and full.exists() else []
    try:
        with os.scandir(parent) as scan:
            entries = sorted(
                (
                    (not entry.is_dir(), entry.name)
                    for entry in islice(scan, MOST_PATHS)
                    if entry.name.startswith(start or "") and (start or not entry.name.startswith("."))
                ),
            )
    except OSError as error:
        reason = error.strerror or "cannot be read"
        return found or [Command(CommandKind.PATH, f"open {typed}", f"{parent}: {reason}")]
    for is_file, name in entries:
        path = f"{shown}{name}{'' if is_file else os.sep}"
        if path not in (typed, f"{typed}{os.sep}"):
            found.append(_open(path, parent / name, "a file" if is_file else "a folder"))
    return found or [Command(CommandKind.PATH, f"open {typed}", "there is no such file or folder")]


def _in_home(typed: str) -> Path:
    try:
        return Path(typed).expanduser()
    except RuntimeError:  # no such user
        return Path(typed)


def _open(path: str, full: Path, about: str) -> Command:
    return Command(CommandKind.PATH, f"open {path}", about, os.fspath(full))


def matching(typed: str, commands: Sequence[Command]) -> list[Command]:
    """The commands that `typed` may mean, the best match first, equal ones in their own order."""
    wanted = " ".join(typed.lower().split())
    if not wanted:
        return list(commands[:MOST_MATCHES])
    ranks = ((_rank(wanted, each), at) for at, each in enumerate(commands))
    ranked = sorted((rank, at) for rank, at in ranks if rank is not None)
    return [commands[at] for _, at in ranked[:MOST_MATCHES]]


def _rank(wanted: str, command: Command) -> int | None:
    """How well a command matches, the best first; None when it does not match.

    In this order: the name or key itself, the beginning of the name, the beginnings of its words, a part of
    it, its letters with some left out, the words of the preview, a mistyped name. A revision of another
    number is never meant.
    """
    from rapidfuzz.distance import LCSseq

    name, key = command.name.lower(), command.key.lower()
    words, letters = wanted.split(), wanted.replace(" ", "")
    other = command.kind is CommandKind.REVISION and not _numbers(wanted) <= _numbers(name)
    if other and any(letter.isalpha() for letter in wanted):
        return None
    text = f"{name} {key} {command.about}".lower()
    matches = (
        wanted in (name, key),
        name.startswith(wanted),
        _begin(words, name.replace("-", " ").replace("_", " ").split()),
        wanted in name,
        name[:1] == letters[0] and LCSseq.similarity(letters, name) == len(letters),
        all(word in text for word in words),
        len(letters) > 3 and _is_alike(wanted, name),
    )
    return next((rank for rank, found in enumerate(matches) if found), None)


def _numbers(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\d+", text))


def _is_alike(typed: str, name: str) -> bool:
    """Whether a name may be mistyped: alike as a whole, and each typed word like one of its words."""
    from rapidfuzz.fuzz import partial_ratio, ratio

    if partial_ratio(typed, name) < LEAST_LIKENESS:
        return False
    words = name.split()
    return all(any(ratio(word, each) >= LEAST_LIKENESS_OF_WORD for each in words) for word in typed.split())


def _begin(typed: Sequence[str], words: Sequence[str]) -> bool:
    """Whether each typed word begins a word of the name, in the same order."""
    rest = iter(words)
    return all(any(word.startswith(each) for word in rest) for each in typed)
