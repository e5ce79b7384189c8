"""The facts that are kept of every revision, and what follows from all of them."""

from __future__ import annotations

import pytest

from ctxview.analysis.revisions import facts as revision_facts
from ctxview.analysis.revisions.facts import KnownRevisions
from ctxview.core.findings import Effect, Severity
from ctxview.samples import samples_folder
from tests.analysis.revisions.builders import finding, known, memory, state, window
from tests.analysis.revisions.test_why import lighthouse as lighthouse
from tests.analysis.revisions.test_why import read
from tests.figures import finished


def test_the_worst_finding_is_of_all_revisions(lighthouse: KnownRevisions) -> None:
    assert lighthouse.worst is not None
    assert lighthouse.worst.finding.rule == "SNP043"
    assert lighthouse.names[lighthouse.worst.number].name == "the reply to round 9"
    assert lighthouse.severities == {
        Severity.ERROR: (4, 1),
        Severity.WARNING: (65, 17),
        Severity.INFO: (35, 18),
    }


def test_of_equal_severity_a_loss_is_worse_than_a_note_and_a_newer_one_first() -> None:
    plain, loss = finding("SNP001"), finding("SNP043", effect=Effect.WIPED)
    facts = known(*[state()] * 3, findings={0: [loss], 1: [loss, plain], 2: [plain]})

    assert facts.worst is not None
    assert (facts.worst.finding.rule, facts.worst.number) == ("SNP043", 1)


def test_counts_compare_a_prompt_with_the_prompt_before_it(lighthouse: KnownRevisions) -> None:
    counts = lighthouse.facts[14].counts

    assert (counts.added, counts.changed, counts.removed) == (4, 4, 6)
    assert lighthouse.facts[15].counts.removed == 12


def test_the_loss_of_a_reply_is_not_repeated_by_the_next_prompt(lighthouse: KnownRevisions) -> None:
    assert [each.text for each in lighthouse.events_of(15)] == ["erases 12 working blocks"]
    assert lighthouse.events_of(17) == ()
    assert len(lighthouse.written_again(15)[0]) == 3


def test_a_stage_says_whether_what_it_removed_was_shown(lighthouse: KnownRevisions) -> None:
    stage = lighthouse.events_of(14)[0]

    assert (stage.kind, stage.text) == ("stage", "stage trim_memory_ephemeral")
    assert stage.detail == "6 blocks removed, none was shown"
    shown = known(state(memory("a")), state(budgets=[window(99, stage="degrade stage one")])).events_of(1)
    assert shown[0].detail == "1 block removed, 1 of them shown before"


def test_a_loss_without_a_reply_is_an_event_and_a_hidden_one_is_not() -> None:
    lost = known(state(memory("a"), memory("b")), state(memory("b")))
    hidden = known(state(memory("a", visible=False, reason=finished("done"))), state())

    assert [each.kind for each in lost.events_of(1)] == ["loss"]
    assert hidden.events_of(1) == ()


def test_a_tier_that_is_hidden_as_a_whole_is_a_planned_cut(lighthouse: KnownRevisions) -> None:
    assert [(each.kind, each.text) for each in lighthouse.events_of(25)] == [
        ("cut", "working closed: 8 not shown any more")
    ]


def test_a_compaction_of_a_session_is_a_planned_cut() -> None:
    coder = read(samples_folder() / "session" / "coder/home/1000/agent/coder/session/default")
    place = next(at for at, name in enumerate(coder.names) if name.label == "compaction 1")

    assert [event.kind for event in coder.events_of(place)][:1] == ["cut"]
    assert coder.events_of(place)[0].text.startswith("compaction")


def test_of_too_many_blocks_only_the_figures_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(revision_facts, "MOST_BLOCKS", 2)

    facts = known(*[state(memory("a"), memory("b"))] * 3)

    assert [each.blocks is not None for each in facts.in_order] == [True, False, False]


def test_equal_texts_of_revisions_are_kept_once() -> None:
    texts = [f"{'long text ' * 20}{name}" for name in ("a", "a")]

    first, second = (
        next(iter((each.blocks or {}).values()))
        for each in known(*(state(memory("a", text=text)) for text in texts)).in_order
    )

    assert first.text is second.text


def test_a_block_that_did_not_change_is_kept_once() -> None:
    blocks = [(each.blocks or {}) for each in known(*(state(memory("a")) for _ in range(2))).in_order]

    (first,), (second,) = (each.values() for each in blocks)
    assert first is second
