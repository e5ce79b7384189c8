"""Sources become rows: what is in them, what is not, and when a source is read again."""

from __future__ import annotations

import json
import os
import shutil
import sys
from concurrent.futures import Executor
from datetime import datetime
from pathlib import Path

import pytest

from ctxview.fleet import jobs, source_rows
from ctxview.fleet.queries import FleetQueryError
from ctxview.fleet.reports import REPORTS
from ctxview.fleet.storage import StorageError, storage_at
from ctxview.formats import discover, formats
from ctxview.review.words import SignOff
from ctxview.samples import samples_folder
from tests.analysis.made_up_secrets import TOKENS
from tests.fleet.sources import (
    COUNTED,
    INSTRUCTIONS,
    InlineEngine,
    answer,
    counts,
    fleet_tree,
    items_read,
    read,
    session,
    settled,
    transcript,
)
from tests.formats.envelope.builders import item
from tests.formats.transcript.opencode_builders import export, write_store
from tests.review.building import sample
from tests.review.signing import make_key, sign

SECRET = TOKENS["SEC002"][0]
WITHHELD = "the third flowerpot"
TALK = """
m1 user : Fix it
m2 assistant sent=9000 out=20 : text Done
"""
opened: list[str] = []
watching: list[str] = []


def _note_opening(event: str, arguments: tuple[object, ...]) -> None:
    if watching and event == "open" and isinstance(arguments[0], str | bytes | os.PathLike):
        path = os.fsdecode(arguments[0])
        if path.startswith(watching[0]) and Path(path).is_file():
            opened.append(path)


sys.addaudithook(_note_opening)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fleet_tree(tmp_path_factory.mktemp("tree"))


@pytest.fixture(scope="module")
def out(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tables of an undisturbed run."""
    folder = tmp_path_factory.mktemp("out")
    done = read(tree, folder)
    assert done.errors == 0
    return folder


def test_every_source_is_one_row_with_its_format(out: Path) -> None:
    found = answer(out, "SELECT format, count(*) FROM sources GROUP BY format ORDER BY format")

    assert found == [("raw", 1), ("session", 14), ("transcript", 4), ("workspace", 2)]


def test_all_findings_and_revisions_are_rows(tree: Path, out: Path) -> None:
    sources = [each.open() for each in discover(tree).found]

    expected = counts(out)
    assert expected["findings"] == sum(len(each.findings(source_rows.LENS)) for each in sources) > 0
    assert expected["revisions"] == sum(len(each.revisions) for each in sources)


def test_every_format_of_the_samples_can_be_read(tmp_path: Path) -> None:
    read(samples_folder(), tmp_path)

    found = {row[0] for row in answer(tmp_path, "SELECT format FROM sources WHERE error IS NULL")}
    assert found == {spec.name for spec in formats()} - {"raw", "recording"}


@pytest.mark.parametrize("batch", [1, 7, 1000])
def test_any_batch_size_gives_the_same_rows(tree: Path, out: Path, tmp_path: Path, batch: int) -> None:
    read(tree, tmp_path, batch=batch)

    assert counts(tmp_path) == counts(out)
    for table in COUNTED:
        query = f"SELECT * EXCLUDE (batch) FROM {table} ORDER BY ALL".replace(
            "(batch)", "(batch, read_at)" if table == "sources" else "(batch)"
        )
        assert answer(tmp_path, query) == answer(out, query)


def test_a_second_run_opens_no_file(tree: Path, out: Path) -> None:
    opened.clear()
    watching.append(str(tree))
    try:
        done = read(tree, out, InlineEngine(Executor()))  # this executor cannot run anything
    finally:
        watching.clear()

    assert (done.sources, done.unchanged) == (0, 21)
    assert opened == []


def test_the_audit_hook_sees_a_first_run(tree: Path, tmp_path: Path) -> None:
    opened.clear()
    watching.append(str(tree))
    try:
        read(tree, tmp_path)
    finally:
        watching.clear()

    assert any(path.endswith("messages.jsonl") for path in opened)


def test_only_a_changed_source_is_read_again_and_the_newest_rows_count(tmp_path: Path) -> None:
    tree, out = fleet_tree(tmp_path / "tree"), tmp_path / "out"
    read(tree, out)
    before = counts(out)
    changed = tree / "agents" / "s03"
    with (changed / "messages.jsonl").open("a") as file:
        file.write('{"role": "wrong", "content": "y"}\n')
    settled(tree)

    engine = InlineEngine()
    read(tree, out, engine)

    assert items_read(engine) == [str(changed)]
    assert counts(out) == {**before, "findings": before["findings"] + 1}
    assert answer(out, "SELECT count(*) FROM all_sources") == [(before["sources"] + 1,)]


def test_a_source_that_returns_to_earlier_bytes_is_shown_as_it_is_now(tmp_path: Path) -> None:
    tree, out = tmp_path / "tree", tmp_path / "out"
    file = session(tree / "s") / "messages.jsonl"
    first = file.read_text()
    for text in (first, first + "broken\n", first):
        file.write_text(text)
        settled(tree)
        read(tree, out)

    (now,) = answer(out, "SELECT bytes FROM sources")
    assert now == (len(first),)
    assert answer(out, "SELECT count(*) FROM all_sources") == [(2,)]


def test_new_and_removed_files_are_noticed(tmp_path: Path) -> None:
    tree, out = fleet_tree(tmp_path / "tree"), tmp_path / "out"
    read(tree, out)
    session(tree / "agents" / "deep" / "er" / "new")
    (tree / "note.txt").unlink()
    settled(tree)

    engine = InlineEngine()
    done = read(tree, out, engine)

    assert done.sources == 1
    assert {"messages.jsonl", "s00", "t0.jsonl"} & {Path(place).name for place in items_read(engine)} == set()


def test_equal_stamps_are_trusted_unless_bytes_are_verified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree, out = tmp_path / "tree", tmp_path / "out"
    file = session(tree / "s") / "messages.jsonl"
    settled(tree)
    read(tree, out)
    file.write_text(file.read_text().replace("wrong", "WRONG"))
    settled(tree)
    real = source_rows.stamp_source
    known = answer(out, "SELECT stamp FROM raw_sources WHERE format = 'session'")[0][0]

    def same_stamp(path: Path, *more: object):
        found = real(path, *more)
        return type(found)(str(known), *(getattr(found, name) for name in ("bytes", "modified", "changed")))

    monkeypatch.setattr("ctxview.fleet.walk.stamp_source", same_stamp)

    assert read(file.parent, out).sources == 0
    assert read(file.parent, out, verify=True).sources == 1


def test_a_source_that_changes_while_it_is_read_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree, out = tmp_path / "tree", tmp_path / "out"
    file = session(tree / "s") / "state"
    settled(tree)
    digest = source_rows.digest_source

    def writing(*arguments: object) -> str:
        found = digest(*arguments)
        file.write_text("active\n")
        return found

    monkeypatch.setattr(source_rows, "digest_source", writing)
    read(tree, out)
    monkeypatch.undo()

    assert answer(out, "SELECT moving FROM sources") == [(True,)]
    settled(tree)
    assert read(tree, out).sources == 1
    assert answer(out, "SELECT moving FROM sources") == [(False,)]
    assert read(tree, out).sources == 0


def test_the_walk_has_no_cap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctxview.formats.discovery.MOST_ENTRIES", 3)
    monkeypatch.setattr("ctxview.formats.discovery.DEEPEST", 1)

    assert read(fleet_tree(tmp_path / "tree"), tmp_path / "out").sources == 21


def test_links_are_not_followed_and_the_tables_are_not_read(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    session(tree / "s")
    (tree / "link").symlink_to(tree / "s")

    for _ in range(2):
        read(tree, tree / "out")
        settled(tree)

    assert answer(tree / "out", "SELECT source FROM sources") == [(str(tree / "s"),)]
    assert answer(tree / "out", "SELECT count(*) FROM raw_sources WHERE source LIKE '%parquet'") == [(0,)]


def test_one_bad_source_is_a_row_with_an_error(
    tree: Path, out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ctxview.formats.session.source import SessionSource

    real = SessionSource.findings

    def failing(self: SessionSource, lens: object):
        if self.path.name == "s05":
            raise RuntimeError(f"the key {SECRET} does not fit")
        return real(self, lens)

    monkeypatch.setattr(SessionSource, "findings", failing)
    done = read(tree, tmp_path)

    assert (done.sources, done.errors) == (21, 1)
    ((source, error),) = answer(tmp_path, "SELECT source, error FROM sources WHERE error IS NOT NULL")
    assert Path(str(source)).name == "s05"
    assert "RuntimeError: the key" in str(error)
    assert SECRET not in str(error)
    assert counts(tmp_path)["sources"] == counts(out)["sources"]


def test_a_name_that_is_not_utf8_is_read_and_known_again(tmp_path: Path) -> None:
    name = os.fsdecode(b"s\xff")
    tree, out = tmp_path / "tree", tmp_path / "out"
    session(tree / name)
    settled(tree)

    assert read(tree, out).sources == 1
    assert read(tree, out).unchanged == 1


def test_secrets_and_withheld_text_reach_no_table(tmp_path: Path) -> None:
    tree, out = tmp_path / "tree", tmp_path / "out"
    session(tree / "s", f"Use {SECRET} for it.")
    transcript(tree / "t.jsonl", f"It is {SECRET}", todo=f"rotate {SECRET}")
    (tree / f"{SECRET}.json").write_text(f'{{"{SECRET}": "{SECRET}", }}')
    records = [item("a", WITHHELD, redaction_state="removed"), item("b", "text", item_type=WITHHELD)]
    (tree / "handoff.json").write_text(json.dumps(records))
    for name in (f"{SECRET}-1", f"{SECRET}-2"):
        (tree / name).mkdir()
        (tree / name / "AGENTS.md").write_text(INSTRUCTIONS)
        (tree / name / f"{SECRET}.md").write_text("")
    settled(tree)
    read(tree, out)

    assert answer(out, "SELECT count(*) > 0 FROM findings WHERE rule LIKE 'SEC%'") == [(True,)]
    assert answer(out, "SELECT count(*) > 0 FROM findings WHERE rule LIKE 'ENV%'") == [(True,)]
    assert answer(out, "SELECT count(*) FROM sources WHERE format = 'workspace'") == [(2,)]
    for table in COUNTED:
        text = str(answer(out, f"SELECT * FROM raw_{table}"))
        assert SECRET not in text
        assert WITHHELD not in text
    assert read(tree, out, InlineEngine(Executor())).unchanged == 5


def test_messages_can_be_left_out(tree: Path, tmp_path: Path) -> None:
    read(tree, tmp_path, messages=False)

    assert answer(tmp_path, "SELECT count(*), count(message) FROM findings")[0][1] == 0


def test_workers_of_another_version_are_refused(tree: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(jobs, "__version__", "0.0.1")

    with pytest.raises(jobs.OtherVersion, match=r"a worker has ctxview 0\.0\.1"):
        read(tree, tmp_path)


def test_another_version_reads_again(tree: Path, tmp_path: Path, monkeypatch) -> None:
    read(tree, tmp_path)
    monkeypatch.setattr("ctxview.fleet.queries.__version__", "99")

    assert read(tree, tmp_path).sources == 21


@pytest.mark.parametrize("name", REPORTS)
def test_every_report_answers(out: Path, name: str) -> None:
    assert answer(out, REPORTS[name].query) is not None


def test_the_report_of_lost_todos_names_the_compaction(out: Path) -> None:
    rows = answer(out, REPORTS["lost-todos"].query)

    assert [(row[0], row[2]) for row in rows] == [(1, "call 4")] * 4


def test_a_todo_that_the_summary_keeps_is_not_lost(tmp_path: Path) -> None:
    transcript(tmp_path / "tree" / "t.jsonl", todo="moved the refunds")
    read(tmp_path / "tree", tmp_path / "out")

    assert answer(tmp_path / "out", REPORTS["lost-todos"].query) == []


def test_the_report_of_tools_sums_to_the_whole_window(out: Path) -> None:
    rows = answer(out, REPORTS["window-by-tool"].query)

    whole = answer(out, "SELECT sum(tokens_max) FROM sources")[0][0]
    assert sum(int(str(row[1])) for row in rows) == whole
    assert {row[0] for row in rows} == {"Read", "TodoWrite", "shell", "(no tool)"}


def test_the_report_of_instructions_counts_equal_bytes(out: Path) -> None:
    ((copies, file, *_, sources),) = answer(out, REPORTS["duplicate-instructions"].query)

    assert (copies, file) == (2, "AGENTS.md")
    assert [Path(each).name for each in sources] == ["one", "two"]


def test_the_report_of_findings_counts_all_of_them(out: Path) -> None:
    rows = answer(out, REPORTS["findings-by-week"].query)

    assert sum(int(str(row[3])) for row in rows) == counts(out)["findings"]


@pytest.mark.parametrize(
    "query",
    [
        "COPY (SELECT 1) TO 'x.csv'",
        "EXPLAIN ANALYZE COPY (SELECT 1) TO 'x.csv'",
        "INSERT INTO sources VALUES (1)",
        "SELECT 1; SELECT 2",
        "SELECT nothing FROM sources",
        "SELECT * FROM read_csv('/etc/hosts')",
        "",
    ],
)
def test_what_is_not_a_question_about_the_tables_is_refused(out: Path, query: str) -> None:
    with pytest.raises(FleetQueryError):
        answer(out, query)


def test_a_question_reads_the_tables_and_no_other_file_beside_them(out: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(out, tmp_path / "out")
    (copy / "note.csv").write_text("a,b\n1,2\n")

    assert answer(copy, "SELECT count(*) FROM sources") == answer(out, "SELECT count(*) FROM sources")
    with pytest.raises(FleetQueryError, match="Permission"):
        answer(copy, f"SELECT * FROM read_csv('{copy}/note.csv')")


def test_times_with_a_zone_are_answered_in_utc(out: Path) -> None:
    zoned = "TIMESTAMPTZ '2026-11-18 21:00:00+01'"

    assert answer(out, f"SELECT {zoned} AS a, 1 AS a;") == [(datetime(2026, 11, 18, 20), 1)]
    inside = f"SELECT [{zoned}] AS a, {{'at': {zoned}}} AS b, MAP {{'at': {zoned}}} AS c"
    at = datetime(2026, 11, 18, 20)
    assert answer(out, inside) == [([at], {"at": at}, {"at": at})]


def test_the_last_batches_are_shared_out_among_the_workers(tmp_path: Path) -> None:
    for number in range(60):
        session(tmp_path / "tree" / f"s{number:02}")
    engine = InlineEngine()

    read(tmp_path / "tree", tmp_path / "out", engine, batch=20)

    assert [len(batch.items) for batch in engine.executor.given] == [1, 20, 20, 10, 5, 3, 2]


def test_the_commits_are_listed_before_the_rows_that_they_make_count(tree: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    read(tree / "agents", out)
    listing = storage_at(str(out)).files()
    listed = [next(listing)]
    read(tree / "logs", out)  # another run commits meanwhile
    listed += listing

    committed = {file.batch for file in listed if file.table == "sources"}
    for table in ("revisions", "findings"):
        rows = {path.stem for path in out.glob(f"{table}/*/*.parquet")}
        assert committed & rows <= {file.batch for file in listed if file.table == table}


def test_tables_that_cannot_be_written_end_the_run(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(StorageError, match="cannot be written"):
        read(tree, tmp_path / "file" / "out")


def test_a_removed_source_keeps_its_rows(tmp_path: Path) -> None:
    tree, out = fleet_tree(tmp_path / "tree"), tmp_path / "out"
    read(tree, out)
    before = counts(out)
    shutil.rmtree(tree / "agents")
    settled(tree)
    read(tree, out)

    assert counts(out) == before


def test_the_report_of_handoffs_leaves_out_what_is_approved_and_signed(tmp_path: Path) -> None:
    tree, out = tmp_path / "tree", tmp_path / "out"
    key = make_key(tmp_path / "keys", "ines")
    for name in ("signed", "unsigned", "changed", "rejected", "untouched"):
        sample("handoff", tree / name)
    sign(tree / "signed" / "handoff", key=key)
    for name in ("unsigned", "changed"):
        sign(tree / name / "handoff")
    sign(tree / "rejected" / "handoff", decision=SignOff.REJECTED)
    with (tree / "changed" / "handoff" / "content" / "hunt-1.md").open("a") as file:
        file.write("One more.\n")
    settled(tree)
    read(tree, out)

    found = {Path(str(row[4])).parent.name: row[0] for row in answer(out, REPORTS["handoffs"].query)}
    assert found == {
        "unsigned": "approved, not signed",
        "changed": "changed since",
        "rejected": "rejected",
        "untouched": "not reviewed",
    }
    sign(tree / "untouched" / "handoff", key=key)
    settled(tree)
    assert read(tree, out).sources == 1, "a new record beside a source is noticed"
    assert "untouched" not in str(answer(out, REPORTS["handoffs"].query))


def test_a_review_counts_by_its_name_and_not_by_the_number_before_it(tmp_path: Path) -> None:
    tree, out = tmp_path / "tree", tmp_path / "out"
    record = sign(sample("handoff", tree))
    record.rename(record.with_name("handoff.3.ctxreview.json"))
    settled(tree)
    read(tree, out)

    query = "SELECT review FROM sources WHERE format = 'envelope'"
    assert answer(out, query) == [("approved, not signed",)]
    sign(tree / "handoff", decision=SignOff.REJECTED)
    settled(tree)
    assert read(tree, out).sources == 1
    assert answer(out, query) == [("rejected",)]


def test_every_session_of_a_store_is_a_source(tmp_path: Path) -> None:
    tree, out = tmp_path / "tree", tmp_path / "out"
    store = write_store(tree, export(TALK), export(TALK, "ses_2", title="Another"))
    settled(tree)
    read(tree, out)

    query = "SELECT source, title, error FROM sources ORDER BY source"
    assert answer(out, query) == [(f"{store}/ses_1", "A session", None), (f"{store}/ses_2", "Another", None)]
    assert read(tree, out, InlineEngine(Executor())).sources == 0
    store.unlink()
    write_store(tree, export(TALK), export(TALK, "ses_2", title="Changed"))
    settled(tree)
    read(tree, out)
    assert answer(out, query)[1][1] == "Changed"
