"""A folder of sessions: what its index says of each session, and where its entries lead."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ctxview.analysis.tokens import ESTIMATES
from ctxview.core.state import ContextState, RefStatus
from ctxview.formats.interface import Lens
from ctxview.formats.session.source import RootSource
from tests.formats.session.builders import Build, sound
from tests.formats.session.open_sessions import make_fifo

INDEX = "home/1000/agent/coder/session/index"


def source_of(build: Build) -> RootSource:
    root = build.write().parent
    return RootSource(root, root)


def state_of(build: Build) -> ContextState:
    return source_of(build).reading(0, Lens(ESTIMATES["words"])).state


def test_a_listed_session_is_not_called_shown_to_the_model(tmp_path: Path) -> None:
    build = sound(tmp_path)
    build.around |= {f"{INDEX}/list": b"default\n", f"{INDEX}/current": b"default\n"}
    state = state_of(build)
    (session,) = state.blocks()
    assert (session.visible, session.reason, session.tags) == (None, None, ("current",))
    assert (state.counts.visible, state.counts.hidden) == (0, 0)
    assert session.text == "/workspace\nupdated 2026-09-21 14:23 UTC"


def test_a_session_that_the_list_does_not_name_has_a_tag(tmp_path: Path) -> None:
    build = sound(tmp_path)
    build.around |= {f"{INDEX}/list": b"", f"{INDEX}/current": b"default\n"}
    (session,) = state_of(build).blocks()
    assert session.tags == ("current", "not in index/list")


def test_a_channel_leads_to_its_session_or_is_dangling(tmp_path: Path) -> None:
    build = sound(tmp_path)
    build.around |= {
        f"{INDEX}/list": b"default\n",
        f"{INDEX}/channel/alive": b'{"session": "default"}\n',
        f"{INDEX}/channel/dead": b'{"session": "gone"}\n',
        f"{INDEX}/channel/odd": b"{",
    }
    source = source_of(build)
    lens = Lens(ESTIMATES["words"])
    state = source.reading(0, lens).state
    channels = {ref.id: (ref.target, ref.status) for ref in state.refs if ref.kind == "channel"}
    assert channels == {
        "alive": ("default", RefStatus.RESOLVED),
        "dead": ("gone", RefStatus.DANGLING),
        "odd": ("?", RefStatus.UNKNOWN),
    }
    assert [gap.id for gap in state.missing] == ["gone"]
    assert [each.message for each in source.findings(lens)] == [
        'the channel leads to "gone", but there is no such session',
        "the channel names no session",
    ]


@pytest.mark.parametrize("name", ["current", "by-cwd/cwd-1", "by-hash/0"])
def test_an_entry_of_the_index_that_is_blank_names_no_session(tmp_path: Path, name: str) -> None:
    build = sound(tmp_path)
    build.around |= {f"{INDEX}/list": b"default\n", f"{INDEX}/{name}": b" \n"}
    assert [each.message for each in source_of(build).findings(Lens(ESTIMATES["words"]))] == [
        f"{name} names no session"
    ]


@pytest.mark.parametrize("make", [make_fifo, Path.mkdir])
@pytest.mark.parametrize("name", ["list", "current", "channel", "by-cwd", "channel/main", "by-uuid/0"])
def test_an_index_that_cannot_be_read_is_an_error_and_not_called_empty(
    tmp_path: Path, name: str, make: Callable[[Path], None]
) -> None:
    build = sound(tmp_path)
    build.around |= {f"{INDEX}/list": b"default\n", f"{INDEX}/current": b"default\n"}
    index = tmp_path / INDEX
    build.write()
    path = index / name
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    make(path)
    source = RootSource(index.parent, index.parent)
    found = [(each.rule, each.origin.file) for each in source.findings(Lens(ESTIMATES["words"]))]
    is_folder = path.is_dir() and name in ("channel", "by-cwd")
    assert found == ([] if is_folder else [("RAW002", str(path))])
    (session,) = source.reading(0, Lens(ESTIMATES["words"])).state.blocks()
    assert "not in index/list" not in session.tags
