"""`ctxview trim MEMORY`: propose how a context document or summary comes under its cap; a person accepts it.

Exit 0 nothing to do or written, 1 a proposal that was not written, 2 error.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ctxview.analysis.wording import counted
from ctxview.commands.arguments import add_profile_argument
from ctxview.core.origin import JsonValue
from ctxview.files.visible_text import visible
from ctxview.reports.console import Console, Style, UserError

if TYPE_CHECKING:
    from ctxview.formats.memory.model import ContextSnapshot
    from ctxview.formats.memory.profile import Profile
    from ctxview.formats.memory.trim import TrimPlan

DESCRIPTION = """
Of a bundle it takes the latest context. The oldest lines of low value go first;
participants, open tasks and decisions stay. It shows the lines and asks; an
accepted context is added as a new snapshot. A text file is printed in its
trimmed form: a context, or with --summary a summary. Exit 0 nothing to do or
written, 1 not written, 2 error.
"""
YES = ("y", "yes")


def configure(parser: ArgumentParser) -> None:
    parser.description = f"{parser.description}\n{DESCRIPTION}"
    parser.add_argument("path", metavar="MEMORY", type=Path, help="a memory bundle, or a text file")
    parser.add_argument("--memory", metavar="ID", help="the memory, by id or title, when there are several")
    parser.add_argument("--summary", action="store_true", help="the text file is a summary")
    parser.add_argument("--write", action="store_true", help="accept the proposal without asking")
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_profile_argument(parser)


def run(arguments: Namespace) -> int:
    from ctxview.formats.kit.profiles import ProfileError
    from ctxview.formats.memory.profile import load_profile

    try:
        profile = load_profile(arguments.profile)
    except ProfileError as error:
        raise UserError(str(error)) from error
    if arguments.summary or (arguments.path.is_file() and arguments.path.suffix != ".jsonl"):
        return _trim_text(arguments, profile)
    from ctxview.reports.console import print_lines

    snapshot, plan, folder = _plan(arguments, profile)
    if arguments.json:
        from ctxview.reports.json_output import dumps

        print(dumps(_as_json(plan)))
    else:
        from ctxview.reports.console import console_for, print_masked

        print_masked(_lines(plan, console_for()))
    if plan.after == plan.before:
        return 0
    if not plan.reached or not (arguments.write or _accepted(arguments)):
        if not arguments.json:
            print_lines(["nothing was written; add --write to accept the proposal"])
        return 1
    _write(folder, snapshot, plan.after, profile)
    if not arguments.json:
        print_lines(["added as a new snapshot"])
    return 0


def _trim_text(arguments: Namespace, profile: Profile) -> int:
    from ctxview.files.reading import ReadError, read_bytes
    from ctxview.formats.memory.trim import trim_context, trim_summary
    from ctxview.reports.console import print_masked

    try:
        text = read_bytes(arguments.path).decode("utf-8")
    except ReadError as error:
        raise UserError(f"{arguments.path}: {error.reason}") from None
    except UnicodeDecodeError:
        raise UserError(f"{arguments.path}: not UTF-8 text") from None
    made = trim_summary(text.strip(), profile) if arguments.summary else trim_context(text, profile).after
    print_masked([visible(made, keep_layout=True)])
    return 0


def _plan(arguments: Namespace, profile: Profile) -> tuple[ContextSnapshot, TrimPlan, Path]:
    from ctxview.formats import OpenError, open_source
    from ctxview.formats.memory.source import MemorySource
    from ctxview.formats.memory.trim import trim_context

    try:
        source = open_source(arguments.path, "memory" if arguments.path.is_dir() else None)
    except OpenError as error:
        raise UserError(str(error)) from None
    if not isinstance(source, MemorySource):
        raise UserError(f"{arguments.path}: not a memory bundle")
    histories = source.histories(profile.name)
    wanted = {title: history for title, history in histories.items() if history.snapshots}
    if arguments.memory is not None:
        wanted = {
            title: history for title, history in wanted.items() if arguments.memory in (title, history.memory)
        }
    if not wanted:
        raise UserError(f"{arguments.path}: there is no memory with a context here")
    if len(wanted) > 1:
        raise UserError(f"{arguments.path}: several memories; choose one with --memory: {', '.join(wanted)}")
    history = next(iter(wanted.values()))
    first_seen: dict[str, int] = {}
    for number, document in enumerate(history.documents, 1):
        for line in document.lines():
            first_seen.setdefault(line.text, number)
    snapshot = history.snapshots[-1]
    return snapshot, trim_context(snapshot.text, profile, first_seen), arguments.path


def _write(folder: Path, snapshot: ContextSnapshot, text: str, profile: Profile) -> None:
    from ctxview.formats.memory.policy import append_snapshot
    from ctxview.formats.memory.server.log_files import StorageFailed

    try:
        append_snapshot(folder if folder.is_dir() else folder.parent, snapshot, text, profile)
    except StorageFailed as error:
        raise UserError(str(error)) from None


def _accepted(arguments: Namespace) -> bool:
    if arguments.json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    try:
        return input("add this context as a new snapshot? [y/N] ").strip().lower() in YES
    except EOFError:
        return False


def _as_json(plan: TrimPlan) -> JsonValue:
    from ctxview.analysis.secrets import mask_secrets

    return {
        "before": len(plan.before),
        "after": len(plan.after),
        "target": plan.target,
        "reached": plan.reached,
        "deleted": [
            {"line": each.number, "text": mask_secrets(each.text), "why": each.reason}
            for each in plan.deleted
        ],
        "context": mask_secrets(plan.after),
    }


def _lines(plan: TrimPlan, console: Console) -> Iterator[str]:
    size = f"{len(plan.before):,} characters"
    if plan.after == plan.before:
        yield f"context  {size}, within the cap of {plan.target:,}: nothing to trim"
        return
    lines = counted(len(plan.deleted), "line")
    yield f"context  {size} → {len(plan.after):,}, target {plan.target:,}, {lines} to delete"
    for line in plan.deleted:
        yield f"  {console.paint('-', Style.BAD)} {line.number:>4}  {visible(line.text)}"
        yield f"          └ {line.reason}"
    if not plan.reached:
        yield "the target cannot be reached: the rest are decisions, open tasks and entities"
