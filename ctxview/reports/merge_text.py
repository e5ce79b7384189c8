"""What a merge would do, for people: grouped by what happens, worst first, with before and after."""

from __future__ import annotations

from collections.abc import Iterator

from ctxview.analysis.diff.report import delta_text
from ctxview.analysis.diff.values import delta
from ctxview.files.visible import visible
from ctxview.formats.snapshot.merge import Change, MergeChange, MergeResult
from ctxview.reports.cells import cut
from ctxview.reports.console import Console, Style

# In reading order: what is lost, what was tried in vain, what is altered, what simply works.
SAYS: dict[Change, tuple[str, Style]] = {
    Change.WIPED: ("erased, because the whole tier came back empty", Style.BAD),
    Change.DROPPED: ("dropped as invalid", Style.BAD),
    Change.DELETED: ("deleted from storage", Style.BAD),
    Change.TAMPERED: ("tampered with; the system's value is put back", Style.BAD),
    Change.OVERWRITTEN: ("the system's, but the model's version is taken", Style.BAD),
    Change.TRUNCATED: ("cut to the limit", Style.WARNING),
    Change.REOPENED: ("open again", Style.WARNING),
    Change.COLLAPSED: ("sent twice; the better copy stays", Style.WARNING),
    Change.NORMALISED: ("made regular", Style.WARNING),
    Change.IGNORED: ("ignored", Style.WARNING),
    Change.UPDATED: ("changed by the reply", Style.NOTE),
    Change.ADDED: ("new", Style.NOTE),
    Change.RESTORED: ("left out; the system's value stays", Style.GOOD),
    Change.UNCHANGED: ("sent back as it was", Style.GOOD),
    Change.KEPT: ("not in the reply, so it stays", Style.GOOD),
}
BRIEF = (Change.RESTORED, Change.UNCHANGED, Change.KEPT)


def merge_lines(result: MergeResult, console: Console) -> Iterator[str]:
    for kind, (says, style) in SAYS.items():
        changes = result.of(kind)
        if changes:
            title = f"{kind.value} {len(changes)}"
            yield f"{console.paint(title, style)}  {console.paint(says, Style.QUIET)}"
            yield from _names(changes, console) if kind in BRIEF else _whole(changes, console)


def _names(changes: tuple[MergeChange, ...], console: Console) -> Iterator[str]:
    yield cut("  " + ", ".join(_name(change) for change in changes), console.width)


def _whole(changes: tuple[MergeChange, ...], console: Console) -> Iterator[str]:
    for change in changes:
        yield f"  {console.paint(_name(change), Style.STRONG)}  {visible(change.message)}"
        yield from (cut(f"      {line}", console.width) for line in _details(change))


def _name(change: MergeChange) -> str:
    return visible(
        f"{change.tier}/{change.name}" if change.tier and change.tier != change.name else change.name
    )


def _details(change: MergeChange) -> Iterator[str]:
    """The values that became others; of what came or went its text is enough."""
    before, after = change.before, change.after
    if isinstance(before, dict) and isinstance(after, dict):
        for key in [*before, *(key for key in after if key not in before)]:
            if found := delta(key, before.get(key), after.get(key)):
                yield visible(delta_text(found))
        return
    only = after if isinstance(after, dict) else before
    if isinstance(only, dict) and isinstance(only.get("content"), str):
        yield visible(f"content  {only['content']}")
    elif not isinstance(only, dict | list) and (found := delta("value", before, after)):
        yield visible(delta_text(found))
