"""The life of a block: when it was shown, hidden, erased, and by what."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ctxview.analysis.diff import diff
from ctxview.analysis.revisions.facts import KnownRevisions, near_names
from ctxview.analysis.revisions.why import explain
from ctxview.analysis.tokens import ESTIMATES
from ctxview.core.origin import Origin
from ctxview.core.state import CompactionRecord, Gap, Ref, RefStatus
from ctxview.formats import Lens, open_source
from ctxview.formats.revisions import read_known
from ctxview.samples import samples_folder
from tests.analysis.revisions.builders import known, memory, rounds, state, window
from tests.figures import finished


class Quiet:
    cancelled = False

    def report(self, done: int, total: int, what: str) -> None:
        pass


def read(path: Path) -> KnownRevisions:
    return read_known(open_source(path), Lens(ESTIMATES["bytes/3"]), Quiet())


@pytest.fixture(scope="module")
def lighthouse() -> KnownRevisions:
    return read(samples_folder() / "snapshot" / "lighthouse")


def test_an_erased_block_says_who_hid_it_and_who_erased_it(lighthouse: KnownRevisions) -> None:
    (answer,) = explain(lighthouse, "h1-time-zone")

    assert answer.sentence == "h1-time-zone is gone since round 10. The model last saw it in round 5."
    assert [(step.sign, step.place, step.cause, step.rule) for step in answer.steps] == [
        ("+", "reply to round 3", 0, None),
        ("●", "round 4", 0, None),
        ("~", "reply to round 4", 0, None),
        ("●", "round 5", 0, None),
        ("~", "reply to round 5", 1, None),
        ("○", "rounds 6 to 9", 0, "SNP021"),
        ("−", "reply to round 9", 2, "SNP043"),
        ("−", "since round 10", 0, None),
    ]
    assert answer.steps[4].text.startswith("confidence 0.57 → 0.35, minimum is 0.55")
    assert "".join(point.sign for point in answer.life) == "··●●○○○○−−−−−−"
    assert (answer.figure, answer.limit) == ("confidence", 0.55)
    assert answer.note.startswith("work-decision, work-goal, work-pr of the 12")


def test_every_step_that_changes_something_has_a_line(lighthouse: KnownRevisions) -> None:
    (answer,) = explain(lighthouse, "h1-time-zone")

    assert all(step.origin is not None and step.origin.line for step in answer.steps[:-1])


def test_a_name_in_two_tiers_has_two_lives(lighthouse: KnownRevisions) -> None:
    gone, kept = explain(lighthouse, "h2-page-tie")

    assert (gone.tier, gone.status) == ("working", "gone")
    assert (kept.tier, kept.status) == ("longterm", "shown")


def test_a_block_written_again_is_not_gone(lighthouse: KnownRevisions) -> None:
    (answer,) = explain(lighthouse, "work-goal")

    assert answer.status == "hidden"
    assert "written again" in next(step.text for step in answer.steps if step.place == "reply to round 10")


def test_a_name_that_no_revision_has_offers_near_ones(lighthouse: KnownRevisions) -> None:
    assert explain(lighthouse, "h1") == ()
    assert near_names(lighthouse, "h1") == ("h1-time-zone",)
    assert near_names(lighthouse, "h1-tme-zone")[0] == "h1-time-zone"
    assert explain(lighthouse, "") == ()


def test_a_name_is_found_without_its_prefix_and_in_any_case(lighthouse: KnownRevisions) -> None:
    assert [each.name for each in explain(lighthouse, "lt-late-file")] == ["persistent:lt-late-file"]
    assert [each.name for each in explain(lighthouse, "CORE-ROLE")] == ["core-role"]


def test_a_block_is_found_by_words_of_its_text_or_its_file(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("# A\n\n- The API listens\n  on port 3000.\n")
    known = read(tmp_path)
    for words in ("listens on PORT", "agents.md"):
        assert [each.name for each in explain(known, words)] == ["AGENTS.md"]
    assert explain(known, "port 3001") == explain(known, "API") == ()


def test_a_message_that_left_the_window_is_not_lost() -> None:
    coder = samples_folder() / "session" / "coder/home/1000/agent/coder/session/default"

    (answer,) = explain(read(coder), "message 1")

    assert "is no longer in the window since run 4" in answer.sentence
    assert "No record says whether the model saw it." in answer.sentence
    assert "left the window; the history still has it" in [step.text for step in answer.steps]


def test_a_state_that_never_changed_has_no_beginning() -> None:
    one = state(memory("a"))

    assert explain(known(one), "a")[0].sentence == "a is shown."
    assert explain(known(one, one), "a")[0].sentence == "a is shown in all revisions."
    assert explain(known(state(), one), "a")[0].sentence == "a is shown since round 2."


def test_a_move_to_another_tier_is_one_life() -> None:
    facts = known(state(memory("a")), state(memory("a", tier="core")))

    (answer,) = explain(facts, "a")

    assert (answer.status, answer.tier) == ("shown", "core")
    assert [step.text for step in answer.steps if step.sign == "~"] == ["moved from working to core"]


def test_a_compaction_that_covers_a_block_is_named() -> None:
    record = CompactionRecord("compaction-1", "summary-1", ("a",), (), Origin("log.json", line=7))
    facts = known(state(memory("a"), memory("b")), state(memory("b"), compactions=(record,)))

    (answer,) = explain(facts, "a")
    removal = next(step for step in answer.steps if step.sign == "−")

    assert (removal.text, removal.origin) == ("compacted into summary-1 by compaction-1", record.origin)


def test_a_block_without_a_compaction_record_only_is_no_longer_there() -> None:
    facts = known(state(memory("a"), memory("b")), state(memory("b")))

    assert [step.text for step in explain(facts, "a")[0].steps if step.cause] == ["no longer in the file"]


def test_a_stage_of_the_runtime_is_the_cause() -> None:
    pressed = window(99, stage="degrade stage trim_memory")
    facts = known(state(memory("a")), state(budgets=[pressed]))

    assert "removed at stage trim_memory" in [step.text for step in explain(facts, "a")[0].steps]


def test_hidden_for_another_reason_is_another_step() -> None:
    hidden = [
        memory("a", visible=False, reason=reason) for reason in (finished("done"), "it is not in the pack")
    ]
    facts = known(*map(state, hidden))

    assert [step.text for step in explain(facts, "a")[0].steps] == [
        "new; not shown: done status",
        "not shown: it is not in the pack",
    ]


def test_files_that_do_not_continue_each_other_say_nothing_about_losses() -> None:
    from msgspec.structs import replace

    apart = [replace(name, previous=None) for name in rounds(2)]

    (answer,) = explain(known(state(memory("a")), state(memory("b")), names=apart), "a")

    assert not any(step.cause for step in answer.steps)


@given(st.lists(st.sampled_from(["shown", "hidden", "absent"]), min_size=1, max_size=12))
def test_the_life_line_has_the_sign_of_every_round(lives: list[str]) -> None:
    made = {
        "shown": state(memory("a")),
        "hidden": state(memory("a", visible=False, reason=finished("done"))),
        "absent": state(memory("other")),
    }
    facts = known(*(made[each] for each in lives))
    answers = explain(facts, "a")
    if "shown" not in lives and "hidden" not in lives:
        assert answers == ()
        return
    first = next(place for place, each in enumerate(lives) if each != "absent")
    signs = {"shown": "●", "hidden": "○"}
    expected = [signs.get(each, "·" if place < first else "−") for place, each in enumerate(lives)]

    assert [point.sign for point in answers[0].life] == expected
    seen = [place for place, each in enumerate(lives) if each == "shown"]
    assert answers[0].last_shown == (seen[-1] if seen else None)


def test_words_find_the_whole_life_of_a_block_that_moved() -> None:
    kept = [memory(f"note-{n}", text=f"refund {n}", visible=True) for n in range(5)]
    before = memory("r7", "results", text="refund.ts was updated")
    after = memory("r7", "compacted", text="refund.ts was updated", visible=False)
    revisions = known(state(before), state(after, *kept))

    answers = explain(revisions, "refund")

    assert len(answers) == 5
    assert answers[-1].note == "1 more block matches."
    (moved,) = explain(revisions, "refund.ts was")
    assert moved.last_shown == 0


def test_two_chinese_characters_are_words() -> None:
    revisions = known(state(memory("f1", text="a header line and a 合计 trailer")))

    assert [answer.name for answer in explain(revisions, "合计")] == ["f1"]


def test_a_moved_block_of_which_only_the_beginning_is_kept_was_not_rewritten() -> None:
    before = memory("r7", "results", text="x" * 500)
    after = memory("r7", "compacted", text="x" * 400 + "…", visible=False)

    (answer,) = explain(known(state(before), state(after)), "r7")

    assert [step.text for step in answer.steps if step.sign == "~"] == ["moved from results to compacted"]
    (change,) = diff(state(before), state(after)).changes
    assert change.deltas == ()


def test_what_begins_with_the_present_state_is_shown_now() -> None:
    names = [*rounds(1), replace(rounds(2)[1], name="now")]

    (answer,) = explain(known(state(), state(memory("a")), names=names), "a")

    assert answer.sentence == "a is shown now."


def test_a_name_that_only_a_reference_has_is_explained() -> None:
    place = Origin("refs.jsonl", line=6)
    ref = Ref("r6", "artifact", "out.csv", RefStatus.DANGLING, None, None, (), place)

    (answer,) = explain(known(state(), state(refs=(ref,)), state(refs=(ref,))), "R6")

    assert answer.sentence == "r6 is not a block, but a reference, since round 2."
    assert [(step.place, step.text, step.origin) for step in answer.steps] == [
        ("rounds 2 to 3", "leads to out.csv", place)
    ]


def test_a_gap_that_was_closed_is_gone() -> None:
    gap = Gap("q1", "which one?", "warning", "open", (), "nobody said", Origin("gaps.json"))

    (answer,) = explain(known(state(missing=(gap,)), state()), "q1")

    assert answer.sentence == "q1 is not a block, but context that is missing; gone since round 2."
    assert [step.sign for step in answer.steps] == ["?", "−"]
