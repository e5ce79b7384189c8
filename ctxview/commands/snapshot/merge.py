"""`ctxview merge RECEIVED REPLY`: show what a runtime would make of a model's reply. Writes nothing.

Exit 0 shown, 1 an effect that `--fail-on` names, 2 error.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ctxview.analysis.diff.report import delta_text
from ctxview.analysis.diff.values import delta
from ctxview.analysis.secrets import mask_secrets
from ctxview.commands.arguments import add_profile_argument
from ctxview.core.origin import JsonValue
from ctxview.files.visible_text import visible
from ctxview.formats.snapshot.runtime.merge import MergeResult
from ctxview.formats.snapshot.runtime.merge_fields import MergeChange, MergeEffect
from ctxview.reports.console import Console, Style, UserError
from ctxview.reports.table import cut_cells

if TYPE_CHECKING:
    from ctxview.formats.snapshot.model import Snapshot
    from ctxview.formats.snapshot.parser import SnapshotFile
    from ctxview.formats.snapshot.profile import Profile


# In reading order: lost, rejected, altered, accepted.
MEANINGS: dict[MergeEffect, tuple[str, Style]] = {
    MergeEffect.WIPED: ("a tier came back empty and loses all its blocks", Style.BAD),
    MergeEffect.DROPPED: ("not a valid block", Style.BAD),
    MergeEffect.DELETED: ("past the limits of storage", Style.BAD),
    MergeEffect.TAMPERED: ("the system's field; its value is restored", Style.BAD),
    MergeEffect.OVERWRITTEN: ("the system's field, but the model's value is taken", Style.BAD),
    MergeEffect.TRUNCATED: ("cut to the limit", Style.WARNING),
    MergeEffect.REOPENED: ("finished, but sent back without its status", Style.WARNING),
    MergeEffect.COLLAPSED: ("sent twice; one copy is kept", Style.WARNING),
    MergeEffect.NORMALISED: ("stored in another form", Style.WARNING),
    MergeEffect.IGNORED: ("not understood", Style.WARNING),
    MergeEffect.UPDATED: ("by the reply", Style.NOTE),
    MergeEffect.ADDED: ("by the reply", Style.NOTE),
    MergeEffect.RESTORED: ("left out; the system's value is kept", Style.GOOD),
    MergeEffect.UNCHANGED: ("sent back as it was", Style.GOOD),
    MergeEffect.KEPT: ("not in the reply, so it is kept", Style.GOOD),
}
LOSING = (Style.BAD, Style.WARNING)
REJECTED = "rejected"
BRIEF = (MergeEffect.RESTORED, MergeEffect.UNCHANGED, MergeEffect.KEPT)


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("received", metavar="RECEIVED", type=Path, help="the snapshot the model was given")
    parser.add_argument("reply", metavar="REPLY", type=Path, help="the model's reply")
    parser.add_argument("--json", action="store_true", help="print JSON, with the merged snapshot")
    parser.add_argument(
        "--fail-on",
        action="append",
        metavar="EFFECT",
        choices=(REJECTED, *(effect.value for effect, (_, style) in MEANINGS.items() if style in LOSING)),
        default=[],
        help="an effect of the reply that makes the exit code 1",
    )
    add_profile_argument(parser)


def run(arguments: Namespace) -> int:
    from ctxview.formats.kit.profiles import ProfileError
    from ctxview.formats.snapshot.profile import load_profile
    from ctxview.formats.snapshot.runtime.merge import merge

    try:
        profile = load_profile(arguments.profile)
    except ProfileError as error:
        raise UserError(str(error)) from error
    received = _snapshot(arguments.received, arguments.reply)
    reply = _read(arguments.reply)
    refused = None
    if (wrong := reply.error) is not None:
        refused = f"{reply.file}:{wrong.place.line}:{wrong.place.column}: {wrong.reason}"
    result = merge(received, reply.snapshot, profile) if reply.snapshot and not refused else None
    if arguments.json:
        from ctxview.reports.json_output import dumps

        print(dumps(_as_json(profile, result, refused)))
    else:
        from ctxview.reports.console import print_masked

        print_masked(_lines(result, refused))
    effects = {REJECTED} if refused else {change.kind.value for change in (result.changes if result else ())}
    return 1 if effects.intersection(arguments.fail_on) else 0


def _read(path: Path) -> SnapshotFile:
    from ctxview.files.reading import ReadError, read_bytes
    from ctxview.formats.snapshot.parser import parse_file

    try:
        return parse_file(str(path), read_bytes(path))
    except ReadError as error:
        raise UserError(str(error)) from error


def _snapshot(path: Path, reply: Path) -> Snapshot:
    found = _read(path)
    if found.reply is not None and (other := _read(reply)).reply is None and other.snapshot is not None:
        raise UserError(f"{path} is a reply and {reply} a snapshot; name the snapshot first")
    if found.snapshot is None:
        reason = (
            f":{found.error.place.line}:{found.error.place.column}: {found.error.reason}"
            if found.error
            else ""
        )
        raise UserError(f"{path}{reason or ': the file has no snapshot'}")
    return found.snapshot


def _as_json(profile: Profile, result: MergeResult | None, refused: str | None) -> JsonValue:
    from ctxview.analysis.diff.values import printable
    from ctxview.reports.json_output import as_json

    return {
        "profile": profile.name,
        "accepted": refused is None,
        "reason": refused,
        "changes": [
            {
                "kind": change.kind.value,
                "tier": change.tier,
                "name": change.name,
                "message": change.message,
                "before": printable(change.before),
                "after": printable(change.after),
                "origin": as_json(change.origin),
            }
            for change in (result.changes if result else ())
        ],
        "result": printable(result.value) if result else None,
    }


def _lines(result: MergeResult | None, refused: str | None) -> list[str]:
    from ctxview.reports.console import console_for

    console = console_for()
    if refused:
        return [f"{console.paint('rejected', Style.BAD)}  {refused}; nothing is merged"]
    if result is None:
        return ["The reply has no snapshot: nothing changes."]
    return list(merge_lines(result, console)) or ["Nothing changes."]


def merge_lines(result: MergeResult, console: Console) -> Iterator[str]:
    for kind, (meaning, style) in MEANINGS.items():
        changes = result.of(kind)
        if changes:
            title = f"{kind.value} {len(changes)}"
            yield f"{console.paint(title, style)}  {console.paint(meaning, Style.QUIET)}"
        if changes and kind in BRIEF:
            yield cut_cells("  " + ", ".join(map(_name, changes)), console.width)
            continue
        for change in changes:
            details = list(_details(change))
            message = ""
            if not details or kind is not MergeEffect.UPDATED:
                # The name is printed before the message.
                message = visible(change.message.removeprefix(change.name).lstrip(" :"))
            yield f"  {console.paint(_name(change), Style.STRONG)}  {message}".rstrip()
            yield from (cut_cells(f"      {line}", console.width) for line in details)


def _name(change: MergeChange) -> str:
    return visible(
        f"{change.tier}/{change.name}" if change.tier and change.tier != change.name else change.name
    )


def _details(change: MergeChange) -> Iterator[str]:
    """The changed values of a block; only the text of an added or removed one."""
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
