"""The packaged profiles have the right values, and a user's profile is checked key by key."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxview.formats import OpenError
from ctxview.formats.snapshot.profile import PROFILES, load_profile


def test_the_default_is_the_released_runtime() -> None:
    assert load_profile() is load_profile(PROFILES[0])
    assert load_profile().name == "atom-0.17"


def test_the_input_budget_follows_from_the_window() -> None:
    budget = load_profile().budget
    assert (budget.margin, budget.input_budget) == (15729, 131072 - 2048 - 15729)


def test_a_derived_profile_changes_only_what_it_says() -> None:
    branch, base = load_profile("atom-context-log-save"), load_profile()
    assert (branch.tier("longterm").max_decay, branch.tier("longterm").max_shown) == (0.55, 64)
    assert branch.tier("longterm").raw_cap == base.tier("longterm").raw_cap
    assert branch.tier("core") == base.tier("core")
    assert (branch.budget.units_per_token, branch.budget.estimate_unit) == (3.8, "characters")


def test_the_bare_protocol_has_no_limits() -> None:
    bare = load_profile("protocol-3.0")
    assert bare.limits.content is None
    assert bare.budget.input_budget is None
    assert bare.todo is None
    assert bare.tier("core").max_decay is None


def test_a_user_profile_extends_a_packaged_one(tmp_path: Path) -> None:
    mine = tmp_path / "strict.toml"
    mine.write_text('extends = "atom-0.17"\n[tiers.core]\nmax_shown = 3\n')
    assert load_profile(str(mine)).tier("core").max_shown == 3
    assert load_profile(str(mine)).name == "strict"
    assert load_profile(str(mine)).tier("core").max_decay == 0.35


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (
            "[tiers.core]\nmax_decya = 1\n",
            "tiers.core.max_decya is not a known key (did you mean max_decay?)",
        ),
        ("[limit]\ncontent = 1\n", "limit is not a known key (did you mean limits?)"),
        ('[tiers.core]\nmax_decay = "low"\n', "tiers.core.max_decay: expected a number, found 'low'"),
        ('extends = "atom-0.1"\n', "extends: unknown profile 'atom-0.1' (did you mean atom-0.17?)"),
        ("[budget\n", "not TOML"),
        (
            '[todo]\nempty = "{x}"\nfinished = ""\nrunning = ""\nrunning_skipped = ""\n',
            "todo.empty: only the placeholders {done}, {total} and {step} are known",
        ),
    ],
)
def test_an_error_in_a_profile_names_file_and_key(tmp_path: Path, text: str, complaint: str) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text(text)
    with pytest.raises(OpenError) as caught:
        load_profile(str(mine))
    assert str(caught.value).startswith(f"{mine}: {complaint}")


def test_an_unknown_name_gets_the_nearest_one_as_a_hint() -> None:
    with pytest.raises(OpenError, match=r"unknown profile 'atom-0\.16' \(did you mean atom-0\.17\?\)"):
        load_profile("atom-0.16")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(OpenError, match=r"none\.toml: No such file"):
        load_profile(str(tmp_path / "none.toml"))
