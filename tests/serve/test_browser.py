"""The inspector in a real browser: the page, its colours, its size, the clipboard, and its end."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser import CHROMIUM, QUIET, needs_chromium
from tests.running import LIMIT
from tests.serve.serving import RunningServer, serving
from tests.serve.test_server import LIGHTHOUSE, NEW_DECAY, READ
from tests.tui.fakes import block, memory

pytestmark = needs_chromium

KEEP_OUTPUT = """
window.output = "";
const Plain = window.WebSocket;
window.WebSocket = class extends Plain {
  constructor(...given) {
    super(...given);
    this.addEventListener("message", async (message) => {
      const { data } = message;
      const text = typeof data === "string" ? data : await new Blob([data]).text();
      window.output += text;
    });
  }
};
"""
"""Keeps what the page is sent, because the terminal in it draws on a canvas."""


@pytest.fixture
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*QUIET[1:-1]])
        yield browser
        browser.close()


def opened(browser: Browser, server: RunningServer, width: int = 1280, height: int = 800) -> Page:
    context = browser.new_context(viewport={"width": width, "height": height})
    context.set_default_timeout(LIMIT * 1000)
    context.grant_permissions(["clipboard-read", "clipboard-write"], origin=server.origin)
    page = context.new_page()
    page.add_init_script(KEEP_OUTPUT)
    page.goto(server.address)
    wait_for(page, READ)
    page.wait_for_function("() => document.activeElement.matches('.xterm-helper-textarea')")
    return page


def wait_for(page: Page, marker: str) -> None:
    page.wait_for_function("marker => window.output.includes(marker)", arg=marker)


def type_keys(page: Page, keys: str) -> None:
    page.evaluate("window.output = ''")
    page.keyboard.type(keys)


def test_the_page_shows_the_inspector_in_true_colours_and_asks_no_other_server(browser: Browser) -> None:
    with serving(LIGHTHOUSE) as server:
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        page = context.new_page()
        asked: list[str] = []
        errors: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.add_init_script(KEEP_OUTPUT)
        page.goto(server.address)
        page.wait_for_selector("body.-first-byte")
        wait_for(page, "38;2;")
        wait_for(page, READ)
        assert page.url == f"{server.origin}/", "the token is not in the address bar"
        assert all(each.startswith((f"{server.origin}/", "data:")) for each in asked), asked
        assert errors == []


def test_the_size_follows_the_window_and_keys_reach_the_inspector(browser: Browser) -> None:
    with serving(LIGHTHOUSE) as server:
        page = opened(browser, server)
        type_keys(page, "2")
        wait_for(page, "working")
        page.evaluate("window.output = ''")
        page.set_viewport_size({"width": 900, "height": 600})
        wait_for(page, "rev 29 of 29")


def test_a_copy_reaches_the_clipboard_of_the_browser(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text(json.dumps(memory(core=[block("a", "the text of a block")])), "utf-8")
    with serving(file) as server:
        page = opened(browser, server)
        type_keys(page, "2g")
        type_keys(page, "y")
        page.wait_for_function("async () => (await navigator.clipboard.readText()) === 'the text of a block'")


def test_two_viewers_do_not_share_a_screen(browser: Browser) -> None:
    with serving(LIGHTHOUSE) as server:
        one, other = opened(browser, server), opened(browser, server)
        other.evaluate("window.output = ''")
        type_keys(one, "2")
        wait_for(one, "working")
        type_keys(other, "T")
        wait_for(other, "At the cursor")
        assert "tok shown" not in other.evaluate("window.output")


def test_the_page_offers_a_new_viewer_when_its_process_was_killed(browser: Browser) -> None:
    with serving(LIGHTHOUSE) as server:
        page = opened(browser, server)
        for process in server.viewers:
            os.kill(process, signal.SIGKILL)
        page.wait_for_selector("#again", state="visible")
        page.click("#again")
        wait_for(page, READ)


def test_leaving_with_unsaved_changes_asks_first(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text(json.dumps(memory(core=[block("a", "one")])), "utf-8")
    with serving("--write", file) as server:
        page = opened(browser, server)
        page.evaluate("window.output = ''")
        for key in NEW_DECAY:
            page.keyboard.press({"\t": "Tab", "\x13": "Control+s", "\x15": "Control+u"}.get(key, key))
        wait_for(page, '["draft", true]')
        asked: list[str] = []
        page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
        page.close(run_before_unload=True)
        page.wait_for_function("() => true")
        assert asked == ["beforeunload"]
