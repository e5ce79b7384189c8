"""The arguments that the commands for sessions share, and the session that they open. Prints nothing."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from ctxview.commands.arguments import add_profile_argument
from ctxview.core.origin import JsonValue
from ctxview.reports.console import UserError

if TYPE_CHECKING:
    from ctxview.formats.session.history import SessionHistory
    from ctxview.formats.session.model import Session
    from ctxview.formats.session.profile import Profile
    from ctxview.formats.session.store.content import RawContent
    from ctxview.formats.session.store.derived_files import WrittenFile


class OpenedSession(Struct, frozen=True):
    session: Session
    history: SessionHistory
    profile: Profile
    raw: RawContent


def add_session_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("session", metavar="SESSION", type=Path, help="a session folder, with messages.jsonl")
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_profile_argument(parser)


def open_session(arguments: Namespace) -> OpenedSession:
    """Open the session at the path; raises `UserError` when there is none.

    A command that writes first removes what an earlier one left when it was killed.
    """
    from ctxview.formats.kit.folder import EntryKind, SourceFolder
    from ctxview.formats.kit.profiles import ProfileError
    from ctxview.formats.session.history import open_history
    from ctxview.formats.session.parser import read_session
    from ctxview.formats.session.profile import load_profile
    from ctxview.formats.session.store.content import RawContent
    from ctxview.formats.session.store.derived_files import clear_leftovers

    path: Path = arguments.session
    if not path.is_dir():
        raise UserError(f"{path}: {'not a folder' if path.exists() else 'no such folder'}")
    folder = SourceFolder(path.resolve())
    if all(folder.entry(name).kind is EntryKind.ABSENT for name in ("messages.jsonl", "context")):
        raise UserError(f"{path}: not a session: it has no messages.jsonl{_nearby(path)}")
    try:
        profile = load_profile(arguments.profile)
    except ProfileError as error:
        raise UserError(str(error)) from error
    if "write" in arguments and arguments.write:
        clear_leftovers(folder)
    session = read_session(folder)
    history = open_history(session)
    return OpenedSession(session, history, profile, RawContent(folder, history))


def counted_unit(counter: str, *, exact: bool = False) -> str:
    """Return the unit of figures by a counter: a number of words is not called tokens."""
    if counter == "words":
        return "words"
    return f"tokens ({counter})" if exact else f"tokens ({counter}, an estimate)"


def written_as_json(wrote: list[WrittenFile]) -> list[JsonValue]:
    return [{"name": each.name, "deed": each.action.value, "warning": each.warning} for each in wrote]


def _nearby(path: Path) -> str:
    """Suggest a session below `path`, one level down or where agents store theirs."""
    for pattern in ("*/messages.jsonl", "session/*/messages.jsonl"):
        found = next(iter(sorted(path.glob(pattern))), None)
        if found is not None:
            return f" (did you mean {found.parent}?)"
    return ""
