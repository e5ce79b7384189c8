"""The X-ray as lines fits every width, has the words of the text, and lets nothing act."""

from __future__ import annotations

import pytest

from ctxview.analysis.tokens import counter_named
from ctxview.core.prompt import CutKind, Prompt, PromptCut, PromptMessage, PromptPart
from ctxview.formats.snapshot.profile import load_profile
from ctxview.formats.snapshot.prompt import PromptOptions, snapshot_prompt
from ctxview.formats.snapshot.state.tiers import tier_of
from ctxview.reports.xray import Xray, make_xray, prompt_changes
from ctxview.tui.drawing.text import Line, plain, width
from ctxview.tui.drawing.xray import (
    change_lines,
    line_summary,
    row_height,
    row_lines,
    side_lines,
    side_width,
    text_map,
    tier_signs,
    xray_head,
)
from tests.formats.snapshot.builders import block, snapshot_of, snapshot_value

COUNTER = counter_named("bytes/4")
LONG = "Deploys go out on Tuesday, and nothing else is changed on the servers that day. " * 3


def xray_of(**fields: object) -> Xray:
    options = PromptOptions(load_profile(), COUNTER)
    return make_xray(snapshot_prompt(snapshot_of(snapshot_value(**fields)), options), COUNTER)


SAMPLE = xray_of(
    core=[block("c1", content=LONG), block("c2", confidence=0.1)],
    working=[block("w1", content="短い 文 " * 30)],
)


def lines_of(xray: Xray, cells: int) -> list[Line]:
    signs = tier_signs(xray)
    return [line for row in xray.rows for line in row_lines(row, signs, cells)]


@pytest.mark.parametrize("cells", [24, 40, 59, 80, 120, 200])
def test_every_line_fits_and_has_the_height_that_is_said(cells: int) -> None:
    signs = tier_signs(SAMPLE)
    for row in SAMPLE.rows:
        drawn = row_lines(row, signs, cells)
        assert all(width(line) <= cells for line in drawn)
        assert len(drawn) == row_height(row, cells)
    for line in (*xray_head(SAMPLE, cells), line_summary(SAMPLE, SAMPLE.rows[12], cells)):
        assert width(line) <= cells


@pytest.mark.parametrize("cells", [36, 68])
def test_the_boxes_beside_the_text_have_their_width(cells: int) -> None:
    row = next(row for row in SAMPLE.rows if row.is_content)
    lines = side_lines(SAMPLE, tier_signs(SAMPLE), row, ["● shown since round 1"], cells, 60)
    assert {width(line) for line in lines} == {cells}
    text = "\n".join(map(plain, lines))
    assert "c1" in text
    assert "= text " in text
    assert "○ c2" in text
    assert "are fields" in text
    assert text.index("Not shown") < text.index("This line"), "only the last box changes with the cursor"


def test_a_line_has_its_tokens_its_tier_and_its_text() -> None:
    drawn = [plain(line) for line in lines_of(SAMPLE, 100)]
    assert any(line.endswith("c     - id: c1") for line in drawn)
    assert any(line.startswith(f"{'':5} │") for line in drawn), "the rest of a long line has no tokens"


def test_a_cut_is_a_grey_line_with_size_and_reason() -> None:
    (line,) = [line for line in lines_of(SAMPLE, 100) if "c2" in plain(line)]
    assert "○  ┄┄ not shown: c2 · confidence 0.10 < 0.70 ┄" in plain(line)
    assert {span.style for span in line if span.text.strip()} <= {"faint", "hidden"}


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (CutKind.ABSENT, "not in this file: base prompt · 7 tokens, as recorded"),
        (CutKind.WITHHELD, "withheld: base prompt · 7 tokens, as recorded"),
    ],
)
def test_what_is_not_here_says_where_its_size_comes_from(kind: CutKind, words: str) -> None:
    cut = PromptCut(
        kind=kind, what="base prompt", reason="not in this file", tokens=7, counted_by="as recorded"
    )
    xray = make_xray(Prompt((PromptMessage("system", absent=cut),)), COUNTER)
    text = plain(lines_of(xray, 120)[0]).replace("not in this file · 7", "7")
    assert words in text


def test_a_large_figure_is_short_and_never_cut() -> None:
    reason = "written by the runtime, not in this file"
    cut = PromptCut(kind=CutKind.ABSENT, what="base prompt", reason=reason, tokens=24_149)
    long = PromptMessage("user", parts=(PromptPart(text="word " * 30_000),))
    xray = make_xray(Prompt((PromptMessage("system", absent=cut), long)), COUNTER)

    absent, *text = [
        plain(line) for row in xray.rows for line in row_lines(row, tier_signs(xray), 100, whole=False)
    ]

    assert absent.startswith("24.1k ○  ┄┄ not in this file: base prompt · written by the runtime ┄")
    assert text[0].startswith("37.5k "), text[0][:20]


def test_the_answer_counts_the_messages_beside_the_text() -> None:
    prompt = Prompt(
        (
            PromptMessage("system", parts=(PromptPart(text="one two three four\n"),)),
            PromptMessage("user", parts=(PromptPart(text="five six seven"),), in_text=False),
        )
    )
    xray = make_xray(prompt, COUNTER)

    rows = sum(row.tokens or 0 for row in xray.rows)

    assert xray.other_tokens
    assert plain(xray_head(xray, 120)[0]).startswith(
        f"The model reads {rows} tokens (bytes/4, estimated): {xray.tokens} in 2 lines, 19 bytes"
    )


def test_narrow_screens_drop_the_tokens_and_keep_the_tier() -> None:
    drawn = [plain(line) for line in lines_of(SAMPLE, 50)]
    assert any(line.startswith("c     - id: c1") for line in drawn)


def test_control_characters_are_spelled_out() -> None:
    xray = make_xray(
        Prompt((PromptMessage("system", (PromptPart(text="\x1b[31mred\u202e\ttab\n"),)),)), COUNTER
    )
    text = plain(lines_of(xray, 80)[0])
    assert text.isprintable()
    assert "^[[31mred<U+202E>" in text


def test_a_guess_has_a_warning() -> None:
    prompt = Prompt(
        (PromptMessage("system", (PromptPart(text="x"),)),), False, ("A guess: no hash proves it.",)
    )
    head = [plain(line) for line in xray_head(make_xray(prompt, COUNTER), 80)]
    assert head[1] == "▲ A guess: no hash proves it."


def test_hidden_content_of_unknown_size_has_no_sum() -> None:
    cut = PromptCut(kind=CutKind.HIDDEN, what="24 older entries", reason="only 10 are listed")
    prompt = Prompt((PromptMessage("system", (PromptPart(text="x"), PromptPart(cut=cut))),))
    xray = make_xray(prompt, COUNTER)
    text = "\n".join(plain(line) for line in side_lines(xray, tier_signs(xray), None, (), 36, 40))
    assert "24 older entries" in text
    assert "Together" not in text


def test_an_empty_prompt_says_so() -> None:
    empty = make_xray(Prompt(()), COUNTER)
    assert [plain(line) for line in xray_head(empty, 80)] == ["The prompt of this revision is empty."]
    assert text_map(empty, tier_signs(empty), 10) == []


def test_the_map_has_the_colours_of_the_text_from_top_to_bottom() -> None:
    tiers = [tier_of(name, ()) for name in ("core", "working")]
    styles = text_map(SAMPLE, tier_signs(SAMPLE, tiers), 20)
    assert len(styles) == 20
    assert list(dict.fromkeys(styles))[:3] == ["dim", "tier.core", "tier.working"]


@pytest.mark.parametrize(("cells", "side"), [(80, 0), (99, 0), (120, 36), (200, 68)])
def test_wide_screens_have_boxes_beside_the_text(cells: int, side: int) -> None:
    assert side_width(cells) == side


def test_the_word_difference() -> None:
    after = xray_of(core=[block("c1", content=LONG.replace("Tuesday", "Friday"))])
    lines = [plain(line) for line in change_lines(prompt_changes(SAMPLE, after), 60)]
    assert "~ c1  core" in lines
    assert any("TuesdayFriday" in line for line in lines)
    assert any(line.startswith("− w1") for line in lines)
    assert all(len(line) <= 62 for line in lines)
    assert [plain(line) for line in change_lines([], 60)] == ["Both prompts are the same text."]
