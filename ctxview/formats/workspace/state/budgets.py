"""The budgets of a workspace: the prompt by component, after a clean-up, and at other windows."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from ctxview.core.budget import EVERY_TURN, Budget, Segment
from ctxview.formats.workspace.assembly import MODES, WINDOWS, Assembly
from ctxview.formats.workspace.facts import WorkspaceFacts


def build_budgets(facts: WorkspaceFacts, *, linked: bool) -> tuple[Budget, ...]:
    return tuple(_budgets(facts, linked=linked))


def _budgets(facts: WorkspaceFacts, *, linked: bool) -> Iterator[Budget]:
    chosen = facts.assembly
    yield _budget(chosen, f"prompt at {chosen.title}" if chosen.window is not None else EVERY_TURN)
    if linked and facts.savings.total:
        yield _cleaned(facts)
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


def _cleaned(facts: WorkspaceFacts) -> Budget:
    """Return the savings table: the same prompt after everything was removed that can be."""
    before, after = facts.assembly, facts.savings.after
    saved = before.tokens - after.tokens
    budget = _budget(after, f"after clean-up −{saved:,} ({100 * saved / before.tokens:.0f} %)")
    was = {part.name: part.tokens for part in before.components}
    segments = tuple(
        replace(each, name=f"{each.name} (was {was[each.name]:,})", id=each.name)
        if was.get(each.name, each.used) != each.used
        else each
        for each in budget.segments
    )
    return replace(budget, segments=segments, id="after clean-up")


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
