"""The pack as the runtime's builder builds it: its order, its first fit, and a reason for every candidate."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxview.analysis.tokens import ESTIMATES, exact_counter
from ctxview.files.line_file import never_cancelled
from ctxview.formats.kit.folder import SourceFolder
from ctxview.formats.session.history import open_history
from ctxview.formats.session.pack_builder import (
    PackOffer,
    PackOffers,
    PackPlan,
    fence_for,
    pack_json,
    pack_markdown,
    pack_offers,
    plan_pack,
)
from ctxview.formats.session.pack_candidates import candidates, first_fit, tail_text
from ctxview.formats.session.parser import read_session
from tests.formats.session.builders import Build, fresh, lines, sound, user
from tests.formats.session.open_sessions import OpenSession, broken_rules, open_session
from tests.formats.session.sources import DOCUMENT


def plan_of(opened: OpenSession, budget: int | None = None, **options) -> PackPlan:
    return plan_pack(pack_offers(opened.session, opened.history.messages, opened.profile, **options), budget)


def planned(build: Build, budget: int | None = None, **options) -> PackPlan:
    return plan_of(open_session(build.write()), budget, **options)


def why(plan: PackPlan, source: str) -> str:
    (found,) = (each.why for each in plan.items if each.offer.source == source)
    return found


def sources(plan: PackPlan) -> list[str]:
    return [offer.source for offer in plan.taken]


# -- the order and the fit -----------------------------------------------------------------------------------


def test_candidates_come_in_the_documented_order(tmp_path: Path) -> None:
    build = sound(tmp_path).set("context/pinned/a.md", "first of all").child("a-child")

    plan = planned(build)

    assert sources(plan) == [
        "context/pinned/a.md",
        "context/pinned/system.md",
        "context/summary.md",
        "context/facts.jsonl",
        "context/decisions.jsonl",
        "context/todo.md",
        "context/refs.jsonl",
        "messages.jsonl",
        "context/child/a-child/result.md",
        "context/child/rev-1/result.md",
        "context/child/rev-1/refs.jsonl",
    ]
    assert why(plan, "context/child/a-child/refs.jsonl") == "blank"


def test_a_smaller_source_fits_after_a_larger_one_did_not(tmp_path: Path) -> None:
    build = sound(tmp_path).set("context/summary.md", "nine words " * 9).set("context/todo.md", "two words")

    plan = planned(build, 7)

    assert sources(plan) == ["context/pinned/system.md", "context/todo.md"]
    assert why(plan, "context/pinned/system.md") == "fits: 5 of 7 used"
    assert why(plan, "context/summary.md") == "does not fit: needs 18, 2 left"
    assert [offer.kind for offer in plan.left_out][:2] == ["summary", "facts"]


def test_a_budget_of_two_words_keeps_the_summary_of_two_words(tmp_path: Path) -> None:
    build = (
        fresh(tmp_path).set("context/summary.md", "two words\n").set("context/todo.md", "more words here\n")
    )

    assert sources(planned(build, 2)) == ["context/summary.md"]


@pytest.mark.parametrize("budget", [None, 0])
def test_no_budget_takes_everything(tmp_path: Path, budget: int | None) -> None:
    plan = planned(sound(tmp_path), budget)

    assert not plan.left_out
    assert all(each.why == "no budget: everything is taken" for each in plan.items if each.taken)


def test_every_budget_gives_the_choice_that_the_rules_expect(tmp_path: Path) -> None:
    opened = open_session(sound(tmp_path).write())
    offered = candidates(opened.session, opened.history.messages, opened.profile)

    for budget in (0, *range(1, 100), 10_000):
        expected = [each.offer.source for each in first_fit(offered, budget) if each.taken]
        assert sources(plan_of(opened, budget)) == expected


def test_recent_messages_are_the_last_ones_that_are_not_blank(tmp_path: Path) -> None:
    build = fresh(tmp_path).set("messages.jsonl", '{"a":1}\n\n  \n{"b":2}\n{"c":3}\n\n')

    (offer,) = planned(build, recent=2).taken

    assert (offer.range, offer.text) == ("tail:2", '{"b":2}\n{"c":3}\n')
    assert why(planned(build, recent=0), "messages.jsonl") == "none were asked for"


def test_the_count_in_words_is_at_least_one(tmp_path: Path) -> None:
    plan = planned(sound(tmp_path))

    assert plan.counter == "words"
    assert not plan.exact
    assert all(offer.tokens == max(1, len(offer.text.split())) for offer in plan.taken)


def test_an_exact_counter_can_be_asked_for(tmp_path: Path) -> None:
    counter = exact_counter()

    plan = planned(sound(tmp_path), counter=counter)

    assert (plan.counter, plan.exact) == ("o200k_base", True)
    assert all(offer.tokens == counter.count(offer.text) for offer in plan.taken)


def test_a_profile_without_an_estimate_counts_bytes_and_says_so(tmp_path: Path) -> None:
    opened = open_session(sound(tmp_path).write(), DOCUMENT)

    assert plan_of(opened).counter == "bytes/4"


texts = st.text("ab \n`", max_size=30)
some_offers = st.lists(
    st.builds(
        lambda name, text, obstacle: PackOffer(
            "summary", f"context/{name}", text, max(1, len(text.split())), obstacle=obstacle
        ),
        st.integers(0, 99),
        texts,
        st.sampled_from([None, None, None, "blank"]),
    ),
    max_size=12,
)


@given(some_offers, st.integers(0, 40))
def test_a_pack_is_never_over_budget_and_keeps_the_order(found: list[PackOffer], budget: int) -> None:
    plan = plan_pack(PackOffers(tuple(found), "words", False), budget)

    assert [each.offer for each in plan.items] == found
    assert list(plan.taken) == [each.offer for each in plan.items if each.taken]
    assert not budget or plan.used <= budget
    assert all(each.why for each in plan.items)
    assert not any(each.taken for each in plan.items if each.offer.obstacle)
    if budget:
        room = budget
        for each in plan.items:
            assert each.over_budget == (each.offer.obstacle is None and each.offer.tokens > room)
            room -= each.offer.tokens if each.taken else 0


@given(some_offers, st.integers(0, 40), st.integers(0, 40))
def test_the_same_offers_can_be_planned_for_another_budget(
    found: list[PackOffer], one: int, other: int
) -> None:
    offered = PackOffers(tuple(found), "words", False)
    first = plan_pack(offered, one)

    plan_pack(offered, other)

    assert plan_pack(offered, one) == first


# -- why a source is left out --------------------------------------------------------------------------------


def test_blank_and_missing_sources_are_left_out_without_an_abort(tmp_path: Path) -> None:
    plan = planned(fresh(tmp_path).set("context/summary.md", " \n\t\n").remove("context/todo.md"))

    assert why(plan, "context/summary.md") == "blank"
    assert why(plan, "context/todo.md") == "missing"
    assert why(plan, "messages.jsonl") == "blank"
    assert plan.aborts == ()


def test_a_source_over_the_limit_aborts_the_rebuild(tmp_path: Path) -> None:
    plan = planned(sound(tmp_path).set("context/summary.md", "x" * (1024 * 1024 + 1)))

    assert why(plan, "context/summary.md") == "over 1 MiB: the rebuild aborts"
    assert plan.aborts == ("context/summary.md: over 1 MiB",)


def test_messages_over_the_limit_abort_the_rebuild_but_can_be_planned_for(tmp_path: Path) -> None:
    plan = planned(sound(tmp_path).add("messages.jsonl", *(user("x" * 250_000) for _ in range(5))))

    assert "messages.jsonl" in sources(plan)
    assert why(plan, "messages.jsonl").endswith("the file is over 1 MiB: the rebuild aborts")
    assert plan.aborts == ("messages.jsonl: the file is over 1 MiB",)


def test_an_active_child_is_left_out_without_a_result_and_noted_with_one(tmp_path: Path) -> None:
    build = sound(tmp_path).child("busy", "active", "").child("hasty", "active", "Nearly.\n")

    plan = planned(build)

    assert why(plan, "context/child/busy/result.md") == "blank: the child is still active"
    assert why(plan, "context/child/hasty/result.md").endswith("; the child is still active")
    assert "context/child/hasty/result.md" in sources(plan)


def test_a_bad_child_name_aborts_the_rebuild(tmp_path: Path) -> None:
    plan = planned(sound(tmp_path).child("-bad"))

    assert why(plan, "context/child/-bad/result.md") == "a bad child name: the rebuild aborts"
    assert plan.aborts


def test_a_linked_pinned_file_is_skipped_and_an_odd_name_aborts(tmp_path: Path) -> None:
    root = sound(tmp_path).set("context/pinned/my notes.md", "x").set("context/pinned/a\tb", "x").write()
    (root / "context/pinned/link.md").symlink_to(root / "context/summary.md")

    plan = plan_of(open_session(root))

    assert why(plan, "context/pinned/link.md") == "a symbolic link: the builder skips it"
    assert why(plan, "context/pinned/a\tb").endswith("the builder skips it")
    assert why(plan, "context/pinned/my notes.md") == "not a name that a pack can hold: the rebuild aborts"
    assert plan.aborts == ("context/pinned/my notes.md: not a name that a pack can hold",)


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("context/facts.jsonl", '{"id":"f1"', "line 1 is broken"),
        ("context/facts.jsonl", '{"id":"f1","source":"messages:1"}\n', "line 1 has no text"),
        ("context/decisions.jsonl", '{"id":"a b","decision":"x","source":"y"}\n', "line 1 has no valid id"),
        ("context/refs.jsonl", '{"id":"r","path":"a","kind":"file","summary":""}\n', "line 1 has no summary"),
        ("context/todo.md", b"\xff\xfe", "not UTF-8"),
    ],
)
def test_a_source_the_builder_refuses_aborts_the_rebuild(
    tmp_path: Path, name: str, content: str | bytes, reason: str
) -> None:
    plan = planned(sound(tmp_path).set(name, content))

    assert why(plan, name) == f"{reason}: the rebuild aborts"
    assert plan.aborts == (f"{name}: {reason}",)


def test_a_broken_message_or_budget_aborts_the_rebuild(tmp_path: Path) -> None:
    build = sound(tmp_path).add("messages.jsonl", '{"role":"developer","content":"x"}')

    plan = planned(build.set("context/budget", " 12\n"))

    assert plan.aborts == (
        "context/budget is not one plain number",
        "messages.jsonl: line 7 is not a valid message",
    )


# -- the written files ---------------------------------------------------------------------------------------


def test_the_pack_of_a_sound_session_is_the_one_it_has(tmp_path: Path) -> None:
    build = sound(tmp_path)
    opened = open_session(build.write())
    plan = plan_of(opened, opened.session.budget)

    assert pack_json(opened.session, plan) == build.files["context/pack.json"]
    assert pack_markdown(opened.session, plan, opened.profile) == build.files["context/pack.md"]


@pytest.mark.parametrize("budget", ["", "0\n", "30\n", "61\n"])
def test_a_written_pack_breaks_no_rule(tmp_path: Path, budget: str) -> None:
    root = sound(tmp_path).set("context/budget", budget).write()
    opened = open_session(root)
    plan = plan_of(opened, opened.session.budget)

    (root / "context/pack.json").write_bytes(pack_json(opened.session, plan))
    (root / "context/pack.md").write_bytes(pack_markdown(opened.session, plan, opened.profile))

    assert broken_rules(root) == set()


def test_pack_json_has_the_documented_members(tmp_path: Path) -> None:
    opened = open_session(sound(tmp_path).write())

    written = json.loads(pack_json(opened.session, plan_of(opened, 60)))

    assert (written["session"], written["agent"], written["budget_tokens"]) == ("default", "coder", 60)
    assert written["items"][0] == {"kind": "system", "source": "context/pinned/system.md", "tokens": 5}
    unlimited = json.loads(pack_json(opened.session, plan_of(opened, None)))
    assert "budget_tokens" not in unlimited
    recent = next(item for item in unlimited["items"] if item["kind"] == "recent_messages")
    assert recent["range"] == "tail:6"


@given(texts)
def test_no_line_of_a_source_can_close_its_fence(text: str) -> None:
    fence = fence_for(text)

    closing = [line for line in re.split(r"[\n\r]", text) if re.fullmatch(r" {0,3}`{3,}[ \t]*", line)]
    assert all(len(line.strip()) < len(fence) for line in closing)
    assert len(fence) >= 3


def test_a_source_with_fences_gets_a_longer_fence(tmp_path: Path) -> None:
    build = sound(tmp_path).set("context/summary.md", "Run:\n```sh\nmake\n```\n## refs\n")
    opened = open_session(build.write())

    markdown = pack_markdown(opened.session, plan_of(opened), opened.profile).decode()

    assert "\n````text\nRun:\n```sh\nmake\n```\n## refs\n````\n\n## facts\n" in markdown
    assert "\n```text\nYou are a careful coder.\n```\n" in markdown


def test_offers_can_be_counted_by_any_estimate(tmp_path: Path) -> None:
    opened = open_session(sound(tmp_path).write())

    plan = plan_of(opened, counter=ESTIMATES["bytes/3"])

    assert plan.counter == "bytes/3"
    assert plan.taken[0].tokens == -(-len("You are a careful coder.\n") // 3)


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("blanks", ["", "\n\n\n", "  \n", "\n" * 3000])
def test_the_last_messages_are_the_same_before_and_after_the_lines_are_counted(
    tmp_path: Path, count: int, blanks: str
) -> None:
    text = lines([user("one")]) + blanks + lines([user("two"), user("three")]) + blanks
    root = sound(tmp_path).set("messages.jsonl", text).write()
    stream = open_history(read_session(SourceFolder(root))).messages
    before = tail_text(stream, count)
    assert not stream.complete
    stream.index(never_cancelled)
    assert tail_text(stream, count) == before
    assert before[0] == lines([user("one"), user("two"), user("three")][-count:])
