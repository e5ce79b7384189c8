"""The rows of an X-ray are the text of the prompt, line by line, with everything that is left out."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ctxview.analysis.prompt_tokens import HEADER
from ctxview.analysis.tokens import counter_named
from ctxview.core.prompt import CutKind, Prompt, PromptCut, PromptMessage, PromptPart
from ctxview.formats.snapshot.profile import load_profile
from ctxview.formats.snapshot.prompt import PromptOptions, snapshot_prompt
from ctxview.reports.xray import Xray, folded, make_xray, prompt_changes
from tests.formats.snapshot.builders import block, snapshot_of, snapshot_value

COUNTER = counter_named("o200k_base")
SECRET = "AKIAIOSFODNN7EXAMPLQ"


def xray_of(**fields: object) -> Xray:
    options = PromptOptions(load_profile(), COUNTER)
    return make_xray(snapshot_prompt(snapshot_of(snapshot_value(**fields)), options), COUNTER)


def of_parts(*parts: PromptPart) -> Xray:
    return make_xray(Prompt((PromptMessage("system", parts),)), COUNTER)


def hidden(name: str) -> PromptPart:
    cut = PromptCut(kind=CutKind.HIDDEN, what=name, reason="old", tokens=3)
    return PromptPart(block=name, tier="core", cut=cut)


@given(st.lists(st.text("ab \n", max_size=8), max_size=8))
def test_the_rows_are_the_lines_of_the_text_and_add_up(texts: list[str]) -> None:
    xray = of_parts(*(PromptPart(text=text) for text in texts if text))
    text = "".join(texts)
    assert [row.text for row in xray.rows] == (text.removesuffix("\n").split("\n") if text else [])
    assert sum(row.tokens or 0 for row in xray.rows) == xray.tokens == COUNTER.count(text)


def test_the_first_line_of_each_block_is_marked() -> None:
    xray = xray_of(core=[block("a"), block("b")], working=[block("a")])
    firsts = [(row.tier, row.block) for row in xray.rows if row.is_first]
    assert firsts == [("core", "a"), ("core", "b"), ("working", "a")]


def test_tokens_by_tier_separate_content_from_fields() -> None:
    xray = xray_of(core=[block("a", content="some words of content")])
    core = next(tier for tier in xray.tiers if tier.name == "core")
    content, fields = xray.block_tokens("a", "core")
    assert core.content == content == COUNTER.count("      content: some words of content\n")
    assert core.fields > fields > 0, "the heading of the tier is no content"
    assert {tier.name for tier in xray.tiers} == {HEADER, "core", "working", "ephemeral", "longterm"}
    assert xray.tokens == COUNTER.count(
        snapshot_prompt(
            snapshot_of(snapshot_value(core=[block("a", content="some words of content")])),
            PromptOptions(load_profile(), COUNTER),
        ).text
    )


def test_a_cut_in_a_line_follows_the_line() -> None:
    xray = of_parts(PromptPart(text="Agent: "), hidden("x"), PromptPart(text="{{rules}}\nnext"))
    assert [row.text if row.cut is None else row.cut.what for row in xray.rows] == [
        "Agent: {{rules}}",
        "x",
        "next",
    ]


def test_absent_messages_and_roles_have_rows() -> None:
    absent = PromptCut(kind=CutKind.ABSENT, what="base prompt", reason="not in this file")
    prompt = Prompt(
        (
            PromptMessage("system", (PromptPart(text="one"),)),
            PromptMessage("system", absent=absent, in_text=False),
            PromptMessage("user", (PromptPart(text="go"),), in_text=False),
        )
    )
    xray = make_xray(prompt, COUNTER)
    assert [row.heading or (row.cut.what if row.cut else row.text) for row in xray.rows] == [
        *("system", "one", "base prompt", "user", "go")
    ]
    assert (xray.tokens, xray.bytes, xray.lines) == (COUNTER.count("one"), 3, 1), "only the text form counts"


def test_secrets_are_masked_also_over_several_lines() -> None:
    key = (
        "-----BEGIN RSA PRIVATE KEY-----\n"
        + "MIIEow"
        + "A" * 58
        + "\n"
        + "B" * 64
        + "\n-----END RSA PRIVATE KEY-----\n"
    )
    xray = of_parts(
        PromptPart(text=f"{SECRET}\n"), PromptPart(text=f"before\n{key}after\n", block="m", tier="recent")
    )
    text = "\n".join(row.text for row in xray.rows)
    assert SECRET not in text
    assert "B" * 64 not in text
    assert sum(row.tokens or 0 for row in xray.rows) == xray.tokens


def test_fields_are_folded_into_one_row() -> None:
    rows = [row for row in folded(xray_of(core=[block("a")]).rows) if row.block == "a"]
    assert [row.text.strip() for row in rows] == [
        "- id: a",
        "▸ 5 lines: type, decay, confidence, round, tags",
        "content: what a says",
    ]
    assert [row.lines for row in rows] == [1, 5, 1]


def test_folding_keeps_the_tokens() -> None:
    xray = xray_of(core=[block("a"), block("b", extra={"x": [1]})])
    assert sum(row.tokens or 0 for row in folded(xray.rows)) == sum(row.tokens or 0 for row in xray.rows)


def test_the_difference_of_two_prompts() -> None:
    before = xray_of(core=[block("a", content="one two"), block("b"), block("c")], todo=...)
    after = xray_of(core=[block("a", content="one three"), block("b", confidence=0.1), block("d")], todo=...)
    changes = {(each.sign, each.name): each for each in prompt_changes(before, after)}
    assert set(changes) == {("~", "core"), ("~", "a"), ("+", "d"), ("−", "b"), ("−", "c")}
    sides = [(piece.side, piece.text) for piece in changes["~", "a"].pieces if piece.side != "same"]
    assert sides == [("removed", "two"), ("added", "three")]
    assert changes["−", "b"].why == "confidence 0.10 < 0.70"
    assert changes["−", "c"].why == ""
    assert prompt_changes(before, before) == []
