"""Overview, skyline, log and why as lines: they fit every size, and say the same as their mocks."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from ctxview.analysis.revisions.facts import KnownRevisions, RevisionName
from ctxview.analysis.revisions.log import log_numbers, log_row
from ctxview.analysis.revisions.overview import summarise
from ctxview.analysis.revisions.skyline import build_skyline, column_labels, series_of
from ctxview.analysis.revisions.why import explain
from ctxview.analysis.revisions.window import ELSEWHERE
from ctxview.analysis.tokens import ESTIMATES
from ctxview.core.findings import Severity
from ctxview.core.origin import Origin
from ctxview.core.state import ContextState, Ref, RefStatus, Segment
from ctxview.formats import Lens, open_source
from ctxview.formats.kit.state_parts import make_gap
from ctxview.samples import samples_folder
from ctxview.tui.drawing import overview_parts
from ctxview.tui.drawing.columns import Stack, draw_columns, segment_styles, window_bar
from ctxview.tui.drawing.glyphs import tier_styles
from ctxview.tui.drawing.overview import draw_overview
from ctxview.tui.drawing.overview_parts import OverviewDrawing
from ctxview.tui.drawing.revision_log import (
    log_columns,
    log_details,
    log_header,
    log_line,
    selected_box,
    selected_line,
)
from ctxview.tui.drawing.skyline import SkylineDrawing, column_at, draw_skyline
from ctxview.tui.drawing.text import Line, plain, show, width
from ctxview.tui.drawing.why import draw_why
from tests.analysis.revisions.builders import finding, known, memory, state, window
from tests.analysis.revisions.test_why import read
from tests.figures import finished

LIGHTHOUSE = samples_folder() / "snapshot" / "lighthouse"
PATHS = {
    "lighthouse": LIGHTHOUSE,
    "coder": samples_folder() / "session" / "coder/home/1000/agent/coder/session/default",
    "fresh": samples_folder() / "session" / "fresh/home/1000/agent/coder/session/default",
    "handoff": samples_folder() / "envelope" / "handoff",
    "broken": samples_folder() / "snapshot" / "broken",
}
SIZES = [(80, 21), (120, 33), (200, 57), (60, 18), (40, 10), (100, 24), (159, 60)]


@pytest.fixture(scope="module")
def story() -> tuple[KnownRevisions, ContextState]:
    return read(LIGHTHOUSE), _state("lighthouse", 14)


def _state(name: str, number: int = -1) -> ContextState:
    source = open_source(PATHS[name])
    return source.reading(number % len(source.revisions), Lens(ESTIMATES["bytes/3"])).state


def _overview(
    facts: KnownRevisions, found: ContextState, number: int, *, letters: bool = False
) -> OverviewDrawing:
    return OverviewDrawing(summarise(found, facts, number), found, facts, letters)


def _texts(lines: list[Line]) -> list[str]:
    return [plain(line).rstrip() for line in lines]


def test_the_overview_at_80_columns_is_the_mock(story: tuple[KnownRevisions, ContextState]) -> None:
    lines = _texts(draw_overview(_overview(*story, 14), 80, 21))

    assert len(lines) == 21
    assert lines[1] == " Window    Full: 65 of 24,720 tokens left, as recorded by the runtime         4"
    assert lines[3] == "           24,655 used (bytes/3), +9,415 since round 8        reserved 8,048"
    assert lines[5] == "           ▲ stage trim_memory_ephemeral: 6 blocks removed, none was shown"
    assert lines[7:12] == [
        " Blocks    ● 23 shown, ◐ 1 of them in part   ○ 5 not shown, still stored      2",
        "           ○ 2  confidence below 0.55  h1-time-zone h3-replica-lag            W",
        "           ○ 1  decay above 0.65       work-blocked",
        "           ○ 1  status is done         work-handover",
        "           ○ 1  older than 3 rounds    temp-approval",
    ]
    assert " Todo      Step 5 of 6, 4 done. Verifying; next: complete item 6              3" in lines
    assert lines[-4].startswith(" Worst     ✖ SNP043 reply to round 9 sends working: [] and erases 12 blocks")
    assert lines[-3] == "           of all 29 revisions: ✖ 4 in 1, ▲ 65 in 17, i 35 in 18"
    assert lines[-2] == " Changed   + 4  ~ 4  − 6 blocks since round 8; 2 now hidden, 1 now shown      d"
    assert lines[-1] == (" Rounds    ▃▃ ▄▄ ▄▄ ▅▅ ▅▅ ▅▅ ▅▅ ██ ▅▅ ▅▅ ▆▆ ▆▆ ▅▅ ▅▅  2 to 15, 9 fullest      T")


def test_without_colour_bars_are_letters(story: tuple[KnownRevisions, ContextState]) -> None:
    lines = _texts(draw_overview(_overview(*story, 14, letters=True), 80, 21))

    assert lines[2].strip().replace("n", "").replace("s", "").replace(":", "") == "|"
    assert lines[4].strip().startswith("n 21,891 ")
    assert lines[-1].startswith(" Rounds    33 44 44 55 55 55 55 88 55")


@pytest.mark.parametrize(("cells", "rows"), SIZES)
@pytest.mark.parametrize("name", PATHS)
def test_every_view_fits_its_size(name: str, cells: int, rows: int) -> None:
    facts, found = read(PATHS[name]), _state(name)
    number = len(facts.names) - 1
    overview = draw_overview(_overview(facts, found, number), cells, rows)
    tiers = tier_styles(found.tiers)
    skyline = draw_skyline(SkylineDrawing(facts, number, tiers), cells, rows)
    columns, series = log_columns(facts, cells), series_of(facts)
    log = [
        *log_header(facts, columns, series, cells),
        *(log_line(log_row(facts, each, series), columns, cells) for each in log_numbers(facts)),
    ]
    answers = explain(facts, next((block.id for block in found.blocks()), ""))
    why = [line for each in answers for part in _parts(draw_why(each, facts, cells)) for line in part]

    for lines in (overview, skyline, log, why, log_details(facts, number, cells)):
        assert all(width(line) <= cells for line in lines)
    assert len(overview) <= max(rows, 12)
    assert len(skyline) <= rows


def _parts(drawn: object) -> tuple[tuple[Line, ...], ...]:
    return drawn.above, drawn.steps, drawn.below  # type: ignore[attr-defined]


def test_while_nothing_else_is_read_the_overview_says_so(story: tuple[KnownRevisions, ContextState]) -> None:
    facts, found = story

    text = "\n".join(_texts(draw_overview(_overview(KnownRevisions(facts.names), found, 14), 80, 21)))

    assert "Full: 65 of 24,720 tokens left" in text
    assert "checked 0 of 29" in text
    assert "reading…" in text


def test_the_window_before_blocks_and_findings_stays_on_a_low_screen(
    story: tuple[KnownRevisions, ContextState],
) -> None:
    labels = {line[1:11].strip() for line in _texts(draw_overview(_overview(*story, 14), 80, 11))}

    assert {"Window", "Blocks", "Worst"} <= labels
    assert "Todo" not in labels


def test_an_assumed_limit_is_named_at_80_columns() -> None:
    assumed = window(8, 113_295, partial=True, limit_from="assumed by atom-0.17")
    one = state(memory("a"), budgets=[assumed])

    lines = _texts(draw_overview(_overview(known(one), one, 0), 80, 21))

    assert "limit assumed by atom-0.17" in lines[4]


def test_the_skyline_names_the_fullest_and_its_cause(story: tuple[KnownRevisions, ContextState]) -> None:
    facts, found = story
    tiers = tier_styles(found.tiers)

    lines = _texts(draw_skyline(SkylineDrawing(facts, 14, tiers, "this snapshot"), 80, 21))

    assert lines[0].startswith(" Fullest: round 9, 24,655 of 24,720 tok. Cause: +9,")
    assert lines[0].endswith(" tok, not in this file")
    assert lines[1].startswith(" 24.7k  ▁▁▁▁")
    assert lines[10].split() == [str(number) for number in range(2, 16)]
    assert lines[-2].startswith(" Round 9 01:41   ▲ stage trim_memory_ephemeral   +9,415 since round 8")
    assert lines[-1].startswith(" ▼ the reply to round 9 erases 12 working blocks SNP043")


def test_numbers_of_single_files_are_not_mixed_with_places() -> None:
    names = [
        RevisionName(label, label, label, None, False, at - 1 if at else None)
        for at, label in enumerate(("bad-blocks.json", "bad-json.json", "round 2"))
    ]
    budgets = [state(memory("a"), budgets=[window(used)]) for used in (10, 20, 30)]
    facts = known(*budgets, names=names)

    assert column_labels(facts, build_skyline(facts, 9)) == ["1", "2", "3"]


def test_a_reply_has_no_window_until_its_prompt_is_read() -> None:
    found = _state("lighthouse")
    nameless = RevisionName("", "", "", None, False, None)

    waiting = draw_overview(_overview(KnownRevisions((nameless,) * 29), found, 28), 120, 33)
    text = "\n".join(_texts(waiting))

    assert len(waiting) == 33
    assert "are in this file" not in text
    assert "│ reading…" in text
    assert "○ 15 not shown" in text, "what it leaves hidden is known at once"
    assert "Nothing to compare yet" not in text


def test_without_room_for_the_chart_the_overview_has_a_strip() -> None:
    source = open_source(PATHS["coder"])
    last = len(source.revisions) - 1
    found = source.reading(last, Lens(ESTIMATES["bytes/3"])).state

    lines = _texts(draw_overview(_overview(read(PATHS["coder"]), found, last), 120, 33))

    place = next(at for at, line in enumerate(lines) if "─ Skyline ─" in line)
    assert "1 to now" in lines[place + 1]
    assert len(lines) <= 33


def test_the_name_of_the_only_file_does_not_take_the_room_of_findings() -> None:
    long = Origin("5f0c2a7e-1111-4222-8333-9a0b1c2d3e4f.jsonl", line=8)
    found = replace(finding("TRM002"), origin=long, message="the compaction dropped an open task " * 2)
    facts = known(state(memory("a")), findings={0: [found]})

    (line,) = _texts(log_details(facts, 0, 100))

    assert line.endswith(" :8")
    assert "5f0c2a7e" not in line
    assert "…" not in line


def test_a_closed_tier_is_closed_and_not_its_first_word(story: tuple[KnownRevisions, ContextState]) -> None:
    facts, _ = story
    number = next(at for at, name in enumerate(facts.names) if name.label == "round 14")
    row = log_row(facts, number, series_of(facts))
    assert row is not None

    assert _texts([log_line(row, log_columns(facts, 80), 80)])[0].endswith("▼ closed")


def test_the_skyline_without_colour_is_plain_letters(story: tuple[KnownRevisions, ContextState]) -> None:
    facts, found = story
    tiers = tier_styles(found.tiers)

    chart = _texts(draw_skyline(SkylineDrawing(facts, 14, tiers, letters=True), 80, 21))[1:10]

    assert all(line.isascii() for line in chart)
    assert "=" * 60 in chart[0]


def test_a_window_over_its_limit_has_the_limit_inside_the_chart() -> None:
    facts = known(*(state(memory("a"), budgets=[window(used)]) for used in (50, 150)))

    lines = _texts(draw_skyline(SkylineDrawing(facts, 1, {}), 80, 21))

    assert any("┄" in line for line in lines)
    assert not any("▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁" in line for line in lines)


def test_the_part_of_the_bar_beyond_the_limit_is_an_error() -> None:
    bar = window_bar(window(150, 100), 61, {})

    assert [(span.text[0], span.style) for span in bar] == [
        ("█", "segment.here"),
        ("┃", "limit"),
        ("█", "budget.over"),
    ]
    assert width(bar) == 61


@given(
    st.lists(st.lists(st.integers(0, 5000), min_size=1, max_size=5), min_size=1, max_size=30),
    st.integers(1, 12),
    st.integers(1, 6),
    st.booleans(),
)
@settings(deadline=None)
def test_columns_keep_their_geometry(amounts: list[list[int]], rows: int, wide: int, letters: bool) -> None:
    names = [f"part {number}" for number in range(5)]
    styles = segment_styles(names, {})
    stacks = [Stack(tuple(zip(names, each, strict=False)), wide) for each in amounts]
    scale = max(stack.height for stack in stacks)

    lines = draw_columns(stacks, scale, rows, styles, letters=letters)

    assert len(lines) == rows
    assert {width(line) for line in lines} == {len(stacks) * (wide + 1)}
    for place, stack in enumerate(stacks):
        column = [plain(line)[place * (wide + 1)] for line in lines]
        filled = [sign != " " for sign in column]
        assert filled == sorted(filled), "nothing floats above an empty cell"
        assert any(filled) == (stack.height > 0)
    if scale and not letters:
        tallest = next(place for place, stack in enumerate(stacks) if stack.height == scale)
        assert plain(lines[0])[tallest * (wide + 1)] == "█" or "on:" in str(lines[0])


def test_letters_of_segments_are_all_different() -> None:
    names = ["core", "clock", "longterm", "working", "ephemeral", "not in this file", "été", "12"]
    styles = segment_styles(names, {})

    assert len({styles[name].letter for name in names}) == len(names)


def test_more_segments_than_letters_share_one() -> None:
    names = [f"part {number}" for number in range(100)]
    styles = segment_styles(names, {})

    assert len({each.letter for each in styles.values()}) == 26
    assert styles[names[-1]].letter == "x"


@pytest.mark.parametrize("size", SIZES)
def test_an_overview_of_very_many_blocks_draws_only_what_fits(
    size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"item-{number:05}" for number in range(3000)]
    blocks = [memory(name, visible=number % 2 == 0) for number, name in enumerate(names)]
    parts = tuple(Segment(name, 20) for name in names[::2])
    found = state(*blocks, budgets=[window(30_000, 40_000, segments=parts)])
    drawn = []
    monkeypatch.setattr(overview_parts, "show", lambda *each: drawn.append(each) or show(*each))

    lines = draw_overview(_overview(known(found), found, 0), *size)

    assert max(map(width, lines)) <= size[0]
    assert any("1,500" in plain(line) for line in lines)
    assert len(drawn) < 1000


def test_a_window_without_a_cell_of_free_room_looks_full() -> None:
    for cells in range(20, 220):
        assert "·" not in plain(window_bar(window(24_655, 24_720, reserved=8_048), cells, {}))


def test_a_long_finding_has_a_second_row_where_there_is_room() -> None:
    long = replace(finding("T001"), message=" ".join(["every word of it"] * 6))
    facts, found = known(state(memory("a")), findings={0: [long]}), state(memory("a"))

    roomy = _texts(draw_overview(_overview(facts, found, 0), 80, 21))

    at = next(place for place, line in enumerate(roomy) if line.startswith(" Worst"))
    assert roomy[at].endswith("F8")
    assert roomy[at + 1].endswith("every word of it")


def test_free_rows_say_which_statements_contradict_or_repeat_each_other_and_what_else_is_stale() -> None:
    place = Origin("AGENTS.md")
    found = replace(
        state(memory("a")),
        refs=tuple(
            Ref(f"CLAUDE.md:{at}", "pair", f"AGENTS.md:{at + 9}", status, None, None, (), place)
            for at, status in enumerate([RefStatus.CONTRADICTION, *[RefStatus.DUPLICATE] * 20], 3)
        ),
        missing=tuple(
            make_gap(f"AGENTS.md:{line}", "a path " * 9, Severity.WARNING, "stale", f"why {line}", place)
            for line in (7, 11)
        ),
    )

    lines = _texts(draw_overview(_overview(known(found), found, 0), 80, 21))

    text = "\n".join(lines)
    assert len(lines) <= 21
    assert "CLAUDE.md:3 contradicts AGENTS.md:12" in text
    assert "AGENTS.md:7" in text
    assert "AGENTS.md:11" in text


def test_hidden_blocks_are_named_below_a_long_reason() -> None:
    block = memory("rev-parser", visible=False, reason=finished(" ".join(["without end"] * 4)))
    facts, found = known(state(block)), state(block)

    lines = _texts(draw_overview(_overview(facts, found, 0), 80, 21))

    assert "                rev-parser" in lines


def test_the_windows_of_the_log_have_one_unit() -> None:
    words, tokens = window(6_013, 8_000, unit="bytes"), window(4_929, 1_600)
    facts = known(
        *(state(memory("a"), budgets=[words]) for _ in range(3)), state(memory("a"), budgets=[tokens, words])
    )
    columns, series = log_columns(facts, 100), series_of(facts)

    assert "window, of 8,000 bytes" in plain(log_header(facts, columns, series, 100)[1])
    assert [log_row(facts, each, series).used for each in range(4)] == [6_013] * 4


def test_the_log_row_of_the_erasing_reply(story: tuple[KnownRevisions, ContextState]) -> None:
    facts, _ = story

    assert plain(log_line(log_row(facts, 15, series_of(facts)), log_columns(facts, 80), 80)).split() == [
        "reply", "to", "9", "1", "·", "12", "4", "1", "▼", "−12",
    ]  # fmt: skip
    details = _texts(log_details(facts, 15, 100))
    assert details[0].endswith("round-09.reply.txt:78")
    assert details[-1] == "Later work-decision, work-goal, work-pr are written again; 9 never come back."


def test_the_box_about_a_revision_names_the_changed_blocks() -> None:
    facts = known(state(memory("a")), state(memory("a", text="another")))

    details = _texts(log_details(facts, 1, 100))

    assert details == ["~ 1 a"]


def test_the_life_line_of_why_is_the_mock(story: tuple[KnownRevisions, ContextState]) -> None:
    facts, _ = story
    drawn = draw_why(explain(facts, "h1-time-zone")[0], facts, 80, chosen=6)

    above = [plain(line).rstrip() for line in drawn.above]
    assert " in the prompt       ·   ·   ●   ●   ○   ○   ○   ○   −   −   −   −   −   −" in above
    assert " confidence                .62 .57 .35 .35 .35 .35" in above
    assert plain(drawn.below[1]).startswith(" step  round-09.reply.txt:78  SNP043")


def test_a_long_life_is_one_sign_per_cell() -> None:
    states = [state(memory("a")) if number < 300 else state(memory("b")) for number in range(400)]
    facts = known(*states)

    drawn = draw_why(explain(facts, "a")[0], facts, 80)
    line = next(plain(each) for each in drawn.above if "in the prompt" in plain(each))

    assert width(drawn.above[3]) <= 80
    assert line.count("●") > 2 * line.count("−") > 0


def test_a_secret_in_a_name_or_a_text_is_masked(story: tuple[KnownRevisions, ContextState]) -> None:
    secret = "ghp_" + "Ab3dEf6hIj9kLmN2pQ5rSt8vWx1yZa4cBe7f"
    hidden = memory(secret, visible=False, reason="done status", text=f"token {secret}")
    facts = known(state(memory("b", text=f"see {secret}")), state(hidden))
    found = replace(state(hidden, memory("b", text=f"see {secret}")))
    drawn = draw_why(explain(facts, secret)[0], facts, 120)
    lines = [
        *draw_overview(_overview(facts, found, 1), 200, 57),
        *draw_overview(_overview(facts, found, 1), 80, 21),
        *log_details(facts, 1, 120),
        *drawn.above,
        *drawn.steps,
        *drawn.below,
    ]

    assert secret not in "\n".join(map(plain, lines))


def test_what_is_no_tier_has_a_colour_of_its_own() -> None:
    names = (ELSEWHERE, "core", "fields", "header", "user message")
    styles = segment_styles(names, {"core": "tier.core"}, "this snapshot")

    assert styles["fields"].style == "segment.fields"
    assert styles["header"].style == "segment.header"
    assert len({styles[name].style for name in (*names, "this snapshot")}) == len(names) + 1


def test_a_window_of_which_all_is_here_is_drawn_in_its_segments() -> None:
    parts = (Segment("tools", 10), Segment("core", 30), Segment("user", 20))
    budget = window(60, 100, segments=parts)
    styles = segment_styles(["tools", "core", "user"], {"core": "tiers.0", "old": "tiers.1"})

    bar = window_bar(budget, 101, styles)

    assert [(len(span.text), span.style) for span in bar[:3]] == [
        (30, "tiers.0"), (20, styles["user"].style), (10, styles["tools"].style),
    ]  # fmt: skip
    used = {"tiers.1", *(each.style for each in styles.values())}
    assert len(used) == len(styles) + 1, "no colour of another tier or segment"


def test_an_event_of_the_log_never_cuts_a_name(story: tuple[KnownRevisions, ContextState]) -> None:
    facts, _ = story
    rows = {
        row.name: row for number in log_numbers(facts) if (row := log_row(facts, number, series_of(facts)))
    }
    narrow, wide = log_columns(facts, 77), log_columns(facts, 117)

    assert plain(log_line(rows["reply to 8"], narrow, 77)).endswith("~ shown")
    assert plain(log_line(rows["reply to 8"], wide, 117)).endswith("~ work-disk-exp02 shown again")
    assert plain(log_line(rows["round 9"], narrow, 77, marked=True)).startswith("▌ round 9 ")


def test_the_revision_at_the_cursor_has_a_line_or_a_box_of_its_own(
    story: tuple[KnownRevisions, ContextState],
) -> None:
    facts, _ = story

    assert plain(selected_line(facts, 15, 79)).startswith(
        " ✖ SNP043 the reply sends working: [] and erases 12"
    )
    assert plain(selected_line(facts, 15, 79)).endswith("5 more ")
    assert plain(selected_line(facts, 0, 79)).strip() == "nothing was found in round 2"
    heights = {len(selected_box(facts, number, 120, 30)) for number in range(len(facts.names))}
    assert len(heights) == 1, "the list below it stays in place"
    assert not any("more finding" in plain(line) for line in selected_box(facts, 15, 120, 30))


def test_causes_rules_and_origins_of_why_are_in_columns(story: tuple[KnownRevisions, ContextState]) -> None:
    facts, _ = story

    steps = [plain(line) for line in draw_why(explain(facts, "h1-time-zone")[0], facts, 120).steps]

    assert len({step.index("cause") for step in steps if "cause" in step}) == 1
    assert len({step.index("SNP") for step in steps if "SNP" in step}) == 1
    assert any("confidence 0.57 → 0.35, minimum is 0.55" in step for step in steps)


def test_a_wide_overview_has_the_figure_of_a_hidden_block_and_the_names_of_many_together(
    story: tuple[KnownRevisions, ContextState],
) -> None:
    lines = _texts(draw_overview(_overview(*story, 14), 200, 57))
    assert any("h1-time-zone             0.35, since round 6" in line for line in lines)
    assert any("A late ledger file is harmless" in line for line in lines), "all that the model reads"

    many = state(*(memory(f"a{number}", visible=False, reason="old") for number in range(1, 13)))
    lines = _texts(draw_overview(_overview(known(many), many, 0), 200, 57))
    assert any("    a1 a2 a3 a4 a5 a6 a7 a8 a9 a10 a11 a12" in line for line in lines)


def test_a_cell_of_three_segments_shows_the_two_largest() -> None:
    styles = segment_styles(["fields", "header", "user"], {})
    stack = Stack((("fields", 3), ("header", 4), ("user", 1)), 1)

    ((cell, *_),) = draw_columns([stack], 8, 1, styles)

    assert (cell.text, cell.style) == ("▃", "segment.fields on:segment.header")


@pytest.mark.parametrize("number", [0, 7, 199])
def test_the_column_at_the_cursor_is_named_however_narrow_it_is(number: int) -> None:
    facts = known(*(state(memory("a"), budgets=[window(50)]) for _ in range(200)))
    drawing = SkylineDrawing(facts, number, {})
    skyline, at = column_at(drawing, 80, 21)
    assert at is not None
    label = column_labels(facts, skyline)[at]

    chosen = [span for line in draw_skyline(drawing, 80, 21) for span in line if span.style == "stage.chosen"]

    assert [span.text.strip() for span in chosen] == [label]


def test_a_revision_that_cannot_be_read_says_so_and_counts_no_change(tmp_path: Path) -> None:
    shutil.copytree(LIGHTHOUSE, tmp_path, dirs_exist_ok=True)
    newest = tmp_path / "round-15.received.json"
    newest.write_bytes(newest.read_bytes()[:300])
    facts, source = read(tmp_path), open_source(tmp_path)
    found = source.reading(27, Lens(ESTIMATES["bytes/3"])).state

    for size in ((80, 21), (120, 33), (200, 57)):
        text = "\n".join(_texts(draw_overview(_overview(facts, found, 27), *size)))
        assert "✖ This revision cannot be read" in text
        assert "Nothing can be compared" in text
        assert "− 29" not in text
