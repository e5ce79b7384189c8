"""Histories in a columnar store read like histories in files, and unreadable rows have a problem."""

from __future__ import annotations

import builtins
import io
import json
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from ctxview.cli import main
from ctxview.files.line_file import never_cancelled
from ctxview.formats.session import rules
from ctxview.formats.session.history import NO_PYARROW, open_history
from tests.formats.session.builders import sound
from tests.formats.session.columnar_stores import columnar
from tests.formats.session.sources import facts_before_survey, read_facts


@pytest.fixture
def without_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refuse(name: str, *rest, **more):
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", refuse)


def store_findings(root: Path) -> list[tuple[str, str]]:
    found = rules.check_session(read_facts(root))
    return [(each.severity.value, each.message) for each in found if each.rule == "ABI012"]


def test_a_store_shows_the_same_lines_as_the_files(tmp_path: Path):
    build = sound(tmp_path)
    plain = build.text("messages.jsonl").splitlines()
    history = read_facts(columnar(build).write()).history
    assert [line.content.decode() for line in history.messages.scan()] == plain
    assert [history.messages.line(number).content.decode() for number in range(len(plain))] == plain
    assert [line.content.decode() for line in history.messages.tail(3)] == plain[-3:]
    assert len(history.events) == 9


def test_a_sound_session_stays_sound_in_a_store(tmp_path: Path):
    facts = read_facts(columnar(sound(tmp_path)).write())
    assert facts.survey is not None
    assert [*rules.check_session(facts), *facts.survey.findings] == []


def test_a_store_has_the_same_hash_as_the_file(tmp_path: Path):
    build = sound(tmp_path)
    size = len(build.files["messages.jsonl"])
    plain = read_facts(build.write()).history.messages.digests([10, size], never_cancelled)
    in_store = read_facts(columnar(build).write()).history.messages.digests([size], never_cancelled)
    assert plain is not None
    assert in_store == plain[1:]


def test_searching_a_store_finds_text_in_shards_and_in_the_log(tmp_path: Path):
    messages = read_facts(columnar(sound(tmp_path)).write()).history.messages
    assert list(messages.find("parser test", 0, False, never_cancelled)) == [0]
    assert list(messages.find("somebody review", 0, False, never_cancelled)) == [4]
    assert next(messages.find("the", 5, True, never_cancelled)) == 3


def test_without_pyarrow_the_log_is_shown_and_other_rows_say_why_not(tmp_path: Path, without_pyarrow: None):
    root = columnar(sound(tmp_path)).write()
    facts = read_facts(root)
    assert [line.number for line in facts.history.messages.scan()] == [4, 5]
    assert facts.history.messages.line(0).problem == NO_PYARROW
    assert ("info", "4 shards cannot be read without pyarrow; only the log is shown") in store_findings(root)
    assert facts.history.messages.digests([10], never_cancelled) is None


def test_a_marker_with_content_is_an_error(tmp_path: Path):
    root = columnar(sound(tmp_path)).set("messages.jsonl", "{}\n").write()
    assert store_findings(root)[0] == (
        "error",
        "messages.jsonl has 3 bytes, but with a manifest it is only a marker",
    )


def test_a_missing_shard_is_an_error_and_its_rows_say_so(tmp_path: Path):
    build = columnar(sound(tmp_path)).remove(".store/data/part-000000.parquet")
    root = build.write()
    assert store_findings(root) == [("error", "1 shard of 4 missing: part-000000.parquet")]
    problem = facts_before_survey(root).history.messages.line(0).problem
    assert problem is not None
    assert "part-000000.parquet cannot be read" in problem


def test_the_rows_of_a_damaged_shard_have_a_problem(tmp_path: Path):
    root = columnar(sound(tmp_path)).set(".store/data/part-000000.parquet", b"PAR1 nonsense").write()
    problem = facts_before_survey(root).history.messages.line(0).problem
    assert problem is not None
    assert "damaged" in problem


def test_a_torn_log_is_a_warning_and_a_bad_line_in_it_an_error(tmp_path: Path):
    build = columnar(sound(tmp_path))
    build.files[".store/wal.jsonl"] += b'{"stream":"messages","ordinal":6,"pay'
    assert [severity for severity, _ in store_findings(build.write())] == ["warning"]
    build.files[".store/wal.jsonl"] += b"\n"
    assert "line 5 of the log is not a row" in store_findings(build.write())[0][1]


def test_a_gap_in_the_numbers_of_the_log_is_an_error(tmp_path: Path):
    build = columnar(sound(tmp_path))
    rows = build.text(".store/wal.jsonl").splitlines()
    build.set(".store/wal.jsonl", "\n".join(rows[1:]) + "\n")
    (found,) = store_findings(build.write())
    assert found == ("error", "the log continues with row 5 of messages.jsonl, not 4")


def test_a_row_that_the_log_holds_already_is_an_error_and_not_a_message(tmp_path: Path):
    build = columnar(sound(tmp_path))
    rows = build.text(".store/wal.jsonl").splitlines()
    build.set(".store/wal.jsonl", "\n".join([*rows[:2], rows[1], *rows[2:]]) + "\n")
    root = build.write()
    assert store_findings(root) == [
        ("error", "row 5 of messages.jsonl comes after row 5; it is not read"),
    ]
    assert len(facts_before_survey(root).history.messages) == 6


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (
            {"stream": "messages", "ordinal": 6, "payload": {"role": "user"}},
            "payload is an object of 1, not a string",
        ),
        ({"stream": "messages", "ordinal": "6", "payload": "{}"}, 'ordinal is "6", not an unsigned number'),
        ({"stream": "notes", "ordinal": 6, "payload": "{}"}, 'stream is "notes", not messages or events'),
        ({"stream": "messages", "ordinal": 6}, "there is no payload"),
    ],
)
def test_a_line_of_the_log_that_is_not_a_row_says_why(row: dict[str, object], reason: str, tmp_path: Path):
    build = columnar(sound(tmp_path)).add(".store/wal.jsonl", row)
    (found,) = store_findings(build.write())
    assert found[1].startswith(f"line 5 of the log is not a row: {reason}")


def test_rows_that_a_shard_holds_already_are_not_shown_twice(tmp_path: Path):
    build = columnar(sound(tmp_path))
    first = {"stream": "messages", "ordinal": 0, "payload": "{}"}
    build.files[".store/wal.jsonl"] = json.dumps(first).encode() + b"\n" + build.files[".store/wal.jsonl"]
    root = build.write()
    assert len(facts_before_survey(root).history.messages) == 6
    assert store_findings(root) == []


def test_a_wrong_index_is_ignored(tmp_path: Path):
    build = columnar(sound(tmp_path))
    record = b"".join(number.to_bytes(8, "little") for number in (0, 99, 0, 99, 3, 0))
    build.set(".store/index/messages.idx", record + b"short")
    line = facts_before_survey(build.write()).history.messages.line(1)
    assert (line.value or {})["role"] == "assistant"


@pytest.mark.parametrize(
    "manifest", ["", "[]", "{", '{"next_shard":1e9,"messages":{"lines":-5}}', '{"messages":7}']
)
def test_any_manifest_can_be_opened(manifest: str, tmp_path: Path):
    build = sound(tmp_path).set(".store/manifest.json", manifest).set(".store/wal.jsonl", "\0\n[]\n")
    facts = read_facts(build.write())
    assert len(facts.history.messages) == 0
    assert {each.rule for each in rules.check_session(facts)} >= {"ABI012"}


def test_a_store_without_a_manifest_is_not_a_store(tmp_path: Path):
    session = facts_before_survey(sound(tmp_path).set(".store/lock", "").write()).session
    assert open_history(session).store is None


def test_a_shard_of_other_columns_is_damaged(tmp_path: Path):
    buffer = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table({"x": [1]}), buffer)
    build = columnar(sound(tmp_path)).set(".store/data/part-000000.parquet", buffer.getvalue())
    problem = facts_before_survey(build.write()).history.messages.line(0).problem
    assert problem is not None
    assert "damaged" in problem


def test_without_pyarrow_no_pack_is_written(
    tmp_path: Path, without_pyarrow: None, capsys: pytest.CaptureFixture[str]
):
    root = columnar(sound(tmp_path).pack()).write()
    before = {name: (root / name).read_bytes() for name in ("context/pack.json", "context/pack.md")}

    assert main(["pack", str(root), "--write", "--anyway"]) == 2
    assert f"nothing was written: messages.jsonl: {NO_PYARROW}" in capsys.readouterr().err
    assert main(["pack", str(root)]) == 2
    assert "cannot be read here" in capsys.readouterr().out
    assert {name: (root / name).read_bytes() for name in before} == before


def test_without_pyarrow_a_pack_of_readable_rows_is_written(tmp_path: Path, without_pyarrow: None):
    root = columnar(sound(tmp_path)).write()
    assert main(["pack", str(root), "--write", "--recent", "2"]) == 0


def test_without_pyarrow_unreadable_messages_are_not_called_lost_or_stale(
    tmp_path: Path, without_pyarrow: None
):
    root = columnar(sound(tmp_path).pack()).write()
    found = {each.rule for each in rules.check_session(read_facts(root))}
    assert not found & {"ABI033", "ABI034", "ABI037", "ABI040", "ABI042", "ABI046"}


def test_a_lost_chunk_of_unreadable_messages_may_still_be_rebuilt(tmp_path: Path, without_pyarrow: None):
    root = columnar(sound(tmp_path)).write()
    for chunk in (root / "context/swap/chunk").iterdir():
        chunk.unlink()
    found = [each for each in rules.check_session(read_facts(root)) if each.rule == "ABI040"]
    assert {each.severity.value for each in found} == {"warning"}
    assert all("whether it can be rebuilt is unknown" in each.message for each in found)
