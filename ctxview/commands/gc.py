"""`ctxview gc SESSION`: what collection would remove and why; removes it with `--apply`, and can undo that.

Exit 0 all of it done (or it would be), 1 something stayed or could not be restored, 2 trouble.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from ctxview.commands.session_work import Opened, add_session, opened_session
from ctxview.commands.trouble import Trouble
from ctxview.origin import JsonValue

if TYPE_CHECKING:
    from ctxview.files.removal import Restored
    from ctxview.formats.session.collecting import Collected
    from ctxview.formats.session.gc import GcItem, GcPlan

FORM = """
Only packs, chunks that the history can rebuild, and blobs that nothing refers
to may go, as old as context/gc.policy says; never a history or a child's
result. Exit 0 all done, 1 something stayed or could not be put back, 2 trouble.
"""


def configure(parser: ArgumentParser) -> None:
    parser.description = f"{parser.description}\n{FORM}"
    add_session(parser)
    doing = parser.add_mutually_exclusive_group()
    doing.add_argument("--apply", action="store_true", help="remove it, with a backup")
    doing.add_argument("--undo", action="store_true", help="put back what the last --apply removed")


def run(arguments: Namespace) -> int:
    opened = opened_session(arguments)
    return _undo(opened, arguments) if arguments.undo else _collect(opened, arguments)


def _collect(opened: Opened, arguments: Namespace) -> int:
    from time import time

    from ctxview.formats.session.collecting import GcFailed, apply_gc
    from ctxview.formats.session.gc import plan_gc

    folder, profile = opened.session.folder, opened.profile
    plan = plan_gc(folder, profile, time())
    done: Collected | None = None
    if arguments.apply:
        try:
            done = apply_gc(folder.root, plan, lambda: plan_gc(folder, profile, time()))
        except GcFailed as error:
            raise Trouble(f"{folder.root}: {error}") from None
    if arguments.json:
        from ctxview.reports.json_text import dumps

        print(dumps(_as_json(opened, plan, done)))
    else:
        from ctxview.commands.gc_text import gc_lines
        from ctxview.reports.console import console_for, tell

        tell(gc_lines(opened.session, plan, done, str(arguments.session), console_for()))
    return 1 if done and done.stayed else 0


def _undo(opened: Opened, arguments: Namespace) -> int:
    from ctxview.formats.session.collecting import GcFailed, undo_gc

    root = opened.session.folder.root
    try:
        restored = undo_gc(root)
    except GcFailed as error:
        raise Trouble(f"{root}: {error}") from None
    if arguments.json:
        from ctxview.reports.json_text import dumps

        print(dumps({"restored": _restored_as_json(restored)}))
    else:
        from ctxview.commands.gc_text import undo_lines
        from ctxview.reports.console import tell

        tell(undo_lines(restored))
    return 0 if restored and not any(each.problem for each in restored) else 1


def _as_json(opened: Opened, plan: GcPlan, done: Collected | None) -> JsonValue:
    return {
        "session": opened.session.name,
        "agent": opened.session.agent,
        "policy": {**plan.policy.written},
        "notes": list(plan.notes),
        "items": [_item_as_json(item) for item in plan.items],
        "applied": done is not None,
        "removed": [item.name for item in done.removed] if done else [],
        "stayed": [{"name": item.name, "why": why} for item, why in done.stayed] if done else [],
        "backup": str(done.backup) if done and done.backup else None,
    }


def _item_as_json(item: GcItem) -> JsonValue:
    return {
        "name": item.name,
        "kind": item.kind,
        "fate": item.fate.value,
        "reason": item.reason,
        "bytes": item.size,
        "age_seconds": None if item.age is None else int(item.age),
    }


def _restored_as_json(restored: list[Restored]) -> list[JsonValue]:
    return [{"name": each.name, "problem": each.problem} for each in restored]
