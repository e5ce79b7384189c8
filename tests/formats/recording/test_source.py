"""A recording opens like any source, and every moment reads as it did when it was recorded."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from msgspec.structs import replace

from ctxview.analysis.tokens import ESTIMATES
from ctxview.files.reading import ReadError
from ctxview.files.user_folders import cache_folder
from ctxview.formats import Lens, OpenError, Source, detect, open_source
from ctxview.formats.masked_bytes import showable_bytes
from ctxview.formats.recording import moment_reader
from ctxview.formats.recording.source import MOST_CHANGES
from ctxview.reports.json_output import finding_as_json, state_as_json
from tests.formats.envelope import builders as envelopes
from tests.formats.session.builders import sound, user
from tests.formats.snapshot.builders import block, snapshot_value, to_bytes
from tests.recording.builders import Recorded, record
from tests.running import LIMIT

OUTSIDE = "ABI054"
"""The rule about the sessions of other agents, which are outside of the recorded one."""
LENS = Lens(ESTIMATES["bytes/4"])


def snapshot(round: int, *names: str) -> bytes:  # noqa: A002 - the protocol's own word
    return to_bytes(snapshot_value(working=[block(name) for name in names], round=round))


def checkouts() -> list[Path]:
    folder = cache_folder().resolve() / "moments"
    return [each for process in folder.glob("*") for each in process.iterdir() if each.is_dir()]


def reading_json(source: Source, revision: int, live: Path) -> str:
    """A reading as JSON, with the path of the recording replaced by the recorded path."""
    reading = source.reading(revision, LENS)
    state = replace(reading.state, revision="", source="", timeline=())
    found = [finding_as_json(each) for each in reading.findings if each.rule != OUTSIDE]
    value = [state_as_json(state), found]
    return json.dumps(value).replace(str(source.path), str(live))


@pytest.fixture
def rounds(tmp_path: Path) -> Path:
    made = Recorded(tmp_path, "state")
    for number in range(1, 6):
        made.keep({"state.json": snapshot(number, *"abcde"[:number])})
    made.close()
    return made.file


def test_a_recording_is_recognised_by_its_first_bytes(rounds: Path) -> None:
    other = rounds.rename(rounds.with_name("no-suffix-at-all"))

    assert [(match.format, match.score) for match in detect(other)] == [("recording", 100)]
    assert open_source(other).format == "recording"


def test_a_moment_lists_the_changes_of_its_files(tmp_path: Path) -> None:
    made = Recorded(tmp_path, "state")
    small, large = b"one\n" * 900, b"one\n" * 1800
    trees = ({"a.json": b"{}"}, {"a.json": b"{ }", "b": small}, {"b": large}, {"b": b"two"})
    for tree in trees:
        made.keep(tree)
    made.close()
    source = open_source(made.file)

    labels = [
        [event.label for event in source.reading(place, LENS).state.timeline if event.revision == place]
        for place in range(4)
    ]

    assert labels == [[], ["a.json rewritten", "b appeared"], ["a.json gone", "b grew"], ["b truncated"]]


@pytest.mark.parametrize("more", [0, 3])
def test_changes_beyond_those_listed_are_counted(tmp_path: Path, more: int) -> None:
    made = Recorded(tmp_path, "state")
    made.keep({"a.json": b"{}"})
    made.keep({"a.json": b"{}", **{f"f{each:02}": b"x" for each in range(MOST_CHANGES + more)}})
    made.close()

    timeline = open_source(made.file).reading(1, LENS).state.timeline
    labels = [event.label for event in timeline if event.revision == 1]

    assert labels[MOST_CHANGES:] == (["3 more files changed, which are not listed"] if more else [])


def test_every_moment_is_a_revision_with_its_time(rounds: Path) -> None:
    source = open_source(rounds)

    assert [each.label for each in source.revisions] == [f"moment {number}" for number in range(1, 6)]
    assert {each.kind for each in source.revisions} == {"moment"}
    assert [each.round for each in source.revisions][-1] == 5
    assert source.revisions[0].time == "2026-02-25T06:13:21.000Z"
    assert [each.label for each in source.revisions[1:3]] == ["moment 2", "moment 3"]


def test_a_moment_shows_the_blocks_of_that_time(rounds: Path) -> None:
    source = open_source(rounds)

    found = [[each.id for each in source.reading(number, LENS).state.blocks()] for number in range(5)]

    assert found == [list("abcde"[:number]) for number in range(1, 6)]


def test_origins_name_the_recording_and_never_the_copies(rounds: Path) -> None:
    source = open_source(rounds)
    reading = source.reading(2, LENS)
    block = next(reading.state.blocks())

    assert block.origin.file == f"{rounds}/state.json"
    assert (reading.state.source, reading.state.revision) == (str(rounds), "moment 3")
    assert str(cache_folder()) not in repr(reading)
    assert str(cache_folder()) not in repr(source.findings(LENS))


def test_the_bytes_are_those_of_the_moment(rounds: Path) -> None:
    source = open_source(rounds)
    name = f"{rounds}/state.json"

    assert source.bytes_of(name) == snapshot(5, *"abcde")
    assert source.bytes_at(1, name) == snapshot(2, *"ab")  # type: ignore[attr-defined]
    assert source.bytes_of(str(rounds)) == rounds.read_bytes()
    with pytest.raises(ReadError, match="not part of the recording"):
        source.bytes_of("/etc/passwd")
    with pytest.raises(ReadError):
        source.bytes_of(f"{rounds}/../../../../../../../../../../etc/passwd")


def test_a_recording_is_read_only_with_a_reason(rounds: Path) -> None:
    source = open_source(rounds)
    block = next(source.reading(0, LENS).state.blocks())

    assert source.policy(f"{rounds}/state.json") is None
    assert block.form is not None
    assert not block.form.editable
    assert not block.form.removable
    assert source.read_only_reason(0) == "This is a recording; it cannot be changed."  # type: ignore[attr-defined]
    assert source.read_only_reason(0) in {each.why for each in block.form.fields}  # type: ignore[attr-defined]


def test_a_recorded_session_reads_like_the_live_one_at_every_moment(tmp_path: Path) -> None:
    root = sound(tmp_path / "live").write()
    made = Recorded(root.parent, root.name, tmp_path / "run.ctxrec")
    live = []
    for number in range(3):
        with (root / "messages.jsonl").open("a") as out:
            out.write(json.dumps(user(f"and another thing {number}")) + "\n")
        assert made.keep() is not None
        live.append(reading_json(open_source(root), -1, root))
    made.close()

    source = open_source(tmp_path / "run.ctxrec")

    assert [reading_json(source, number, root) for number in range(3)] == live
    rows = source.reading(1, LENS).state.transcript
    assert rows is not None
    assert rows.row(len(rows) - 1).origin.file == f"{source.path}/messages.jsonl"
    assert b"and another thing 1" in rows.raw(len(rows) - 1)
    assert rows.find("another thing 0", 0, False, lambda: False) == len(rows) - 2


def test_a_single_file_is_recorded_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from ctxview.cli import main

    file = tmp_path / "here" / "state.json"
    file.parent.mkdir()
    file.write_bytes(snapshot(1, "a"))
    (file.parent / "other.json").write_bytes(snapshot(9, "z"))

    assert main(["record", str(file), "-o", str(tmp_path / "x.ctxrec"), "--for", "0.01"]) == 0

    reading = open_source(tmp_path / "x.ctxrec").reading(0, LENS)
    assert reading.state.title == "state.json"
    assert [each.id for each in reading.state.blocks()] == ["a"]


def test_few_checkouts_are_kept_and_all_are_removed(rounds: Path) -> None:
    before = set(checkouts())
    source = open_source(rounds)
    for number in (0, 1, 2, 3, 4, 3, 2, 1, 0):
        source.reading(number, LENS)
        assert len(set(checkouts()) - before) <= moment_reader.MOST_CHECKOUTS + 1
    del source

    assert set(checkouts()) - before == set()


def test_a_file_that_two_moments_share_is_written_once(tmp_path: Path) -> None:
    made = Recorded(tmp_path)
    made.keep({"state.json": snapshot(1, "a"), "same.json": snapshot(1, "b")})
    made.keep({"state.json": snapshot(2, "a"), "same.json": snapshot(1, "b")})
    made.close()
    before = set(checkouts())
    source = open_source(made.file)
    source.reading(0, LENS)
    source.reading(1, LENS)

    copies = [path for folder in set(checkouts()) - before for path in folder.rglob("same.json")]

    assert len(copies) == 2
    assert copies[0].stat().st_ino == copies[1].stat().st_ino


def test_a_moment_in_use_is_not_removed_by_readings_of_others(rounds: Path) -> None:
    """A reading in a worker continues while another moment replaces its checkout in the cache."""
    source = open_source(rounds)
    problems: list[BaseException] = []

    def read(number: int) -> None:
        try:
            for _ in range(5):
                assert len(list(source.reading(number, LENS).state.blocks())) == number + 1
                source.bytes_at(number, f"{rounds}/state.json")  # type: ignore[attr-defined]
        except BaseException as error:  # noqa: BLE001 - asserted below
            problems.append(error)

    threads = [threading.Thread(target=read, args=(number,)) for number in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LIMIT)

    assert problems == []


def test_a_reload_has_the_new_moments_and_does_not_change_the_old_source(tmp_path: Path) -> None:
    made = Recorded(tmp_path)
    made.keep({"state.json": snapshot(1, "a")})
    first = open_source(made.file)
    made.keep({"state.json": snapshot(2, "a", "b")})
    second = first.again()

    assert first.watched == (made.file,)
    assert (len(first.revisions), len(second.revisions)) == (1, 2)
    assert len(list(second.reading(1, LENS).state.blocks())) == 2
    made.close()
    made.file.unlink()
    with pytest.raises(OpenError):
        second.again()
    assert len(list(first.reading(0, LENS).state.blocks())) == 1


def test_a_recording_that_was_replaced_is_opened_again(tmp_path: Path) -> None:
    source = open_source(record(tmp_path / "one", [{"a.json": snapshot(1, "a")}]).path)
    other = record(tmp_path / "two", [{"a.json": snapshot(2, "b")}, {"a.json": snapshot(3, "c")}])
    other.path.replace(source.path)

    again = source.again()

    assert [each.id for each in again.reading(1, LENS).state.blocks()] == ["c"]


def test_an_empty_moment_says_that_the_folder_is_empty(tmp_path: Path) -> None:
    made = Recorded(tmp_path)
    made.keep({"state.json": snapshot(1, "a")})
    made.keep({})
    made.close()

    reading = open_source(made.file).reading(1, LENS)

    assert reading.state.tiers == ()
    assert "this folder is empty" in reading.state.missing[0].why
    assert str(cache_folder()) not in repr(reading)


def test_a_recording_without_moments_opens(tmp_path: Path) -> None:
    made = Recorded(tmp_path)
    made.opened.writer.close()
    source = open_source(made.file)

    assert [each.label for each in source.revisions] == ["no moment"]
    assert source.reading(0, LENS).state.missing[0].why.endswith("the recording has no moment yet")
    assert [each.rule for each in source.findings(LENS)] == ["REC003"]


def test_a_file_that_only_begins_like_a_recording_cannot_be_opened(tmp_path: Path) -> None:
    file = tmp_path / "x.ctxrec"
    file.write_bytes(b"\x93CTXREC1and then something else")

    with pytest.raises(OpenError, match="this recording cannot be read: its first 16 bytes"):
        open_source(file)


def test_the_checkouts_of_a_killed_program_are_removed_by_the_next(rounds: Path) -> None:
    script = (
        "import os, sys; from pathlib import Path\n"
        "from ctxview.formats import Lens, open_source; from ctxview.analysis.tokens import ESTIMATES\n"
        f"source = open_source(Path({str(rounds)!r})); source.reading(0, Lens(ESTIMATES['bytes/4']))\n"
        "print(os.getpid(), flush=True); os.kill(os.getpid(), 9)"
    )
    killed = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=LIMIT
    )
    left = cache_folder().resolve() / "moments"
    assert any(each.name.startswith(f"{killed.stdout.strip()}-") for each in left.iterdir())

    ended = subprocess.run(
        [sys.executable, "-c", script.replace("os.kill(os.getpid(), 9)", "")],
        capture_output=True,
        check=True,
        timeout=LIMIT,
    )

    assert not ended.stderr
    mine = {each.name.split("-")[0] for each in left.iterdir()}
    assert killed.stdout.strip() not in mine


def test_opening_a_recording_checks_nothing_out(rounds: Path) -> None:
    before = set(checkouts())
    source = open_source(rounds)

    assert (source.title, len(source.revisions), source.profiles) == ("state", 5, ())
    assert set(checkouts()) == before

    source.reading(0, LENS)
    assert source.profiles


def test_a_profile_of_the_recorded_format_can_be_named(rounds: Path) -> None:
    source = open_source(rounds)
    source.reading(0, LENS)

    for profile in (*source.profiles, "a-profile-of-another-format"):
        assert source.reading(4, replace(LENS, profile=profile)).state.counts.blocks == 5


@pytest.mark.parametrize("layout", [*envelopes.LAYOUTS])
def test_withheld_content_is_withheld_in_a_recording_too(tmp_path: Path, layout: str) -> None:
    secret = "the key is under the flowerpots"
    records = envelopes.turn()
    records[4] = envelopes.item("talk", secret, redaction_state="removed", policy_refs=["policy-9"])
    path = envelopes.write(tmp_path / "handoff", envelopes.LAYOUTS[layout](records))
    live = open_source(path)
    made = Recorded(tmp_path, "handoff")
    made.keep()
    made.close()
    source = open_source(made.file)

    live_redactor, redactor = live.abilities.redactor, source.abilities.redactor
    assert live_redactor is not None
    assert redactor is not None
    reading = source.reading(0, LENS)
    assert secret not in repr(replace(reading.state, transcript=None))
    for file in (tmp_path / "handoff").iterdir():
        name = f"{made.file}/{file.name}"
        assert redactor.withheld(name) == live_redactor.withheld(str(file))
        assert redactor.withheld(name, source.bytes_of(name)) == live_redactor.withheld(str(file))


def test_what_a_later_moment_redacts_is_withheld_in_the_earlier_ones(tmp_path: Path) -> None:
    secret = "the key is under the flowerpots"
    records = envelopes.turn()
    records[4] = envelopes.item("talk", secret)
    path = envelopes.write(tmp_path / "handoff", envelopes.LAYOUTS["array"](records))
    made = Recorded(tmp_path, "handoff")
    made.keep()
    records[4] = envelopes.item("talk", None, redaction_state="removed")
    envelopes.write(tmp_path / "handoff", envelopes.LAYOUTS["array"](records))
    made.keep()
    made.close()
    source = open_source(made.file)

    assert source.abilities.redactor is not None
    past = source.abilities.past
    assert past is not None
    assert len(source.revisions) == 2
    for revision in (0, 1):
        reading = source.reading(revision, LENS)
        assert secret not in repr(replace(reading.state, transcript=None))
        name = f"{made.file}/{path.name}"
        data = past.bytes_at(revision, name)
        assert (secret.encode() in data) == (revision == 0)
        assert secret.encode() not in showable_bytes(source, name, data).data


@pytest.mark.parametrize(
    "states", [["removed", "none"], ["none", "removed", "none"], ["removed", "none", "none"]]
)
def test_what_any_moment_redacts_is_withheld_in_all(tmp_path: Path, states: list[str]) -> None:
    secret = "the key is under the flowerpots"
    made = Recorded(tmp_path, "handoff")
    for number, state in enumerate(states):
        records = envelopes.turn()
        content = secret if state == "none" else None
        records[4] = envelopes.item("talk", content, redaction_state=state, title=f"try {number}")
        path = envelopes.write(tmp_path / "handoff", envelopes.LAYOUTS["array"](records))
        made.keep()
    records[4] = envelopes.item("other", f"They say that {secret}.")
    envelopes.write(tmp_path / "handoff", envelopes.LAYOUTS["array"](records))
    made.keep()
    made.close()
    source = open_source(made.file)

    past = source.abilities.past
    assert past is not None
    assert len(source.revisions) == len(states) + 1
    for revision in range(len(source.revisions)):
        assert secret not in repr(source.reading(revision, LENS))
        name = f"{made.file}/{path.name}"
        assert secret.encode() not in showable_bytes(source, name, past.bytes_at(revision, name)).data
