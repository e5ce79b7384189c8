"""What a person prefers: file, environment, flags, in that order, and mistakes told with their place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ctxview import cli
from ctxview.config import ConfigError, config_file, load


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for name in ("THEME", "TOKENS", "FOLLOW"):
        monkeypatch.delenv(f"CTXVIEW_{name}", raising=False)
    return tmp_path


def written(text: str) -> Path:
    file = config_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def test_without_anything_said_the_defaults_hold(home: Path) -> None:
    config = load(environment={})
    assert (config.theme, config.tokens, config.follow) == ("ctxview-dark", "o200k_base", True)
    assert {each.source for each in config.settings.values()} == {"default"}
    assert config.file is None
    assert not any(home.iterdir()), "looking for it makes nothing"


def test_the_environment_goes_before_the_file_and_flags_before_both(home: Path) -> None:
    file = written('theme = "ctxview-light"\ntokens = "words"\nfollow = false\n')
    config = load(environment={})
    assert (config.theme, config.tokens, config.follow) == ("ctxview-light", "words", False)
    assert config.settings["theme"].source == str(file)
    config = load(environment={"CTXVIEW_THEME": "ctxview-amber", "CTXVIEW_FOLLOW": "yes"})
    assert (config.theme, config.follow, config.settings["theme"].source) == (
        "ctxview-amber",
        True,
        "CTXVIEW_THEME",
    )
    config = load({"theme": "ctxview-reef"}, {"CTXVIEW_THEME": "ctxview-amber"})
    assert (config.theme, config.settings["theme"].source) == ("ctxview-reef", "--theme")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('themes = "x"', "themes: there is no such setting (did you mean theme?)"),
        ('tokens = "o200k"', "tokens: nothing counts by 'o200k'"),
        ('follow = "perhaps"', "follow: 'perhaps' is neither yes nor no"),
        ("theme = 3", "theme: 3 is no name"),
        ("theme =", "not TOML"),
        ("keys = 3", "keys: this is a table"),
        ("[keys]\nsave = 3", "keys.save: 3 is no key"),
    ],
)
def test_a_mistake_is_told_with_the_file_and_the_setting(home: Path, text: str, told: str) -> None:
    file = written(text)
    with pytest.raises(ConfigError) as caught:
        load(environment={})
    assert str(caught.value).startswith(f"{file}: ")
    assert told in str(caught.value)


def test_a_mistake_in_the_environment_names_the_variable(home: Path) -> None:
    with pytest.raises(ConfigError, match="CTXVIEW_TOKENS: nothing counts by 'many'"):
        load(environment={"CTXVIEW_TOKENS": "many"})


def test_config_shows_every_setting_and_where_it_came_from(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written('tokens = "words"\n[keys]\nsave = "ctrl+w"\n')
    monkeypatch.setenv("CTXVIEW_THEME", "ctxview-light")
    assert cli.main(["config", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["file"] == str(file)
    assert told["settings"]["tokens"] == {"value": "words", "source": str(file)}
    assert told["settings"]["theme"] == {"value": "ctxview-light", "source": "CTXVIEW_THEME"}
    assert told["keys"] == {"save": "ctrl+w"}
    assert cli.main(["config"]) == 0
    out = capsys.readouterr().out
    assert "words" in out
    assert "CTXVIEW_THEME" in out
    written("theme = 3")
    assert cli.main(["config"]) == 2
    assert "theme: 3 is no name" in capsys.readouterr().err


def test_the_token_counter_of_the_config_is_the_one_that_counts(
    home: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    written('tokens = "words"\n')
    file = tmp_path / "notes.json"
    file.write_text('{"version": 3.0, "memory": {"core": []}}')
    assert cli.main(["show", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["counts"]["estimator"] == "words"
    assert cli.main(["show", str(file), "--json", "--tokens", "bytes/4"]) == 0
    assert json.loads(capsys.readouterr().out)["counts"]["estimator"] == "bytes/4"
