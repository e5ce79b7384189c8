"""Keys from the config file: they work, they are shown everywhere, and mistakes are errors."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ctxview.config import ConfigError, KeyChoice
from ctxview.tui import configured_keys
from ctxview.tui.model.action_table import ACTIONS, ACTIONS_BY_ID
from ctxview.tui.model.layout import Pane
from ctxview.tui.screens.help import HelpLines
from tests.tui.driver import driving
from tests.tui.snapshot_stories import night


@pytest.fixture(autouse=True)
def reset_keymap() -> Iterator[None]:
    yield
    configured_keys.use_keymap({})


def given(own: dict[str, str]) -> dict[str, KeyChoice]:
    return {name: KeyChoice(key, "config.toml:7") for name, key in own.items()}


def test_without_own_keys_the_table_applies() -> None:
    assert configured_keys.use_keymap({}) == {}
    assert configured_keys.key_label(ACTIONS_BY_ID["save"]) == ACTIONS_BY_ID["save"].key_text


def test_a_sign_may_be_written_as_itself() -> None:
    assert configured_keys.use_keymap(given({"later": "*", "search": "ctrl+k"}))["search"] == "ctrl+k"
    assert configured_keys.key_label(ACTIONS_BY_ID["search"]) == "Ctrl-k"
    assert configured_keys.use_keymap(given({"earlier": "{", "oldest": "["})) == {
        "earlier": "left_curly_bracket",
        "oldest": "left_square_bracket",
    }
    assert configured_keys.key_label(ACTIONS_BY_ID["earlier"]) == "{"


def test_keys_are_spelled_as_people_read_them() -> None:
    configured_keys.use_keymap(
        given({"next_finding": "f8,shift+f9", "edit": "pagedown", "page_down": "asterisk"})
    )
    assert configured_keys.key_label(ACTIONS_BY_ID["next_finding"]) == "]PgDn F8 Shift-F9"
    assert configured_keys.key_label(ACTIONS_BY_ID["previous_finding"]) == "[PgDn F7 Shift-F8"
    assert configured_keys.key_label(ACTIONS_BY_ID["edit"]) == "PgDn"


def test_every_key_of_the_table_is_valid() -> None:
    assert configured_keys.use_keymap(given({command.id: command.keys for command in ACTIONS}))


@pytest.mark.parametrize(
    ("own", "message"),
    [
        ({"serch": "K"}, "config.toml:7: keys.serch: unknown action (did you mean search?)"),
        ({"search": "q"}, "config.toml:7: keys: q is the key of both search and quit"),
        ({"search": "K", "copy": "K"}, "config.toml:7: keys: K is the key of both search and copy"),
        (
            {"copy": "contol+c"},
            'keys.copy: "contol+c" is not a key; write it like "ctrl+k" or "f8"',
        ),
        ({"copy": "f88,y"}, '"f88" is not a key'),
    ],
)
def test_an_error_names_the_mistake_and_the_conflict(own: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        configured_keys.use_keymap(given(own))
    assert message in str(caught.value)


async def test_an_own_key_replaces_the_old_one_also_in_the_help() -> None:
    own = configured_keys.use_keymap(given({"pane_7": "ctrl+k"}))
    async with driving(night(), size=(120, 60)) as drive:
        drive.app.set_keymap(own)
        await drive.press("7")
        assert drive.view is Pane.MEMORY
        await drive.press("ctrl+k")
        assert drive.view is Pane.FINDINGS
        await drive.press("question_mark")
        assert drive.app.screen.query_one(HelpLines).rows_with("Ctrl-k")
