"""No report shows a part of a secret where a text is cut: half a secret is not recognised any more."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from ctxview.analysis.secrets import mask_secrets
from ctxview.analysis.tokens import ESTIMATES
from ctxview.core.origin import JsonValue
from ctxview.formats import Lens, open_source
from ctxview.samples import samples_folder
from tests.analysis.made_up_secrets import letters
from tests.running import Run

SECRET = "ghp_" + letters(36)
SECRETS = " ".join([SECRET] * 10)
"""So many that a cut at any length is inside one."""
SAMPLES = {
    "transcript/refund-day": "5f0c2a7e-1111-4222-8333-9a0b1c2d3e4f.jsonl",
    "transcript/plan-rollback": "rollout-2026-08-01T10-00-00-plan.jsonl",
    "session/coder/home/1000/agent/coder/session/default": "",
    "envelope/planted": "",
}
"""The folders with sessions or records, and the file to read or "" for the folder."""


def with_secrets(value: JsonValue) -> JsonValue:
    """The value with secrets in everything that may be free text."""
    if isinstance(value, dict):
        return {name: with_secrets(each) for name, each in value.items()}
    if isinstance(value, list):
        return [with_secrets(each) for each in value]
    if isinstance(value, str) and len(value) > 20 and " " in value:
        return f"{value[:10]}\n{SECRETS}\t{value[10:]}"
    return value


def put_secrets(file: Path) -> None:
    lines = file.read_text("utf-8").splitlines() if file.suffix == ".jsonl" else [file.read_text("utf-8")]
    file.write_text("\n".join(json.dumps(with_secrets(json.loads(line))) for line in lines) + "\n")


@pytest.mark.parametrize("sample", SAMPLES)
def test_no_part_of_a_secret_is_shown_where_a_text_is_cut(sample: str, tmp_path: Path, ctxview: Run) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(samples_folder() / sample, folder)
    files = [file for file in folder.rglob("*") if file.suffix in (".json", ".jsonl")]
    for file in files:
        put_secrets(file)
    reports = ("check",), ("check", "--format", "json"), ("show",), ("export", "--to", "json")

    assert files
    for command, *options in reports:
        ran = ctxview(command, folder / SAMPLES[sample], *options)
        assert ran.code in (0, 1)
        assert SECRET[:14] not in ran.out + ran.err, command


def test_no_part_of_a_secret_is_in_a_row_of_a_history_where_it_is_cut(tmp_path: Path) -> None:
    folder = tmp_path / "default"
    shutil.copytree(samples_folder() / "session/coder/home/1000/agent/coder/session/default", folder)
    message = {"role": "user", "content": f"{SECRETS} " * 700, "run": "ctx-1"}
    (folder / "messages.jsonl").write_text(json.dumps(message) + "\n")
    transcript = open_source(folder).reading(0, Lens(ESTIMATES["bytes/4"])).state.transcript

    assert transcript is not None
    text = transcript.row(0).text
    assert 0 < len(text) < len(message["content"])
    assert SECRET[:14] not in mask_secrets(text)
