"""The program as users and scripts see it: output, messages, exit codes, never a traceback."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from ctxview import __version__
from ctxview.commands import check
from ctxview.commands.parser import all_commands
from ctxview.samples import samples_folder
from tests.running import Run

SAMPLES = samples_folder() / "snapshot"
CLEAN = SAMPLES / "lighthouse" / "round-02.received.json"
BROKEN = SAMPLES / "broken" / "bad-blocks.json"
RECEIVED = SAMPLES / "broken" / "wiped-tier.received.json"
REPLY = SAMPLES / "broken" / "wiped-tier.reply.txt"


# -- help ------------------------------------------------------------------------------------------------


def test_the_version_is_printed(ctxview: Run) -> None:
    assert ctxview("--version").out == f"ctxview {__version__}\n"


@pytest.mark.parametrize("command", ["", *all_commands()])
def test_every_command_has_help_with_two_examples_that_fits_80_columns(ctxview: Run, command: str) -> None:
    ran = ctxview(*command.split(), "--help")

    assert ran.code == 0
    assert max(len(line) for line in ran.out.splitlines()) <= 80
    examples = ran.out.partition("examples:\n")[2]
    assert len(re.findall(r"^  ctxview", examples, re.MULTILINE)) >= 2


def test_the_help_lists_every_command(ctxview: Run) -> None:
    listed = ctxview("--help").out

    assert all(re.search(rf"^  {name} ", listed, re.MULTILINE) for name in all_commands())


@pytest.mark.parametrize("sample", ["snapshot/lighthouse", "envelope/handoff", "memory/exhibition"])
@pytest.mark.parametrize("command", ["show", "why", "export"])
def test_an_unknown_profile_is_one_line(ctxview: Run, command: str, sample: str) -> None:
    name = ["gone"] if command == "why" else []
    ran = ctxview(command, samples_folder() / sample, *name, "--profile", "nix")

    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("ctxview: unknown profile 'nix'")
    assert ran.err.count("\n") == 1


def test_an_option_that_resembles_no_other_has_no_hint(ctxview: Run) -> None:
    assert "did you mean" not in ctxview("show", "--frob", CLEAN).err
    assert "(did you mean --json?)" in ctxview("show", "--jsn", CLEAN).err


# -- show ------------------------------------------------------------------------------------------------


def test_show_prints_the_state_for_people(ctxview: Run) -> None:
    ran = ctxview("show", CLEAN)

    assert ran.code == 0
    assert "round-02.received.json" in ran.out
    assert "\x1b" not in ran.out
    assert ran.err == ""


@pytest.mark.parametrize("command", ["show", "check", "diff", "merge"])
def test_no_text_report_contains_a_secret(
    ctxview: Run, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    leaky = SAMPLES / "broken" / "secret.json"
    ran = ctxview(command, *([CLEAN] if command in ("diff", "merge") else []), leaky)

    assert "AKIA…" in ran.out
    assert "NOTAREALKEY23456" not in ran.out


@pytest.mark.parametrize("columns", ["60", "100", "400"])
def test_a_secret_in_an_id_or_behind_a_line_end_is_masked_however_it_is_cut(
    ctxview: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    secret = "Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8Qr9St0Uv1Wx2"
    old, new = tmp_path / "a.json", tmp_path / "b.json"
    value = json.loads(CLEAN.read_text("utf-8"))
    value["memory"]["working"] = [
        {"id": f"ghp_{secret}", "type": "fact", "content": f"env:\nghp_{secret}", "decay": 0, "confidence": 1}
    ]
    old.write_text(json.dumps(value), "utf-8")
    value["memory"]["working"][0]["content"] += " more"
    new.write_text(json.dumps(value), "utf-8")

    for ran in (ctxview("show", old), ctxview("diff", old, new), ctxview("check", old)):
        assert "ghp_" in ran.out
        assert "Cd2" not in ran.out


def test_a_value_whose_name_says_that_it_is_secret_is_masked(ctxview: Run, tmp_path: Path) -> None:
    secret = "c90bd5482a90a29b9fa5ff5180bc0dbc0e15637ebb8e3b91d26ab4a829a95249"
    old, new = tmp_path / "a.json", tmp_path / "b.json"
    old.write_text('{"api_key": "x"}', "utf-8")
    new.write_text(json.dumps({"api_key": secret}), "utf-8")
    for ran in (ctxview("show", new), ctxview("diff", old, new), ctxview("check", new)):
        assert "c90b…(64 characters)" in ran.out
        assert secret not in ran.out


def test_sarif_masks_a_secret_that_is_a_key(ctxview: Run, tmp_path: Path) -> None:
    token = "ghp_" + "Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8Qr9St0Uv1Wx2"
    value = json.loads(CLEAN.read_text("utf-8"))
    value[f"env {token}"] = 1
    (tmp_path / "a.json").write_text(json.dumps(value), "utf-8")
    ran = ctxview("check", tmp_path / "a.json", "--format", "sarif")
    assert "SEC002" in ran.out
    assert token not in ran.out


def test_show_json_prints_the_state_for_programs(ctxview: Run) -> None:
    state = ctxview("show", CLEAN, "--json").json

    assert state["format"] == "snapshot"
    assert [tier["name"] for tier in state["tiers"]] == ["core", "working", "ephemeral", "longterm"]
    assert state["counts"]["estimator"] == "o200k_base"
    assert state["counts"]["tokens_exact"] is True


def test_show_takes_a_revision_by_round_or_by_name(ctxview: Run) -> None:
    by_round = ctxview("show", SAMPLES / "lighthouse", "--at", "9", "--json").json
    by_name = ctxview("show", SAMPLES / "lighthouse", "--at", by_round["revision"], "--json").json

    assert by_round == by_name
    assert "9" in by_round["revision"]


def test_show_lists_the_revisions_when_one_is_unknown(ctxview: Run) -> None:
    ran = ctxview("show", SAMPLES / "lighthouse", "--at", "round 99")

    assert ran.code == 2
    assert "unknown revision round 99 (did you mean round 9?)" in ran.complaint


@pytest.mark.parametrize("at", ["9", "#15", "-15", "round 9", "2026-03-12T01:45:00Z"])
def test_show_takes_a_revision_by_number_name_or_time(ctxview: Run, at: str) -> None:
    state = ctxview("show", SAMPLES / "lighthouse", "--at", at, "--json", "--tokens", "bytes/4").json

    assert state["revision"].startswith(("round 9", "round 10 reply (round-09"))


def test_diff_of_one_path_compares_two_of_its_revisions(ctxview: Run) -> None:
    ran = ctxview("diff", SAMPLES / "lighthouse", "--at", "9", "10", "--json")

    assert ran.code == 1
    assert (ran.json["before"]["revision"], ran.json["after"]["revision"]) == ("round 9", "round 10")
    assert ran.json["counts"]["removed"] >= 12


def test_diff_at_one_revision_shows_what_it_changed(ctxview: Run) -> None:
    ran = ctxview("diff", SAMPLES / "lighthouse", "--at", "10", "--json")

    assert (ran.json["before"]["revision"], ran.json["after"]["revision"]) == ("round 9", "round 10")


def test_diff_of_one_path_shows_what_its_latest_revision_changed(ctxview: Run) -> None:
    ran = ctxview("diff", SAMPLES / "lighthouse", "--json")

    assert ran.json["after"]["revision"] == "round 15 reply"


def test_diff_of_two_paths_takes_a_revision_of_each(ctxview: Run) -> None:
    story = SAMPLES / "lighthouse"

    assert ctxview("diff", story, story, "--at", "9").code == 0
    assert ctxview("diff", story, story / "round-10.received.json", "--at", "9", "-1").code == 1


def test_diff_says_when_there_is_no_earlier_revision(ctxview: Run) -> None:
    ran = ctxview("diff", CLEAN)

    assert ran.code == 2
    assert "no revision comes before" in ran.complaint


def test_diff_takes_two_revisions_at_most(ctxview: Run) -> None:
    ran = ctxview("diff", CLEAN, "--at", "1", "2", "3")

    assert ran.code == 2
    assert "--at takes one revision or two, not 3" in ran.complaint


def test_show_counts_by_the_estimator_it_is_given(ctxview: Run) -> None:
    state = ctxview("show", CLEAN, "--json", "--tokens", "bytes/3").json

    assert state["counts"]["estimator"] == "bytes/3"
    assert state["counts"]["tokens_exact"] is False


@pytest.mark.parametrize("sample", sorted((SAMPLES / "broken").iterdir()), ids=lambda path: path.name)
def test_every_broken_sample_can_be_shown_as_text_and_json(ctxview: Run, sample: Path) -> None:
    assert ctxview("show", sample).code == 0
    assert ctxview("show", sample, "--json").json["source"] == str(sample)


# -- check -----------------------------------------------------------------------------------------------


def test_check_prints_nothing_on_stdout_and_exits_with_0_without_findings(ctxview: Run) -> None:
    ran = ctxview("check", CLEAN)

    assert (ran.code, ran.out) == (0, "")
    assert ran.err == "1 file checked, nothing found\n"


def test_check_exits_with_1_and_begins_each_line_with_the_place(ctxview: Run) -> None:
    ran = ctxview("check", BROKEN)

    assert ran.code == 1
    pattern = rf"{re.escape(str(BROKEN))}:\d+:\d+: (error|warning|info) +[A-Z]{{3}}\d{{3}} \S"
    assert all(re.match(pattern, line) for line in ran.out.splitlines())
    assert "→ dropped" in ran.out


def test_check_sums_up_the_files_worst_first_when_there_are_several(ctxview: Run) -> None:
    ran = ctxview("check", BROKEN, SAMPLES / "broken" / "duplicate-keys.json")

    heading, worst, other, summary = ran.err.splitlines()
    assert heading.split() == ["errors", "warnings", "file"]
    assert worst.endswith(str(BROKEN))
    assert other.endswith("duplicate-keys.json")
    assert summary.endswith("in 2 of 2 files")


def test_check_json_is_a_list_of_findings_with_the_documented_keys(ctxview: Run) -> None:
    ran = ctxview("check", BROKEN, "--format", "json")

    assert ran.code == 1
    assert ran.err == ""
    keys = ["rule", "severity", "effect", "message", "file", "line", "column", "pointer"]
    assert all(list(finding) == keys for finding in ran.json)


def test_check_prints_sarif_and_github_commands(ctxview: Run) -> None:
    report = ctxview("check", BROKEN, "--format", "sarif").json
    lines = ctxview("check", BROKEN, "--format", "github").out.splitlines()

    assert len(report["runs"][0]["results"]) == len(lines)
    assert all(re.match(r"::(error|warning|notice) file=", line) for line in lines)
    assert all(rule["help"]["text"] for rule in report["runs"][0]["tool"]["driver"]["rules"])


def test_check_selects_and_ignores_by_the_beginning_of_rule_ids(ctxview: Run) -> None:
    def rules(*options: str) -> set[str]:
        return {finding["rule"] for finding in ctxview("check", BROKEN, "--format", "json", *options).json}

    everything = rules()
    assert rules("--select", "SNP01") == {rule for rule in everything if rule.startswith("SNP01")}
    assert rules("--select", "snp016, snp015") == {"SNP015", "SNP016"}
    assert rules("--ignore", "SNP01") == {rule for rule in everything if not rule.startswith("SNP01")}


@pytest.mark.parametrize("option", ["--select", "--ignore"])
def test_check_rejects_an_unknown_rule(ctxview: Run, option: str) -> None:
    ran = ctxview("check", BROKEN, option, "SNP16")

    assert ran.code == 2
    assert f"{option}: no rule begins with SNP16 (did you mean SNP" in ran.complaint


@pytest.mark.parametrize(("level", "code"), [("error", 0), ("warning", 1), ("never", 0)])
def test_fail_on_decides_what_makes_the_exit_code_1(ctxview: Run, level: str, code: int) -> None:
    warnings_only = SAMPLES / "broken" / "duplicate-keys.json"

    assert ctxview("check", warnings_only, "--fail-on", level).code == code


def test_a_missing_file_is_an_error_but_the_others_are_checked(ctxview: Run) -> None:
    ran = ctxview("check", "nowhere.json", BROKEN)

    assert ran.code == 2
    assert "SNP016" in ran.out
    assert "ctxview: nowhere.json: " in ran.err


def test_a_file_of_no_format_is_a_note_and_not_an_error(ctxview: Run, tmp_path: Path) -> None:
    (tmp_path / "hello.txt").write_text("hello\n")

    ran = ctxview("check", tmp_path / "hello.txt")

    assert ran.code == 0
    assert "no format was recognised" in ran.out


def test_an_empty_folder_is_a_note_and_clean(ctxview: Run, tmp_path: Path) -> None:
    ran = ctxview("check", tmp_path)

    assert ran.code == 0
    assert "note: " in ran.err
    assert "nothing to check" in ran.err


def test_a_folder_is_checked_completely_and_always_in_the_same_order(ctxview: Run) -> None:
    first = ctxview("check", SAMPLES, "--format", "json")
    second = ctxview("check", SAMPLES, "--format", "json")

    assert first.out == second.out
    files = {Path(finding["file"]).parent.name for finding in first.json}
    assert files >= {"lighthouse", "broken", ".agent"}


def test_the_same_path_twice_gives_each_finding_once(ctxview: Run) -> None:
    assert ctxview("check", BROKEN, BROKEN).out == ctxview("check", BROKEN).out


def test_an_unknown_profile_is_an_error_that_lists_the_profiles(ctxview: Run) -> None:
    ran = ctxview("check", CLEAN, "--profile", "atom-0.71")

    assert ran.code == 2
    assert "atom-0.17" in ran.err.splitlines()[0]


def test_a_profile_of_one_format_does_not_apply_to_other_formats(ctxview: Run) -> None:
    ran = ctxview("check", CLEAN, samples_folder() / "envelope" / "handoff", "--profile", "atom-0.17")

    assert ran.code == 0, ran.err


# -- rules and formats -----------------------------------------------------------------------------------


def test_rules_lists_every_rule_on_one_line(ctxview: Run) -> None:
    listed = ctxview("rules").out
    rules = ctxview("rules", "--json").json

    assert len(rules) > 60
    assert all(re.search(rf"^  {rule['id']} ", listed, re.MULTILINE) for rule in rules)


def test_every_rule_is_explained_with_why_bad_good_fix_and_source(ctxview: Run) -> None:
    for rule in ctxview("rules", "--json").json:
        for part in ("summary", "why", "bad", "good", "fix", "source"):
            assert rule[part], f"{rule['id']} says nothing under {part}"


def test_one_rule_is_explained_under_headings(ctxview: Run) -> None:
    explained = ctxview("rules", "snp021").out

    assert explained.startswith("SNP021 ")
    for heading in ("Why", "Bad", "Good", "Fix", "Source"):
        assert re.search(rf"^{heading}$", explained, re.MULTILINE)


def test_an_unknown_rule_names_the_nearest(ctxview: Run) -> None:
    ran = ctxview("rules", "SNP21")

    assert ran.code == 2
    assert "unknown rule SNP21 (did you mean SNP" in ran.complaint


def test_formats_says_how_each_format_is_recognised(ctxview: Run) -> None:
    listed = ctxview("formats").out

    assert "snapshot" in listed
    assert "<<<CONTEXT>>>" in listed
    assert [each["name"] for each in ctxview("formats", "--json").json][:8] == [
        "session",
        "envelope",
        "snapshot",
        "workspace",
        "memory",
        "transcript",
        "recording",
        "raw",
    ]


# -- merge and diff --------------------------------------------------------------------------------------


def test_merge_shows_wiped_tiers_and_tampered_fields(ctxview: Run) -> None:
    ran = ctxview("merge", RECEIVED, REPLY)

    assert ran.code == 0
    assert re.search(r"^wiped 1 .*\n  working ", ran.out, re.MULTILINE)
    assert re.search(r"^tampered \d", ran.out, re.MULTILINE)


def test_merge_json_has_the_changes_and_the_result(ctxview: Run) -> None:
    merged = ctxview("merge", RECEIVED, REPLY, "--json").json

    assert merged["accepted"] is True
    assert {change["kind"] for change in merged["changes"]} >= {"wiped", "tampered"}
    assert merged["result"]["memory"]["working"] == []


def test_a_rejected_reply_changes_nothing(ctxview: Run) -> None:
    refused = SAMPLES / "broken" / "trailing-comma.txt"

    ran = ctxview("merge", RECEIVED, refused)
    merged = ctxview("merge", RECEIVED, refused, "--json").json

    assert "rejected" in ran.out
    assert f"{refused}:" in ran.out
    assert (merged["accepted"], merged["changes"], merged["result"]) == (False, [], None)


def test_a_reply_without_a_snapshot_changes_nothing(ctxview: Run) -> None:
    assert "nothing changes" in ctxview("merge", RECEIVED, SAMPLES / "broken" / "no-separator.txt").out


def test_merging_into_a_file_without_a_snapshot_is_an_error(ctxview: Run, tmp_path: Path) -> None:
    (tmp_path / "cut.json").write_text('{"version": 3, "memory": ')

    ran = ctxview("merge", tmp_path / "cut.json", REPLY)

    assert ran.code == 2
    assert f"{tmp_path / 'cut.json'}:1:" in ran.complaint


def test_merge_exits_with_1_only_for_effects_that_are_named(ctxview: Run, tmp_path: Path) -> None:
    refused = tmp_path / "reply.txt"
    refused.write_text("Done.\n<<<CONTEXT>>>\n{", "utf-8")

    assert ctxview("merge", RECEIVED, REPLY).code == 0
    assert ctxview("merge", RECEIVED, REPLY, "--fail-on", "wiped").code == 1
    assert ctxview("merge", RECEIVED, REPLY, "--fail-on", "rejected").code == 0
    assert ctxview("merge", RECEIVED, refused, "--fail-on", "wiped", "--fail-on", "rejected").code == 1


def test_merge_notices_that_reply_and_snapshot_are_swapped(ctxview: Run) -> None:
    ran = ctxview("merge", REPLY, RECEIVED)

    assert ran.code == 2
    assert f"{REPLY} is a reply and {RECEIVED} a snapshot; name the snapshot first" in ran.complaint


def test_diff_exits_with_0_for_equal_1_for_different_and_2_for_an_error(ctxview: Run) -> None:
    other = SAMPLES / "lighthouse" / "round-03.received.json"

    assert ctxview("diff", CLEAN, CLEAN).code == 0
    assert ctxview("diff", CLEAN, other).code == 1
    assert ctxview("diff", CLEAN, "nowhere.json").code == 2


def test_diff_json_says_whether_the_states_are_equal(ctxview: Run) -> None:
    assert ctxview("diff", CLEAN, CLEAN, "--json").json["equal"] is True


def test_diff_compares_the_named_files_and_not_later_revisions_beside_them(
    ctxview: Run, tmp_path: Path
) -> None:
    shutil.copytree(samples_folder() / "envelope" / "handoff", tmp_path / "review")
    first, second = tmp_path / "review" / "handoff.json", tmp_path / "review" / "handoff.r2.json"
    text = first.read_text("utf-8").replace('"status": "requested"', '"status": "waiting"', 1)
    second.write_text(
        text.replace('"context_id": "ctx-handoff"', '"context_id": "ctx-handoff.r2"', 1), "utf-8"
    )

    ran = ctxview("diff", first, second)

    assert ran.code == 1
    assert "requested → waiting" in ran.out


# -- errors ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ("show",),
        ("show", "nowhere.json"),
        ("show", CLEAN, "--tokens", "guess"),
        ("show", CLEAN, "--as", "snapshto"),
        ("check",),
        ("check", CLEAN, "--format", "xml"),
        ("merge", CLEAN),
        ("diff", CLEAN, "nowhere.json"),
        ("rules", "--nope"),
        ("nowhere.json",),
    ],
    ids=lambda arguments: " ".join(Path(argument).name for argument in arguments),
)
def test_an_error_is_one_line_on_stderr_and_exit_code_2(
    ctxview: Run, arguments: tuple[str | Path, ...]
) -> None:
    ran = ctxview(*arguments)

    assert (ran.code, ran.out) == (2, "")
    assert ran.complaint


@pytest.mark.parametrize(
    "arguments",
    [
        ("show", "\x1b[31mred\x07"),
        ("rules", "\x1b]0;x"),
        ("check", CLEAN, "\x1b--x"),
        ("--\u202e",),
        ("\x9b2J",),
    ],
    ids=["show", "rules", "check", "option", "path"],
)
def test_an_argument_cannot_act_on_the_terminal(ctxview: Run, arguments: tuple[str | Path, ...]) -> None:
    ran = ctxview(*arguments)

    assert ran.code == 2
    assert all(line.isprintable() for line in ran.err.splitlines())


def test_a_mistyped_command_is_suggested(ctxview: Run) -> None:
    assert "did you mean check?" in ctxview("chek").complaint


def test_the_inspector_needs_a_terminal(ctxview: Run) -> None:
    assert "needs a terminal" in ctxview(CLEAN).complaint


def test_hostile_content_stays_text_in_every_output(ctxview: Run) -> None:
    hostile = SAMPLES / "broken" / "escape-sequences.json"

    for arguments in (
        ("show", hostile),
        ("show", hostile, "--json"),
        ("check", hostile),
        ("check", hostile, "--format", "json"),
        ("check", hostile, "--format", "sarif"),
        ("check", hostile, "--format", "github"),
        ("merge", hostile, REPLY),
        ("diff", CLEAN, hostile),
    ):
        ran = ctxview(*arguments)
        assert all(line.isprintable() for line in ran.out.split("\n")), arguments


def test_show_lists_the_sources_of_a_folder(ctxview: Run) -> None:
    ran = ctxview("show", SAMPLES)

    assert ran.code == 0
    assert f"snapshot  {SAMPLES / 'lighthouse'}" in ran.out
    assert ran.out.splitlines()[-1].startswith("One of them: ctxview show ")


def test_show_json_of_a_folder_with_many_sources_is_an_error(ctxview: Run) -> None:
    ran = ctxview("show", SAMPLES, "--json")
    assert ran.code == 2
    assert "sources; name one of them, such as" in ran.complaint


def test_show_of_a_folder_with_one_source_shows_it(ctxview: Run, tmp_path: Path) -> None:
    shutil.copytree(SAMPLES / "lighthouse", tmp_path / "deep" / "lighthouse")
    assert "lighthouse" in ctxview("show", tmp_path, "--tokens", "words").out


def test_check_pairs_a_reply_with_the_snapshot_that_is_named_beside_it(ctxview: Run, tmp_path: Path) -> None:
    given, sent = tmp_path / "A.json", tmp_path / "B.txt"
    shutil.copy(RECEIVED, given)
    shutil.copy(REPLY, sent)
    assert "SNP043" not in ctxview("check", sent).out
    ran = ctxview("check", given, sent)
    assert ran.code == 1
    assert "SNP043" in ran.out
    assert ctxview("check", sent, given).out == ran.out


def test_check_says_when_too_many_files_are_named_to_pair_them(
    ctxview: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check, "MOST_PAIRED", 1)
    ran = ctxview("check", RECEIVED, REPLY)
    assert "SNP043" not in ran.out
    assert "replies are not paired" in ran.err
