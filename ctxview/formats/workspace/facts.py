"""Everything that the rules and the state ask about a workspace, computed once and on demand."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct

from ctxview.analysis.text_copies import holds_redaction_mark
from ctxview.formats.workspace.assembly import (
    DEFAULT_WINDOW,
    MODES,
    WINDOWS,
    Assembly,
    TokenMemo,
    assemble,
    working_memory_limit,
)
from ctxview.formats.workspace.duplicates import DuplicateMap, Pair, compared_files
from ctxview.formats.workspace.markdown import MarkdownDocument
from ctxview.formats.workspace.model import ContextDocument, Role, Workspace, WorkspaceFile
from ctxview.formats.workspace.parser import MOST_DOCUMENTS
from ctxview.formats.workspace.profile import Profile, Template, template_of
from ctxview.formats.workspace.prompt import with_headings
from ctxview.formats.workspace.repository import Repository
from ctxview.formats.workspace.similarity import Likeness
from ctxview.formats.workspace.survey import WorkspaceSurvey

if TYPE_CHECKING:
    from ctxview.formats.workspace.savings import Savings

MOST_REFS = 500
MOST_BLOCKS = 2000
MOST_TURNS = 500
"""The most references, blocks of a tier, and turns on the timeline that are shown; see `left_out`."""
_CODE = re.compile(r"`([^`\n]+)`")
_PATH = re.compile(r"(?<![\w/.])(?:~|\.{1,2})?/?(?:[\w.@-]+/)+[\w.@-]+")
_NUMBER = re.compile(r"(?<![\w.,/-])\d[\d.,:]*\d(?![\w/-])")


class AskedSettings(Struct, frozen=True):
    """What the user chose; None where nothing was chosen."""

    era: str | None = None
    window: int | None = None
    mode: str | None = None


class WorkspaceFacts(Struct, frozen=True, dict=True, eq=False):
    """The input of the rules. `survey` is None while the histories are not read yet."""

    workspace: Workspace
    profile: Profile
    asked: AskedSettings
    count: TokenMemo
    duplicates: DuplicateMap
    repository: Repository
    survey: WorkspaceSurvey | None
    now: datetime

    @property
    def left_out(self) -> Iterator[tuple[str, str]]:
        """Yield the file of each part that is not shown in full, and how much of it is shown."""
        workspace, root = self.workspace, str(self.workspace.folder.root)
        if len(workspace.files) >= MOST_DOCUMENTS:
            yield root, f"only the first {MOST_DOCUMENTS:,} files were read"
        for file, number in Counter(workspace.imports_left_out.values()).items():
            yield file, f"{number:,} more {'file' if number == 1 else 'files'} that it imports were not read"
        others = sum(each.role is Role.SESSION for each in workspace.documents)
        turns = len(self.survey.turns) if self.survey is not None else 0
        for count, most, shown in (
            (len(self.pairs), MOST_REFS, "duplicates and contradictions are shown, contradictions first"),
            (others, MOST_BLOCKS, "sessions are shown"),
            (turns, MOST_TURNS, "turns are on the timeline, the last ones"),
        ):
            if count > most:
                yield root, f"only {most:,} of {count:,} {shown}"
        memory = workspace.memory
        facts = sum(1 for _ in memory.document.statements()) if memory is not None else 0
        if memory is not None and facts > MOST_BLOCKS:
            yield memory.file, f"only the first {MOST_BLOCKS:,} of {facts:,} statements are shown"

    @property
    def era(self) -> str | None:
        return self.asked.era or self.workspace.era

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        return self.duplicates.update(compared_files(self.workspace), self.profile.similar)

    def pairs_of(self, *kinds: Likeness) -> Iterator[Pair]:
        return (pair for pair in self.pairs if pair.likeness in kinds)

    @cached_property
    def assembly(self) -> Assembly:
        """The prompt for the chosen window and mode."""
        return self.assembly_at(self.asked.window or DEFAULT_WINDOW, self.asked.mode or MODES[0])

    @cached_property
    def _assemblies(self) -> dict[tuple[int, str], Assembly]:
        return {}

    def assembly_at(self, window: int, mode: str) -> Assembly:
        found = self._assemblies.get((window, mode))
        if found is None:
            found = assemble(self.workspace, self.profile, self.count, self.era, window, mode)
            found = with_headings(found, self.count)
            self._assemblies[window, mode] = found
        return found

    @property
    def judged(self) -> list[tuple[int, str]]:
        """The windows and modes that the rules judge: all that were not excluded by a choice."""
        windows = [self.asked.window] if self.asked.window is not None else list(WINDOWS.values())
        modes = [self.asked.mode] if self.asked.mode is not None else list(MODES)
        return [(window, mode) for window in windows for mode in modes]

    def working_memory_limit(self, window: int, mode: str) -> int:
        era = self.era or "A"
        return working_memory_limit(self.workspace, self.profile, self.count, era, window, mode)

    @cached_property
    def templates(self) -> list[tuple[ContextDocument, str, Template]]:
        """The documents with their templates; era A has none."""
        documents = (each for each in self.workspace.documents if not each.markdown.is_blank)
        return [(each, *template_of(each.markdown, self.profile)) for each in documents]

    @property
    def templated(self) -> list[tuple[ContextDocument, str, Template]]:
        """The documents whose template is checked: not those of which a redaction removed a heading."""
        if self.era in (None, "A"):
            return []
        return [
            each
            for each in self.templates
            if not any(holds_redaction_mark(section.title) for section in each[0].markdown.sections)
        ]

    @property
    def prompt_files(self) -> Iterator[WorkspaceFile]:
        """The files of which something reaches the model, without compacted documents."""
        return self.workspace.of(Role.BOOTSTRAP, Role.INSTRUCTIONS, Role.MEMORY)

    @cached_property
    def savings(self) -> Savings:
        """What can be removed, and the prompt after it."""
        from ctxview.formats.workspace.savings import find_savings

        return find_savings(self)


def wanted_values(workspace: Workspace) -> frozenset[str]:
    """Return every value of the documents that must have occurred in a message."""
    return frozenset(
        value
        for document in workspace.documents
        for _, statement in document.markdown.statements()
        for value in values_in(statement.text)
    )


def values_in(text: str) -> list[str]:
    """Return the code, paths and numbers of a statement, which must be copied exactly."""
    found = [each.strip() for each in _CODE.findall(text)]
    rest = _CODE.sub(" ", text)
    found += [each.rstrip(".") for each in _PATH.findall(rest)]
    found += [each.rstrip(".,:") for each in _NUMBER.findall(_PATH.sub(" ", rest))]
    return list(dict.fromkeys(each for each in found if len(each) > 1))


def lines_matching(
    document: MarkdownDocument, pattern: re.Pattern[str]
) -> Iterator[tuple[int, re.Match[str]]]:
    """Yield the first match in each line outside code blocks, with the line from 1."""
    for number, line in enumerate(document.prose, 1):
        if (found := pattern.search(line)) is not None:
            yield number, found


def phrase_pattern(phrases: tuple[str, ...]) -> re.Pattern[str] | None:
    """Return a pattern for any of the phrases between word borders; None when there are none."""
    if not phrases:
        return None
    words = "|".join(re.escape(each.strip()) for each in sorted(phrases, key=len, reverse=True))
    return re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE)
