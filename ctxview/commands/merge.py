"""`ctxview merge RECEIVED REPLY`: what a runtime would make of a model's reply. Writes nothing."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from ctxview.commands.trouble import Trouble
from ctxview.origin import JsonValue

if TYPE_CHECKING:
    from ctxview.formats.snapshot.merge import MergeResult
    from ctxview.formats.snapshot.model import Snapshot
    from ctxview.formats.snapshot.profile import Profile
    from ctxview.formats.snapshot.read import SnapshotFile


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("received", metavar="RECEIVED", type=Path, help="the snapshot the model was given")
    parser.add_argument("reply", metavar="REPLY", type=Path, help="what the model answered")
    parser.add_argument(
        "--json", action="store_true", help="print JSON for programs, with the merged snapshot"
    )
    parser.add_argument("--profile", metavar="P", help="limits of a runtime: a name, or a TOML file")


def run(arguments: Namespace) -> int:
    from ctxview.formats.snapshot.merge import merge

    profile = _profile(arguments.profile)
    received = _snapshot(arguments.received)
    reply = _read(arguments.reply)
    refused = _refusal(reply)
    result = merge(received, reply.snapshot, profile) if reply.snapshot and not refused else None
    if arguments.json:
        from ctxview.reports.json_text import dumps

        print(dumps(_as_json(profile, result, refused)))
    else:
        from ctxview.reports.console import tell

        tell(_lines(result, refused))
    return 0


def _lines(result: MergeResult | None, refused: str | None) -> list[str]:
    from ctxview.commands.merge_text import merge_lines
    from ctxview.reports.console import Style, console_for

    console = console_for()
    if refused:
        return [f"{console.paint('rejected', Style.BAD)}  {refused}; nothing is merged"]
    if result is None:
        return ["The reply holds no snapshot: nothing changes."]
    return list(merge_lines(result, console)) or ["Nothing changes."]


def _as_json(profile: Profile, result: MergeResult | None, refused: str | None) -> JsonValue:
    from ctxview.analysis.diff.values import printable
    from ctxview.contract import as_json

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


def _profile(name: str | None) -> Profile:
    from ctxview.formats.snapshot.profiles import ProfileError, load_profile

    try:
        return load_profile(name)
    except ProfileError as error:
        raise Trouble(str(error)) from error


def _read(path: Path) -> SnapshotFile:
    from ctxview.files.reading import Unreadable, read_bytes
    from ctxview.formats.snapshot.read import read

    try:
        return read(str(path), read_bytes(path))
    except Unreadable as error:
        raise Trouble(str(error)) from error


def _snapshot(path: Path) -> Snapshot:
    found = _read(path)
    if found.snapshot is None:
        reason = (
            f":{found.error.place.line}:{found.error.place.column}: {found.error.reason}"
            if found.error
            else ""
        )
        raise Trouble(f"{path}{reason or ': no snapshot in it'}")
    return found.snapshot


def _refusal(reply: SnapshotFile) -> str | None:
    """Why the runtime throws the whole reply away; None when it does not."""
    if reply.error is None:
        return None
    place = reply.error.place
    return f"{reply.file}:{place.line}:{place.column}: {reply.error.reason}"
