"""Every source of a tree is listed, within bounds that are reported."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from ctxview.cli import main
from ctxview.files.reading import LIMIT
from ctxview.formats import OpenError, discover, discovery, open_source
from ctxview.formats.peek import MOST_BYTES
from ctxview.samples import samples_folder
from tests.formats.ordinary_user import as_ordinary_user
from tests.formats.snapshot.builders import block, reply_bytes, snapshot_value, to_bytes

SNAPSHOT = to_bytes(snapshot_value(core=[block("a")]))


def tree(root: Path, *names: str) -> Path:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(SNAPSHOT if path.suffix == ".json" else b"just text")
    return root


def found(root: Path) -> list[str]:
    return [str(each.path.relative_to(root)) for each in discover(root).found]


def test_sessions_and_single_files_of_a_tree_are_listed(tmp_path: Path) -> None:
    tree(tmp_path, "a/r1.json", "a/r2.json", "b/notes.md", "b/deep/one.json", "b/deep/x.txt", "b/deep/y.txt")
    (tmp_path / "w" / ".agent" / "log").mkdir(parents=True)
    assert found(tmp_path) == ["a", "b/deep/one.json", "w"]


def test_folders_of_tools_are_skipped(tmp_path: Path) -> None:
    tree(tmp_path, ".git/a.json", "node_modules/b.json", ".venv/c.json", "mine/d.json")
    assert found(tmp_path) == ["mine"]


def test_a_single_file_is_one_source(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(reply_bytes(snapshot_value()))
    (tmp_path / "b.txt").write_bytes(b"hello")
    assert [each.format for each in discover(tmp_path / "a.txt").found] == ["snapshot"]
    assert [each.format for each in discover(tmp_path / "b.txt").found] == ["raw"]


def test_a_tree_without_sources_gives_an_empty_list(tmp_path: Path) -> None:
    tree(tmp_path, "x/notes.md")
    assert discover(tmp_path).found == ()


def test_links_are_not_followed(tmp_path: Path) -> None:
    tree(tmp_path / "outside", "a.json")
    tree(tmp_path / "root", "n.md")
    (tmp_path / "root" / "link").symlink_to(tmp_path / "outside")
    (tmp_path / "root" / "loop").symlink_to(tmp_path / "root")
    assert found(tmp_path / "root") == []


def test_a_named_link_to_a_folder_is_searched(tmp_path: Path) -> None:
    tree(tmp_path / "root" / "folder", "a.json")
    (tmp_path / "link").symlink_to(tmp_path / "root")
    assert [each.format for each in discover(tmp_path / "link").found] == [
        each.format for each in discover(tmp_path / "root").found
    ]
    assert discover(tmp_path / "link").found


def test_the_depth_is_bounded_and_reported(tmp_path: Path) -> None:
    tree(tmp_path, "/".join("abcdefghijklmnop") + "/x.json")
    result = discover(tmp_path)
    assert result.found == ()
    assert any(f"deeper than {discovery.DEEPEST} folders" in note for note in result.notes)


def test_the_number_of_entries_is_bounded_and_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(discovery, "MOST_ENTRIES", 5)
    tree(tmp_path, *(f"d{n}/notes.md" for n in range(9)))
    assert discover(tmp_path).capped == "stopped after looking at 5 files and folders"


def test_a_missing_path_cannot_be_searched(tmp_path: Path) -> None:
    with pytest.raises(OpenError):
        discover(tmp_path / "none")


def test_too_many_files_hide_no_folder_beside_or_below_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(discovery, "MOST_ENTRIES", 20)
    for number in range(50):
        (tmp_path / "a").mkdir(exist_ok=True)
        (tmp_path / "a" / f"{number}.txt").write_text("x")
        (tmp_path / f"{number}.txt").write_text("x")
    (tmp_path / "z").mkdir()
    (tmp_path / "z" / "messages.jsonl").write_text("")
    found = discover(tmp_path)
    assert [each.path for each in found.found] == [tmp_path / "z"]
    assert found.capped == "stopped after looking at 20 files and folders"


PAGE = "# Protocol\n\nA reply is\n\n```\nDone.\n<<<CONTEXT>>>\n{}\n```\n\nand the runtime cuts it there.\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("NOTES.md", "Replies end with <<<CONTEXT>>> and JSON.\n"),
        ("README.md", "The separator `<<<CONTEXT>>>` ends the text.\n"),
        ("protocol.md", PAGE.format('{"version": 3.0, "memory": {}}')),
        ("client.py", 'REPLY = """Done.\n<<<CONTEXT>>>\n{"version": 3.0, "memory": {}}"""\n'),
    ],
)
def test_a_page_about_replies_is_not_one_and_hides_nothing_below_it(
    tmp_path: Path, name: str, text: str
) -> None:
    (tmp_path / name).write_text(text)
    shutil.copytree(samples_folder() / "session" / "fresh", tmp_path / "runs" / "fresh")
    assert {each.format for each in discover(tmp_path).found} == {"session"}
    assert open_source(tmp_path / name).format == "raw"


@pytest.mark.parametrize("name", ["round-01.txt", "reply.md"])
def test_a_reply_that_ends_after_its_separator_is_still_a_reply(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("Done.\n<<<CONTEXT>>>\n")
    assert open_source(tmp_path / name).format == "snapshot"


def test_the_subfolders_of_a_folder_of_rounds_are_searched(tmp_path: Path) -> None:
    (tmp_path / "round-01.json").write_text('{"version": 3.0, "memory": {"core": []}}')
    shutil.copytree(samples_folder() / "session" / "fresh", tmp_path / "runs" / "fresh")
    assert {each.format for each in discover(tmp_path).found} == {"session", "snapshot"}


@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
@pytest.mark.parametrize("data", [b"{'a': 1}", b"\0" * 99, b'{"a": 1'])
def test_a_file_that_is_called_json_and_is_not_is_offered_in_a_tree(
    tmp_path: Path, name: str, data: bytes
) -> None:
    (tmp_path / name).write_bytes(data)
    assert [(each.path.name, each.format) for each in discover(tmp_path).found] == [(name, "raw")]
    (tmp_path / name).write_bytes(b'{"a": 1}')
    assert discover(tmp_path).found == ()


@pytest.mark.parametrize(
    ("name", "line", "end"),
    [
        ("a.json", b'["%s",\n', b'"z"]'),
        ("a.jsonl", b'{"a": "%s"}\n', b""),
    ],
)
def test_a_large_file_that_is_called_json_and_is_not_is_offered_in_a_tree(
    tmp_path: Path, name: str, line: bytes, end: bytes
) -> None:
    body = line % (b"x" * MOST_BYTES) + end
    (tmp_path / name).write_bytes(body)
    assert discover(tmp_path).found == ()
    for broken in (body + b'{"a":', b" " * MOST_BYTES + b"\0", body.replace(b"xx", b"\xff\xff", 1)):
        (tmp_path / name).write_bytes(broken)
        assert [(each.path.name, each.format) for each in discover(tmp_path).found] == [(name, "raw")]
        assert main(["check", str(tmp_path)]) == 1
    with (tmp_path / name).open("wb") as file:
        file.truncate(LIMIT + 1)
    assert [(each.path.name, each.format) for each in discover(tmp_path).found] == [(name, "raw")]


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.TXT", "a.md", "a.db", ".agent"])
@pytest.mark.parametrize("locked", [True, False])
def test_a_file_that_may_be_a_source_and_cannot_be_read_is_no_clean_check(
    name: str, *, locked: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    # Not `tmp_path`, which no other user may search.
    with TemporaryDirectory() as folder:
        root = tree(Path(folder), "b.txt")
        root.chmod(0o755)
        if locked:
            (root / name).touch(0)
        else:
            os.mkfifo(root / name)
        # Modules are imported first, because the other user may not read them.
        os.mkfifo(root / "c.json")
        assert main(["check", str(root)]) == 2
        (root / "c.json").unlink()
        with as_ordinary_user():
            assert main(["check", str(root)]) == 2
    assert f"{name}: " in capsys.readouterr().err


def test_a_pipe_in_the_place_of_an_agent_folder_beside_rounds_is_no_clean_check(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tree(tmp_path, "a.json", "b.json")
    os.mkfifo(tmp_path / ".agent")
    assert main(["check", str(tmp_path)]) == 2
    assert ".agent: this is a pipe, not a file" in capsys.readouterr().err


def test_pages_about_the_separator_are_not_snapshots_and_hide_nothing_below() -> None:
    checkout = samples_folder().parent
    found = discover(checkout).found
    assert {each.path.relative_to(checkout).parts[0] for each in found} == {"sample_sessions"}
    assert {each.format for each in found} >= {"snapshot", "session", "envelope"}


def test_a_text_that_mentions_the_separator_does_not_hide_a_source_beside_it(tmp_path: Path) -> None:
    (tmp_path / "NOTES.md").write_text("Replies end with <<<CONTEXT>>> and JSON, see `<<<CONTEXT>>>`.\n")
    (tmp_path / "todo.txt").write_text("explain <<<CONTEXT>>> to the others\n")
    below = tmp_path / "agents" / "one"
    below.mkdir(parents=True)
    (below / "round-1.json").write_bytes(to_bytes(snapshot_value(core=[block("a")])))
    found = {str(each.path.relative_to(tmp_path)): each.format for each in discover(tmp_path).found}
    assert found == {"agents/one": "snapshot"}


def test_a_program_with_rows_of_a_transcript_in_it_is_not_a_transcript(tmp_path: Path) -> None:
    row = '{"type": "user", "uuid": "a", "sessionId": "s", "message": {"role": "user", "content": "hello"}}\n'
    (tmp_path / "rows.py").write_text(f'ROWS = """\n{row}"""\nprint(ROWS)\n')
    assert discover(tmp_path).found == ()
    (tmp_path / "rows.jsonl").write_text(f"broken\n{row}")
    assert [each.format for each in discover(tmp_path).found] == ["transcript"]


def test_settings_with_comments_are_not_broken_json(tmp_path: Path) -> None:
    text = '// of an editor\n{"url": "http://x//y", /* two\nlines */ "paths": ["a,]", "b", ], }\n'
    (tmp_path / "tsconfig.json").write_text(text)
    assert discover(tmp_path).found == ()
    (tmp_path / "tsconfig.jsonl").write_text('{"a": 1,}\n')
    assert [each.path.name for each in discover(tmp_path).found] == ["tsconfig.jsonl"]
    (tmp_path / "tsconfig.jsonl").unlink()
    (tmp_path / "tsconfig.json").write_text(text[:-4])
    assert [each.format for each in discover(tmp_path).found] == ["raw"]


@pytest.mark.parametrize("broken", ["// by hand\n{}}", "{},}", "{} /* a */ }"])
def test_a_record_with_comments_or_a_trailing_comma_is_broken_json(
    tmp_path: Path, broken: str, capsys: pytest.CaptureFixture[str]
) -> None:
    record = json.dumps({"item_id": "a", "content": "said"})
    (tmp_path / "a.json").write_text(record)
    assert [each.format for each in discover(tmp_path).found] == ["envelope"]
    (tmp_path / "a.json").write_text(broken.replace("{}", record[:-1]))
    assert main(["check", str(tmp_path)]) == 1
    assert "JSN001" in capsys.readouterr().out


@pytest.mark.parametrize(
    "body", ["{% for each in rows %}{{ each }}{% endfor %}", "{formatted_context}", "{}"]
)
def test_a_template_with_a_context_tag_is_not_a_snapshot(tmp_path: Path, body: str) -> None:
    (tmp_path / "prompting.md").write_text(f"# Prompts\n\n<context>\n{body}\n</context>\n")
    assert discover(tmp_path).found == ()
    (tmp_path / "prompting.md").write_text('<context>\n{version: 3, "memory": {}}\n</context>\n')
    assert [each.format for each in discover(tmp_path).found] == ["snapshot"]
