"""A redacted text is nowhere in the copy, in no spelling, and the copy is as sound as the original."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ctxview.analysis.secrets import find_secrets
from ctxview.review.redaction.redacted_files import redact_trees
from ctxview.review.redaction.redacted_recording import recorded_trees
from ctxview.review.redaction.redacted_text import RedactedValue, TextRedactor
from ctxview.samples import samples_folder
from tests.formats.snapshot.builders import block, snapshot_value, to_bytes
from tests.formats.transcript.builders import write as write_transcript
from tests.formats.transcript.opencode_builders import export as opencode_export
from tests.formats.transcript.opencode_builders import write_store
from tests.running import Run

VALUE = 'Zebra "Quartz" 4417 lies\tunder the flowerpot – Ödön'
SHORT = "hunter2x"


def spelled(value: str) -> dict[str, str]:
    """A value as it may be written in a file, by the name of the spelling."""
    data = value.encode()
    encodings = {
        "plain": value,
        "json": json.dumps(value)[1:-1],
        "json in utf-8": json.dumps(value, ensure_ascii=False)[1:-1],
        "json in json": json.dumps(json.dumps(value))[1:-1],
        "percent": quote(value),
        "every byte in percents": "".join(f"%{byte:02x}" for byte in data),
        "hexadecimal": data.hex(),
        "capital hexadecimal": data.hex().upper(),
        **{
            f"base64 at {offset}": base64.b64encode(b"?" * offset + data + b"!").decode()
            for offset in range(3)
        },
        "base64 for addresses": base64.urlsafe_b64encode(b"??" + data).decode(),
    }
    split = {
        f"{name}, split over lines": re.sub(r"(.{7})", r"\1\n", each) for name, each in encodings.items()
    }
    return {**encodings, **{name: each for name, each in split.items() if "json" not in name}}


def leaks(data: bytes, value: str) -> list[str]:
    """The spellings of a value that are somewhere in the bytes, line ends ignored."""
    text = data.decode("utf-8", "replace")
    bare = re.sub(r"\s+|\\[nrt]", "", text)
    encoded = value.encode()
    cores = {}
    for offset in range(3):
        whole = base64.b64encode(b"\0" * offset + encoded).decode()
        core = whole[-(-offset * 8 // 6) : (offset + len(encoded)) * 8 // 6]
        cores[f"base64 at {offset}"] = core
        cores[f"base64 for addresses at {offset}"] = core.replace("+", "-").replace("/", "_")
    plain = {
        name: each for name, each in spelled(value).items() if "base64" not in name and "split" not in name
    }
    digests = {name: hashlib.new(name, encoded).hexdigest() for name in ("md5", "sha1", "sha256", "sha512")}
    return [
        name
        for name, each in {**plain, **cores, **digests}.items()
        if each in text or re.sub(r"\s+|\\[nrt]", "", each) in bare
    ]


def files_of(path: Path) -> dict[str, bytes]:
    if path.is_file():
        return {path.name: path.read_bytes()}
    return {str(each.relative_to(path)): each.read_bytes() for each in path.rglob("*") if each.is_file()}


def assert_gone(copy: Path, *values: str) -> None:
    everything = b"\0".join(part for name, data in files_of(copy).items() for part in (name.encode(), data))
    for value in values:
        assert leaks(everything, value) == []


def problems(ctxview: Run, path: Path) -> Counter[str]:
    """How many errors and warnings each rule has."""
    found = ctxview("check", path, "--format", "json").json
    return Counter(each["rule"] for each in found if each["severity"] != "info")


def assert_as_sound(ctxview: Run, original: Path, copy: Path) -> None:
    before, after = problems(ctxview, original), problems(ctxview, copy)
    assert {rule: (before[rule], count) for rule, count in after.items() if count > before[rule]} == {}


@pytest.mark.parametrize("spelling", spelled(VALUE))
@pytest.mark.parametrize("value", [VALUE, SHORT])
def test_no_spelling_of_a_text_survives(value: str, spelling: str) -> None:
    text = f"Before it. [{spelled(value)[spelling]}] After it."
    redactor = TextRedactor([RedactedValue(value, "REDACTED-1", exact=True)])
    redacted = redactor.redacted(text)

    assert leaks(text.encode(), value) != [], "the search would find it"
    assert leaks(redacted.encode(), value) == []
    assert redactor.leak(redacted) is None
    assert redacted.startswith("Before it. [")
    assert redacted.endswith("] After it.")
    assert redacted.count("\n") == text.count("\n")


def test_other_text_stays_as_it_is() -> None:
    redactor = TextRedactor(
        [RedactedValue(VALUE, "REDACTED-1"), RedactedValue(SHORT, "REDACTED-2", exact=True)]
    )
    text = "A zebra; 4417 pots. hunter2 is not it, and base64 digits such as dGhpcyBpcyBub3QgaXQ= are others."

    assert redactor.redacted(text) == text
    assert redactor.redacted(f"x{SHORT}y") == "xREDACTED-2y"


@pytest.mark.parametrize("written", ["createRefund()", "MYREFUNDS", "createRe\nfund()", "myRefund%20"])
def test_a_typed_text_is_removed_inside_words_in_any_case(written: str) -> None:
    redactor = TextRedactor([RedactedValue("refund", "MARK-1", exact=True)])
    redacted = redactor.redacted(f"say {written} twice")

    assert redactor.leak(written) is not None
    assert "refund" not in redacted.lower().replace("\n", "")
    assert redactor.leak(redacted) is None
    assert redactor.redacted("createRefuge()") == "createRefuge()"
    chosen = TextRedactor([RedactedValue("refund", "MARK-1")])
    assert chosen.redacted("createRefund()") == "createRefund()"


def test_a_part_of_a_text_takes_nothing_of_the_lines_around_it() -> None:
    value = "- one file, one component.\n- Every route validates its input with zod.\n- Colours come later."
    redactor = TextRedactor([RedactedValue(value, "REDACTED-1")])
    text = "- Money is never a float.\n- Every route validates its input with zod.\n- The port is 3000.\n"

    assert redactor.redacted(text) == "- Money is never a float.\n- REDACTED-1\n- The port is 3000.\n"


@pytest.mark.parametrize(
    ("value", "left"), [('{"number":"4471"}', '{"REDACTED-1": true}'), ("[44, 71]", '["REDACTED-1"]')]
)
def test_a_chosen_object_or_array_becomes_another_in_any_layout(value: str, left: str) -> None:
    redactor = TextRedactor([RedactedValue(value, "REDACTED-1")])
    document = {"input": json.loads(value), "text": value, "number": "4471"}
    for layout in (None, 1):
        (tree,) = redact_trees([{"x.json": json.dumps(document, indent=layout).encode()}], redactor, [])

        assert not tree.left_out
        assert json.loads(tree.files["x.json"]) == {
            "input": json.loads(left),
            "text": left,
            "number": "4471",
        }


def test_equal_texts_stay_equal_in_a_file_and_in_json() -> None:
    text = f"The first line of {VALUE}\nThe second line, which is another one\n"
    digest = hashlib.sha256(text.encode()).hexdigest()
    message = json.dumps({"content": text, "hash": digest}).encode()
    redactor = TextRedactor([RedactedValue(text, "REDACTED-1")])
    (tree,) = redact_trees([{f"sha256-{digest}": text.encode(), "messages.jsonl": message}], redactor, [])
    found = json.loads(tree.files["messages.jsonl"])

    assert tree.files[f"sha256-{found['hash']}"] == found["content"].encode()
    assert hashlib.sha256(found["content"].encode()).hexdigest() == found["hash"]


@given(
    value=st.text(
        st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), min_size=8, max_size=60
    ).filter(lambda text: len(text.strip()) >= 8),
    around=st.lists(st.text(max_size=20), min_size=2, max_size=4),
    layout=st.sampled_from([None, 2]),
)
@settings(max_examples=60, deadline=None)
@example(value="00000000", around=["Ð", ""], layout=2)
def test_json_stays_json_and_loses_the_value(value: str, around: list[str], layout: int | None) -> None:
    document = {"a": around, value: [f"{around[0]}{value}{around[1]}", {"n": 1}], "b": value * 2}
    data = json.dumps(document, indent=layout, ensure_ascii=bool(layout)).encode("utf-8", "surrogatepass")
    redactor = TextRedactor([RedactedValue(value, "REDACTED-1", exact=True)])
    (tree,) = redact_trees([{"x.json": data}], redactor, [])

    assert not tree.left_out
    found = json.loads(tree.files["x.json"])
    assert "REDACTED-1" in found["b"]
    assert value not in json.dumps(found, ensure_ascii=False)


def test_a_copy_on_the_border_of_two_pieces_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctxview.review.redaction.redacted_text.CHUNK", 40)
    redactor = TextRedactor([RedactedValue(SHORT, "REDACTED-1", exact=True)])
    for before in range(30, 60):
        text = "x" * before + f"\n{SHORT[:4]}\n{SHORT[4:]}\n" + "some other line\n" * 8

        assert leaks(redactor.redacted(text).encode(), SHORT) == []


SESSION = "session/coder/home/1000/agent/coder/session/default"
SAMPLES = [
    ("snapshot/lighthouse", "core-evidence"),
    ("snapshot/agent-workspace", "core-role"),
    (SESSION, "d3"),
    (SESSION, "summary.md"),
    ("session/damaged/home/1000/agent/keeper/session/default", "message 3"),
    ("envelope/handoff", "item-rerun"),
    ("envelope/planted", "item-hunt-1"),
    ("envelope/handoff", "summary-hunt"),
    ("snapshot/broken/v1.2.txt", "work-001"),
    ("workspace/workspace-after", "compare-build-4127-with-build"),
    ("memory/exhibition", "d4a7677796"),
    ("memory/exhibition", "7403d71684"),
    ("memory/exhibition", "548201e2bd"),
    ("transcript/plan-rollback/rollout-2026-08-01T10-00-00-plan.jsonl", "line 3"),
    ("transcript/refund-day/5f0c2a7e-1111-4222-8333-9a0b1c2d3e4f.jsonl", "r4"),
    ("README.md", "line 3"),
]


def copied(sample: str, folder: Path) -> Path:
    """A copy of a sample below `folder`, as deep as it is, so that names in its path stay."""
    target = folder / "original" / sample
    target.parent.mkdir(parents=True)
    source = samples_folder() / sample
    (shutil.copytree if source.is_dir() else shutil.copy)(source, target)
    if source.is_file() and source.with_suffix("").is_dir():
        shutil.copytree(source.with_suffix(""), target.with_suffix(""))
    return target


@pytest.mark.parametrize(("sample", "name"), SAMPLES, ids=[f"{sample} {name}" for sample, name in SAMPLES])
def test_a_block_is_nowhere_in_the_copy(ctxview: Run, tmp_path: Path, sample: str, name: str) -> None:
    original, copy = copied(sample, tmp_path), tmp_path / "copy" / sample
    copy.parent.mkdir(parents=True)
    before = files_of(original)
    shown = ctxview("show", original, "--json", "--tokens", "bytes/4").json
    blocks = [each for tier in shown["tiers"] for each in tier["blocks"] if len(each["text"]) > 20]
    chosen = next(each for each in blocks if each["id"] == name)
    ran = ctxview("export", original, "--redact", "--block", chosen["id"], "-o", copy)

    assert (ran.code, ran.err) == (0, "")
    assert files_of(original) == before, "the source is only read"
    assert len(files_of(copy)) == len(before)
    assert_gone(copy, chosen["text"])
    assert_as_sound(ctxview, original, copy)


@pytest.mark.parametrize(
    ("sample", "chosen"),
    [
        ("session/coder/home/1000/agent/coder/session/default", ("--text", "Shenzhen")),
        ("snapshot/lighthouse", ("--text", "invoices")),
        ("memory/exhibition", ("--block", "drawings-fresnel-lens-jonas")),
    ],
)
def test_a_copy_of_another_name_and_with_longer_marks_is_as_sound(
    ctxview: Run, tmp_path: Path, sample: str, chosen: tuple[str, str]
) -> None:
    original, copy = samples_folder() / sample, tmp_path / "handover"
    ran = ctxview("export", original, "--redact", *chosen, "-o", copy)

    assert (ran.code, ran.err) == (0, "")
    found, after = (
        Counter(each["rule"] for each in ctxview("check", path, "--format", "json").json)
        for path in (original, copy)
    )
    assert not after - found


def test_a_session_of_a_store_names_what_can_be_redacted_instead(ctxview: Run, tmp_path: Path) -> None:
    store = write_store(tmp_path, opencode_export("u1 user: The invoice of Aurelia"))
    ran = ctxview("export", store, "--redact", "--text", "Aurelia", "-o", tmp_path / "copy.db")

    assert ran.code == 2
    assert "a session of a store is not copied" in ran.err
    assert not (tmp_path / "copy.db").exists()


def test_folders_stay_apart_when_a_removed_text_names_one_with_its_slash(
    ctxview: Run, tmp_path: Path
) -> None:
    """The result `r8` names the path of a file in the folder of the session."""
    (original,) = (samples_folder() / "transcript" / "refund-day").glob("*.jsonl")
    copy = tmp_path / "copy.jsonl"

    ran = ctxview("export", original, "--redact", "--block", "r8", "-o", copy)

    assert (ran.code, ran.err) == (0, "")
    assert (tmp_path / "copy" / "subagents" / "agent-c1.jsonl").is_file()
    assert_as_sound(ctxview, original, copy)


def test_what_a_removed_result_took_of_the_window_is_not_judged(ctxview: Run, tmp_path: Path) -> None:
    """A call was sent the result, and the copy does not have it."""
    original = write_transcript(
        tmp_path,
        """
        meta
        user : Read everything
        call id=t1 : {"cmd": "cat big.sql"}
        tokens sent=20000 out=5
        output id=t1 : one row of the table *10000
        assistant : Done
        tokens sent=82000 out=5
        """,
        "rollout-2026-08-01T10-00-00-big.jsonl",
    )
    copy = tmp_path / "copy.jsonl"
    shown = ctxview("show", original, "--json", "--tokens", "bytes/4").json
    blocks = [block for tier in shown["tiers"] for block in tier["blocks"]]
    (result,) = (each["id"] for each in blocks if each["text"].startswith("one row"))

    assert ctxview("export", original, "--redact", "--block", result, "-o", copy).code == 0
    found, after = (
        Counter(each["rule"] for each in ctxview("check", path, "--format", "json").json)
        for path in (original, copy)
    )
    assert not after - found


def test_a_copy_of_a_transcript_with_sub_agents_needs_an_ending(ctxview: Run, tmp_path: Path) -> None:
    """Its folder has the name of the file without the ending."""
    (original,) = (samples_folder() / "transcript" / "refund-day").glob("*.jsonl")
    ran = ctxview("export", original, "--redact", "--text", "refund", "-o", tmp_path / "copy")

    assert ran.code == 2
    assert "a folder comes with the file, so its name needs an ending: " in ran.err
    assert not [*tmp_path.iterdir()]


def test_a_whole_document_leaves_other_documents_their_template(ctxview: Run, tmp_path: Path) -> None:
    original, copy = copied("workspace/workspace-home", tmp_path), tmp_path / "copy"
    ran = ctxview("export", original, "--redact", "--block", "telegram:4711", "-o", copy)

    assert (ran.code, ran.err) == (0, "")
    assert "four members" not in (copy / "workspace/memory/sessions/SESSION_316c771b.md").read_text("utf-8")
    assert_as_sound(ctxview, original, copy)


@pytest.mark.parametrize("name", ["handoff", "planted"])
def test_a_summary_of_redacted_items_says_so(ctxview: Run, tmp_path: Path, name: str) -> None:
    """`Bram` is in a summarised item and not in its summary."""
    original, copy = samples_folder() / "envelope" / name, tmp_path / "copy"
    assert ctxview("export", original, "--redact", "--text", "Bram", "-o", copy).code == 0
    records = json.loads((copy / f"{name}.json").read_text("utf-8"))

    (summary,) = (each for each in records if each.get("summary_id") == "summary-hunt")
    assert summary["redaction_state"] == "summarized"
    assert_as_sound(ctxview, original, copy)


def test_an_envelope_says_what_was_redacted(ctxview: Run, tmp_path: Path) -> None:
    ran = ctxview(
        "export",
        samples_folder() / "envelope" / "handoff",
        "--redact",
        "--block",
        "item-rerun",
        "-o",
        tmp_path / "copy",
    )
    records = json.loads((tmp_path / "copy" / "handoff.json").read_text("utf-8"))
    (item,) = (each for each in records if each.get("item_id") == "item-rerun")
    events = [each for each in records if each.get("event_type") == "context.redaction.applied"]

    assert ran.code == 0
    assert item["redaction_state"] == "removed"
    assert item["byte_size"] == len(item["content"])
    assert {
        "redaction_method",
        "redacted_by",
        "redaction_reason",
        "policy_refs",
        "original_ref",
    } <= item.keys()
    assert "item-rerun" in [each["subject"] for each in events]
    blocks = [block for each in records for block in each.get("ordered_blocks", ())]
    marked = [block for block in blocks if "item-rerun" in json.dumps(block["item_refs"])]
    assert marked
    assert {block["redaction_state"] for block in marked} == {"removed"}


@pytest.mark.parametrize("files", [("turn.json", "turn.json"), ("envelope.json", "items.jsonl")])
def test_an_envelope_without_policies_names_that_of_the_redaction(
    ctxview: Run, tmp_path: Path, files: tuple[str, str]
) -> None:
    original, copy = tmp_path / "original", tmp_path / "copy"
    original.mkdir()
    records = json.loads((samples_folder() / "envelope" / "handoff" / "handoff.json").read_text("utf-8"))
    envelope = {name: value for name, value in records[0].items() if name != "policy_refs"}
    items = [each for each in records if "item_id" in each and each["item_id"] == "item-rerun"]
    for name, rows in ((files[0], [envelope]), (files[1], items)):
        before = (original / name).read_text("utf-8") if (original / name).exists() else ""
        (original / name).write_text(
            json.dumps([*json.loads(before or "[]"), *rows])
            if name.endswith(".json")
            else "".join(f"{json.dumps(each)}\n" for each in rows),
            "utf-8",
        )

    assert ctxview("export", original, "--redact", "--block", "item-rerun", "-o", copy).code == 0
    assert_as_sound(ctxview, original, copy)


@pytest.mark.parametrize("name", ["handoff.ndjson", "handoff.jsonlines", "handoff.JSONL"])
def test_an_envelope_of_json_lines_says_what_was_redacted(ctxview: Run, tmp_path: Path, name: str) -> None:
    original = tmp_path / "original"
    shutil.copytree(samples_folder() / "envelope" / "handoff", original)
    records = json.loads((original / "handoff.json").read_text("utf-8"))
    (original / "handoff.json").unlink()
    (original / name).write_text("".join(f"{json.dumps(each)}\n" for each in records), "utf-8")

    copy = tmp_path / "copy"
    assert ctxview("export", original, "--redact", "--block", "item-rerun", "-o", copy).code == 0
    lines = [json.loads(line) for line in (copy / name).read_text("utf-8").splitlines()]
    (item,) = (each for each in lines if each.get("item_id") == "item-rerun")
    assert item["redaction_state"] == "removed"
    assert_as_sound(ctxview, original, copy)


def test_a_recording_is_redacted_at_every_moment(
    ctxview: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "rounds"
    folder.mkdir()
    monkeypatch.setattr("ctxview.commands.record._check_times", lambda interval, duration: iter([1]))
    for number in (1, 2):
        value = snapshot_value(core=[block("a", content=f"{number}: {SHORT}")], round=number)
        (folder / f"round-0{number}.received.json").write_bytes(to_bytes(value))
        (folder / f"round-0{number}.{SHORT}.json").write_bytes(to_bytes(value))
        assert ctxview("record", folder, "-o", tmp_path / "all.ctxrec").code == 0
    ran = ctxview(
        "export", tmp_path / "all.ctxrec", "--redact", "--text", SHORT, "-o", tmp_path / "copy.ctxrec"
    )
    recording, trees = recorded_trees(tmp_path / "copy.ctxrec")

    assert (ran.code, ran.err) == (0, "")
    assert [recording.time(at) for at in range(len(recording))] == [1, 1]
    assert [len(tree) for tree in trees] == [1, 2] or [len(tree) for tree in trees] == [2, 4]
    for tree in trees:
        for name, data in tree.items():
            assert leaks(data, SHORT) == leaks(name.encode(), SHORT) == []
            assert b"REDACTED-1" in data


@pytest.fixture
def withholding(tmp_path: Path) -> Path:
    """Records that withhold `VALUE` and a number, and still hold both, also in other files."""
    folder = tmp_path / "withholding"
    folder.mkdir()
    spelled_out = "; ".join(each for name, each in spelled(VALUE).items() if "split" not in name)
    records = [
        {"item_id": "gone", "redaction_state": "removed", "content": VALUE},
        {"item_id": "sum", "redaction_state": "removed", "content": 918273645},
        {"item_id": "list", "redaction_state": "removed", "content": [VALUE, {"a": VALUE}]},
        {"item_id": "copies", "redaction_state": "none", "content": spelled_out, "other": 918273645},
        {"item_id": "beside", "content_mode": "ref", "content_ref": "beside.md", "note": SHORT},
    ]
    (folder / "records.json").write_text(json.dumps(records), "utf-8")
    (folder / "beside.md").write_text(f"# Beside\n\n{VALUE}\n", "utf-8")
    (folder / "torn.jsonl").write_text(f'{{"item_id": "x"}}\n{{"redacted": true, "t": "{SHORT}\n', "utf-8")
    return folder


@pytest.mark.parametrize("is_recorded", [False, True])
def test_content_that_the_records_withhold_is_not_in_the_copy(
    ctxview: Run, withholding: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_recorded: bool
) -> None:
    original, copy = withholding, tmp_path / "copy"
    if is_recorded:
        monkeypatch.setattr("ctxview.commands.record._check_times", lambda interval, duration: iter([1]))
        original, copy = tmp_path / "all.ctxrec", tmp_path / "copy.ctxrec"
        assert ctxview("record", withholding, "-o", original).code == 0
    ran = ctxview("export", original, "--redact", "--secrets", "-o", copy)
    files = recorded_trees(copy)[1][0] if is_recorded else files_of(copy)

    assert (ran.code, ran.err) == (0, "")
    assert "withheld content" in ran.out
    assert files.keys() == files_of(withholding).keys()
    for data in files.values():
        assert leaks(data, VALUE) == []
        assert b"918273645" not in data
    assert SHORT.encode() not in files["torn.jsonl"]
    by_id = {each["item_id"]: each for each in json.loads(files["records.json"])}
    assert by_id["gone"]["content"] == "[withheld]"
    assert by_id["list"]["content"] == []
    assert by_id["beside"]["note"] == SHORT


def test_the_chain_of_an_audit_log_is_made_again(ctxview: Run, tmp_path: Path) -> None:
    original = copied("workspace/workspace-home", tmp_path)
    log = next(original.rglob("audit/cli_default.jsonl"))
    first = json.loads(log.read_text("utf-8").splitlines()[0])
    copy = tmp_path / "workspace-home"
    ran = ctxview("export", original, "--redact", "--text", first["result_data"], "-o", copy)
    lines = [json.loads(line) for line in (copy / log.relative_to(original)).read_text("utf-8").splitlines()]

    assert ran.code == 0
    assert lines[0]["hash"] != first["hash"]
    assert [each["prev_hash"] for each in lines] == ["", *(each["hash"] for each in lines[:-1])]
    assert_as_sound(ctxview, original, copy)


def test_all_secrets_are_removed(ctxview: Run, tmp_path: Path) -> None:
    original = samples_folder() / "snapshot" / "broken" / "secret.json"
    stored = original.read_text("utf-8")
    secrets = [stored[each.start : each.end] for each in find_secrets(stored)]
    ran = ctxview("export", original, "--redact", "--secrets", "-o", tmp_path / "copy.json")

    assert ran.code == 0
    assert secrets
    assert_gone(tmp_path / "copy.json", *secrets)
    found = ctxview("check", tmp_path / "copy.json", "--format", "json").json
    assert not [each for each in found if each["rule"].startswith("SEC")]
    assert json.loads((tmp_path / "copy.json").read_text("utf-8"))


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """A folder with a snapshot that holds a value in a text, as a digest, and in the name of a file."""
    folder = tmp_path / "planted"
    folder.mkdir()
    digest = hashlib.sha256(SHORT.encode()).hexdigest()
    blocks = [
        block("a", content=f"The password is {SHORT}."),
        block("b", content=f"Its digest is {digest}, in short {digest[:12]}", pin=44171234),
        block("c", content=f"See notes-{SHORT}.txt"),
    ]
    (folder / "round-01.received.json").write_bytes(to_bytes(snapshot_value(core=blocks)))
    return folder


def test_digests_and_numbers_of_a_text_go_too(ctxview: Run, planted: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    ran = ctxview("export", planted, "--redact", "--text", SHORT, "--text", "44171234", "-o", copy)
    value = json.loads((copy / "round-01.received.json").read_text("utf-8"))
    a, b, c = value["memory"]["core"]

    assert ran.code == 0
    assert_gone(copy, SHORT, "44171234")
    assert a["content"] == "The password is REDACTED-1."
    assert hashlib.sha256(SHORT.encode()).hexdigest()[:12] not in b["content"]
    assert b["pin"] == "REDACTED-2", "a number becomes a text, so that the file is still JSON"
    assert c["content"] == "See notes-REDACTED-1.txt"


def test_a_field_is_removed_wherever_its_value_is(ctxview: Run, planted: Path, tmp_path: Path) -> None:
    field = "round-01.received.json#/memory/core/0/content"
    ran = ctxview("export", planted, "--redact", "--field", field, "-o", tmp_path / "copy")

    assert ran.code == 0
    assert_gone(tmp_path / "copy", f"The password is {SHORT}.")


def test_files_are_renamed_rewritten_or_left_out(ctxview: Run, tmp_path: Path) -> None:
    """A name and its mention still agree, a blob has the name of its new digest, a picture stays behind."""
    original = copied(SESSION, tmp_path)
    text = f"It is {SHORT} {'x' * 5000}"
    digest = hashlib.sha256(text.encode()).hexdigest()
    (original / f"notes-{SHORT}.txt").write_text(f"see notes-{SHORT}.txt and sha256-{digest}\n")
    (original / f"sha256-{digest}").write_text(text)
    (original / "picture.bin").write_bytes(bytes(range(256)) * 8)
    _write_database(original / "store.db", text, digest)
    assert b"deleted is " + SHORT.encode() in (original / "store.db").read_bytes()
    copy = tmp_path / "default"
    ran = ctxview("export", original, "--redact", "--text", SHORT, "-o", copy)

    assert ran.code == 0
    assert ran.complaint.startswith("note: picture.bin is not in the copy: it is not text")
    assert not (copy / "picture.bin").exists()
    assert_gone(copy, SHORT)
    new = hashlib.sha256(text.replace(SHORT, "REDACTED-1").encode()).hexdigest()
    assert (copy / "notes-REDACTED-1.txt").read_text() == f"see notes-REDACTED-1.txt and sha256-{new}\n"
    assert hashlib.sha256((copy / f"sha256-{new}").read_bytes()).hexdigest() == new
    with closing(sqlite3.connect(copy / "store.db")) as database:
        assert database.execute("SELECT text, digest FROM kept").fetchall() == [
            (text.replace(SHORT, "REDACTED-1"), new)
        ]
        assert database.execute("SELECT count(*) FROM words WHERE words MATCH 'REDACTED'").fetchone() == (1,)
        assert database.execute("SELECT count(*) FROM words WHERE words MATCH ?", [SHORT]).fetchone() == (0,)


def _write_database(file: Path, text: str, digest: str) -> None:
    with closing(sqlite3.connect(file)) as database:
        database.execute("PRAGMA secure_delete = OFF")
        database.execute("CREATE TABLE kept (text TEXT, digest TEXT)")
        database.execute("CREATE VIRTUAL TABLE words USING fts5(text)")
        database.execute("INSERT INTO kept VALUES (?, ?)", [text, digest])
        database.execute("INSERT INTO words VALUES (?)", [text])
        database.execute("INSERT INTO kept(text) VALUES (?)", [f"a row that is deleted is {SHORT}"])
        database.commit()
        database.execute("DELETE FROM kept WHERE text LIKE '%deleted%'")
        database.commit()


def test_a_preview_shows_the_redacted_state_and_writes_nothing(
    ctxview: Run, planted: Path, tmp_path: Path
) -> None:
    before = sorted(tmp_path.rglob("*"))
    ran = ctxview("export", planted, "--redact", "--text", SHORT, "--preview")

    assert ran.code == 0
    assert ran.out.startswith("preview: 1 text removed (1 from texts), 1 of 1 file changed\n")
    assert "The password is REDACTED-1." in ran.out
    assert SHORT not in ran.out
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--redact", "-o", "copy"], "--redact needs --secrets, --block, --field or --text"),
        (["--redact", "--secrets"], "--redact needs -o OUT for the copy, or --preview"),
        (["--secrets"], "need --redact"),
        (["--redact", "--text", "abc", "-o", "copy"], "it needs 4 characters"),
        (["--redact", "--block", "none", "-o", "copy"], "no revision has such a block"),
        (["--redact", "--field", "x.json#/a", "-o", "copy"], "expected FILE#/pointer"),
        (["--redact", "--secrets", "-o", "copy"], "nothing was found to redact"),
        (["--redact", "--text", SHORT, "-o", "planted"], "it exists and is not replaced"),
        (["--redact", "--text", SHORT, "-o", "no/folder"], "No such file or directory"),
    ],
)
def test_a_choice_that_cannot_be_made_writes_nothing(
    ctxview: Run, planted: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], complaint: str
) -> None:
    monkeypatch.chdir(planted.parent)
    before = files_of(planted.parent)
    ran = ctxview("export", "planted", *options)

    assert ran.code == 2
    assert complaint in ran.complaint
    assert files_of(planted.parent) == before


def test_a_copy_does_not_take_over_an_approval(ctxview: Run, tmp_path: Path) -> None:
    """With its digests replaced, the record of a review would approve files that were never reviewed."""
    original = copied(SESSION, tmp_path)
    digest = hashlib.sha256((original / "messages.jsonl").read_bytes()).hexdigest()
    for name in ("x.ctxreview.json", "x.ctxreview.json.sig"):
        (original / name).write_text(digest)
    ran = ctxview("export", original, "--redact", "--block", "d3", "-o", tmp_path / "default")

    assert ran.err.count("a sign-off of the original says nothing about a copy") == 2
    assert not [*(tmp_path / "default").glob("*ctxreview*")]
