"""The assembled prompt: the figures of the specification, cutting, and the literal text."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxview.analysis.tokens import ESTIMATES, byte_size, exact_counter
from ctxview.core.state import PromptAssembly
from ctxview.formats import open_source
from ctxview.formats.interface import Lens
from ctxview.formats.workspace.assembly import BYTES_PER_TOKEN, cut_lines, window_name
from ctxview.formats.workspace.profile import load_profile
from ctxview.reports.prompt import prompt_json
from tests.formats.workspace.builders import changed_home, write

K, M = 1024, 1024 * 1024
CLOUD_AND_LOCAL = [("cloud", "local")]


def assembly(folder: Path, **options: str | int) -> PromptAssembly:
    found = open_source(folder).reading(0, Lens(exact_counter(), None, options)).state.assembly
    assert found is not None
    return found


def states(found: PromptAssembly) -> dict[str, str]:
    return {part.name: part.state for part in found.components}


@pytest.mark.parametrize(
    ("window", "bootstrap", "memory", "working"),
    [
        (16 * K, (500, 327), (200, 163), 300),
        (64 * K, (1310, 1310), (655, 655), 983),
        (M, (20000, 2000), (10000, 1000), 15000),
    ],
)
def test_the_budgets_of_era_b(
    window: int, bootstrap: tuple[int, int], memory: tuple[int, int], working: int
) -> None:
    era = load_profile(None).eras["B"]
    assert tuple(era.limit("bootstrap", window, mode) for mode in ("cloud", "local")) == bootstrap
    assert tuple(era.limit("memory", window, mode) for mode in ("cloud", "local")) == memory
    assert era.limit("working memory", window, "cloud") == working


def words(count: int) -> str:
    """A text of about `count` tokens, ten a line."""
    return "\n".join(["word " * 9 + "end"] * (count // 11)) + "\n"


@pytest.fixture
def planned(tmp_path: Path) -> Path:
    """The sizes that the source document plans for its bootstrap files."""
    sizes = {"AGENTS.md": 350, "SOUL.md": 625, "USER.md": 275, "TOOLS.md": 350}
    files = {name: words(size) for name, size in sizes.items()}
    return write(tmp_path, {**files, "memory/MEMORY.md": "- Likes tea.\n", "CONTEXT.md": "## Task\nRead.\n"})


@pytest.mark.parametrize(
    ("window", "mode", "shown"),
    [
        (16 * K, "cloud", {"AGENTS.md"}),
        (16 * K, "local", {"USER.md"}),
        (64 * K, "cloud", {"AGENTS.md", "SOUL.md", "USER.md"}),
        (80 * K, "cloud", {"AGENTS.md", "SOUL.md", "USER.md", "TOOLS.md"}),
        (M, "local", {"AGENTS.md", "SOUL.md", "USER.md", "TOOLS.md"}),
    ],
)
def test_era_b_takes_whole_files_in_order(planned: Path, window: int, mode: str, shown: set[str]) -> None:
    found = assembly(planned, window=window, mode=mode, era="B")
    files = {name: state for name, state in states(found).items() if name.endswith(".md")}
    assert {name for name, state in files.items() if state == "whole"} == shown
    assert {state for name, state in files.items() if name not in shown} <= {"dropped"}


def test_later_eras_fill_the_budget_by_lines(planned: Path) -> None:
    found = assembly(planned, window=16 * K, mode="cloud", era="C")
    by_name = {part.name: part for part in found.components}
    assert (by_name["AGENTS.md"].state, by_name["SOUL.md"].state) == ("whole", "cut")
    assert (by_name["USER.md"].state, by_name["TOOLS.md"].state) == ("dropped", "dropped")
    first, last = by_name["SOUL.md"].lines or (0, 0)
    assert first == 1
    assert 1 < last < 56
    assert sum(part.tokens for part in found.components if part.name.endswith(".md")) <= 500


def test_components_come_in_prompt_order(tmp_path: Path) -> None:
    write(tmp_path, changed_home(""))
    files = ["AGENTS.md", "SOUL.md", "USER.md", "TOOLS.md"]
    names = [part.name for part in assembly(tmp_path, window=M).components]
    assert names == ["identity", "verification", *files, "context", "memory", "working memory", "headings"]
    later = [part.name for part in assembly(tmp_path, window=M, era="C").components]
    assert later == ["identity", "verification", *files, "working memory", "memory", "headings"]


def test_memory_keeps_its_tail_and_working_memory_its_head(tmp_path: Path) -> None:
    facts = "".join(f"- Fact number {number} about the clocks of the town.\n" for number in range(200))
    home = changed_home("SESSION_41308070.md > Facts = - The clocks are late by a few seconds. @200")
    write(tmp_path, {**home, "workspace/memory/MEMORY.md": facts})
    found = {part.name: part for part in assembly(tmp_path, window=16 * K).components}
    memory, working = found["memory"], found["working memory"]
    assert memory.lines is not None
    assert memory.lines[1] == 200
    assert memory.lines[0] > 1
    assert working.lines is not None
    assert working.lines[0] <= 10
    assert working.state == memory.state == "cut"
    assert memory.limit == 200
    assert memory.tokens <= (memory.whole_tokens or 0)


def test_local_mode_of_era_c_shares_two_hundred_tokens(tmp_path: Path) -> None:
    write(tmp_path, changed_home(""))
    found = {part.name: part for part in assembly(tmp_path, window=M, mode="local", era="C").components}
    assert (found["memory"].limit, found["working memory"].limit) == (100, 100)


def test_the_cap_of_the_system_prompt_cuts_what_comes_last(tmp_path: Path) -> None:
    files = {name: words(490) for name in ("AGENTS.md", "SOUL.md", "USER.md", "TOOLS.md")}
    write(tmp_path, {**files, "memory/MEMORY.md": words(900), "CONTEXT.md": "## Task\n" + words(3000)})
    found = assembly(tmp_path, window=M, mode="local")
    assert found.cap == 4000
    assert found.tokens <= 4000
    assert states(found)["context"] == "cut"
    assert states(found)["memory"] == "dropped"


def test_segments_add_up_and_match_the_components(tmp_path: Path) -> None:
    write(tmp_path, changed_home(""))
    state = open_source(tmp_path).reading(0, Lens(exact_counter())).state
    assert state.assembly is not None
    first = state.budgets[0]
    assert first.used == sum(each.used for each in first.segments) == state.assembly.tokens
    assert {"prompt at 16K, cloud", "prompt at 64K, local"} <= {each.target for each in state.budgets}


@given(st.lists(st.text("aé\t ", max_size=30), min_size=1, max_size=20), st.integers(0, 200), st.booleans())
def test_a_cut_keeps_as_many_whole_lines_as_fit_and_at_least_one(
    lines: list[str], room: int, tail: bool
) -> None:
    start, end = cut_lines(lines, room, tail=tail)
    assert 0 <= start < end <= len(lines)
    assert (end == len(lines)) if tail else (start == 0)
    size = sum(byte_size(line) + 1 for line in lines[start:end])
    assert size <= room or end - start == 1
    if end - start < len(lines):
        more = lines[start - 1] if tail else lines[end]
        assert size + byte_size(more) + 1 > room
    assert BYTES_PER_TOKEN == 4


@pytest.mark.parametrize(
    ("size", "name"), [(16 * K, "16K"), (M, "1M"), (200_000, "200,000"), (128 * K, "128K")]
)
def test_windows_are_named_as_people_write_them(size: int, name: str) -> None:
    assert window_name(size) == name


def prompt_text(folder: Path, **options: str | int) -> str:
    ability = open_source(folder).abilities.prompt
    assert ability is not None
    return ability.prompt(0, Lens(exact_counter(), None, options)).text


def test_the_literal_text_of_the_worked_examples(tmp_path: Path) -> None:
    write(tmp_path, {"AGENTS.md": "Be brief.\n", "SOUL.md": "\n", "memory/MEMORY.md": "- likes tea\n"})
    local = prompt_text(tmp_path, era="C", mode="local", window=M)
    cloud = prompt_text(tmp_path, era="C", mode="cloud", window=M)
    assert local.startswith("## Workspace Context\n\n## AGENTS.md\n\nBe brief.")
    assert cloud.endswith("\n\n---\n\n## Memory\n\n## Long-term Memory\n- likes tea")
    assert local.endswith("\n\n---\n\n- likes tea")


def test_the_lines_of_the_prompt_are_counted_as_the_program_counts(tmp_path: Path) -> None:
    write(tmp_path, {"AGENTS.md": "Überstraße ohne Ende, naïve façade.\n", "SOUL.md": "\n"})
    ability = open_source(tmp_path).abilities.prompt
    assert ability is not None
    prompt = ability.prompt(0, Lens(exact_counter(), None, {"era": "C"}))
    found = prompt_json(prompt, "now", None, exact_counter())
    assert (found["estimator"], found["tokens"]) == (
        "cl100k_base",
        exact_counter("cl100k_base").count(prompt.text),
    )
    assert prompt_json(prompt, "now", None, ESTIMATES["bytes/4"])["estimator"] == "bytes/4"


def test_what_is_cut_or_written_by_the_program_is_named_in_the_prompt(planned: Path) -> None:
    ability = open_source(planned).abilities.prompt
    assert ability is not None
    prompt = ability.prompt(0, Lens(exact_counter(), None, {"window": 16 * K, "era": "C"}))
    cuts = {cut.what: cut.kind.value for cut in prompt.cuts()}
    assert cuts["identity"] == "absent"
    assert cuts["SOUL.md"] == "shortened"
    assert cuts["TOOLS.md"] == "hidden"
