"""A secret in the name of a file or folder is masked in what people read; `check --format json` is exact."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ctxview.samples import samples_folder
from tests.running import Run

SECRET = "AKIA" + "Q4ZTB7RNMC2VLDWX"
BROKEN, STORY = f"broken/{SECRET}.json", f"story-{SECRET}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "broken").mkdir()
    (tmp_path / BROKEN).write_text('{"version": "v3", ')
    shutil.copytree(samples_folder() / "snapshot/lighthouse", tmp_path / STORY)
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        "show {broken}",
        "show {story}",
        "show {folder}",
        "show {folder}/missing/{secret}",
        "check {folder}",
        "check {folder} --format github",
        "check {folder} --format sarif",
        "diff {story} {broken}",
        "prompt {broken}",
        "review {story}",
        "review {story} --json",
        "review {story} --reject --comment late",
        "review --verify {story}",
        "review --verify {story} --format json",
        "review --verify {story} --format sarif",
        "review --verify {story} --format github",
        "export {story} --to json",
        "export {story} -o {folder}/{secret}.html",
        "export {story} --redact --secrets -o {folder}/{secret}",
        "record {story} -o {folder}/{secret}.ctxrec --for 0.1",
    ],
)
def test_a_secret_name_is_masked(ctxview: Run, folder: Path, words: str) -> None:
    places = {"broken": folder / BROKEN, "story": folder / STORY, "folder": folder, "secret": SECRET}
    ran = ctxview(*words.format(**places).split(" "))

    assert ran.out + ran.err, "it says something"
    assert SECRET not in ran.out + ran.err


def test_the_findings_as_json_and_the_record_name_files_exactly(ctxview: Run, folder: Path) -> None:
    checked = ctxview("check", folder, "--format", "json")
    ctxview("review", folder / STORY, "--reject", "--comment", "late")

    assert any(SECRET in each["file"] for each in checked.json)
    assert f"{STORY}/round-02.received.json" in (folder / f"{STORY}.ctxreview.json").read_text()
