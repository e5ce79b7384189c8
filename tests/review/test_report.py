"""A report says what is known of a revision, in each of its forms, and its content cannot act."""

from __future__ import annotations

import json
import re
import shutil
import xml.dom.minidom
from pathlib import Path
from typing import Literal

import pytest
from markdown_it import MarkdownIt
from playwright.sync_api import sync_playwright

from ctxview.analysis.tokens import counter_named
from ctxview.commands.why import Unobserved
from ctxview.core.budget import Budget, Segment
from ctxview.formats import Lens, open_source
from ctxview.reports.json_output import finding_as_json
from ctxview.review.reports.charts import colours_of, window_bar
from ctxview.review.reports.contents import make_report
from ctxview.review.reports.html_report import html_report
from ctxview.review.reports.json_report import report_json
from ctxview.review.reports.markdown_report import markdown_report
from ctxview.review.reports.markup import element
from ctxview.review.reports.svg_report import svg_report
from ctxview.samples import samples_folder
from tests.browser import CHROMIUM, QUIET, Dom, needs_chromium, open_page
from tests.formats.snapshot.builders import block, snapshot_value, to_bytes
from tests.review.hostile import ACT, HOST, SECRET, TOKEN, write_hostile_rounds
from tests.running import Run

FORMS = ("html", "md", "svg", "json")
OURS = {
    *("html", "head", "meta", "title", "style", "body", "header", "main", "footer", "nav", "section"),
    *("h1", "h2", "h3", "p", "ul", "li", "div", "span", "strong", "code", "bdi", "ins", "del", "a"),
    *("details", "summary", "figure", "figcaption", "table", "tbody", "tr", "td"),
    *("svg", "g", "rect", "line", "text"),
}
SAMPLES = [
    "snapshot/lighthouse",
    "session/coder/home/1000/agent/coder/session/default",
    "envelope/handoff",
    "envelope/planted",
    "transcript/refund-day/5f0c2a7e-1111-4222-8333-9a0b1c2d3e4f.jsonl",
    "workspace/workspace-home",
    "memory/exhibition-faults",
    "README.md",
]


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    folder = tmp_path / "<img src=x onerror=document.title='acted'>"
    folder.mkdir()
    return write_hostile_rounds(folder)


def report(ctxview: Run, path: Path, form: str, *options: str) -> str:
    ran = ctxview("export", path, "--to", form, "--tokens", "bytes/4", *options)
    assert (ran.code, ran.err) == (0, "")
    return ran.out


@pytest.mark.parametrize("sample", SAMPLES)
def test_every_format_has_a_report_in_every_form(sample: str) -> None:
    source = open_source(samples_folder() / sample)
    made = make_report(source, len(source.revisions) - 1, Lens(counter_named("bytes/4")), Unobserved())

    xml.dom.minidom.parseString(svg_report(made))
    assert Dom(html_report(made), "").title == f"{made.state.title}: context report"
    assert "\n## Findings\n" in markdown_report(made)
    assert report_json(made)["findings"] == [finding_as_json(each) for each in made.findings]


def test_a_report_begins_with_the_answers_and_has_every_part(ctxview: Run) -> None:
    text = report(ctxview, samples_folder() / "snapshot" / "lighthouse", "html", "--at", "9")
    shown = Dom(text, "").text

    assert shown.index("Full: 65 of 24,720 tokens left") < shown.index("Made by ctxview")
    assert shown.index("6 warnings in round 9") < shown.index("SNP020")
    sections = re.findall(r"<h2>([^<]+)</h2>", text)
    assert sections == ["Window", "Skyline", "Findings", "Missing", "Changes", "Blocks", "Todo", "X-ray"]
    assert "the reply to round 9 erases 12 working blocks (SNP043)" in shown
    assert "no longer shown to the model: confidence 0.40 < 0.55" in shown
    assert "hidden: h3-replica-lag, confidence 0.40 < 0.55" in shown
    assert re.search(r"<details class=\"long\"><summary>The model reads", text), "the X-ray is folded"


def test_gaps_that_block_work_are_said_first(ctxview: Run) -> None:
    shown = Dom(report(ctxview, samples_folder() / "envelope" / "handoff", "html"), "").text

    assert "1 gap blocks work" in shown
    assert "How many senders run in production" in shown


@pytest.mark.parametrize("form", FORMS)
def test_secrets_are_masked_wherever_a_text_is_cut(ctxview: Run, hostile: Path, form: str) -> None:
    text = report(ctxview, hostile, form)

    for secret in (SECRET, TOKEN):
        # The beginning of a mask is public; longer beginnings are not.
        assert secret[:9] not in text
        assert secret[-6:] not in text


@needs_chromium
def test_a_browser_without_our_guards_would_show_that_content_acts(tmp_path: Path) -> None:
    """The harness notices scripts and requests; without this, the next test could not fail."""
    page = tmp_path / "page.html"
    page.write_text(f"<title>calm</title><img src=http://{HOST}/><script>{ACT}</script>")
    seen = open_page(page, tmp_path)

    assert seen.title == "acted"
    assert HOST in seen.requested


@needs_chromium
def test_a_picture_has_its_colours_for_viewers_without_variables_and_one_for_each_segment() -> None:
    source = open_source(samples_folder() / "envelope" / "handoff")
    made = make_report(source, len(source.revisions) - 1, Lens(counter_named("bytes/4")), Unobserved())
    picture = svg_report(made)

    assert "var(" not in picture
    assert ".picture .page { fill: #fbfaf7; }" in picture
    assert ".picture .page { fill: #14171b; }" in picture.partition("prefers-color-scheme: dark")[2]
    colours = colours_of((), ("history", "change, truncated", "change"))
    assert colours.classes["change, truncated"] == colours.classes["change"] != colours.classes["history"]


@pytest.mark.parametrize("form", ["html", "svg"])
def test_hostile_content_does_nothing(ctxview: Run, hostile: Path, tmp_path: Path, form: str) -> None:
    page = tmp_path / f"page.{form}"
    page.write_text(report(ctxview, hostile, form), "utf-8")
    seen = open_page(page, tmp_path)

    assert seen.title != "acted"
    assert HOST not in seen.requested
    assert set(seen.elements) <= OURS
    assert not {name for name in seen.attributes if name.startswith("on") or name in ("style", "src")}
    assert all(link.startswith("#") for link in seen.links)
    assert "http://" not in "".join(seen.links)
    assert "<script>" in seen.text or form == "svg", "the content is shown as text"
    assert not re.search(r"[\u202a-\u202e\u2066-\u2069\u200b\x1b\x00]", seen.text)


@needs_chromium
@pytest.mark.parametrize("media", ["screen", "print"])
def test_a_narrow_page_needs_no_sideways_scrolling(
    ctxview: Run, tmp_path: Path, media: Literal["screen", "print"]
) -> None:
    word = "W" * 400
    folder = tmp_path / ("Q" * 180)
    folder.mkdir()
    for number in (1, 2):
        blocks = [block(f"b{number} {word}", content=f"{word}{number}", type=word, tags=[word])]
        todo = {"summary": word, "total": 2, "step": 1, "cursor": None}
        value = snapshot_value(core=blocks, round=number, todo=todo) | {"task": {"id": word, "goal": word}}
        (folder / f"round-0{number}.received.json").write_bytes(to_bytes(value))
    page = tmp_path / "page.html"
    page.write_text(report(ctxview, folder, "html"), "utf-8")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*QUIET[1:-1]])
        shown = browser.new_page(viewport={"width": 390, "height": 800})
        shown.goto(page.as_uri())
        shown.emulate_media(media=media)
        shown.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
        needed = shown.evaluate("document.documentElement.scrollWidth")
        browser.close()

    assert needed == 390


def test_the_policy_of_the_page_allows_one_style_sheet_and_nothing_else(ctxview: Run, hostile: Path) -> None:
    text = report(ctxview, hostile, "html")
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text)

    assert policy is not None
    assert policy[1].startswith("default-src &#x27;none&#x27;; style-src &#x27;sha256-")
    assert "unsafe" not in policy[1]
    assert text.count("<style>") == 1


def test_hostile_content_is_no_markup_in_markdown(ctxview: Run, hostile: Path) -> None:
    text = report(ctxview, hostile, "md")
    tokens = MarkdownIt("gfm-like", {"html": True}).parse(text)
    inline = [child for token in tokens for child in token.children or ()]
    markup = {token.content.strip() for token in (*tokens, *inline) if token.type.startswith("html")}

    assert not {token.type for token in inline} & {"link_open", "image"}
    assert all(re.fullmatch(r"<details><summary>[\w ,≈.;()/]+</summary>|</details>", each) for each in markup)
    headings = [token.content for at, token in enumerate(tokens) if tokens[at - 1].type == "heading_open"]
    assert headings[1:] == ["Window", "Skyline", "Findings", "Missing", "Changes", "Blocks", "X-ray"]


def test_an_attribute_that_could_act_is_an_error() -> None:
    for attributes in ({"onclick": "x"}, {"style": "x"}, {"href": "http://x"}, {"src": "x"}):
        with pytest.raises(ValueError, match="could act"):
            element("a", "text", **attributes)
    assert element("a", "text", href="#findings").code == '<a href="#findings">text</a>'


def test_a_report_is_written_to_a_new_file_only(ctxview: Run, tmp_path: Path) -> None:
    path, page = samples_folder() / "envelope" / "handoff", tmp_path / "page.html"

    assert ctxview("export", path, "-o", page, "--tokens", "bytes/4").out == f"wrote {page}\n"
    assert ctxview("export", path, "-o", page, "--tokens", "bytes/4").code == 0, "it has the same content"
    page.write_text("mine")
    assert "it exists and is not replaced" in ctxview("export", path, "-o", page).complaint
    assert page.read_text() == "mine"


@pytest.mark.parametrize("form", ["html", "md", "json"])
def test_a_report_does_not_name_the_home_of_its_user(
    ctxview: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    path = Path(shutil.copy(samples_folder() / "snapshot" / "broken" / "bad-todo.json", tmp_path))
    page = report(ctxview, path, form)

    assert "~/bad-todo.json" in page
    assert str(tmp_path) not in page


def test_a_report_says_what_was_signed_off_and_what_changed_since(ctxview: Run, tmp_path: Path) -> None:
    path = tmp_path / "round-01.received.json"
    path.write_bytes(to_bytes(snapshot_value(core=[block("a", content="Deploy on Friday.")])))
    assert "Sign-off" not in report(ctxview, path, "html")
    done = ctxview("review", path, "--approve", "--reviewer", "<b>Ada</b>")
    assert done.code == 0, done.err
    approved = report(ctxview, path, "html")
    path.write_bytes(path.read_bytes().replace(b"Friday", b"Monday"))
    changed = report(ctxview, path, "html")
    (tmp_path / "round-01.received.json.2.ctxreview.json").write_text("{}")
    void = json.loads(report(ctxview, path, "json"))["sign_offs"][0]

    assert "Approved by &lt;b&gt;Ada&lt;/b&gt;</p>" in approved
    assert approved.index("Approved by") < approved.index("Findings")
    assert re.search(r"Approved by &lt;b&gt;Ada&lt;/b&gt;; \d+ things? changed since", changed)
    assert void["problem"]
    assert "Approved by" in report(ctxview, path, "md")


@pytest.mark.parametrize(
    ("holds_reserve", "limit_at", "reserve_at"), [(True, "998", "700"), (False, "769.23", "769.23")]
)
def test_the_bar_draws_a_reserve_inside_or_beside_the_limit(
    holds_reserve: bool, limit_at: str, reserve_at: str
) -> None:
    budget = Budget("model", "tokens", 1000, 500, 300, (Segment("a", 500),), holds_reserve=holds_reserve)
    shapes = "".join(each.code for each in window_bar(budget, colours_of([], ["a"])))

    assert f'<line x1="{limit_at}"' in shapes
    assert re.search(rf'<rect x="{reserve_at}"[^>]+class="reserved"', shapes)
