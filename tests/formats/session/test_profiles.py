"""Profiles are data: the packaged ones, and a person's own on top of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxview.formats.interface import OpenError
from ctxview.formats.session.profile import PROFILES, load_profile


def test_every_packaged_profile_loads():
    assert [load_profile(name).name for name in PROFILES] == ["cortexfs", "document"]
    assert load_profile().limits.prompt_line == 16 * 1024
    assert load_profile("document").limits.prompt_line is None


def test_a_file_may_extend_a_packaged_profile(tmp_path: Path):
    file = tmp_path / "mine.toml"
    file.write_text('extends = "cortexfs"\nlarge_content = 99\n[limits]\nprompt_line = 5\n')
    profile = load_profile(str(file))
    assert (profile.name, profile.large_content, profile.limits.prompt_line) == ("mine", 99, 5)
    assert profile.limits.stored_line == 262144


def test_a_file_need_not_extend_a_profile(tmp_path: Path):
    file = tmp_path / "alone.toml"
    file.write_text('[words]\nstates = ["on", "off"]\n')
    assert load_profile(str(file)).words.states == ("on", "off")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[limits]\nprompt_lin = 5\n", "did you mean prompt_line?"),
        ('[limits]\nprompt_line = "five"\n', "limits.prompt_line"),
        ('extends = "cortexf"\n', "did you mean cortexfs?"),
        ("not toml", "not TOML"),
    ],
)
def test_an_error_in_a_file_names_its_key(text: str, message: str, tmp_path: Path):
    file = tmp_path / "mine.toml"
    file.write_text(text)
    with pytest.raises(OpenError, match=message.replace("?", r"\?").replace(".", r"\.")):
        load_profile(str(file))


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(OpenError, match="known profiles: cortexfs, document"):
        load_profile("nonsense")
