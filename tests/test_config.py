"""The settings: file, environment, flags, in this order, and errors that say where the mistake is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ctxview import cli
from ctxview.config import ConfigError, config_file, load_config


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for name in ("THEME", "TOKENS", "FOLLOW", "GLYPHS"):
        monkeypatch.delenv(f"CTXVIEW_{name}", raising=False)
    return tmp_path


def written(text: str) -> Path:
    file = config_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    return file


def test_without_settings_the_defaults_apply(home: Path) -> None:
    config = load_config(environment={})
    assert (config.theme, config.tokens, config.follow) == ("ctxview-dark", "o200k_base", True)
    assert {each.source for each in config.settings.values()} == {"default"}
    assert config.file is None
    assert not any(home.iterdir()), "looking for it makes nothing"


def test_the_environment_goes_before_the_file_and_flags_before_both(home: Path) -> None:
    file = written('theme = "ctxview-light"\ntokens = "words"\nfollow = false\n')
    config = load_config(environment={})
    assert (config.theme, config.tokens, config.follow) == ("ctxview-light", "words", False)
    assert config.settings["theme"].source == f"{file}:1"
    config = load_config(environment={"CTXVIEW_THEME": "ctxview-amber", "CTXVIEW_FOLLOW": "yes"})
    assert (config.theme, config.follow, config.settings["theme"].source) == (
        "ctxview-amber",
        True,
        "CTXVIEW_THEME",
    )
    config = load_config({"theme": "reef"}, {"CTXVIEW_THEME": "ctxview-amber"})
    assert (config.theme, config.settings["theme"].source) == ("ctxview-reef", "--theme")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('themes = "x"', ":1: unknown setting themes (did you mean theme?)"),
        ('# mine\n\ntokens = "o200k"', ":3: tokens: unknown token counter o200k (did you mean o200k_base?)"),
        ('follow = "perhaps"', ":1: follow: 'perhaps' is neither yes nor no"),
        ("theme = 3", ":1: theme: unknown theme 3; choose from dark, "),
        ('theme = "lihgt"', ":1: theme: unknown theme lihgt (did you mean light?)"),
        ('glyphs = "asci"', ":1: glyphs: unknown glyph set asci (did you mean ascii?)"),
        ('tokens = "words"\ntheme = =', ":2:9: not TOML: Invalid value"),
        ("theme = 'a", ": not TOML: "),
        ("keys = 3", ":1: keys: this must be a table"),
        ("[keys]\n\nsave = 3", ":3: keys.save: 3 is not a key"),
        ("[colours]\nfollow = 3", ":1: unknown setting colours"),
        ("\udcff", ": this is not UTF-8 text"),
    ],
)
def test_a_mistake_is_reported_with_file_line_setting_and_the_nearest_word(
    home: Path, text: str, message: str
) -> None:
    file = written(text)
    with pytest.raises(ConfigError) as caught:
        load_config(environment={})
    assert str(caught.value).startswith(f"{file}{message}")


def test_a_mistake_in_the_environment_names_the_variable(home: Path) -> None:
    with pytest.raises(ConfigError, match="CTXVIEW_TOKENS: unknown token counter many"):
        load_config(environment={"CTXVIEW_TOKENS": "many"})


def test_config_shows_every_setting_and_where_it_came_from(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written('tokens = "words"\n[keys]\nsave = "ctrl+w"\n')
    monkeypatch.setenv("CTXVIEW_THEME", "ctxview-light")
    assert cli.main(["config", "--json"]) == 0
    config = json.loads(capsys.readouterr().out)
    assert config["file"] == str(file)
    assert config["settings"]["tokens"] == {"value": "words", "source": f"{file}:1"}
    assert config["settings"]["theme"] == {"value": "ctxview-light", "source": "CTXVIEW_THEME"}
    assert config["keys"] == {"save": {"value": "ctrl+w", "source": f"{file}:3"}}
    assert cli.main(["config"]) == 0
    out = capsys.readouterr().out
    assert "words" in out
    assert "CTXVIEW_THEME" in out
    written("theme = 3")
    assert cli.main(["config"]) == 2
    assert f"{file}:1: theme: unknown theme 3" in capsys.readouterr().err
    written('[keys]\ndwn = "x"')
    assert cli.main(["config"]) == 2
    assert f"{file}:2: keys.dwn: unknown action (did you mean down?)" in capsys.readouterr().err


def test_an_unknown_variable_is_reported(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CTXVIEW_THEM", "light")
    assert cli.main(["config"]) == 0
    assert "unknown environment variable CTXVIEW_THEM (did you mean CTXVIEW_THEME?)" in (
        capsys.readouterr().err
    )


def test_a_config_file_that_is_a_folder_is_reported(home: Path) -> None:
    config_file().mkdir(parents=True)
    with pytest.raises(ConfigError, match=r"config\.toml: reading failed: Is a directory"):
        load_config(environment={})


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
