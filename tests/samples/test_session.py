"""The bundled sessions: a consistent one, an empty one, and one with a planted fault for many rules."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ctxview.analysis.tokens import ESTIMATES
from ctxview.core.findings import Finding, Severity
from ctxview.core.state import ContextState, RefStatus
from ctxview.formats import Lens, discover, open_source
from ctxview.formats.kit.folder import SourceFolder
from ctxview.formats.session.history import open_history
from ctxview.formats.session.pack_builder import pack_json, pack_markdown, pack_offers, plan_pack
from ctxview.formats.session.parser import read_session
from ctxview.formats.session.profile import load_profile
from ctxview.formats.session.prompt_history import prompt_view
from ctxview.formats.session.store.content import RawContent
from ctxview.formats.session.store.dedup import DedupAction, plan_dedup
from ctxview.samples import samples_folder

SAMPLES = samples_folder() / "session"
CODER = SAMPLES / "coder" / "home/1000/agent/coder/session/default"
FRESH = SAMPLES / "fresh" / "home/1000/agent/coder/session/default"
DAMAGED = SAMPLES / "damaged" / "home/1000/agent/keeper/session/default"
OTHERS = (
    SAMPLES / "coder" / "home/1000/agent/coder/session/dialect-probe",
    SAMPLES / "coder" / "home/1000/agent/reviewer/session/rev-parser",
    SAMPLES / "coder" / "home/1000/agent/timer/session/bench-import",
)
SOUND = (CODER, FRESH, *OTHERS)
LENS = Lens(ESTIMATES["words"])
PROFILE = load_profile()
BOTH = (Severity.ERROR, Severity.WARNING)

# Words of each fact and decision that are in the messages it cites.
CITED_WORDS = {
    "f1": "c8 d5 c6 da",
    "f2": "168 rows, 138 debits",
    "f3": "imports the installed wheel of 9 February",
    "f4": "`int()` take １２３",
    "f5": "wiped 2026-03-15T03:00:00Z",
    "f6": "file, trailer and ledger agree",
    "f7": "A Big5 file decodes without an error",
    "f8": "January was booked with it on 3 February",
    "d1": "then GB18030, both strictly",
    "d2": "金额一律用分",
    "d3": "ask before you read anything outside",
    "d4": "the header has to be exactly ours",
    "d5": "we measure tomorrow",
    "d6": "Dry run only",
}

# Every fault of the damaged session: description, place of the finding, rule. Hashes are cut short.
FAULTS = (
    ("the index goes on with a session that is gone", "index/current:1", "ABI011"),
    ("the index lists a session that is gone", "index/list:2", "ABI011"),
    ("a working directory is filed under another's key", "index/by-cwd/cwd-2936bd9b6ba1654e:1", "ABI011"),
    ("memory lies beside the sessions", "memory", "ABI008"),
    ("the state is an unknown word", "state:1", "ABI004"),
    ("the state is not what the last run left", "state:1", "ABI009"),
    ("the runtime's own state names another run", "state.json:1", "ABI010"),
    ("the working directory climbs", "cwd:1", "ABI005"),
    ("the scope is an unknown word", "meta.json:1", "ABI005"),
    ("changed before it was created", "updated_at:1", "ABI006"),
    ("the latest answer is an old one", "latest.md:1", "ABI009"),
    ("a line is incomplete and the next one follows it directly", "messages.jsonl:5", "ABI013"),
    ("a message with the role developer", "messages.jsonl:6", "ABI014"),
    ("an unknown key of a provider", "messages.jsonl:7", "ABI015"),
    ("a result without a tool call", "messages.jsonl:8", "ABI019"),
    ("a blank line shifts what is cited", "messages.jsonl:9", "ABI021"),
    ("a block of zeros where text should be", "messages.jsonl:10", "ABI016"),
    ("the same zeros as text", "messages.jsonl:10", "TXT001"),
    ("a question whose run never began", "messages.jsonl:13", "ABI020"),
    ("an unknown event type", "events.jsonl:5", "ABI017"),
    ("an unknown error code", "events.jsonl:6", "ABI017"),
    ("a count that is a string", "events.jsonl:7", "ABI017"),
    ("a run with an error that ends well", "events.jsonl:8", "ABI018"),
    ("one client id for two questions", "events.jsonl:9", "ABI020"),
    ("a child cancelled here and finished there", "events.jsonl:11", "ABI055"),
    ("a run that never ends", "events.jsonl:13", "ABI018"),
    ("the last line was torn", "events.jsonl:14", "ABI013"),
    ("no todo.md", "context", "ABI002"),
    ("a range that runs backwards", "context/facts.jsonl:2", "ABI025"),
    ("an id used twice", "context/facts.jsonl:3", "ABI023"),
    ("a fact without its text", "context/facts.jsonl:4", "ABI022"),
    ("a fact that would colour a terminal", "context/facts.jsonl:5", "ABI024"),
    ("the same colours as text", "context/facts.jsonl:5", "TXT001"),
    ("messages that do not exist are cited", "context/facts.jsonl:6", "ABI025"),
    ("a source that is not a range", "context/decisions.jsonl:1", "ABI025"),
    ("a decision that was not closed", "context/decisions.jsonl:2", "ABI022"),
    ("a reference that climbs out", "context/refs.jsonl:1", "ABI026"),
    ("a reference to a chunk that is not there", "context/refs.jsonl:2", "ABI026"),
    ("nor is it in the swap index", "context/refs.jsonl:2", "ABI027"),
    ("a reference to a child's result that is not there", "context/refs.jsonl:3", "ABI026"),
    ("the child does not exist", "context/refs.jsonl:3", "ABI027"),
    ("a result that is referred to is gone", "context/refs.jsonl:3", "ABI049"),
    ("a chunk was altered", "context/swap/chunk/sha256-6e9fc59c", "ABI039"),
    ("a chunk is gone for good", "context/swap/index.jsonl:2", "ABI040"),
    ("its range is beyond the end", "context/swap/index.jsonl:2", "ABI042"),
    ("a chunk is gone, but can be rebuilt", "context/swap/index.jsonl:3", "ABI040"),
    ("a chunk is the only copy left", "context/swap/index.jsonl:4", "ABI046"),
    ("a blob without an index line", "context/dedup/blob/sha256-077dd796", "ABI041"),
    ("a blob without references", "context/dedup/index.jsonl:1", "ABI044"),
    ("a size that is not the blob's", "context/dedup/index.jsonl:1", "ABI043"),
    ("an invalid time to live", "context/gc.policy:2", "ABI047"),
    ("a permission to delete the messages", "context/gc.policy:3", "ABI047"),
    ("an unknown setting", "context/gc.policy:4", "ABI047"),
    ("the pack has a forbidden source", "context/pack.json:1", "ABI029"),
    ("the pack has a missing source", "context/pack.json:1", "ABI030"),
    ("the pack is another session's", "context/pack.json:1", "ABI031"),
    ("the pack is over its budget", "context/pack.json:1", "ABI032"),
    ("the pack counts wrongly", "context/pack.json:1", "ABI033"),
    ("the pack wants more messages than there are", "context/pack.json:1", "ABI034"),
    ("the pack is not in the builder's order", "context/pack.json:1", "ABI035"),
    ("the pack takes a child's history", "context/pack.json:1", "ABI036"),
    ("pack.md lacks what pack.json lists", "context/pack.md:1", "ABI037"),
    ("pack.md shows an older summary", "context/pack.md:7", "ABI037"),
    ("the plan waits for itself", "context/plan.json:1", "ABI056"),
    ("the plan waits for a result that is gone", "context/plan.json:1", "ABI049"),
    ("a child with a space in its name", "context/child/old sweep", "ABI003"),
    ("a cancelled child without a mention", "context/child/old sweep", "ABI053"),
    ("its result does not name its agent", "context/child/old sweep/result.md:1", "ABI051"),
    ("no event for its end", "context/child/old sweep/status:1", "ABI055"),
    ("its session is not there", "context/child/old sweep/session:1", "ABI054"),
    ("a child without a result", "context/child/scan-var", "ABI050"),
    ("a child's history in its channel", "context/child/scan-var/messages.jsonl:1", "ABI052"),
    ("its session is not there either", "context/child/scan-var/session:1", "ABI054"),
    ("an unknown status", "context/child/sweep-logs/status:1", "ABI050"),
    ("nor is this one's", "context/child/sweep-logs/session:1", "ABI054"),
    ("a finished child without a mention", "context/child/tell-partner", "ABI053"),
    ("a finished child with an empty result", "context/child/tell-partner/result.md:1", "ABI051"),
    ("nor this one's", "context/child/tell-partner/session:1", "ABI054"),
)


def title(path: Path) -> str:
    return f"{path.relative_to(SAMPLES).parts[0]}-{path.name}"


@pytest.fixture(autouse=True)
def nothing_remembered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Use empty user folders, so that no earlier state of a session is remembered."""
    for name in ("XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))


def findings_of(path: Path, *severities: Severity) -> list[Finding]:
    return [each for each in open_source(path).findings(LENS) if each.severity in (severities or Severity)]


def place(finding: Finding, root: Path) -> str:
    """The file below `root` and the line, with hashes cut short."""
    file = Path(finding.origin.file).resolve().relative_to(root.resolve()).as_posix()
    line = "" if finding.origin.line is None else f":{finding.origin.line}"
    return re.sub(r"(sha256-[0-9a-f]{8})[0-9a-f]{56}", r"\1", f"{file}{line}")


def state_of(path: Path) -> ContextState:
    source = open_source(path)
    return source.reading(len(source.revisions) - 1, LENS).state


def records(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def lines(file: Path, first: int, last: int) -> bytes:
    return b"".join(file.read_bytes().splitlines(keepends=True)[first - 1 : last])


def words(data: bytes) -> int:
    return max(1, len(data.decode().split()))


def outputs(root: Path, stream: str, call: str) -> Iterator[str]:
    for each in records(root / stream):
        content = each.get("content")
        for part in content if isinstance(content, list) else ():
            if part.get("tool_call_id") == call:
                yield part["content"]


def files_below(path: Path) -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in sorted(path.rglob("*")) if file.is_file()}


# -- all of them -----------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [*SOUND, DAMAGED], ids=title)
def test_reading_a_session_changes_nothing_in_it(path: Path) -> None:
    before = files_below(path)

    source = open_source(path)
    states = [source.reading(index, LENS).state for index in range(len(source.revisions))]
    source.findings(LENS)

    assert {state.format for state in states} == {"session"}
    assert files_below(path) == before


def test_the_main_session_of_a_folder_is_found_first() -> None:
    found = [each.path.relative_to(SAMPLES / "coder") for each in discover(SAMPLES / "coder").found]

    assert found[0] == CODER.relative_to(SAMPLES / "coder")
    assert {path.name for path in found[1:]} == {*(path.name for path in OTHERS), "index"}


@pytest.mark.parametrize("sample", ["coder", "fresh"])
def test_the_indexes_of_sound_samples_are_clean(sample: str) -> None:
    indexes = [each.path for each in discover(SAMPLES / sample).found if each.path.name == "index"]

    assert indexes
    assert [finding for path in indexes for finding in findings_of(path)] == []


# -- the coder ----- -------------------------------------------------------------------------------


def test_the_coder_has_one_broken_reference_and_one_long_line() -> None:
    found = {(place(each, CODER), each.rule, each.severity) for each in findings_of(CODER, *BOTH)}

    assert found == {
        ("context/refs.jsonl:6", "ABI026", Severity.ERROR),
        ("messages.jsonl:9", "ABI016", Severity.WARNING),
    }


@pytest.mark.parametrize("path", OTHERS, ids=title)
def test_the_sessions_beside_the_coder_are_clean(path: Path) -> None:
    assert findings_of(path, *BOTH) == []


def test_five_runs_have_ended_in_three_ways_and_the_sixth_is_active() -> None:
    events = records(CODER / "events.jsonl")
    starts = [event["run"] for event in events if event["type"] == "start"]
    ends = {event["run"]: event["status"] for event in events if event["type"] == "done"}

    assert [ends.get(run) for run in starts] == ["ok", "ok", "error", "cancelled", "ok", None]
    assert (CODER / "current_run").read_text() == f"{starts[-1]}\n"
    assert (CODER / "state").read_text() == "active\n"
    assert {"error", "usage", "agent.child.cancel"} < {event["type"] for event in events}
    decisions = [event["decision"] for event in events if event["type"] == "approval_result"]
    assert decisions == ["allow_once", "deny"]


def test_facts_and_decisions_are_in_the_messages_they_cite() -> None:
    cited = {ref.id: ref for ref in state_of(CODER).refs if ref.kind == "source"}

    assert cited.keys() == CITED_WORDS.keys()
    for name, words_ in CITED_WORDS.items():
        assert cited[name].status is RefStatus.RESOLVED
        assert words_ in (cited[name].text or ""), name


def test_the_long_message_is_not_in_the_prompt_but_the_next_one_repeats_it() -> None:
    stored = (CODER / "messages.jsonl").read_bytes().splitlines()
    assert [number for number, line in enumerate(stored, 1) if len(line) > 16 * 1024] == [9]

    messages = open_history(read_session(SourceFolder(CODER))).messages
    found = {each.line.number for each in prompt_view(messages.tail(72), PROFILE) if each.visible}
    assert found
    assert 8 not in found
    assert "168 rows" in stored[9].decode()


def test_the_statement_adds_up_to_the_reported_total() -> None:
    (statement,) = set(outputs(CODER, "messages.jsonl", "call-04"))
    wide = str.maketrans("０１２３４５６７８９，．－", "0123456789,.-")
    numbers = re.findall(r'(?:"([^"\n]+)"|,([^",\n]+)),CNY$', statement, re.MULTILINE)
    *amounts, total = (
        int(re.sub(r"[,.]", "", (quoted or plain).translate(wide))) for quoted, plain in numbers
    )

    assert len(amounts) == 168
    assert sum(amounts) == total == -539725159


def test_every_chunk_has_the_hash_of_its_name_and_the_content_of_the_history() -> None:
    moved, output, by_reference = records(CODER / "context/swap/index.jsonl")
    for entry in (moved, output, by_reference):
        chunk = (CODER / "context/swap/chunk" / entry["id"]).read_bytes()
        assert entry["id"] == f"sha256-{hashlib.sha256(chunk).hexdigest()}"

    chunk = (CODER / "context/swap/chunk" / moved["id"]).read_bytes()
    assert moved["range"] == "1-32"
    assert chunk == lines(CODER / "messages.jsonl", 1, 32)
    assert moved["tokens"] == words(chunk)

    chunk = (CODER / "context/swap/chunk" / output["id"]).read_bytes()
    assert set(outputs(CODER, "events.jsonl", output["event"])) == {chunk.decode()}
    assert output["tokens"] == words(chunk)


def test_a_chunk_that_refers_to_events_has_their_hash() -> None:
    entry = records(CODER / "context/swap/index.jsonl")[2]
    reference = json.loads((CODER / "context/swap/chunk" / entry["id"]).read_bytes())
    ids = [event.get("id") for event in records(CODER / "events.jsonl")]
    first, last = (ids.index(reference[name]) + 1 for name in ("start_event", "end_event"))

    referred = lines(CODER / "events.jsonl", first, last)

    assert reference["hash"] == f"sha256:{hashlib.sha256(referred).hexdigest()}"
    assert entry["tokens"] == words(referred)


def test_the_repeated_log_is_stored_once_and_is_at_every_indexed_place() -> None:
    (entry,) = records(CODER / "context/dedup/index.jsonl")
    log = (CODER / "context/dedup/blob" / entry["hash"]).read_bytes()

    assert entry["hash"] == f"sha256-{hashlib.sha256(log).hexdigest()}"
    assert (entry["bytes"], entry["tokens"]) == (len(log), words(log))
    assert (CODER / "context/child/rev-parser/artifact/baseline.tap").read_bytes() == log
    for number in (11, 23):
        message = records(CODER / "messages.jsonl")[number - 1]
        assert message["content"][0]["content"] == log.decode()
        assert f"messages:{number}" in entry["refs"]


def test_dedup_has_nothing_to_do() -> None:
    session = read_session(SourceFolder(CODER))

    plan = plan_dedup(session, RawContent(session.folder, open_history(session)), PROFILE)

    assert [item.action for item in plan.items] == [DedupAction.NOTHING]


@pytest.mark.parametrize("path", SOUND, ids=title)
def test_packs_equal_the_output_of_the_builder(path: Path) -> None:
    session = read_session(SourceFolder(path))

    plan = plan_pack(pack_offers(session, open_history(session).messages, PROFILE), session.budget)

    assert plan.aborts == ()
    assert pack_json(session, plan) == (path / "context/pack.json").read_bytes()
    assert pack_markdown(session, plan, PROFILE) == (path / "context/pack.md").read_bytes()


def test_the_review_does_not_fit_the_budget_but_the_next_source_does() -> None:
    session = read_session(SourceFolder(CODER))
    offered = pack_offers(session, open_history(session).messages, PROFILE)

    plan = plan_pack(offered, session.budget)

    assert [each.source for each in plan.left_out] == ["context/child/rev-parser/result.md"]
    assert plan.taken[-1].source == "context/child/rev-parser/refs.jsonl"
    assert plan_pack(offered, 1700).left_out == ()


def test_one_child_is_done_and_one_was_cancelled_with_its_parent() -> None:
    children = read_session(SourceFolder(CODER)).children

    assert [(child.name, child.status, child.own_state) for child in children] == [
        ("bench-import", "cancelled", "cancelled"),
        ("rev-parser", "done", "done"),
    ]


# -- the fresh one ---------------------------------------------------------------------------------


def test_the_fresh_session_has_every_part_and_no_content() -> None:
    assert findings_of(FRESH) == []
    assert (FRESH / "messages.jsonl").read_bytes() == (FRESH / "events.jsonl").read_bytes() == b""
    state = state_of(FRESH)
    assert not [block for tier in state.tiers for block in tier.blocks if block.text]
    assert state.refs == ()


# -- the damaged one -------------------------------------------------------------------------------


def test_the_damaged_session_has_every_planted_fault_and_no_other() -> None:
    root = DAMAGED.parent
    found = {
        (place(each, root).removeprefix("default/"), each.rule)
        for path in (DAMAGED, root / "index")
        for each in findings_of(path, *BOTH)
    }

    planted = {(where, rule) for _, where, rule in FAULTS}
    assert found - planted == set()
    assert planted - found == set()


def test_the_readable_parts_of_the_damaged_session_are_in_its_state() -> None:
    texts = " ".join(block.text for tier in state_of(DAMAGED).tiers for block in tier.blocks)

    assert "18,377 of 18,377 rows" in texts
    assert "忘了关调试日志" in texts
    assert "812 MB were left on 3 April" in texts
