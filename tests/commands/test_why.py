"""`ctxview why PATH NAME`: text, JSON, exit codes, and no secret in the text."""

from __future__ import annotations

import json
from pathlib import Path

from ctxview.samples import samples_folder
from tests.formats.snapshot.builders import block, snapshot_value
from tests.running import Run

LIGHTHOUSE = str(samples_folder() / "snapshot" / "lighthouse")


def test_the_first_line_is_the_answer(ctxview: Run) -> None:
    done = ctxview("why", LIGHTHOUSE, "h1-time-zone")

    assert done.code == 0
    assert (
        done.out.splitlines()[0] == "h1-time-zone is gone since round 10. The model last saw it in round 5."
    )
    assert "cause 2  SNP043  round-09.reply.txt:78" in done.out


def test_an_unknown_name_is_exit_1_with_the_nearest_names(ctxview: Run) -> None:
    done = ctxview("why", LIGHTHOUSE, "h1")

    assert (done.code, done.out) == (1, 'No revision has "h1" (29 searched); nearest: h1-time-zone.\n')
    assert ctxview("why", LIGHTHOUSE, "h1", "--json").json["near"] == ["h1-time-zone"]


def test_a_path_that_does_not_exist_is_exit_2(ctxview: Run) -> None:
    assert ctxview("why", "no-such-file", "a").code == 2


def test_a_secret_in_a_block_is_masked_in_the_text(ctxview: Run, tmp_path: Path) -> None:
    secret = "ghp_" + "Ab3dEf6hIj9kLmN2pQ5rSt8vWx1yZa4cBe7f"
    value = snapshot_value(working=[block("key", content=f"the token is {secret}")])
    (tmp_path / "round.json").write_text(json.dumps(value), "utf-8")

    done = ctxview("why", str(tmp_path / "round.json"), "key")

    assert done.code == 0
    assert secret not in done.out


def test_a_line_of_a_context_leads_to_its_raw_entry(ctxview: Run) -> None:
    folder = samples_folder() / "memory" / "exhibition-faults"
    run = ctxview("why", str(folder), "mira-okafor-picked-carrier")
    assert "  → f966809a11  entries.jsonl:37\n" in run.out
    assert "    raw entry: The insurer is Nordhav, policy NH-7781, premium 940 euros a year.\n" in run.out

    answer = json.loads(ctxview("why", str(folder), "mira-okafor-picked-carrier", "--json").out)["answers"][0]
    assert [(each["id"], each["origin"]["line"]) for each in answer["sources"]] == [("f966809a11", 37)]

    unsupported = ctxview("why", str(folder), "decide-carrier-nordhav").out
    assert (
        "  → no raw entry\n    line 11: [decide] the carrier is Nordhav\n    raw entry: nearest, 33%"
        in unsupported
    )
