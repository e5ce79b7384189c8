"""What is sound stays quiet: a fresh session, one in the middle of its life, and both looks at it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxview.formats.session import rules
from ctxview.formats.session.root import read_root
from tests.formats.session.builders import fresh, sound
from tests.formats.session.looking import CORTEXFS, DOCUMENT, compared, glance_at, look_at, seen


@pytest.mark.parametrize("profile", [CORTEXFS, DOCUMENT], ids=lambda profile: profile.name)
@pytest.mark.parametrize("make", [fresh, sound])
def test_a_sound_session_has_no_findings(make, profile, tmp_path: Path):
    look = look_at(make(tmp_path).write(), profile)
    assert look.survey is not None
    assert [*rules.check_session(look), *look.survey.findings] == []


def test_before_the_histories_are_read_a_sound_session_has_no_findings(tmp_path: Path):
    assert list(rules.check_session(glance_at(sound(tmp_path).write()))) == []


def test_the_folder_it_lies_in_has_no_findings(tmp_path: Path):
    build = sound(tmp_path)
    build.around |= {
        "home/1000/agent/coder/session/index/list": b"default\n",
        "home/1000/agent/coder/session/index/current": b"default\n",
        "home/1000/agent/coder/session/index/by-cwd/cwd-990e10b3394addcf": b"default\n",
    }
    assert list(rules.check_root(read_root(build.write().parent), CORTEXFS)) == []


def test_looking_again_has_no_findings(tmp_path: Path):
    root = sound(tmp_path).write()
    look = look_at(root)
    assert list(rules.check_succession(look, compared(look, seen(look)))) == []
