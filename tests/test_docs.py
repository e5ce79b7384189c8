"""The documentation: generated pages are up to date, links resolve, every command and setting is there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from textual.binding import Binding

from ctxview.commands.parser import all_commands
from ctxview.config import SETTINGS, variable_of
from ctxview.formats import formats
from docs import make_keys, make_review_schema, make_rules

ROOT = Path(__file__).parent.parent
PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *ROOT.glob("benchmarks/*.md"),
        *ROOT.glob("sample_sessions/*.md"),
    ]
)
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
PICTURE = re.compile(r"!\[[^\]]*\]\(([^)\s]+)\)")
PATH = re.compile(r"`((?:[a-z_]+/)*(?:[a-z_]+/|[a-z_]+\.py))`")
FENCE = re.compile(r"^(```|~~~~).*?^\1", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(
    "maker", [make_rules, make_keys, make_review_schema], ids=lambda maker: maker.__name__
)
def test_a_page_made_from_the_code_is_up_to_date(maker: ModuleType) -> None:
    assert maker.FILE.read_text("utf-8") == maker.text(), f"run .venv/bin/python -m {maker.__name__}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_resolves(page: Path) -> None:
    broken = [link for link in _links(page) if not _resolves(page, link)]

    assert broken == []


def test_every_format_has_a_page() -> None:
    pages = {page.stem for page in (ROOT / "docs" / "formats").glob("*.md")}

    assert pages == {spec.name for spec in formats()}


def test_every_path_in_the_architecture_exists() -> None:
    paths = set(PATH.findall((ROOT / "ARCHITECTURE.md").read_text("utf-8")))
    homes = (ROOT, *(ROOT / "ctxview" / each for each in ("", "files", "formats", "formats/session", "tui")))

    assert len(paths) > 40
    assert [path for path in paths if not any((home / path).exists() for home in homes)] == []


def test_the_readme_leads_to_every_page() -> None:
    reached, waiting = set[Path](), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        reached.add(page)
        files = (
            (page.parent / link.partition("#")[0]).resolve() for link in _links(page) if "://" not in link
        )
        waiting += {file for file in files if file.suffix == ".md"} - reached

    assert set(PAGES) - reached == set()


@pytest.mark.parametrize("name", all_commands())
def test_every_command_is_mentioned(name: str) -> None:
    text = "\n".join(page.read_text("utf-8") for page in PAGES if page.name != "CHANGELOG.md")

    assert f"ctxview {name}" in text


def test_every_setting_is_documented() -> None:
    text = (ROOT / "docs" / "settings.md").read_text("utf-8")

    assert all(f"| `{name}` |" in text and variable_of(name) in text for name in SETTINGS)


def _links(page: Path) -> Iterator[str]:
    text = FENCE.sub("", page.read_text("utf-8"))
    yield from LINK.findall(text)
    yield from PICTURE.findall(text)


def _resolves(page: Path, link: str) -> bool:
    if "://" in link:
        return True
    name, _, heading = link.partition("#")
    file = page if not name else (page.parent / name)
    return file.exists() and (not heading or heading in _anchors(file))


def _anchors(page: Path) -> set[str]:
    """The headings of a page, as links spell them."""
    text = FENCE.sub("", page.read_text("utf-8"))
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_key_of_a_difference_is_on_the_page_of_keys() -> None:
    from ctxview.tui.configured_keys import spell_key
    from ctxview.tui.screens.diff import DiffScreen

    (line,) = [line for line in make_keys.text().splitlines() if line.startswith("| a difference |")]
    keys = [each.key.split(",")[0] for each in DiffScreen.BINDINGS if isinstance(each, Binding)]
    assert [key for key in keys if f"`{spell_key(key)}`" not in line and key != "shift+tab"] == []
