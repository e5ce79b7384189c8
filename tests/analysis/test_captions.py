"""Captions say what changed and why it matters."""

from __future__ import annotations

from msgspec.structs import replace

from ctxview.analysis.captions import captions
from ctxview.analysis.diff import diff
from ctxview.core.fields import Owner
from ctxview.core.origin import Origin
from ctxview.core.state import Block, ContextState, Counts, Event, Gap, Ref, RefStatus
from ctxview.formats.snapshot.state.tiers import tier_of
from tests.figures import above, changed, finished

HERE = Origin("a.json")


def block(name: str, tier: str = "working", **more: object) -> Block:
    plain = Block(id=name, tier=tier, text=f"text of {name}", visible=True, origin=HERE)
    return changed(plain, **more)


def state(*blocks: Block, kind: str = "snapshot", **more: object) -> ContextState:
    tiers = tuple(
        tier_of(name, tuple(each for each in blocks if each.tier == name))
        for name in ("core", "working", "ephemeral", "longterm")
    )
    counts = Counts(len(blocks), 0, 0, 0, False, "bytes/4")
    plain = ContextState(
        format="snapshot",
        title="t",
        source="a.json",
        revision="1",
        tiers=tiers,
        counts=counts,
        written_by=Owner.MODEL if kind == "reply" else None,
    )
    return replace(plain, **more)  # type: ignore[arg-type]


def caption_texts(before: ContextState, after: ContextState) -> list[str]:
    return [f"{each.text} {each.why}".strip() for each in captions(diff(before, after), after)]


def test_equal_states_have_no_captions() -> None:
    assert caption_texts(state(block("a")), state(block("a"))) == []


def test_a_hidden_block_is_reported_with_the_limit_it_crossed() -> None:
    hidden = block("work-007", visible=False, decay=0.7, reason=above("decay", 0.7, 0.65))

    found = captions(diff(state(block("work-007", decay=0.6)), state(hidden)), state(hidden))

    assert found[0].text == "work-007 is no longer shown to the model: its decay 0.70 is over 0.65."
    assert found[0].why == "It is still stored, but the model now acts without knowing it."
    assert found[0].matters


def test_a_block_that_is_hidden_because_it_is_done_is_not_important() -> None:
    done = block("a", visible=False, reason=finished("done"), state="done")

    assert not captions(diff(state(block("a")), state(done)), state(done))[0].matters


def test_an_emptied_tier_is_the_first_caption() -> None:
    before = state(*(block(f"w{n}") for n in range(5)), block("c", "core"))
    after = state(replace(block("c", "core"), text="other"))

    assert caption_texts(before, after)[0].startswith(
        "The working tier is empty: all 5 blocks are gone, w0, w1, w2 among"
    )


def test_a_block_that_a_reply_leaves_out_is_not_called_gone() -> None:
    after = state(block("a"), kind="reply")

    assert caption_texts(state(block("a"), block("b")), after) == ["The reply leaves out b of working."]


def test_a_promotion_says_what_it_means() -> None:
    assert caption_texts(state(block("a")), state(block("a", "longterm"))) == [
        "a was promoted from working to longterm. It outlives the task: a later session will know it, too."
    ]


def test_consecutive_numbered_blocks_are_named_as_a_range() -> None:
    after = state(*(block(f"message {n}") for n in range(3, 9)))

    assert caption_texts(state(), after) == ["messages 3–8 are new in working."]


def test_gaps_and_broken_references_have_captions() -> None:
    gap = Gap("design.md", "the design", "error", "open", (), "the file is gone", HERE)
    ref = Ref("r1", "swap", "x", RefStatus.RESOLVED, None, None, (), HERE)
    before = state(refs=(ref,))
    after = state(missing=(gap,), refs=(replace(ref, status=RefStatus.DANGLING),))

    assert caption_texts(before, after) == [
        "The reference swap r1 is broken now. Its target cannot be read.",
        "Something is missing: design.md, the design. The file is gone.",
    ]


def test_important_events_have_captions() -> None:
    events = [
        Event("EHOSTDOWN in shell", "error", None, 1, HERE),
        Event("calls ls", "tool call", None, 1, HERE),
    ]

    found = captions(diff(state(), state()), state(), events)

    assert [each.text for each in found] == ["EHOSTDOWN in shell."]


def test_an_unreadable_state_reports_only_that_it_is_unreadable() -> None:
    nothing = state(tiers=(), missing=(Gap("s.json", "it", "error", "unreadable", (), "gone", HERE),))
    events = [Event("s.json gone", "file gone", None, 1, HERE)]

    found = captions(diff(state(block("a"), block("b")), nothing), nothing, events)

    assert [each.text for each in found] == ["S.json gone.", "Something is missing: s.json, it."]


def test_captions_are_safe_to_print() -> None:
    evil = block("a\x1b[31m", text="\x1b]0;owned\x07 and \u202e more")

    assert all("\x1b" not in each and "\u202e" not in each for each in caption_texts(state(), state(evil)))


def test_a_removed_block_without_a_summary_is_reported_as_lost() -> None:
    fact = block("f1", text="The ledger holds 168 postings of February")
    summary = block("s", "longterm", type="summary", text="The ledger holds postings of February.")

    found = captions(diff(state(fact, block("x")), state(block("x"), summary)), state(block("x"), summary))

    assert found[0].text == "f1 is gone from working. No summary has the words and figures of it."
    assert found[0].matters
