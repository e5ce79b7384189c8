"""The literal prompt of a workspace: the assembled components as the program joins them.

Only the workspace part is in files. What the program writes itself is a cut without text.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from ctxview.core.origin import Origin
from ctxview.core.prompt import CutKind, Prompt, PromptCut, PromptMessage, PromptPart
from ctxview.formats.workspace.assembly import ENCODING, Assembly, Component, TokenMemo
from ctxview.formats.workspace.model import BOOTSTRAP

SEPARATOR = "\n\n---\n\n"
_TITLES = {
    "context": "## Context\n\n",
    "memory": "## Memory\n\n## Long-term Memory\n",
    "working memory": "## Working Memory\n\n",
}
HEADINGS = "headings"
_CUTS = {"cut": CutKind.SHORTENED, "dropped": CutKind.HIDDEN}


def build_prompt(assembly: Assembly) -> Prompt:
    """Return the prompt of a home, or all instructions of an ordinary repository one after another."""
    if assembly.era is None:
        parts = tuple(_instructions(assembly))
        note = "The files as agents load them in every turn; each agent puts its own text around them."
        return Prompt((PromptMessage("system", parts),), exact=False, notes=(note,))
    sections = list(_sections(assembly))
    identity = _absent(assembly, "identity")
    note = f"Era {assembly.era}, {assembly.title}; the program adds its identity, the history and the input."
    history = PromptCut(
        kind=CutKind.ABSENT, what="history and input", reason="added by the program for each call"
    )
    rest = PromptMessage("user", absent=history, in_text=False)
    parts = tuple(_joined(sections))
    if assembly.mode == "local":
        # How the memory ladder frames its lines is not known.
        exact = assembly.era == "C" and assembly.component("memory") is None
        message = PromptMessage("system", (*identity, *parts))
        return Prompt((message, rest), exact, (note,), ENCODING)
    first = PromptMessage("system", absent=identity[0].cut, in_text=False) if identity else None
    messages = filter(None, (first, PromptMessage("developer", parts), rest))
    return Prompt(tuple(messages), assembly.era == "C", (note,), ENCODING)


def with_headings(assembly: Assembly, count: TokenMemo) -> Assembly:
    """Return the assembly with what its titles and separators add to the tokens of the files."""
    tokens = count(build_prompt(assembly).text) - assembly.tokens
    if tokens <= 0:
        return assembly
    reason = "titles and lines between the files, written by the program"
    headings = Component(name=HEADINGS, tokens=tokens, whole_tokens=tokens, reason=reason)
    return replace(assembly, components=(*assembly.components, headings))


def _instructions(assembly: Assembly) -> Iterator[PromptPart]:
    files = [part for part in assembly.components if part.name != HEADINGS]
    for at, part in enumerate(files):
        if at:
            yield PromptPart(text="\n\n")
        yield from _lines(part, part.name)


def _sections(assembly: Assembly) -> Iterator[list[PromptPart]]:
    """Yield the parts of each section; bootstrap files share one."""
    files = [part for part in assembly.components if part.name in BOOTSTRAP or part.name == "note"]
    done = False
    for part in assembly.components:
        if part in files:
            if not done:
                yield list(_bootstrap(files))
            done = True
        elif part.document is not None:
            # In local mode the memory ladder shows memory without a section of its own.
            ladder = part.name == "memory" and assembly.mode == "local" and assembly.era in ("C", "D")
            title = "" if ladder else _TITLES[part.name]
            parts = list(_lines(part, part.name))
            if part.state != "dropped" and title:
                parts.insert(0, PromptPart(text=title, tier=part.name))
            yield parts
        elif part.name not in ("identity", HEADINGS):
            yield _absent(assembly, part.name)


def _bootstrap(files: list[Component]) -> Iterator[PromptPart]:
    shown = [part for part in files if part.state != "dropped"]
    if shown:
        yield PromptPart(text="## Workspace Context\n\n", tier="bootstrap")
    for part in files:
        if part in shown:
            if part is not shown[0]:
                yield PromptPart(text="\n\n", tier="bootstrap")
            if part.document is None:
                yield PromptPart(text=part.text, tier="bootstrap")
                continue
            yield PromptPart(text=f"## {part.name}\n\n", block=part.source, tier="bootstrap")
        yield from _lines(part, "bootstrap")


def _lines(part: Component, tier: str) -> Iterator[PromptPart]:
    """Yield the shown lines of a component with their origins, and a cut for the hidden ones."""
    document = part.document
    if document is None:
        return
    total = len(document.lines)
    first, last = part.lines or (1, 0)
    kind = _CUTS.get(part.state)
    cut = None
    if kind is not None:
        reason = part.reason or "it does not fit"
        cut = PromptPart(
            cut=PromptCut(kind=kind, what=part.name, reason=reason, tokens=part.lost), block=part.source
        )
        cut = replace(cut, tier=tier, origin=document.origin(1 if first > 1 or not last else last + 1, total))
    if cut is not None and (first > 1 or part.lines is None):
        yield cut
    for number in range(first, last + 1):
        end = "\n" if number < last else ""
        origin: Origin = document.origin(number)
        text = document.lines[number - 1] + end
        yield PromptPart(text=text, block=part.source, tier=tier, origin=origin)
    if cut is not None and first == 1 and part.lines is not None:
        yield cut


def _absent(assembly: Assembly, name: str) -> list[PromptPart]:
    part = assembly.component(name)
    if part is None:
        return []
    cut = PromptCut(kind=CutKind.ABSENT, what=part.name, reason=part.reason or "in no file")
    return [PromptPart(cut=cut, tier=part.name)]


def _joined(sections: list[list[PromptPart]]) -> Iterator[PromptPart]:
    begun = False
    for parts in sections:
        if any(part.text for part in parts):
            if begun:
                yield PromptPart(text=SEPARATOR)
            begun = True
        yield from parts
