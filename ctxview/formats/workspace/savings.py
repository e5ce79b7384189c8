"""What can be removed from the files of the prompt, and the prompt after it: the savings table, computed.

Statements can go that another file says too, that the program injects itself, that describe a layer which was
removed, or that hold the state of one session in MEMORY.md. A contradiction is a question and stays.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from ctxview.analysis.wording import counted, listed
from ctxview.core.origin import Origin
from ctxview.formats.kit.folder import FolderFile
from ctxview.formats.workspace.assembly import DEFAULT_WINDOW, MODES, Assembly, assemble
from ctxview.formats.workspace.facts import WorkspaceFacts
from ctxview.formats.workspace.prompt import with_headings
from ctxview.formats.workspace.rules.memory_file import session_history_in_memory
from ctxview.formats.workspace.rules.staleness import removed_layer
from ctxview.formats.workspace.rules.statements import injected_anyway
from ctxview.formats.workspace.similarity import Likeness, sentences

_Span = tuple[int, int]


class Savings(Struct, frozen=True):
    """The prompt without the removable statements, and by file: their lines, and the tokens saved."""

    after: Assembly
    lines: Mapping[str, list[int]]
    tokens: Mapping[str, int]

    @property
    def total(self) -> int:
        return sum(self.tokens.values())

    @property
    def advice(self) -> str | None:
        """The file to begin with, the lines to remove, and what that saves."""
        if not self.total:
            return None
        name = max(self.tokens, key=lambda each: self.tokens[each])
        lines = self.lines[name]
        where = f"line{'s' * (len(lines) > 1)} {listed(map(str, lines), 8)}"
        statements = counted(len(lines), "statement")
        return f"Removing {statements} of {name} ({where}) saves {self.tokens[name]:,} tokens a turn"


def find_savings(facts: WorkspaceFacts) -> Savings:
    """Assemble the prompt again without what can be removed."""
    places: dict[str, dict[int, _Span]] = defaultdict(dict)
    for origin in _removable(facts):
        if origin.start is not None and origin.end is not None and origin.line is not None:
            places[origin.file][origin.line] = (origin.start, origin.end)
    workspace, asked = facts.workspace, facts.asked
    files = tuple(
        replace(each, part=_without(each.part, places[each.file])) if each.file in places else each
        for each in workspace.files
    )
    cleaned = replace(workspace, files=files) if places else workspace
    window, mode = asked.window or DEFAULT_WINDOW, asked.mode or MODES[0]
    after = assemble(cleaned, facts.profile, facts.count, facts.era, window, mode)
    after = with_headings(after, facts.count)
    lines = {workspace.folder.name_of(file) or file: sorted(each) for file, each in places.items()}
    left = {part.source: part.tokens for part in after.components}
    saved = {
        part.source: part.tokens - left.get(part.source, 0)
        for part in facts.assembly.components
        if part.source in lines
    }
    return Savings(after, lines, {name: each for name, each in saved.items() if name and each > 0})


def _removable(facts: WorkspaceFacts) -> Iterator[Origin]:
    """Yield the places of the statements that can go; a statement goes when all of its sentences can."""
    again: dict[Origin, set[str]] = defaultdict(set)
    for pair in facts.pairs_of(Likeness.EXACT, Likeness.NEAR):
        if pair.together:
            said = again[pair.drop.origin]
            said.add(pair.drop.compared.text)
            if said.issuperset(sentences(pair.drop.statement.text)):
                yield pair.drop.origin
    for find in (injected_anyway, removed_layer, session_history_in_memory):
        yield from (hit.origin for hit in find(facts))


def _without(part: FolderFile, spans: Mapping[int, _Span]) -> FolderFile:
    data, kept, at = part.data or b"", b"", 0
    for start, end in sorted(spans.values()):
        kept += data[at:start]
        at = max(at, end + 1)
    return FolderFile(part.name, part.file, part.kind, kept + data[at:])
