"""`ctxview gc SESSION`: list the files that can be removed and why; `--apply` removes, `--undo` restores.

Exit 0 done, 1 a file could not be removed or restored, 2 error.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence

from ctxview.analysis.wording import counted
from ctxview.commands.session import OpenedSession, add_session_arguments, open_session
from ctxview.core.origin import JsonValue
from ctxview.files.removal import RestoredFile
from ctxview.files.visible_text import visible
from ctxview.formats.session.model import Session
from ctxview.formats.session.store.gc import GcItem, GcPlan, GcResult
from ctxview.reports.console import Console, Style, UserError
from ctxview.reports.table import Cell, Column, reason_lines, short_name, size_in_words

DESCRIPTION = """
It removes only packs, chunks that the history can rebuild, and blobs without
references, when they are as old as context/gc.policy says; never a history or a
child's result. Exit 0 done, 1 a file could not be removed or restored, 2 error.
"""
COLUMNS = (Column("", most=14), Column(right=True), Column(most=60))


def configure(parser: ArgumentParser) -> None:
    parser.description = f"{parser.description}\n{DESCRIPTION}"
    add_session_arguments(parser)
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--apply", action="store_true", help="remove the files, with a backup")
    group.add_argument("--undo", action="store_true", help="restore the files of the last --apply")


def run(arguments: Namespace) -> int:
    opened = open_session(arguments)
    return _undo(opened, arguments) if arguments.undo else _collect(opened, arguments)


def _collect(opened: OpenedSession, arguments: Namespace) -> int:
    from time import time

    from ctxview.formats.session.store.gc import GcError, apply_gc, plan_gc

    folder, profile = opened.session.folder, opened.profile
    plan = plan_gc(folder, profile, time())
    done: GcResult | None = None
    if arguments.apply:
        try:
            done = apply_gc(folder.root, plan, lambda: plan_gc(folder, profile, time()))
        except GcError as error:
            raise UserError(f"{folder.root}: {error}") from None
    if arguments.json:
        from ctxview.reports.json_output import dumps

        print(dumps(_as_json(opened, plan, done)))
    else:
        from ctxview.reports.console import console_for, print_masked

        print_masked(gc_lines(opened.session, plan, done, str(arguments.session), console_for()))
    return 1 if done and done.skipped else 0


def _undo(opened: OpenedSession, arguments: Namespace) -> int:
    from ctxview.formats.session.store.gc import GcError, undo_gc

    root = opened.session.folder.root
    try:
        restored = undo_gc(root)
    except GcError as error:
        raise UserError(f"{root}: {error}") from None
    if arguments.json:
        from ctxview.reports.json_output import dumps

        print(dumps({"restored": [{"name": each.name, "problem": each.problem} for each in restored]}))
    else:
        from ctxview.reports.console import print_masked

        print_masked(undo_lines(restored))
    return 0 if restored and not any(each.problem for each in restored) else 1


def _as_json(opened: OpenedSession, plan: GcPlan, done: GcResult | None) -> JsonValue:
    return {
        "session": opened.session.name,
        "agent": opened.session.agent,
        "policy": {**plan.policy.written},
        "defaults": [*sorted(plan.policy.defaults)],
        "notes": list(plan.notes),
        "items": [
            {
                "name": item.name,
                "kind": item.kind,
                "fate": item.outcome.value,
                "reason": item.reason,
                "bytes": item.size,
                "age_seconds": None if item.age is None else int(item.age),
            }
            for item in plan.items
        ],
        "applied": done is not None,
        "removed": [item.name for item in done.removed] if done else [],
        "stayed": [{"name": item.name, "why": why} for item, why in done.skipped] if done else [],
        "backup": str(done.backup) if done and done.backup else None,
    }


def gc_lines(
    session: Session, plan: GcPlan, done: GcResult | None, path: str, console: Console
) -> Iterator[str]:
    removals = plan.removals if done is None else done.removed
    total = f"{counted(len(removals), 'file')}, {size_in_words(sum(item.size for item in removals))}"
    verb = "would remove" if done is None else "removed"
    yield f"{console.paint(visible(session.title), Style.STRONG)}  {verb} {total if removals else 'nothing'}"
    for note in plan.notes:
        yield f"{console.paint('note', Style.WARNING)}: {visible(note)}"
    yield from _group(verb, Style.WARNING, removals, console)
    stayed = [(_cells(item), why) for item, why in done.skipped] if done else []
    if stayed:
        yield console.paint("not removed", Style.BAD)
        yield from reason_lines(COLUMNS, stayed, console)
    yield from _group("protected", Style.GOOD, plan.protected, console)
    if removals:
        option, verb = ("--apply", "removes") if done is None else ("--undo", "restores")
        yield f"ctxview gc {visible(path)} {option} {verb} these files"


def undo_lines(restored: Sequence[RestoredFile]) -> Iterator[str]:
    if not restored:
        yield "nothing to restore"
    for each in restored:
        name = visible(each.name)
        yield f"not restored {name}: {visible(each.problem)}" if each.problem else f"restored {name}"


def _group(title: str, style: Style, items: Sequence[GcItem], console: Console) -> Iterator[str]:
    if items:
        yield console.paint(title, style)
        yield from reason_lines(COLUMNS, [(_cells(item), item.reason) for item in items], console)


def _cells(item: GcItem) -> tuple[Cell, Cell, Cell]:
    size = size_in_words(item.size) if item.kind != "rest" else ""
    return Cell("" if item.kind == "rest" else item.kind), Cell(size), Cell(short_name(item.name))
