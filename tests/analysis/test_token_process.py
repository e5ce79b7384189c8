"""Counts from another process equal local counts, also after the process has ended."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest

from ctxview.analysis import tokens
from ctxview.analysis.token_process import CountingProcess, ProcessError, serve
from ctxview.analysis.tokens import ESTIMATES, TokenCount, exact_counter, local_counter
from tests.running import LIMIT

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
    process = CountingProcess("o200k_base")
    yield process
    process.close()


def test_it_has_the_name_of_its_encoding(counter: CountingProcess) -> None:
    here = local_counter("o200k_base")
    assert (counter.name, counter.exact) == (here.name, here.exact) == ("o200k_base", True)


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_its_counts_equal_local_counts(counter: CountingProcess, text: str) -> None:
    assert counter.measure(text) == local_counter("o200k_base").measure(text)
    assert counter.count(text) == local_counter("o200k_base").count(text)


def test_it_counts_locally_after_its_process_has_ended() -> None:
    counter = CountingProcess("cl100k_base")
    counter._process.kill()
    counter._process.wait(LIMIT)
    assert counter.measure("one two") == TokenCount(2, exact=True)
    counter.close()


def test_it_does_not_import_files_of_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit")
    (tmp_path / "tiktoken.py").write_text("raise SystemExit")
    monkeypatch.chdir(tmp_path)
    counter = CountingProcess("cl100k_base")
    assert counter.exact
    counter.close()


def test_a_process_that_cannot_be_started_is_replaced_by_a_local_counter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(ProcessError):
        CountingProcess("o200k_base")
    monkeypatch.setattr(tokens, "_in_process", {"o200k_base"})
    tokens._process_counter.cache_clear()
    assert exact_counter("o200k_base") is local_counter("o200k_base")
    tokens._process_counter.cache_clear()


def test_an_interpreter_that_ends_at_once_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/true")
    with pytest.raises(ProcessError):
        CountingProcess("o200k_base")


def test_it_serves_until_the_requests_end() -> None:
    requests = BytesIO(b"".join(len(text).to_bytes(8, "big") + text for text in (b"12345678", b"")) + b"torn")
    answers = BytesIO()
    serve(ESTIMATES["bytes/4"], requests, answers)
    assert answers.getvalue() == b'{"name": "bytes/4", "exact": false}\n2 0\n0 0\n'
