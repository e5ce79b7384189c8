"""What a merge would do, for people: grouped by what happens, worst first, with before and after."""

from __future__ import annotations

from collections.abc import Iterator

from ctxview.analysis.diff.report import delta_text
from ctxview.analysis.diff.values import delta
from ctxview.analysis.secrets import mask_secrets
from ctxview.files.visible import visible
from ctxview.formats.snapshot.merge import Change, MergeChange, MergeResult
from ctxview.reports.cells import cut
from ctxview.reports.console import Console, Style

# In reading order: what is lost, what was tried in vain, what is altered, what simply works.
SAYS: dict[Change, tuple[str, Style]] = {
    Change.WIPED: ("a tier came back empty and loses everything", Style.BAD),
    Change.DROPPED: ("not a valid block", Style.BAD),
    Change.DELETED: ("past the limits of storage", Style.BAD),
    Change.TAMPERED: ("the system's; its value is put back", Style.BAD),
    Change.OVERWRITTEN: ("the system's, but the model's version is taken", Style.BAD),
    Change.TRUNCATED: ("cut to the limit", Style.WARNING),
    Change.REOPENED: ("finished, but sent back without its status", Style.WARNING),
    Change.COLLAPSED: ("sent twice; one copy stays", Style.WARNING),
    Change.NORMALISED: ("stored in another form", Style.WARNING),
    Change.IGNORED: ("not understood", Style.WARNING),
    Change.UPDATED: ("by the reply", Style.NOTE),
    Change.ADDED: ("by the reply", Style.NOTE),
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
        details = list(_details(change))
        told = "" if details and change.kind is Change.UPDATED else _message(change)
        yield f"  {console.paint(_name(change), Style.STRONG)}  {told}".rstrip()
        yield from (cut(f"      {line}", console.width) for line in details)


def _name(change: MergeChange) -> str:
    return visible(
        f"{change.tier}/{change.name}" if change.tier and change.tier != change.name else change.name
    )


def _message(change: MergeChange) -> str:
    """Without the name, which stands before it."""
    return visible(change.message.removeprefix(change.name).lstrip(" :"))


def _details(change: MergeChange) -> Iterator[str]:
    """The values that became others; of a block that came or went its text is enough."""
    before, after = change.before, change.after
    if isinstance(before, dict) and isinstance(after, dict):
        for key in [*before, *(key for key in after if key not in before)]:
            if found := delta(key, before.get(key), after.get(key)):
                yield visible(delta_text(found))
        return
    only = after if isinstance(after, dict) else before
    content = only.get("content") if isinstance(only, dict) else None
    if isinstance(content, str):
        yield visible(f"content  {mask_secrets(content)}")
