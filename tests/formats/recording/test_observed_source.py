"""The earlier states of an open source are its revisions, in order, for any number of reloads."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace

from ctxview.analysis.tokens import ESTIMATES
from ctxview.files.user_folders import cache_folder
from ctxview.formats import Lens, OpenError, Source, open_source
from ctxview.formats.masked_bytes import showable_bytes
from ctxview.formats.recording import observed_source
from ctxview.formats.recording.observed_source import with_history
from ctxview.reports.json_output import finding_as_json, state_as_json
from ctxview.samples import samples_folder as samples
from tests.formats.envelope import builders as envelopes
from tests.formats.session.builders import sound, user
from tests.formats.snapshot.builders import block, snapshot_value, to_bytes

LENS = Lens(ESTIMATES["bytes/4"])


def snapshot(round: int, *names: str) -> bytes:  # noqa: A002 - the protocol's own word
    return to_bytes(snapshot_value(working=[block(name) for name in names], round=round))


def blocks(source: Source, revision: int) -> list[str]:
    return [each.id for each in source.reading(revision, LENS).state.blocks()]


def kinds(source: Source) -> list[str]:
    return [each.kind for each in source.revisions]


def reading_json(source: Source, revision: int) -> str:
    reading = source.reading(revision, LENS)
    state = replace(reading.state, revision="", timeline=())
    return json.dumps([state_as_json(state), [finding_as_json(each) for each in reading.findings]])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "state.json"
    path.write_bytes(snapshot(1, "a"))
    return path


def test_every_earlier_state_becomes_a_revision(file: Path) -> None:
    source = with_history(open_source(file))
    assert kinds(source) == ["snapshot"]
    for round, names in ((2, "ab"), (3, "abc")):  # noqa: A001 - the protocol's own word
        file.write_bytes(snapshot(round, *names))
        source = source.again()

    assert kinds(source) == ["seen", "seen", "snapshot"]
    assert [blocks(source, number) for number in range(3)] == [["a"], ["a", "b"], ["a", "b", "c"]]
    assert [each.round for each in source.revisions] == [1, 2, 3]
    assert all(each.label.startswith("seen ") and each.time for each in source.revisions[:2])


def test_a_reload_without_changes_adds_nothing(file: Path) -> None:
    source = with_history(open_source(file))
    for _ in range(3):
        source = source.again()
    os.utime(file)
    source = source.again()

    assert kinds(source) == ["snapshot"]


def test_an_earlier_state_of_a_session_reads_as_it_did_then(tmp_path: Path) -> None:
    root = sound(tmp_path).write()
    source: Source = with_history(open_source(root))
    live_readings = [reading_json(source, -1)]
    for number in range(3):
        with (root / "messages.jsonl").open("a") as out:
            out.write(json.dumps(user(f"and another thing {number}")) + "\n")
        source = source.again()
        live_readings.append(reading_json(source, -1))
    seen_ones = [number for number, kind in enumerate(kinds(source)) if kind == "seen"]

    # The session of another agent to which a child belongs is outside, and is not recorded.
    outside = "ABI054"
    for number, live in zip(seen_ones, live_readings, strict=False):
        state, found = json.loads(reading_json(source, number))
        assert [state, [each for each in found if each["rule"] != outside]] == json.loads(live)
    assert len(seen_ones) == 3
    assert kinds(source)[-1] == "session"


def test_runs_that_ended_later_come_later(tmp_path: Path) -> None:
    """An earlier state comes before the revisions that did not exist then."""
    from tests.formats.session.builders import RUN_1, event, start

    root = sound(tmp_path).write()
    source: Source = with_history(open_source(root))
    before = kinds(source)
    run = RUN_1.replace("0", "9")
    with (root / "events.jsonl").open("a") as out:
        for each in (start(run), event("done", run)):
            out.write(json.dumps(each) + "\n")
    source = source.again()

    assert kinds(source) == [*before[:-1], "seen", "run", "session"]
    labels = [each.label for each in source.revisions]
    events = source.reading(len(labels) - 1, LENS).state.timeline
    places = {each.revision for each in events if each.revision is not None}
    assert {kinds(source)[each] for each in places} == {"run", "session"}
    assert max(places) == len(labels) - 1


def test_a_new_round_beside_the_old_ones_adds_no_earlier_state(tmp_path: Path) -> None:
    (tmp_path / "round-1.json").write_bytes(snapshot(1, "a"))
    source = with_history(open_source(tmp_path))
    (tmp_path / "round-2.json").write_bytes(snapshot(2, "b"))
    source = source.again()
    assert kinds(source) == ["snapshot", "snapshot"]

    (tmp_path / "round-2.json").write_bytes(snapshot(2, "c"))
    source = source.again()
    assert kinds(source) == ["snapshot", "seen", "snapshot"]
    assert [blocks(source, number) for number in range(3)] == [["a"], ["b"], ["c"]]


def test_a_reload_does_not_change_the_old_source(file: Path) -> None:
    first = with_history(open_source(file))
    file.write_bytes(snapshot(2, "b"))
    second = first.again()
    file.write_bytes(snapshot(3, "c"))
    third = second.again()

    assert [len(each.revisions) for each in (first, second, third)] == [1, 2, 3]
    assert blocks(first, 0) == ["a"]
    assert blocks(second, 1) == ["b"]


def test_names_are_the_same_at_every_moment(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(file.parent)
    for path in (file, Path(file.name), Path("..") / file.parent.name / file.name):
        file.write_bytes(snapshot(1, "a"))
        source = with_history(open_source(path))
        file.write_bytes(snapshot(2, "b"))
        source = source.again()

        names = {next(source.reading(number, LENS).state.blocks()).origin.file for number in range(2)}

        assert names == {str(path)}
        assert source.reading(0, LENS).state.source == str(path)
        assert source.bytes_at(0, str(path)) == snapshot(1, "a")
        assert source.bytes_at(1, str(path)) == source.bytes_of(str(path)) == snapshot(2, "b")


def test_only_the_latest_revision_can_be_changed(file: Path) -> None:
    source = with_history(open_source(file))
    file.write_bytes(snapshot(2, "b"))
    source = source.again()

    past, now = (next(source.reading(number, LENS).state.blocks()) for number in range(2))

    assert source.abilities.past is source
    assert source.read_only_reason(0) == "This revision is in the past; only the latest one can be changed."
    assert source.read_only_reason(1) is None
    assert past.form is not None
    assert now.form is not None
    assert (past.form.editable, now.form.editable) == (False, True)
    assert source.policy(str(file)) is not None


def test_a_draft_changes_the_latest_revision_and_no_earlier_one(file: Path) -> None:
    source = with_history(open_source(file))
    file.write_bytes(snapshot(2, "b"))
    source = source.again()
    drafts = {str(file): snapshot(2, "b", "draft")}

    found = [[each.id for each in source.reading(number, LENS, drafts).state.blocks()] for number in range(2)]

    assert found == [["a"], ["b", "draft"]]


def test_the_prompt_of_an_earlier_state_is_put_together_from_its_bytes(file: Path) -> None:
    before = open_source(file)
    source = with_history(before)
    assert before.abilities.prompt is not None
    expected = before.abilities.prompt.prompt(0, LENS).text
    file.write_bytes(snapshot(2, "b"))
    source = source.again()

    prompt = source.abilities.prompt
    assert prompt is not None
    assert prompt.prompt(0, LENS).text == expected
    assert prompt.prompt(1, LENS).text != expected
    assert {
        part.origin.file
        for message in prompt.prompt(0, LENS).messages
        for part in message.parts
        if part.origin
    } == {str(file)}


def test_a_half_written_file_is_not_recorded(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_bytes(b'{"a": 1}')
    source: Source = with_history(open_source(file))
    file.write_bytes(b'{"a": 1, "b"')
    source = source.again()
    partial_writes = source.abilities.partial_writes
    assert partial_writes is not None
    assert partial_writes.held_back
    file.write_bytes(b'{"a": 1, "b": 2}')
    source = source.again()

    assert [source.bytes_at(number, str(file)) for number in range(len(source.revisions))] == [  # type: ignore[attr-defined]
        b'{"a": 1}',
        b'{"a": 1, "b": 2}',
    ]


def test_a_large_history_is_borrowed_and_not_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observed_source, "LEND_ABOVE", 10_000)
    root = sound(tmp_path).write()
    messages = root / "messages.jsonl"
    with messages.open("a") as out:
        out.writelines(json.dumps(user(f"line {number}")) + "\n" for number in range(500))
    before = messages.read_bytes()
    source: Source = with_history(open_source(root))
    recording = source._moments._recordings[0]  # type: ignore[attr-defined]
    size = recording._writer.end
    with messages.open("a") as out:
        out.write(json.dumps(user("one more")) + "\n")
    source = source.again()

    assert recording._writer.end - size < 1000
    past = len(source.revisions) - 2
    assert source.bytes_at(past, str(messages)) == before  # type: ignore[attr-defined]
    rows = source.reading(past, LENS).state.transcript
    assert rows is not None
    assert len(rows) == before.count(b"\n")

    messages.write_bytes(b'{"role":"user","content":"rewritten"}\n' * 1000)
    source = source.again()
    (gap,) = [each for each in source.reading(past + 1, LENS).state.missing if each.status == "lost"]
    assert (gap.id, gap.why) == (
        "messages.jsonl",
        "it was too large to be copied then, and has been rewritten since",
    )


def test_a_deleted_file_cannot_be_reloaded_but_its_past_can_be_read(file: Path) -> None:
    source = with_history(open_source(file))
    file.write_bytes(snapshot(2, "b"))
    source = source.again()
    file.unlink()

    with pytest.raises(OpenError):
        source.again()
    assert blocks(source, 0) == ["a"]


def test_nothing_stays_on_disk(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    source = with_history(open_source(file))
    file.write_bytes(snapshot(2, "b"))
    source = source.again()
    blocks(source, 0)
    assert len(list(cache_folder().rglob("state.json"))) == 1
    assert not [path for path in cache_folder().rglob("*") if path.is_file() and path.name.startswith("seen")]
    del source

    assert list(cache_folder().rglob("state.json")) == []


def test_without_a_recording_the_latest_state_is_still_shown(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "no-folder").write_bytes(b"")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "no-folder"))
    source = with_history(open_source(file))
    file.write_bytes(snapshot(2, "b"))
    source = source.again()

    assert kinds(source) == ["snapshot"]
    assert blocks(source, 0) == ["b"]


def test_many_earlier_states_are_thinned_out_in_the_older_half(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(observed_source, "MOST_SEEN", 8)
    source = with_history(open_source(file))
    for number in range(2, 40):
        file.write_bytes(snapshot(number, "a"))
        source = source.again()

    rounds = [each.round for each in source.revisions]

    assert len(rounds) <= 10
    assert rounds == sorted(rounds)  # type: ignore[type-var]
    assert rounds[-5:] == [35, 36, 37, 38, 39]
    assert [blocks(source, number) for number in range(len(rounds))] == [["a"]] * len(rounds)


def test_a_full_recording_is_followed_by_another_and_the_oldest_is_dropped(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(observed_source, "MOST_MOMENTS", 5)
    source = with_history(open_source(file))
    for number in range(2, 24):
        file.write_bytes(snapshot(number, f"b{number}"))
        source = source.again()

    rounds = [each.round for each in source.revisions]

    assert rounds[-1] == 23
    assert 4 < len(rounds) <= 11
    assert [blocks(source, number) for number in range(len(rounds))][:-1] == [
        [f"b{each}"] for each in rounds[:-1]
    ]


@pytest.mark.parametrize("path", sorted(samples().glob("*/*/")), ids=lambda path: path.name)
def test_a_wrapped_source_has_the_abilities_of_the_source(path: Path, tmp_path: Path) -> None:
    from ctxview.formats import discover

    copy = tmp_path / path.name
    shutil.copytree(path, copy, symlinks=True)
    found = discover(copy).found
    assert found
    plain = open_source(found[0].path, found[0].format)
    wrapped = with_history(plain)

    own, found = plain.abilities, wrapped.abilities
    assert found == replace(own, past=wrapped, publisher=found.publisher, prompt=found.prompt)
    assert (found.publisher is None, found.prompt is None) == (own.publisher is None, own.prompt is None)
    assert (wrapped.format, wrapped.path, wrapped.title) == (plain.format, plain.path, plain.title)
    assert list(wrapped.revisions) == list(plain.revisions)
    assert wrapped.watched == plain.watched
    assert wrapped.profiles == plain.profiles
    assert wrapped.findings(LENS) == plain.findings(LENS)
    assert wrapped.reading(0, LENS) == plain.reading(0, LENS)


def test_many_reloads_keep_the_order_and_the_bytes(file: Path) -> None:
    source = with_history(open_source(file))
    written = [file.read_bytes()]
    for number in range(2, 60):
        file.write_bytes(snapshot(number, *(f"b{each}" for each in range(number))))
        written.append(file.read_bytes())
        source = source.again()

    assert len(source.revisions) == len(written)
    for number in (0, 1, 30, 57, 58, 29, 3):
        assert source.bytes_at(number, str(file)) == written[number]


def test_what_is_redacted_now_is_withheld_in_the_earlier_states(tmp_path: Path) -> None:
    secret = "the key is under the flowerpots"
    records = envelopes.turn()
    records[4] = envelopes.item("talk", secret)
    path = envelopes.write(tmp_path / "handoff", envelopes.LAYOUTS["array"](records))
    source = with_history(open_source(path))
    assert secret in repr(source.reading(0, LENS).state)
    records[4] = envelopes.item("talk", None, redaction_state="removed")
    envelopes.write(tmp_path / "handoff", envelopes.LAYOUTS["array"](records))
    source = source.again()

    assert len(source.revisions) == 2
    assert secret not in repr(source.reading(0, LENS))
    data = source.bytes_at(0, str(path))
    assert secret.encode() in data
    assert secret.encode() not in showable_bytes(source, str(path), data).data


def test_what_was_redacted_stays_withheld_when_the_file_is_written_without_the_redaction(
    tmp_path: Path,
) -> None:
    secret = "the key is under the flowerpots"
    records = envelopes.turn()

    def write(record: envelopes.Members) -> Path:
        records[4] = record
        return envelopes.write(tmp_path / "handoff", envelopes.LAYOUTS["array"](records))

    path = write(envelopes.item("talk", secret))
    source = with_history(open_source(path))
    write(envelopes.item("talk", None, redaction_state="removed"))
    source = source.again()
    for record in (envelopes.item("talk", secret), envelopes.item("other", f"They say that {secret}.")):
        write(record)
        source = source.again()
        for revision in range(len(source.revisions)):
            assert secret not in repr(source.reading(revision, LENS))
            data = source.bytes_at(revision, str(path))
            assert secret.encode() not in showable_bytes(source, str(path), data).data
