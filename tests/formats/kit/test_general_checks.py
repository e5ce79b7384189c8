"""The rules that need no format, in one call for one file."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxview.core.origin import Origin
from ctxview.files.strict_json.document import parse
from ctxview.formats.kit.folder import EntryKind, FolderFile, SourceFolder
from ctxview.formats.kit.general_checks import CheckedFile, PathInFile, checked_part, general_findings

KEY = "AKIAQ4ZTB7RNMC2VLDWX"


def rules_of(checked: CheckedFile) -> list[str]:
    return sorted({finding.rule for finding in general_findings(checked)})


def part(name: str, data: bytes) -> FolderFile:
    return FolderFile(name, f"folder/{name}", EntryKind.FILE, data)


def test_an_unreadable_file_is_named_and_nothing_else_is_said_about_it() -> None:
    checked = CheckedFile("a.json", KEY.encode(), problem="permission denied", left_out="the rest")

    assert rules_of(checked) == ["RAW002"]


def test_a_file_that_was_read_in_part_is_still_checked() -> None:
    assert rules_of(CheckedFile("a.md", KEY.encode(), left_out="the rest")) == ["RAW003", "SEC001"]


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("notes.md", b"all is well\n", []),
        ("notes.md", f"deploy with {KEY}\n".encode(), ["SEC001"]),
        ("notes.md", "pass​word\n".encode(), ["TXT003"]),
        ("notes.md", b'{"a": 1, "a": 2}', []),
        ("one.json", b'{"a": 1}', []),
        ("one.json", b'{"a": 1, "a": 2}', ["JSN002"]),
        ("one.json", b'{"a": 1,}', ["JSN001"]),
        ("one.json", b"", []),
        ("one.json", f'{{"a": {{"b": "{KEY}"}}}}'.encode(), ["SEC001"]),
        ("many.jsonl", b'{"a": 1}\n\n{"a": 2}\n', []),
        ("many.jsonl", b'{"a": 1}\nbroken\n{"a": 9007199254740993}\n', ["JSN001", "JSN003"]),
        ("many.jsonl", f'{{"a": 1}}\n{{"a": "{KEY}"}}\n'.encode(), ["SEC001"]),
    ],
)
def test_the_name_of_a_file_says_how_it_is_checked(name: str, data: bytes, expected: list[str]) -> None:
    assert rules_of(checked_part(part(name, data))) == expected


def test_a_finding_in_a_line_has_its_place_in_the_file() -> None:
    data = f'{{"a": 1}}\n{{"a": "{KEY}"}}\n'.encode()

    (found,) = general_findings(checked_part(part("many.jsonl", data)))

    assert found.origin.pointer == "/1/a"
    assert found.origin.line == 2
    assert data[found.origin.start : found.origin.end] == f'"{KEY}"'.encode()


def test_a_file_that_is_not_there_has_no_findings(tmp_path: Path) -> None:
    assert rules_of(checked_part(SourceFolder(tmp_path).read("absent.json"))) == []


def test_a_folder_in_the_place_of_a_file_is_a_finding(tmp_path: Path) -> None:
    (tmp_path / "notes.md").mkdir()

    assert rules_of(checked_part(SourceFolder(tmp_path).read("notes.md"))) == ["RAW002"]


def test_the_text_around_json_is_checked_too() -> None:
    data = f'{KEY} {{"a": 1}} and'.encode()
    document = parse(data, data.index(b"{"), data.index(b"}") + 1)

    assert rules_of(CheckedFile("reply.txt", data, documents=[("", document)])) == ["SEC001"]


def test_json_that_need_not_be_strict_is_only_searched_for_texts() -> None:
    data = b'{"a": 1, "a": 2}'
    documents = [("", parse(data))]

    assert rules_of(CheckedFile("a.json", data, documents=documents)) == ["JSN002"]
    assert rules_of(CheckedFile("a.json", data, documents=documents, strict=False)) == []


def test_a_path_that_leaves_the_folder_is_a_finding_and_one_inside_is_not() -> None:
    outside = PathInFile("refs.jsonl", "../secret", Origin("refs.jsonl"))
    inside = PathInFile("refs.jsonl", "a/../b", Origin("refs.jsonl"))

    assert rules_of(CheckedFile("refs.jsonl", paths=[outside])) == ["PTH001"]
    assert rules_of(CheckedFile("refs.jsonl", paths=[inside])) == []
