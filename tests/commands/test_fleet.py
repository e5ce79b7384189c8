"""`ctxview fleet` on the command line: exit codes, the formats of answers, progress, and mistakes."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import pytest

from ctxview.recording import MAGIC
from tests.fleet.sources import counts, fleet_tree, read, session, summary
from tests.running import Run


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("out")
    read(fleet_tree(tmp_path_factory.mktemp("tree")), folder)
    return folder


def test_reading_with_processes_and_asking(tmp_path: Path, out: Path, ctxview: Run) -> None:
    tree = fleet_tree(tmp_path / "tree")

    first = ctxview("fleet", "read", tree, "--into", tmp_path / "out", "--batch", "4", "--workers", "2")
    second = ctxview("fleet", "read", tree, "--into", tmp_path / "out")

    assert (first.code, second.code) == (0, 0)
    assert summary(first) == "21 sources read, 0 unchanged"
    assert summary(second) == "0 sources read, 21 unchanged"
    assert counts(tmp_path / "out") == counts(out)


def test_an_answer_as_text_json_and_csv(out: Path, ctxview: Run) -> None:
    query = (
        "SELECT format, count(*) AS n, min(error) AS e FROM sources GROUP BY format ORDER BY n DESC LIMIT 2"
    )

    text, data, table = (
        ctxview("fleet", "sql", out, query, "--format", output) for output in ("text", "json", "csv")
    )

    assert text.out.splitlines() == ["format      n", "session     14", "transcript  4"]
    assert data.json == [
        {"format": "session", "n": 14, "e": None},
        {"format": "transcript", "n": 4, "e": None},
    ]
    rows = [["format", "n", "e"], ["session", "14", ""], ["transcript", "4", ""]]
    assert [*csv.reader(table.out.splitlines())] == rows


def test_content_cannot_act_on_the_terminal_and_secrets_are_masked(out: Path, ctxview: Run) -> None:
    secret = "ghp_" + "q3X7vB9mK2tR5wY8nL4cD6fG1hJ0pS9aZxVu"
    query = f"SELECT chr(27) || '[2J' AS x, '{secret}' AS y"

    for output in ("text", "json", "csv"):
        done = ctxview("fleet", "sql", out, query, "--format", output)
        assert "\x1b" not in done.out
        assert secret not in done.out


def test_a_report_is_named_or_listed(out: Path, ctxview: Run) -> None:
    assert ctxview("fleet", "report", out, "lost-todos").out.count("call 4") == 4
    listed = ctxview("fleet", "report", out)
    assert listed.code == 2
    assert "window-by-tool" in listed.out
    assert "did you mean lost-todos" in ctxview("fleet", "report", out, "lost-todo").complaint


def test_an_unreadable_source_makes_exit_code_1(tmp_path: Path, ctxview: Run) -> None:
    session(tmp_path / "tree" / "s")
    (tmp_path / "tree" / "night.ctxrec").write_bytes(MAGIC)

    done = ctxview("fleet", "read", tmp_path / "tree", "--into", tmp_path / "out", "--workers", "1")

    assert done.code == 1
    assert summary(done) == "2 sources read, 1 could not be read, 0 unchanged"
    row = ctxview("fleet", "sql", tmp_path / "out", "SELECT right(error, 22) FROM sources")
    assert "its head is incomplete" in row.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("read", "TREE"), "--into DIR is missing"),
        (("read", "TREE/nothing", "--into", "OUT"), "no such file or folder"),
        (("read", "TREE", "--into", "OUT", "--scheduler", "tcp://10.0.0.1:8786"), "has to be tls://"),
        (("sql", "TREE"), "expected a folder and a query"),
        (("sql", "TREE", "SELECT 1"), "there are no tables"),
        (("sql", "TREE/nothing", "SELECT 1"), "no such file or folder"),
        (("vacuum", "TREE", "TREE"), "expected one folder"),
        (("reed", "TREE"), "did you mean read"),
    ],
)
def test_a_mistake_is_one_line(tmp_path: Path, ctxview: Run, arguments: tuple[str, ...], words: str) -> None:
    session(tmp_path / "tree" / "s")
    given = [
        each.replace("TREE", str(tmp_path / "tree")).replace("OUT", str(tmp_path / "out"))
        for each in arguments
    ]

    done = ctxview("fleet", *given)

    assert done.code == 2
    assert words in done.complaint


def test_a_wrong_query_says_where(out: Path, ctxview: Run) -> None:
    done = ctxview("fleet", "sql", out, "SELECT nothing FROM sources")

    assert done.code == 2
    assert "nothing" in done.complaint
    assert "^J" not in done.complaint


@pytest.mark.parametrize("action", [("read", "nothing", "--into", "out"), ("sql", "nothing", "SELECT 1")])
def test_a_missing_path_leaves_one_line_on_the_terminal(tmp_path: Path, action: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", "ctxview", "fleet", *action]

    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=180, check=False)

    assert done.returncode == 2
    assert done.stderr == "ctxview: nothing: there is no such file or folder\n"


def test_a_named_link_to_a_folder_is_read(tmp_path: Path, ctxview: Run) -> None:
    session(tmp_path / "tree" / "agents" / "s")
    (tmp_path / "link").symlink_to(tmp_path / "tree")

    done = ctxview("fleet", "read", tmp_path / "link", "--into", tmp_path / "out")

    assert (done.code, summary(done)) == (0, "1 source read, 0 unchanged")


@pytest.mark.parametrize("table", ["sources", "findings"])
def test_a_damaged_table_is_one_line_that_names_the_file(table: str, tmp_path: Path, ctxview: Run) -> None:
    tree, folder = session(tmp_path / "tree" / "s").parent, tmp_path / "out"
    read(tree, folder)
    file = min((folder / table).glob("*/*.parquet"))
    file.write_bytes(file.read_bytes()[:50])

    for words in (
        ("sql", folder, "SELECT 1"),
        ("report", folder, "lost-todos"),
        ("read", tree, "--into", folder),
        ("vacuum", folder),
    ):
        done = ctxview("fleet", *words)
        assert done.code == 2
        assert len(done.err.splitlines()) == 1
        assert f"the table {table} cannot be read" in done.err
        assert file.name in done.err


def test_numbers_and_structures_that_json_lacks(out: Path, ctxview: Run) -> None:
    query = "SELECT 'inf'::DOUBLE AS i, 'nan'::DOUBLE AS n, {'a': [1, 2]} AS s"

    done = ctxview("fleet", "sql", out, query, "--format", "json")

    assert (done.code, done.json) == (0, [{"i": None, "n": None, "s": {"a": [1, 2]}}])
