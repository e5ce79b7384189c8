"""Keys from the config file: they work, they are shown everywhere, and a mistake is told."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ctxview.config import ConfigError, Key
from ctxview.tui import keys
from ctxview.tui.commands import BY_ID, COMMANDS
from tests.tui.driving import driving
from tests.tui.stories import night


@pytest.fixture(autouse=True)
def own_keys_are_forgotten() -> Iterator[None]:
    yield
    keys.use({})


def given(own: dict[str, str]) -> dict[str, Key]:
    return {name: Key(key, "config.toml:7") for name, key in own.items()}


def test_without_own_keys_the_table_holds() -> None:
    assert keys.use({}) == {}
    assert keys.shown(BY_ID["save"]) == BY_ID["save"].shown


def test_a_sign_may_be_written_as_itself() -> None:
    assert keys.use(given({"later": "*", "search": "ctrl+k"}))["search"] == "ctrl+k"
    assert keys.shown(BY_ID["search"]) == "Ctrl-k"
    assert keys.use(given({"earlier": "{", "oldest": "["})) == {
        "earlier": "left_curly_bracket",
        "oldest": "left_square_bracket",
    }
    assert keys.shown(BY_ID["earlier"]) == "{"


def test_keys_are_spelled_as_people_read_them() -> None:
    keys.use(given({"next_finding": "f8,shift+f9", "edit": "pagedown", "page_down": "asterisk"}))
    assert keys.shown(BY_ID["next_finding"]) == "]PgDn F8 Shift-F9"
    assert keys.shown(BY_ID["previous_finding"]) == "[PgDn F7 Shift-F8"
    assert keys.shown(BY_ID["edit"]) == "PgDn"


def test_every_key_of_the_table_is_one() -> None:
    assert keys.use(given({command.id: command.keys for command in COMMANDS}))


@pytest.mark.parametrize(
    ("own", "told"),
    [
        ({"serch": "K"}, "config.toml:7: keys.serch: there is no such command (did you mean search?)"),
        ({"search": "q"}, "config.toml:7: keys: q would mean both search and quit"),
        ({"search": "K", "copy": "K"}, "config.toml:7: keys: K would mean both search and copy"),
        ({"copy": "contol+c"}, 'keys.copy: "contol+c" is no key; write it like "ctrl+k" or "f8"'),
        ({"copy": "f88,y"}, '"f88" is no key'),
    ],
)
def test_a_mistake_is_told_with_what_it_clashes_with(own: dict[str, str], told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        keys.use(given(own))
    assert told in str(caught.value)


async def test_the_own_key_works_the_old_one_does_not_and_the_bar_says_so() -> None:
    own = keys.use(given({"zoom": "ctrl+k"}))
    async with driving(night(), size=(120, 36)) as drive:
        drive.app.set_keymap(own)
        await drive.press("z")
        assert drive.inspector.deck.zoomed is None
        await drive.press("ctrl+k")
        assert drive.inspector.deck.zoomed is not None
        await drive.press("question_mark")
        assert "Ctrl-k" in drive.screen_text()
