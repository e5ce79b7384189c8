"""What is said of a change, and why it matters."""

from __future__ import annotations

from dataclasses import replace

from ctxview.analysis.captions import captions
from ctxview.analysis.diff import diff
from ctxview.state import Block, ContextState, Counts, Event, Gap, Origin, Owner, Ref, RefStatus, Tier

HERE = Origin("a.json")


def block(name: str, tier: str = "working", **more: object) -> Block:
    plain = Block(id=name, tier=tier, text=f"text of {name}", visible=True, origin=HERE)
    return replace(plain, **more)  # type: ignore[arg-type]


def state(*blocks: Block, kind: str = "snapshot", **more: object) -> ContextState:
    tiers = tuple(
        Tier(name, tuple(each for each in blocks if each.tier == name))
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


def said(before: ContextState, after: ContextState) -> list[str]:
    return [f"{each.said} {each.why}".strip() for each in captions(diff(before, after), after)]


def test_nothing_is_said_of_nothing() -> None:
    assert said(state(block("a")), state(block("a"))) == []


def test_a_block_that_is_hidden_is_told_with_the_limit_it_crossed() -> None:
    hidden = block("work-007", visible=False, decay=0.7, reason="decay 0.70 > 0.65 (working)")

    told = captions(diff(state(block("work-007", decay=0.6)), state(hidden)), state(hidden))

    assert told[0].said == "work-007 is no longer shown to the model: its decay 0.70 is over 0.65."
    assert told[0].why == "It is still stored, but the model now acts without knowing it."
    assert told[0].matters


def test_finished_business_does_not_matter_much() -> None:
    done = block("a", visible=False, reason="done status", state="done")

    assert not captions(diff(state(block("a")), state(done)), state(done))[0].matters


def test_an_empty_tier_is_told_first() -> None:
    before = state(*(block(f"w{n}") for n in range(5)), block("c", "core"))
    after = state(replace(block("c", "core"), text="other"))

    assert said(before, after)[0].startswith(
        "The working tier is empty: all 5 blocks are gone, w0, w1, w2 among"
    )


def test_what_a_reply_leaves_out_is_not_called_gone() -> None:
    after = state(block("a"), kind="reply")

    assert said(state(block("a"), block("b")), after) == ["The reply leaves out b of working."]


def test_a_promotion_says_what_it_is_good_for() -> None:
    assert said(state(block("a")), state(block("a", "longterm"))) == [
        "a was promoted from working to longterm. It outlives the task: a later session will know it, too."
    ]


def test_a_row_of_numbered_blocks_is_told_as_a_range() -> None:
    after = state(*(block(f"message {n}") for n in range(3, 9)))

    assert said(state(), after) == ["messages 3–8 are new in working."]


def test_gaps_and_references_are_told_unless_a_block_tells_it() -> None:
    gap = Gap("design.md", "the design", "error", "open", (), "the file is gone", HERE)
    ref = Ref("r1", "swap", "x", RefStatus.RESOLVED, None, None, (), HERE)
    before = state(refs=(ref,))
    after = state(missing=(gap,), refs=(replace(ref, status=RefStatus.DANGLING),))

    assert said(before, after) == [
        "The reference swap r1 leads nowhere now. What it stood for cannot be had.",
        "Something is missing: design.md, the design. The file is gone.",
    ]


def test_events_that_matter_are_told() -> None:
    events = [
        Event("EHOSTDOWN in shell", "error", None, 1, HERE),
        Event("calls ls", "tool call", None, 1, HERE),
    ]

    told = captions(diff(state(), state()), state(), events)

    assert [each.said for each in told] == ["EHOSTDOWN in shell."]


def test_where_nothing_can_be_read_only_that_is_told() -> None:
    nothing = state(tiers=(), missing=(Gap("s.json", "it", "error", "unreadable", (), "gone", HERE),))
    events = [Event("s.json gone", "file gone", None, 1, HERE)]

    told = captions(diff(state(block("a"), block("b")), nothing), nothing, events)

    assert [each.said for each in told] == ["S.json gone.", "Something is missing: s.json, it."]


def test_what_a_file_says_cannot_act_on_a_terminal() -> None:
    evil = block("a\x1b[31m", text="\x1b]0;owned\x07 and \u202e more")

    assert all("\x1b" not in each and "\u202e" not in each for each in said(state(), state(evil)))


def test_what_a_summary_does_not_speak_of_is_told_as_forgotten() -> None:
    fact = block("f1", text="The ledger holds 168 postings of February")
    summary = block("s", "longterm", type="summary", text="The ledger holds postings of February.")

    told = captions(diff(state(fact, block("x")), state(block("x"), summary)), state(block("x"), summary))

    assert told[0].said == "f1 is gone from working. No summary has the words and figures of it."
    assert told[0].matters
