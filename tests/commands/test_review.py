"""`ctxview review`: decisions on the command line, sign-off, verification and its exit codes, the docs."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from ctxview.samples import samples_folder
from tests.formats.snapshot.builders import block, snapshot_value
from tests.review.building import sample
from tests.review.signing import allow, make_key
from tests.running import LIMIT, Run

PAGE = (Path(__file__).parent.parent.parent / "docs" / "review.md").read_text("utf-8")
SECRET = "ghp_" + "Ab3dEf6hIj9kLmN2pQ5rSt8vWx1yZa4cBe7f"
DECIDED = ("--looked-at", "all", "--accept", "ENV075=one sender, says Bram")


@pytest.fixture
def handoff(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    return sample("handoff", tmp_path).relative_to(tmp_path)


def test_the_first_line_is_the_verdict_and_open_points_are_exit_1(handoff: Path, ctxview: Run) -> None:
    done = ctxview("review", handoff)

    assert done.code == 1
    assert done.out.splitlines()[0] == "NOT READY  blocked by 1 gap; 1 warning to look at; no leak found"
    assert "model                          3     497       1  none" in done.out


def test_approval_is_refused_while_a_blocking_point_is_open_and_nothing_is_written(
    handoff: Path, ctxview: Run
) -> None:
    done = ctxview("review", handoff, "--approve")

    assert done.code == 1
    assert "not approved: 1 point must be answered or accepted with a reason: ENV075-" in done.err
    assert not [*Path().glob("*.ctxreview.json")]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--accept", "ENV075"), "a written reason is needed"),
        (("--accept", "ENV999=why"), "no point is named ENV999"),
        (("--looked-at", "ENV075"), "it can be accepted with a written reason"),
        (("--waive", "omission=why"), "is not a gap"),
        (("--reject",), "a rejection needs a comment"),
        ((*DECIDED, "--approve", "--to", "review.json"), "ends in .ctxreview.json"),
        ((*DECIDED, "--approve", "--sign", "no-such-key"), "no-such-key"),
        (("--approve", "--reject"), "not allowed with argument"),
        (("--verify", "--not-before", "soon"), "expected a date"),
        (("--verify", "--allowed-signers", "no-such-file"), "no-such-file: this is not a file of allowed"),
    ],
)
def test_wrong_requests_are_refused_with_a_reason(
    arguments: tuple[str, ...], message: str, handoff: Path, ctxview: Run
) -> None:
    done = ctxview("review", handoff, *arguments)

    assert done.code in (1, 2)
    assert message in done.complaint
    assert not [*Path().glob("*review.json")]


def test_decisions_are_kept_until_the_approval(handoff: Path, ctxview: Run) -> None:
    assert ctxview("review", handoff, "--looked-at", "all").code == 1
    assert ctxview("review", handoff, "--accept", "ENV075=one sender").code == 0
    done = ctxview("review", handoff, "--approve", "--reviewer", "ines")

    assert (done.code, done.out) == (0, f"approved: {Path.cwd() / 'handoff.ctxreview.json'}\n")
    record = json.loads(Path("handoff.ctxreview.json").read_text("utf-8"))
    assert record["predicateType"] == "urn:ctxview:review:v1"
    assert {each["name"] for each in record["subject"]} >= {
        "handoff/handoff.json",
        "handoff/content/fix.patch",
    }
    accepted = [each for each in record["predicate"]["points"] if each["decision"] == "accepted"]
    assert [(each["reason"], each["blocks"]) for each in accepted] == [("one sender", True)]
    assert ctxview("review", handoff).out.startswith("SIGNED  approved by ines on ")


def test_each_exit_code_of_verification(handoff: Path, ctxview: Run, tmp_path: Path) -> None:
    key, other = make_key(tmp_path / "keys", "ines"), make_key(tmp_path / "keys", "other")
    signers, strangers = allow(tmp_path / "known", ines=key), allow(tmp_path / "strangers", ines=other)
    verify = ("review", "--verify", handoff)
    assert ctxview(*verify).code == 3
    assert ctxview("review", handoff, *DECIDED, "--approve", "--reviewer", "ines", "--sign", key).code == 0
    signed = ctxview(*verify, "--require-signature", "--allowed-signers", signers)
    assert signed.code == 0
    assert re.fullmatch(r"handoff: approved by ines on \d{4}-\d\d-\d\d \(signed\)\n", signed.out)
    assert ctxview(*verify, "--require-signature", "--allowed-signers", strangers).code == 6
    assert ctxview(*verify, "--reviewers", "2").code == 3
    assert ctxview(*verify, "--not-before", "2099-01-01").code == 3
    assert ctxview("review", handoff, "--reject", "--comment", "no", "--reviewer", "bram").code == 0
    assert ctxview(*verify).code == 5
    with (handoff / "content" / "fix.patch").open("a") as file:
        file.write(" ")
    changed = ctxview(*verify)
    assert changed.code == 4
    assert "changed file handoff/content/fix.patch" in changed.out
    assert ctxview("review", "--verify", "no-such-path").code == 2
    Path("handoff.ctxreview.json").write_text("{}", "utf-8")
    assert ctxview(*verify).code == 2


@pytest.mark.parametrize(
    ("output", "words"),
    [
        ("sarif", '"ruleId": "REV002"'),
        ("github", "::error file=handoff,title=REV002 not-reviewed::it is not reviewed"),
        ("json", '"exit": 3'),
    ],
)
def test_verification_is_written_for_programs(output: str, words: str, handoff: Path, ctxview: Run) -> None:
    done = ctxview("review", "--verify", handoff, "--format", output)

    assert done.code == 3
    assert words in done.out


def test_questions_answers_and_waivers_become_records_of_an_envelope(handoff: Path, ctxview: Run) -> None:
    asked = ctxview("review", handoff, "--ask", "Which queue?", "--reviewer", "ines", "--json")
    assert "written to handoff/handoff.r2.json" in asked.err
    assert "gap-1" in {point["gap"] for point in asked.json["points"]}
    first = json.loads((handoff / "handoff.r2.json").read_text("utf-8"))
    gap = next(each for each in first if each.get("missing_id") == "gap-1")
    assert (gap["question"], gap["severity"], gap["status"]) == ("Which queue?", "blocking", "requested")
    assert gap["metadata"]["ctxview"] == {"asked_by": "ines"}

    both = ("--answer", "gap-1=the blue one", "--waive", "gap-senders=one sender, says Bram")
    done = ctxview("review", handoff, *both, "--reviewer", "ines", "--json")
    assert not {"gap-1", "gap-senders"} & {point["gap"] for point in done.json["points"]}
    last = json.loads((handoff / "handoff.r4.json").read_text("utf-8"))
    states = {each["missing_id"]: each["status"] for each in last if "missing_id" in each}
    assert states == {"gap-senders": "declined", "gap-1": "resolved"}
    notes = {each["title"]: each["content"] for each in last if each.get("context_kind") == "manual_note"}
    assert notes["Answered by ines: gap-1"] == "the blue one"
    assert notes["Waived by ines: gap-senders"] == "one sender, says Bram"
    found = ctxview("check", handoff, "--fail-on", "error", "--format", "json")
    assert found.code == 0
    assert "ENV016" not in {each["rule"] for each in found.json}, "the gaps lead to their notes"


def test_a_question_about_another_format_is_a_record_that_approves_nothing(
    handoff: Path, ctxview: Run
) -> None:
    Path("round.json").write_text(json.dumps(snapshot_value(working=[block("a")])), "utf-8")
    asked = ctxview("review", "round.json", "--ask", "What is a?", "--reviewer", "ines")

    assert asked.code == 0
    record = json.loads(Path("round.json.ctxreview.json").read_text("utf-8"))
    assert (record["predicate"]["decision"], record["predicate"]["comment"]) == ("asked", "What is a?")
    verified = ctxview("review", "--verify", "round.json")
    assert verified.code == 3
    assert "it waits for context that ines asked for" in verified.out


def test_all_points_of_a_source_without_points_can_be_looked_at(handoff: Path, ctxview: Run) -> None:
    path = shutil.copytree(samples_folder() / "memory" / "exhibition", Path("exhibition"))

    assert ctxview("review", path, "--looked-at", "all", "--approve").code == 0
    assert ctxview("review", path, "--looked-at", "ENV075").code == 2


def test_open_notes_are_not_called_decided(handoff: Path, ctxview: Run) -> None:
    path = shutil.copytree(samples_folder() / "snapshot" / "lighthouse", Path("lighthouse"))

    assert ctxview("review", path).out.startswith("READY  only notes are open, no leak found")
    assert ctxview("review", path, "--looked-at", "all").out.startswith("READY  all points are decided")


def test_a_folder_around_one_source_is_not_approved_with_it(handoff: Path, ctxview: Run) -> None:
    folder = Path("log")
    folder.mkdir()
    name = samples_folder() / "transcript" / "plan-rollback" / "rollout-2026-08-01T10-00-00-plan.jsonl"
    file = Path(shutil.copy(name, folder))
    done = ctxview("review", folder, "--looked-at", "all", "--approve")

    assert (done.code, done.err) == (0, f"ctxview: note: only {file} is reviewed, not all of log\n")
    assert ctxview("review", "--verify", file).code == 0
    whole = ctxview("review", "--verify", folder)
    assert (whole.code, whole.err) == (2, f"ctxview: log: name what was reviewed: {file}\n")
    assert "note" not in ctxview("review", handoff).err


def test_a_review_record_is_not_content_of_any_format(handoff: Path, ctxview: Run) -> None:
    """A record with the members of an envelope beside a bundle would otherwise take over the view."""
    before = ctxview("show", handoff, "--json").out, ctxview("check", ".").out
    forged = {
        "context_id": "ctx-forged",
        "scope": "handoff",
        "lifecycle": "injected",
        "schema_version": "0.1.1",
    }
    for place in (Path("forged.ctxreview.json"), handoff / "forged.ctxreview.json"):
        place.write_text(json.dumps(forged), "utf-8")
    (handoff / "broken.ctxreview.json").write_text("{", "utf-8")

    assert (ctxview("show", handoff, "--json").out, ctxview("check", ".").out) == before


def test_no_secret_reaches_the_listing_the_json_or_the_record(handoff: Path, ctxview: Run) -> None:
    Path("notes.txt").write_text(f"the token is {SECRET}\n", "utf-8")
    outputs = [ctxview("review", "notes.txt").out, ctxview("review", "notes.txt", "--json").out]
    points = ctxview("review", "notes.txt", "--json").json["points"]
    reasons = [f"--accept={point['id']}=a test key" for point in points if point["blocks"]]
    assert ctxview("review", "notes.txt", "--looked-at", "all", *reasons, "--approve").code == 0
    outputs.append(Path("notes.txt.ctxreview.json").read_text("utf-8"))

    assert all(SECRET not in output for output in outputs)
    assert any(point["rule"].startswith("SEC") for point in points if point["rule"])


def test_two_sources_are_signed_together_and_verified_one_by_one(handoff: Path, ctxview: Run) -> None:
    Path("round.json").write_text(json.dumps(snapshot_value(working=[block("a")])), "utf-8")
    assert (
        ctxview("review", handoff, "round.json", *DECIDED, "--approve", "--to", "both.ctxreview.json").code
        == 0
    )

    both = ("review", "--verify", handoff, "round.json", "--record", "both.ctxreview.json")
    assert ctxview(*both).code == 0
    Path("round.json").write_text(json.dumps(snapshot_value(working=[block("b")])), "utf-8")
    done = ctxview(*both)
    assert done.code == 4
    assert "added block b" in done.out
    assert "handoff: approved" in done.out


def test_the_two_documented_commands_verify_a_record_without_ctxview(
    handoff: Path, ctxview: Run, tmp_path: Path
) -> None:
    key = make_key(tmp_path / "keys", "ines")
    allow(tmp_path / "allowed_signers", **{"ines@example.org": key})
    signed = ("--approve", "--reviewer", "ines@example.org", "--sign", key)
    assert ctxview("review", handoff, *DECIDED, *signed).code == 0
    (commands,) = re.findall(r"```sh\n(.+?)```", PAGE, re.DOTALL)
    digests, signature = commands.strip().splitlines()

    def run(command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["sh", "-c", command], capture_output=True, text=True, check=False, timeout=LIMIT
        )

    done = run(digests)
    assert done.returncode == 0
    assert done.stdout.count(": OK") == 6
    assert run(signature).returncode == 0
    patch = handoff / "content" / "fix.patch"
    patch.write_bytes(patch.read_bytes() + b" ")
    assert "handoff/content/fix.patch: FAILED" in run(digests).stdout
    record = Path("handoff.ctxreview.json")
    record.write_bytes(record.read_bytes().replace(b'"approved"', b'"rejected"'))
    assert run(signature).returncode != 0
