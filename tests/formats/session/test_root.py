"""A folder of sessions: what its index says of each session, and where its entries lead."""

from __future__ import annotations

from pathlib import Path

from ctxview.analysis.tokens import ESTIMATES
from ctxview.core.state import ContextState, RefStatus
from ctxview.formats.interface import Lens
from ctxview.formats.session.source import RootSource
from tests.formats.session.builders import Build, sound

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
        'the channel leads to "gone", but there is no such session'
    ]
