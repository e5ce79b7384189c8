"""The frame of a reply: SNP001, 004, 007, 010."""

from __future__ import annotations

import pytest

from ctxview.core.findings import Effect, Severity
from tests.formats.snapshot.rules.checking import of_reply, rules_of_reply

PAYLOAD = '{"version": 3.0, "memory": {}}'


def test_a_missing_separator_is_an_error_in_enabled_mode():
    (finding,) = of_reply(1, "All done.")
    assert finding.severity is Severity.ERROR
    assert finding.effect is Effect.IGNORED
    assert (finding.origin.start, finding.origin.line, finding.origin.column) == (9, 1, 10)


def test_a_missing_separator_is_correct_in_disabled_mode():
    assert rules_of_reply("All done.", enabled=False) == []


def test_a_separator_is_an_error_in_disabled_mode_and_nothing_else_is_checked():
    assert rules_of_reply("Done.\n<<<CONTEXT>>>\n{broken,}", enabled=False) == ["SNP001"]
    (finding,) = of_reply(1, f"Done.\n<<<CONTEXT>>>\n{PAYLOAD}", enabled=False)
    assert finding.severity is Severity.ERROR
    assert (finding.origin.line, finding.origin.start, finding.origin.end) == (2, 6, 19)


def test_a_version_1_2_reply_gets_a_warning_about_its_tags():
    text = '<context>{"version": "1.2", "round": 2, "memory": {"core": []}}</context>\nHello.'
    (finding,) = of_reply(1, text)
    assert finding.severity is Severity.WARNING
    assert "1.2" in finding.message
    assert of_reply(7, text) == []


def test_a_separator_quoted_in_the_prose_is_named_with_the_real_one():
    text = f"Replies end with <<<CONTEXT>>> and JSON.\nReally.\n<<<CONTEXT>>>\n{PAYLOAD}"
    assert rules_of_reply(text) == ["SNP004"]
    (finding,) = of_reply(4, text)
    assert "from the one at line 3" in finding.message
    assert (finding.origin.line, finding.origin.column) == (1, 18)


def test_a_second_separator_after_the_json_is_the_only_finding():
    text = f"Done.\n<<<CONTEXT>>>\n{PAYLOAD}\n<<<CONTEXT>>>\nbye"
    assert rules_of_reply(text) == ["SNP004"]
    assert of_reply(4, text)[0].origin.line == 4


def test_a_separator_quoted_in_the_prose_is_found_even_before_broken_json():
    text = "I use <<<CONTEXT>>> here.\n<<<CONTEXT>>>\n{broken,}"
    assert rules_of_reply(text) == ["SNP004"]
    assert "another one is at line 2" in of_reply(4, text)[0].message


def test_two_snapshots_are_reported_as_a_second_separator():
    text = f"Done.\n<<<CONTEXT>>>\n{PAYLOAD}\n<<<CONTEXT>>>\n{PAYLOAD}"
    (finding,) = of_reply(4, text)
    assert "a second" in finding.message
    assert finding.origin.line == 4


def test_a_separator_inside_a_json_string_is_harmless():
    assert rules_of_reply('Hi\n<<<CONTEXT>>>\n{"memory": {}, "active_task": "<<<CONTEXT>>>"}') == []


@pytest.mark.parametrize(
    "marker",
    [
        "<<CONTEXT>>",
        "<<<context>>>",
        "<<<Context>>>",
        "<<< CONTEXT >>>",
        "<<<CON TEXT>>>",
        "<<<CONTEXT>>",
        "＜＜＜CONTEXT＞＞＞",
        "《《CONTEXT》》",
        "\\<\\<`<CONTEXT>`{=html}\\>\\>",
        "\\<\\<\\<CONTEXT\\>\\>\\>",
        "&lt;&lt;&lt;CONTEXT&gt;&gt;&gt;",
        "**<<CONTEXT>>**",
        "<<<CONT\u200bEXT>>>",
        "[[[CONTEXT]]]",
        "<<<\u0421ONTEXT>>>",
        "<<<C\u041eNTE\u0425\u0422>>>",
        "<<<\u0441\u043entext>>>",
    ],
)
def test_a_near_miss_of_the_separator_leaks_the_json(marker: str):
    text = f"Done.\n{marker}\n{PAYLOAD}"
    assert rules_of_reply(text) == ["SNP001", "SNP007"]
    (finding,) = of_reply(7, text)
    assert finding.severity is Severity.WARNING
    assert finding.effect is Effect.LEAKED
    assert "shown to the user" in finding.message
    assert finding.origin.line == 2


@pytest.mark.parametrize(
    "prose",
    [
        "The context matters.",
        "Read <context> in the docs.",
        "See [context] for more.",
        "if a << context: pass",
        "CONTEXT: none",
    ],
)
def test_ordinary_words_are_not_near_misses(prose: str):
    assert of_reply(7, prose) == []


def test_the_near_miss_before_the_json_is_named():
    (finding,) = of_reply(7, f"I write <<Context>>.\n<<CONTEXT>>\n{PAYLOAD}")
    assert finding.origin.line == 2


def test_a_near_miss_beside_the_real_separator_is_only_prose():
    assert rules_of_reply(f"not <<CONTEXT>>, mind\n<<<CONTEXT>>>\n{PAYLOAD}") == []


def test_an_empty_answer_is_mentioned():
    (finding,) = of_reply(10, f" \n\t<<<CONTEXT>>>\n{PAYLOAD}")
    assert finding.severity is Severity.INFO


def test_one_character_is_an_answer():
    assert of_reply(10, f".<<<CONTEXT>>>{PAYLOAD}") == []


def test_a_long_run_of_brackets_is_checked_quickly():
    assert of_reply(7, "<" * 20_000 + "CONTEX" + "< " * 20_000) == []
