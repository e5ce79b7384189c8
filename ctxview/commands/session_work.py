"""Opening the session a command is to work on, and the arguments those commands share. Prints nothing."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from ctxview.commands.trouble import Trouble
from ctxview.origin import JsonValue
from ctxview.quick_dataclass import dataclass

if TYPE_CHECKING:
    from ctxview.formats.session.derived import Wrote
    from ctxview.formats.session.history import History
    from ctxview.formats.session.model import Session
    from ctxview.formats.session.profile import Profile
    from ctxview.formats.session.raw_content import RawContent


@dataclass(frozen=True, slots=True)
class Opened:
    session: Session
    history: History
    profile: Profile
    raw: RawContent


def add_session(parser: ArgumentParser) -> None:
    parser.add_argument(
        "session", metavar="SESSION", type=Path, help="a session folder, which holds messages.jsonl"
    )
    parser.add_argument("--json", action="store_true", help="print JSON for programs")
    parser.add_argument("--profile", metavar="P", help="limits of a runtime: a name, or a TOML file")


def opened_session(arguments: Namespace) -> Opened:
    """The session at the path; raises `Trouble` when there is none."""
    from ctxview.formats.profile_shelf import ProfileError
    from ctxview.formats.session.folder import EntryKind, SessionFolder
    from ctxview.formats.session.history import open_history
    from ctxview.formats.session.profiles import load_profile
    from ctxview.formats.session.raw_content import RawContent
    from ctxview.formats.session.read import read_session

    path: Path = arguments.session
    if not path.is_dir():
        raise Trouble(f"{path}: {'this is a file' if path.exists() else 'there is no such folder'}")
    folder = SessionFolder(path.resolve())
    if all(folder.entry(name).kind is EntryKind.ABSENT for name in ("messages.jsonl", "context")):
        raise Trouble(f"{path}: this is no session: it holds no messages.jsonl{_nearby(path)}")
    try:
        profile = load_profile(arguments.profile)
    except ProfileError as error:
        raise Trouble(str(error)) from error
    session = read_session(folder)
    history = open_history(session)
    return Opened(session, history, profile, RawContent(folder, history))


def written_as_json(wrote: list[Wrote]) -> list[JsonValue]:
    return [{"name": each.name, "deed": each.deed.value, "warning": each.warning} for each in wrote]


def _nearby(path: Path) -> str:
    """A session one level below, or where agents keep theirs, for those who stopped short of it."""
    for pattern in ("*/messages.jsonl", "session/*/messages.jsonl"):
        found = next(iter(sorted(path.glob(pattern))), None)
        if found is not None:
            return f" (did you mean {found.parent}?)"
    return ""
