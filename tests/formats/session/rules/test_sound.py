"""A sound session has no findings: a fresh one, a used one, and one that is read again."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxview.formats.session import rules
from ctxview.formats.session.root import read_root
from tests.formats.session.builders import fresh, sound
from tests.formats.session.sources import (
    CORTEXFS,
    DOCUMENT,
    comparison_with,
    facts_before_survey,
    observation_of,
    read_facts,
)


@pytest.mark.parametrize("profile", [CORTEXFS, DOCUMENT], ids=lambda profile: profile.name)
@pytest.mark.parametrize("make", [fresh, sound])
def test_a_sound_session_has_no_findings(make, profile, tmp_path: Path):
    facts = read_facts(make(tmp_path).write(), profile)
    assert facts.survey is not None
    assert [*rules.check_session(facts), *facts.survey.findings] == []


def test_before_the_histories_are_read_a_sound_session_has_no_findings(tmp_path: Path):
    assert list(rules.check_session(facts_before_survey(sound(tmp_path).write()))) == []


def test_the_folder_of_a_sound_session_has_no_findings(tmp_path: Path):
    build = sound(tmp_path)
    build.around |= {
        "home/1000/agent/coder/session/index/list": b"default\n",
        "home/1000/agent/coder/session/index/current": b"default\n",
        "home/1000/agent/coder/session/index/by-cwd/cwd-990e10b3394addcf": b"default\n",
    }
    assert list(rules.check_root(read_root(build.write().parent), CORTEXFS)) == []


def test_reading_a_session_again_has_no_findings(tmp_path: Path):
    root = sound(tmp_path).write()
    facts = read_facts(root)
    assert list(rules.check_succession(facts, comparison_with(facts, observation_of(facts)))) == []
