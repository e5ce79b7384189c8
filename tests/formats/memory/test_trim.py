"""Trimming by the overflow rules: what goes first, what stays, and that a person accepts."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from ctxview.cli import main
from ctxview.formats.memory.profile import load_profile
from ctxview.formats.memory.source import MemorySource
from ctxview.formats.memory.trim import trim_context, trim_summary
from tests.formats.memory.bundles import MEMORY, state_of, write_bundle

PROFILE = load_profile()
FACTS = "".join(f"Lamp {number} hangs at {200 + number} centimetres over the wall\n" for number in range(110))
NOTES = "# Notes\n- [ ] Call Sam\n- [x] Call Ada\nA note\n"
LONG = f"# Facts\nMira Okafor is the curator\n{FACTS}# Decisions\nUse oak\n{NOTES}"


def test_finished_tasks_go_first_then_notes_then_the_oldest_facts() -> None:
    plan = trim_context(
        LONG,
        PROFILE,
        {"Lamp 50 hangs at 250 centimetres over the wall": 0} | dict.fromkeys(LONG.split("\n"), 3),
    )
    gone = [line.text for line in plan.deleted]
    assert "- [x] Call Ada" in gone
    assert "A note" in gone
    assert plan.reached
    assert 4600 <= len(plan.after) <= 4800
    for kept in ("Mira Okafor is the curator", "Use oak", "- [ ] Call Sam", "# Notes"):
        assert kept in plan.after


def test_older_lines_go_before_newer_ones() -> None:
    seen = dict.fromkeys(LONG.split("\n"), 9) | {"Lamp 100 hangs at 300 centimetres over the wall": 1}
    plan = trim_context(LONG, PROFILE, seen)
    assert "Lamp 100 hangs at 300 centimetres over the wall" not in plan.after
    assert "Lamp 109 hangs at 309 centimetres over the wall" in plan.after


def test_a_context_within_its_cap_stays() -> None:
    assert trim_context("# Facts\nSam leads", PROFILE).after == "# Facts\nSam leads"


def test_what_must_stay_is_never_deleted() -> None:
    decisions = "# Decisions\n" + "Use oak for the floor of the hall\n" * 200
    plan = trim_context(decisions, PROFILE)
    assert plan.after == decisions
    assert not plan.reached


@given(st.text(alphabet="ab #-[]x\n", max_size=400).map(lambda text: text * 20))
def test_trimming_only_deletes_whole_lines(text: str) -> None:
    plan = trim_context(text, PROFILE)
    kept = iter(text.split("\n"))
    assert all(line in kept for line in plan.after.split("\n"))


def test_a_long_summary_loses_filler_first_and_ends_with_the_mark() -> None:
    filler = (
        "Nothing much was said about the weather and the mood of the day in this long and idle sentence. " * 5
    )
    text = f"Hello there. {filler}Mira Okafor paid 1,950 euros for BR-2291 on 2026-05-18."
    short = trim_summary(text, PROFILE)
    assert len(short) <= 512
    assert short.endswith("…")
    assert "BR-2291" in short
    assert trim_summary("Ada paid.", PROFILE) == "Ada paid."


@given(st.text(max_size=3000))
def test_a_summary_always_fits(text: str) -> None:
    assert len(trim_summary(text, PROFILE)) <= max(512, 0)


def bundle(folder: Path) -> Path:
    write_bundle(folder, f"context: {json.dumps(LONG)}")
    return folder


def test_the_command_shows_the_proposal_and_writes_only_when_accepted(tmp_path: Path, capsys) -> None:
    folder = bundle(tmp_path / "m")
    before = (folder / "contexts.jsonl").read_bytes()
    assert main(["trim", str(folder)]) == 1
    assert "nothing was written" in capsys.readouterr().out
    assert (folder / "contexts.jsonl").read_bytes() == before
    assert main(["trim", str(folder), "--write"]) == 0
    after = (folder / "contexts.jsonl").read_bytes()
    assert after.startswith(before)
    assert len(after.splitlines()) == 2
    source = MemorySource(folder)
    assert state_of(source).budgets[0].used in range(4600, 4801)
    assert json.loads(after.splitlines()[1])["memoryId"] == MEMORY
    assert main(["trim", str(folder)]) == 0


def test_the_proposal_as_json(tmp_path: Path, capsys) -> None:
    assert main(["trim", str(bundle(tmp_path)), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["after"] == len(found["context"]) <= found["target"] == 4800
    assert {"line", "text", "why"} == set(found["deleted"][0])


def test_a_summary_in_a_text_file(tmp_path: Path, capsys) -> None:
    (tmp_path / "summary.txt").write_text("Ada paid 5 euros. " * 60)
    assert main(["trim", str(tmp_path / "summary.txt"), "--summary"]) == 0
    assert len(capsys.readouterr().out.strip()) <= 512
