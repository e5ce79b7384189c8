"""The budgets of a workspace: the prompt by component, without what is said twice, and at other windows."""

from __future__ import annotations

from collections.abc import Iterator

from ctxview.core.state import Budget, Segment
from ctxview.formats.workspace.assembly import MODES, WINDOWS, Assembly
from ctxview.formats.workspace.facts import WorkspaceFacts


def build_budgets(facts: WorkspaceFacts, *, linked: bool) -> tuple[Budget, ...]:
    return tuple(_budgets(facts, linked=linked))


def _budgets(facts: WorkspaceFacts, *, linked: bool) -> Iterator[Budget]:
    chosen = facts.assembly
    yield _budget(chosen, f"prompt at {chosen.title}" if chosen.window is not None else "every turn")
    if linked and facts.wasted:
        yield _without_duplicates(facts, chosen)
    if facts.era is None:
        yield from _by_reader(facts, chosen)
        return
    for window in WINDOWS.values():
        for mode in MODES:
            if (window, mode) != (chosen.window, chosen.mode):
                other = facts.assembly_at(window, mode)
                yield _budget(other, f"prompt at {other.title}")


def _budget(assembly: Assembly, target: str) -> Budget:
    cut = sum(part.lost for part in assembly.components)
    return Budget(
        target,
        f"tokens ({assembly.estimator})",
        assembly.cap,
        assembly.tokens,
        None,
        tuple(_segments(assembly)),
        cut=cut or None,
        limit_from="the cap of the system prompt" if assembly.cap is not None else None,
        partial=assembly.era is not None,
    )


def _segments(assembly: Assembly) -> Iterator[Segment]:
    for part in assembly.components:
        if part.document is None and not part.tokens:
            continue
        name = part.name if part.state == "whole" else f"{part.name} ({part.state})"
        yield Segment(name, part.tokens, part.limit, assembly.exact, assembly.estimator)


def _without_duplicates(facts: WorkspaceFacts, assembly: Assembly) -> Budget:
    """Return the same prompt after every duplicate was removed from the file that should not keep it."""
    segments = []
    for part in assembly.components:
        if part.document is not None:
            waste = facts.wasted.get(part.source or "", 0) if part.state == "whole" else 0
            left = max(0, part.tokens - waste)
            segments.append(Segment(part.name, left, part.limit, False, assembly.estimator))
    used = sum(each.used for each in segments)
    saved = assembly.tokens - used
    share = 100 * saved / assembly.tokens if assembly.tokens else 0
    note = f"saves {saved:,} tokens a turn ({share:.0f} %)"
    unit = f"tokens ({assembly.estimator})"
    return Budget("without duplicates", unit, assembly.cap, used, None, tuple(segments), note=note)


def _by_reader(facts: WorkspaceFacts, assembly: Assembly) -> Iterator[Budget]:
    """Yield what each agent loads in every turn, when they do not all load the same."""
    readers = {file.name: file.readers for file in facts.workspace.files}
    names = dict.fromkeys(name for each in readers.values() for name in each)
    for name in names:
        parts = [part for part in assembly.components if name in readers.get(part.name, ())]
        if 0 < len(parts) < len(assembly.components):
            segments = tuple(
                Segment(part.name, part.tokens, None, assembly.exact, assembly.estimator) for part in parts
            )
            used = sum(part.tokens for part in parts)
            yield Budget(name, f"tokens ({assembly.estimator})", None, used, None, segments)
