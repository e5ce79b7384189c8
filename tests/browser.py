"""A headless Chromium without a network, and the document that it makes of a page."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.running import LIMIT

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is on PATH; .ci/run installs it")
QUIET = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND",
)


class Dom(HTMLParser):
    """The elements and attributes of a page after its scripts, if any, have run."""

    def __init__(self, text: str, requested: str) -> None:
        super().__init__()
        self.elements: Counter[str] = Counter()
        self.attributes: set[str] = set()
        self.links: set[str] = set()
        self.title = ""
        self.text = ""
        self.requested = requested
        """All that the browser wrote about its requests."""
        self._inside = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements[tag] += 1
        self.attributes |= {name for name, _ in attrs}
        self.links |= {value or "" for name, value in attrs if name in ("href", "src", "xlink:href")}
        self._inside = tag

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "title" and not self.title:
            self.title = data
        elif self._inside != "style":
            self.text += data


def open_page(page: Path, folder: Path) -> Dom:
    """Load a page, wait until its scripts have run, and return what it became."""
    assert CHROMIUM is not None
    log = folder / "requests.json"
    done = subprocess.run(
        [
            CHROMIUM,
            *QUIET,
            f"--user-data-dir={folder / 'profile'}",
            f"--log-net-log={log}",
            "--virtual-time-budget=2000",
            "--dump-dom",
            page.as_uri(),
        ],
        capture_output=True,
        timeout=LIMIT,
        check=True,
    )
    requested = json.dumps([each for each in json.loads(log.read_text())["events"] if "params" in each])
    return Dom(done.stdout.decode(), requested)
