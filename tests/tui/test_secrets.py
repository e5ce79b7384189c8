"""Secrets are masked wherever they would be shown or copied; the file keeps them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxview.formats import open_source
from ctxview.samples import samples_folder
from ctxview.tui.drawing.text import paragraphs, plain, preview
from ctxview.tui.screens.raw import RawScreen
from tests.tui.driver import Driver, driving

FILE = samples_folder() / "snapshot" / "broken" / "secret.json"
SECRETS = ("a-real-password", "NOTAREALKEY23456", "ThisIsNotARealToken")


def shows_none(text: str) -> bool:
    return not any(secret in text for secret in SECRETS)


async def test_no_pane_and_no_copy_contains_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not shows_none(FILE.read_text("utf-8"))
    copied: list[str] = []
    async with driving(open_source(FILE), size=(160, 48)) as drive:
        monkeypatch.setattr(drive.app, "copy_to_clipboard", copied.append)
        await drive.press("j", "y")
        _assert_masked(drive)
        await drive.press("o")
        await drive.settle()
        assert isinstance(drive.app.screen, RawScreen)
        assert "3 secrets are masked" in drive.screen_text()
        _assert_masked(drive)
        await drive.press("y")
    assert len(copied) == 2
    assert all(shows_none(text) and "AKIA…" in text for text in copied)


def _assert_masked(drive: Driver) -> None:
    shown = drive.screen_text().replace("\n", "")
    assert shows_none(shown)
    assert "Replica login" in shown


def test_a_secret_that_is_cut_is_still_masked() -> None:
    text = "key " + "ghp_" + "Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8Qr9St0Uv1Wx2"
    assert "Cd2" not in plain(preview(text, limit=16))
    assert "Cd2" not in plain(paragraphs(text)[0])


async def test_a_secret_behind_an_escape_is_masked_in_the_raw_view_and_in_copies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8Qr9St0Uv1Wx2"
    file = tmp_path / "a.json"
    file.write_bytes(b'{"note": "env:\\nghp_%s"}' % secret.encode())
    copied: list[str] = []
    async with driving(open_source(file), size=(160, 48)) as drive:
        monkeypatch.setattr(drive.app, "copy_to_clipboard", copied.append)
        await drive.press("o")
        assert isinstance(drive.app.screen, RawScreen)
        assert "ghp_…(40 characters)" in drive.screen_text()
        await drive.press("y")
    assert secret not in copied[0]
