"""`ctxview compact`: the prompt, cleaning and checking of answers, and what is written."""

from __future__ import annotations

import hashlib
import shlex
import sys
from pathlib import Path

import pytest

from ctxview.formats.workspace.compaction import clean_answer
from ctxview.formats.workspace.profile import load_profile
from tests.formats.workspace.builders import HISTORY, SECTIONS, document, sound_home, write
from tests.running import Run

GOOD = document({**SECTIONS, "Facts": "- The clock is 7 seconds late."})
TEMPLATE = load_profile("T1").template


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return write(tmp_path / "home", sound_home())


def model(folder: Path, answer: str) -> str:
    """A command line that reads its prompt and answers."""
    script = folder / "model.py"
    script.write_text(
        f"import sys\nprompt = sys.stdin.read()\nassert 'Fix the clock' in prompt\nprint({answer!r})\n"
    )
    return f"{shlex.quote(sys.executable)} {shlex.quote(str(script))}"


def digest(folder: Path) -> dict[str, str]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_the_prompt_has_the_rules_the_template_and_the_raw_history(home: Path, ctxview: Run) -> None:
    prompt = ctxview("compact", str(home), "--prompt").out
    assert prompt.startswith("Extract facts from this conversation into the template below.\n")
    assert "## Pending\n[What's still to do?]" in prompt
    assert "user: Fix the clock. The port is 5432.\n" in prompt


def test_a_secret_of_the_history_is_masked_in_the_prompt(home: Path, ctxview: Run) -> None:
    token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
    with (home / HISTORY).open("a") as file:
        file.write(f'{{"role": "user", "content": "The token is {token}"}}\n')
    prompt = ctxview("compact", str(home), "--prompt").out
    assert token not in prompt
    assert "The token is" in prompt


def test_a_good_answer_is_shown_and_written_only_when_asked(home: Path, ctxview: Run) -> None:
    before = digest(home)
    shown = ctxview("compact", str(home), "--with", model(home.parent, GOOD))
    assert shown.code == 0
    assert "+- The clock is 7 seconds late." in shown.out
    assert digest(home) == before
    wrote = ctxview("compact", str(home), "--with", model(home.parent, GOOD), "--write")
    assert wrote.code == 0
    changed = {name for name, value in digest(home).items() if before.get(name) != value}
    names = {"workspace/CONTEXT-cli.md", "workspace/memory/sessions/SESSION_41308070.md"}
    assert changed == names
    session = (home / "workspace/memory/sessions/SESSION_41308070.md").read_text()
    assert session.startswith("---\nsession_key: cli:default\n")
    assert session.count("## Task") == 1


@pytest.mark.parametrize(
    ("answer", "rule"),
    [
        (document({**SECTIONS, "Facts": "[What was discovered?]"}), "DOC011"),
        (
            document({**SECTIONS, "Facts": "\n".join(f"- Clock {word} is late." for word in "abcdefghijk")}),
            "DOC004",
        ),
        (document({"Task": "Fix the clock."}), "DOC001"),
        (document({**SECTIONS, "Task": ""}), "DOC006"),
    ],
)
def test_an_answer_with_an_error_is_never_written(answer: str, rule: str, home: Path, ctxview: Run) -> None:
    before = digest(home)
    ran = ctxview("compact", str(home), "--with", model(home.parent, answer), "--write")
    assert ran.code == 1
    assert rule in ran.out
    assert "not written" in ran.out
    assert digest(home) == before


@pytest.mark.parametrize(
    ("fact", "rule"),
    [
        ("- The port is 5433.", "DOC015"),
        ("- I should ask for the files.", "DOC009"),
        ("- See `src/late.rs`.", "DOC015"),
    ],
)
def test_doubtful_statements_of_an_answer_are_named(fact: str, rule: str, home: Path, ctxview: Run) -> None:
    (home.parent / "answer.md").write_text(document({**SECTIONS, "Facts": fact}))
    ran = ctxview("compact", str(home), "--from", str(home.parent / "answer.md"))
    assert ran.code == 0
    assert rule in ran.out


def test_cleaning_removes_reasoning_fences_markers_and_talk() -> None:
    answer = f"<think>Okay.\n## Task\nno</think>\nSure!\n```markdown\n# Context\n\n{GOOD}```\n<|im_end|>"
    cleaned = clean_answer(answer, TEMPLATE)
    assert cleaned.text.startswith("## Task\nFix the clock.\n")
    assert "think" not in cleaned.text
    assert set(cleaned.removed) >= {
        "a reasoning block",
        "a marker of a chat template",
        "text before the template",
    }


def test_an_unclosed_thought_ends_at_the_first_heading() -> None:
    assert clean_answer(f"<think>Hm, so\n{GOOD}", TEMPLATE).text == GOOD


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--with", "exit 3"), "exit code 3"),
        (("--with", "true"), "the answer is empty"),
        (("--from", "missing.md"), "there is no such file"),
    ],
)
def test_a_failing_command_is_one_clear_line(
    arguments: tuple[str, ...], message: str, home: Path, ctxview: Run
) -> None:
    ran = ctxview("compact", str(home), *arguments)
    assert ran.code == 2
    assert message in ran.err


def test_a_repository_has_no_document_to_compact(tmp_path: Path, ctxview: Run) -> None:
    write(tmp_path, {"AGENTS.md": "- Be brief.\n"})
    ran = ctxview("compact", str(tmp_path), "--prompt")
    assert ran.code == 2
    assert "not the workspace of an agent" in ran.err


def test_a_command_that_never_ends_its_answer_is_stopped(home: Path, ctxview: Run) -> None:
    run = ctxview("compact", str(home), "--with", "yes")
    assert (run.code, run.err) == (2, "ctxview: the answer is too large for a document\n")


def test_an_answer_can_be_taken_without_raw_history(home: Path, ctxview: Run) -> None:
    (home / HISTORY).unlink()
    answer = home.parent / "answer.md"
    answer.write_text(GOOD)

    run = ctxview("compact", str(home), "--from", str(answer))
    assert run.code == 0
    assert "there is no raw history" in run.err
    assert ctxview("compact", str(home), "--prompt").code == 2
