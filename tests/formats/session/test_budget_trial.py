from __future__ import annotations

from pathlib import Path

from ctxview.analysis.tokens import ESTIMATES
from ctxview.core.state import ContextState
from ctxview.formats import Lens
from ctxview.formats.session.source import SessionSource
from tests.formats.session.builders import sound


def state(source: SessionSource, budget: int | None) -> ContextState:
    lens = Lens(ESTIMATES["bytes/4"], options={} if budget is None else {"budget": budget})
    return source.reading(len(source.revisions) - 1, lens).state


def visible_blocks(reading: ContextState) -> set[str]:
    return {block.id for block in reading.blocks() if block.visible and block.tier != "recent"}


def test_a_tried_budget_changes_what_is_shown_and_leaves_the_session_alone(tmp_path: Path) -> None:
    source = SessionSource(sound(tmp_path).pack().write())
    before, tight, roomy = state(source, None), state(source, 1), state(source, 1_000_000)
    assert visible_blocks(tight) < visible_blocks(roomy)
    assert tight.budgets[0].limit == 1
    assert "left out" in tight.budgets[0].target
    assert roomy.budgets[0].target == "rebuilt"
    assert state(source, None) == before


def test_a_block_outside_a_tried_budget_says_why(tmp_path: Path) -> None:
    tight = state(SessionSource(sound(tmp_path).pack().write()), 1)
    reasons = {block.why for block in tight.blocks() if block.tier == "summary"}
    assert any(", 1 left" in reason for reason in reasons)


def test_a_tried_budget_of_zero_means_no_limit(tmp_path: Path) -> None:
    free = state(SessionSource(sound(tmp_path).pack().write()), 0)
    assert free.budgets[0].limit is None
    assert free.budgets[0].target == "rebuilt"


def test_a_session_source_has_long_work(tmp_path: Path) -> None:
    assert SessionSource(sound(tmp_path).write()).abilities.work is not None


def test_a_row_says_why_the_model_never_sees_it_and_gives_its_bytes(tmp_path: Path) -> None:
    build = sound(tmp_path)
    build.add("messages.jsonl", {"role": "user", "content": "x" * 20_000})
    transcript = state(SessionSource(build.write()), None).transcript
    assert transcript is not None
    last = transcript.row(len(transcript) - 1)
    assert last.unseen is not None
    assert "never reach the prompt" in last.unseen
    assert transcript.row(0).unseen is None
    assert transcript.raw(len(transcript) - 1).startswith(b'{"role":')


def test_recent_messages_outside_a_tried_budget_say_that_only_the_prompt_history_shows_them(
    tmp_path: Path,
) -> None:
    source = SessionSource(sound(tmp_path).pack().write())
    tight, roomy = (
        [block for block in state(source, budget).blocks() if block.tier == "recent"] for budget in (40, 0)
    )
    assert all("not in the pack" in (block.state or "") for block in tight)
    assert all("by the prompt history; the pack leaves" in block.why for block in tight)
    assert all(block.reason is None and "pack" not in (block.state or "") for block in roomy)


def test_a_tried_budget_is_shown_in_tokens_and_in_the_words_that_the_builder_counts(tmp_path: Path) -> None:
    tokens, words = state(SessionSource(sound(tmp_path).pack().write()), 40).budgets[:2]
    assert (tokens.unit, words.unit) == ("tokens (bytes/4)", "words")
    assert tokens.target == words.target
    assert [each.name for each in tokens.segments] == [each.name for each in words.segments]
    assert tokens.cut is not None
    assert words.cut is not None
    assert tokens.cut > words.cut > 0


def test_a_child_of_which_the_pack_has_only_the_references_says_so(tmp_path: Path) -> None:
    build = sound(tmp_path).set("context/child/rev-1/result.md", "long " * 500).set("context/budget", "200\n")
    child = next(
        block for block in state(SessionSource(build.pack().write()), None).blocks() if block.id == "rev-1"
    )
    assert child.why == "its result.md is not in the pack, only its refs.jsonl is"
    found = state(SessionSource(build.write()), None).refs
    users = next(ref.used_by for ref in found if ref.kind == "child")
    assert "the pack (refs.jsonl)" in users
    assert "the pack" not in users
