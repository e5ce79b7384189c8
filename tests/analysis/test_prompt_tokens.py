"""The tokens of the parts of a prompt add up to those of the whole text, in lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxview.analysis.prompt_tokens import counted_prompt, in_lines, measured_prompt, tokens_by_tier
from ctxview.analysis.tokens import COUNTERS, counter_named
from ctxview.core.prompt import CutKind, Prompt, PromptCut, PromptMessage, PromptPart

TEXTS = st.lists(st.text("ab 1.)/\n\r\t{}é😀", max_size=12), max_size=12)


def prompt(*texts: str) -> Prompt:
    return Prompt((PromptMessage("system", tuple(PromptPart(text=text) for text in texts if text)),))


@pytest.mark.parametrize("name", COUNTERS)
@given(texts=TEXTS)
def test_the_parts_add_up(name: str, texts: list[str]) -> None:
    counter = counter_named(name)
    whole = prompt(*texts)
    counted = counted_prompt(whole, counter)
    assert counted.text == whole.text
    parts = counted.messages[0].parts
    assert sum(part.tokens or 0 for part in parts) == counter.count(whole.text)
    assert all((part.tokens or 0) >= 0 for part in parts)
    assert all("\n" not in part.text[:-1] for part in parts)


def test_a_line_of_a_block_has_the_tokens_of_that_line() -> None:
    counter = counter_named("o200k_base")
    lines = ["<context>\n", "memory:\n", "  core[1]:\n", "    - id: c1\n", "</context>"]
    counted = counted_prompt(prompt(*lines), counter)
    assert [part.tokens for part in counted.messages[0].parts] == [counter.count(line) for line in lines]


def test_cuts_have_no_tokens_of_the_text() -> None:
    cut = PromptPart(cut=PromptCut(kind=CutKind.HIDDEN, what="a", reason="old", tokens=9))
    message = PromptMessage("system", (PromptPart(text="one\ntwo"), cut))
    counted = counted_prompt(Prompt((message,)), counter_named("bytes/4")).messages[0]
    assert [part.text for part in counted.parts] == ["one\n", "two", ""]
    assert counted.parts[-1] is cut


def test_a_part_keeps_its_names_in_all_its_lines() -> None:
    message = PromptMessage("user", (PromptPart(text="a\n\nb", block="x", tier="recent"),))
    lines = in_lines(Prompt((message,))).messages[0].parts
    assert [(part.text, part.block, part.tier) for part in lines] == [
        ("a\n", "x", "recent"),
        ("\n", "x", "recent"),
        ("b", "x", "recent"),
    ]


@pytest.mark.parametrize("name", COUNTERS)
def test_a_slash_after_a_line_break_may_belong_to_the_token_before(name: str) -> None:
    counter, text = counter_named(name), "see (x)\n/etc/hosts\n"
    counted = counted_prompt(prompt(text), counter)
    assert sum(part.tokens or 0 for part in counted.messages[0].parts) == counter.count(text)


@pytest.mark.parametrize("name", COUNTERS)
@given(texts=st.lists(st.tuples(st.sampled_from(["core", "working"]), st.booleans(), st.text("a 1.)\n/"))))
def test_stretches_have_the_tokens_of_their_lines(name: str, texts: list[tuple[str, bool, str]]) -> None:
    parts = tuple(
        PromptPart(text=f"{text}\n", block="x", tier=tier, field=None if content else "decay")
        for tier, content, text in texts
    )
    whole, counter = Prompt((PromptMessage("system", parts),)), counter_named(name)
    measured = {each.name: each for each in tokens_by_tier(measured_prompt(whole, counter))}
    assert measured == {each.name: each for each in tokens_by_tier(counted_prompt(whole, counter))}
