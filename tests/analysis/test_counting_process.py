"""Counts from another process are the very same counts, and its end is not the end of counting."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest

from ctxview.analysis import tokens
from ctxview.analysis.counting_process import CountingProcess, NotStarted, serve
from ctxview.analysis.tokens import ESTIMATES, Count, counter_here, exact_counter

TEXTS = [
    "",
    "one two three",
    "漢字かな",
    "line\nline\r\n",
    "\ud800 half a pair",
    "<|endoftext|>",
    "x " * 150_000,
]


@pytest.fixture(scope="module")
def counter() -> Iterator[CountingProcess]:
    made = CountingProcess("o200k_base")
    yield made
    made.close()


def test_it_is_the_counter_that_was_asked_for(counter: CountingProcess) -> None:
    here = counter_here("o200k_base")
    assert (counter.name, counter.exact) == (here.name, here.exact) == ("o200k_base", True)


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_it_counts_as_this_process_does(counter: CountingProcess, text: str) -> None:
    assert counter.measure(text) == counter_here("o200k_base").measure(text)
    assert counter.count(text) == counter_here("o200k_base").count(text)


def test_when_its_process_ends_it_goes_on_here() -> None:
    counter = CountingProcess("cl100k_base")
    counter._process.kill()
    counter._process.wait()
    assert counter.measure("one two") == Count(2, exact=True)
    counter.close()


def test_files_of_the_folder_one_is_in_are_no_part_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit")
    (tmp_path / "tiktoken.py").write_text("raise SystemExit")
    monkeypatch.chdir(tmp_path)
    counter = CountingProcess("cl100k_base")
    assert counter.exact
    counter.close()


def test_where_there_can_be_none_this_process_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(NotStarted):
        CountingProcess("o200k_base")
    monkeypatch.setattr(tokens, "_apart", {"o200k_base"})
    tokens._counter_apart.cache_clear()
    assert exact_counter("o200k_base") is counter_here("o200k_base")
    tokens._counter_apart.cache_clear()


def test_an_interpreter_that_ends_at_once_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/true")
    with pytest.raises(NotStarted):
        CountingProcess("o200k_base")


def test_it_serves_until_nobody_asks() -> None:
    asked = BytesIO(b"".join(len(text).to_bytes(8, "big") + text for text in (b"12345678", b"")) + b"torn")
    answers = BytesIO()
    serve(ESTIMATES["bytes/4"], asked, answers)
    assert answers.getvalue() == b'{"name": "bytes/4", "exact": false}\n2 0\n0 0\n'
