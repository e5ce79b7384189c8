"""A notice whose time ends while a screen begins to show it goes away; it does not stop the program."""

from __future__ import annotations

import pytest
from textual.message import Message
from textual.notifications import Notify

from ctxview.tui.app import CtxviewApp


def test_a_notice_that_is_over_gives_its_timer_some_time(monkeypatch: pytest.MonkeyPatch) -> None:
    app = CtxviewApp(None)
    posted: list[Message] = []
    monkeypatch.setattr(app, "post_message", posted.append)
    app.notify("Saved.", timeout=-1, markup=False)
    (message,) = posted

    assert isinstance(message, Notify)
    assert message.notification.has_expired
    assert message.notification.time_left > 0
    assert not message.notification.markup
