"""The source of a session: quick at first, complete after its work, and never writing into the session."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxview.analysis.tokens import ESTIMATES, exact_counter
from ctxview.core.edits import EditRefused, InsertItem, SetValue
from ctxview.core.findings import Finding
from ctxview.editing.draft import Draft
from ctxview.files import reading
from ctxview.files.reading import ReadError
from ctxview.formats import Lens, detect, discover, open_source
from ctxview.formats.kit.history_passes import count_history
from ctxview.formats.session.source import SessionSource
from ctxview.formats.session.survey import analysis, last_look
from ctxview.formats.session.transcript import MESSAGE_RECIPE
from tests.formats.session.builders import PLACE, Build, fresh, sound, user
from tests.formats.session.open_sessions import file_states

LENS = Lens(ESTIMATES["words"])
NOW = -1


class CountingProgress:
    """A `Progress` that cancels after so many reports."""

    def __init__(self, limit: int = 10**9) -> None:
        self.reports: list[tuple[int, int, str]] = []
        self._limit = limit

    @property
    def cancelled(self) -> bool:
        return len(self.reports) >= self._limit

    def report(self, done: int, total: int, what: str) -> None:
        self.reports.append((done, total, what))


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every session count as a large one, whose histories are left to `work`."""
    monkeypatch.setattr(analysis, "LARGEST_IMMEDIATE", -1)


def now(source: SessionSource, **more):
    return source.reading(len(source.revisions) - 1, LENS, **more)


def rules_of(findings) -> set[str]:
    return {each.rule for each in findings}


def test_a_small_session_is_read_completely_at_once(tmp_path: Path):
    source = SessionSource(sound(tmp_path).write())
    assert [each.label.split()[0] for each in source.revisions] == ["run", "run", "now"]
    assert now(source).state.extra["messages"] == "6"
    assert now(source).findings == ()


def test_a_large_session_is_shown_at_once_and_complete_after_its_work(tmp_path: Path, large: None):
    source = SessionSource(sound(tmp_path).add("messages.jsonl", "nonsense").write())
    assert source.abilities.work is source
    early = now(source)
    assert [each.label for each in source.revisions] == ["now"]
    assert early.state.extra["messages"] == "being read"
    assert "ABI013" not in rules_of(early.findings)
    progress = CountingProgress()
    source.work(LENS, progress)
    late = now(source)
    assert late.state.extra["messages"] == "7"
    assert "ABI013" in rules_of(late.findings)
    assert {what for _, _, what in progress.reports} >= {"verifying hashes", "comparing with the last look"}


def test_work_can_be_stopped_and_continued(tmp_path: Path, large: None):
    source = SessionSource(sound(tmp_path).write())
    rounds = 0
    while now(source).state.extra["messages"] == "being read":
        source.work(LENS, CountingProgress(limit=rounds + 1))
        rounds += 1
    assert rounds >= 2
    source.work(LENS, CountingProgress())
    assert now(source).findings == ()


def test_all_findings_are_returned_without_earlier_work(tmp_path: Path, large: None):
    source = SessionSource(sound(tmp_path).add("messages.jsonl", "nonsense").write())
    assert "ABI013" in rules_of(source.findings(LENS))


def test_each_profile_has_separate_readings(tmp_path: Path):
    source = SessionSource(sound(tmp_path).set("state", "resting\n").write())
    assert "ABI004" in rules_of(source.findings(LENS))
    assert "ABI004" not in rules_of(source.findings(Lens(LENS.counter, "document")))


def test_reading_does_not_change_the_session(tmp_path: Path):
    root = sound(tmp_path).write()
    before = file_states(tmp_path)
    source = open_source(root)
    now(source)
    source.findings(LENS)
    source.work(LENS, CountingProgress())
    transcript = now(source).state.transcript
    assert transcript is not None
    transcript.find("parser", 0, False, lambda: False)
    assert file_states(tmp_path) == before


# -- comparison with the last look ---------------------------------------------------------------------------


def look(root: Path) -> list[Finding]:
    """Return the findings of a whole look as the inspector takes it, which stores the observation."""
    source = SessionSource(root)
    source.work(LENS, CountingProgress())
    return list(now(source).findings)


def test_a_history_may_grow_but_not_be_rewritten(tmp_path: Path):
    build = sound(tmp_path)
    assert look(build.write()) == []
    build.add("messages.jsonl", user("one more", None))
    assert "ABI057" not in rules_of(look(build.write()))
    build.files["messages.jsonl"] = build.files["messages.jsonl"].replace(b"fails", b"works")
    assert "ABI057" in rules_of(look(build.write()))


def test_a_lost_history_is_reported_at_every_look(tmp_path: Path):
    build = sound(tmp_path)
    look(build.write())
    build.set("messages.jsonl", "")
    assert "ABI057" in rules_of(look(build.write()))
    assert "ABI057" in rules_of(look(build.write()))


def test_findings_alone_store_no_observation(tmp_path: Path):
    build = sound(tmp_path)
    source = SessionSource(build.write())
    source.findings(LENS)
    assert last_look.recall(str(build.root)) is None
    source.work(LENS, CountingProgress())
    observation = last_look.recall(str(build.root))
    assert observation is not None
    assert observation.streams["messages.jsonl"].lines == 6


def test_a_session_can_be_read_when_the_observation_cannot_be_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where the folder should be")
    monkeypatch.setenv("XDG_STATE_HOME", str(blocked))
    assert look(sound(tmp_path).write()) == []


def test_a_session_can_be_opened_as_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(sound(tmp_path).write())
    source = SessionSource(Path())
    assert source.title == "coder/default"
    assert source.findings(LENS) == ()
    assert source.bytes_of("state") == b"done\n"
    assert source.policy("context/summary.md") is not None
    for other in ("../default/state", "/etc/passwd"):
        with pytest.raises(ReadError):
            source.bytes_of(other)


# -- files, drafts and policies ------------------------------------------------------------------------------


def test_any_file_of_the_session_can_be_read_by_its_name(tmp_path: Path):
    root = sound(tmp_path).write()
    source = SessionSource(root)
    assert source.bytes_of(str(root / "state")) == b"done\n"
    assert source.bytes_of(str(root / "messages.jsonl")).startswith(b'{"role":"user"')
    for other in (tmp_path / "x", root / "gone", root / ".." / ".." / "x"):
        with pytest.raises(ReadError):
            source.bytes_of(str(other))


def test_a_draft_is_read_in_place_of_its_file(tmp_path: Path):
    root = sound(tmp_path).write()
    source = SessionSource(root)
    file = str(root / "context" / "facts.jsonl")
    draft = source.bytes_of(file) + b'{"id":"f3","text":"New.","source":"messages:99"}\n'
    reading = now(source, overlay={file: draft})
    assert [block.id for block in reading.state.tiers[2].blocks] == ["f1", "f2", "f3"]
    assert "ABI025" in rules_of(reading.findings)
    assert len(now(source).state.tiers[2].blocks) == 2


def test_a_saved_draft_writes_its_edits_to_disk(tmp_path: Path):
    root = sound(tmp_path).write()
    source = SessionSource(root)
    file = root / "context" / "facts.jsonl"
    policy = source.policy(str(file))
    assert policy is not None
    draft = Draft(
        file, file.read_bytes(), policy, lambda data: now(source, overlay={str(file): data}).findings
    )
    draft.apply(InsertItem("/-", {"id": "f3", "text": "It holds.", "source": "messages:1-6"}))
    assert draft.preview().blocked is None
    draft.save()
    assert file.read_text().splitlines()[-1] == '{"id":"f3","text":"It holds.","source":"messages:1-6"}'
    draft.apply(SetValue("/2/source", "messages:7"))
    with pytest.raises(EditRefused, match="ABI025"):
        draft.save()


@pytest.mark.parametrize("name", ["messages.jsonl", "events.jsonl", ".store/wal.jsonl", "context/pack.json"])
def test_read_only_files_have_no_policy(name: str, tmp_path: Path):
    root = sound(tmp_path).write()
    assert SessionSource(root).policy(str(root / name)) is None
    assert SessionSource(root).policy("/etc/passwd") is None


# -- recognising and finding ---------------------------------------------------------------------------------


def test_a_session_is_recognised_by_its_content(tmp_path: Path):
    root = sound(tmp_path).write()
    assert detect(root)[0].format == "session"
    assert open_source(root).title == "coder/default"
    assert open_source(root / "messages.jsonl").path == root


@pytest.mark.parametrize(
    "names",
    [
        ("messages.jsonl",),
        ("events.jsonl", "state"),
        ("context/facts.jsonl", "context/summary.md", "state"),
        ("context/facts.jsonl", "context/summary.md", "context/budget"),
    ],
)
def test_a_session_is_recognised_with_few_files_left(names: tuple[str, ...], tmp_path: Path):
    whole = sound(tmp_path / "whole")
    build = Build(tmp_path, "rest")
    for name in names:
        build.set(name, whole.files[name])
    root = build.write()
    assert [match.format for match in detect(root)] == ["session"]
    assert open_source(root).reading(0, LENS).state.format == "session"


@pytest.mark.parametrize("name", ["notes.md", "context/summary.md", "index/other"])
def test_other_folders_are_not_sessions(name: str, tmp_path: Path):
    root = Build(tmp_path, "other").set(name, "x").write()
    assert detect(root) == []


def test_a_tree_lists_every_session_and_the_index_too(tmp_path: Path):
    build = sound(tmp_path)
    build.around["home/1000/agent/coder/session/index/list"] = b"default\n"
    build.around["home/1000/agent/coder/session/index/current"] = b"default\n"
    build.write()
    found = [str(each.path.relative_to(tmp_path)) for each in discover(tmp_path).found]
    assert found == [
        PLACE,
        "home/1000/agent/coder/session/index",
        "home/1000/agent/reviewer/session/rev-1-s",
    ]


def test_a_folder_of_sessions_shows_its_index(tmp_path: Path):
    build = sound(tmp_path)
    index = "home/1000/agent/coder/session/index"
    build.around |= {
        f"{index}/list": b"default\nlost\n",
        f"{index}/current": b"default\n",
        f"{index}/by-cwd/cwd-990e10b3394addcf": b"default\n",
        f"{index}/channel/irc": b'{"room": "#ops"}\n',
    }
    root = build.write().parent
    for path in (root, root / "index"):
        source = open_source(path)
        reading = source.reading(0, LENS)
        assert source.title == "sessions of coder"
        assert [(block.id, block.state, block.tags) for block in reading.state.blocks()] == [
            ("default", "done", ("current",))
        ]
        assert [(ref.kind, ref.target, ref.status.value) for ref in reading.state.refs][:4] == [
            ("list", "default", "resolved"),
            ("list", "lost", "dangling"),
            ("current", "default", "resolved"),
            ("by-cwd", "default", "resolved"),
        ]
        assert [gap.id for gap in reading.state.missing] == ["lost"]
        assert rules_of(reading.findings) == {"ABI011"}
        assert source.policy(str(root / "index" / "list")) is None
        assert source.bytes_of(str(root / "index" / "current")) == b"default\n"


def test_secrets_and_deceiving_text_are_found_in_messages_and_in_facts(tmp_path: Path):
    build = fresh(tmp_path)
    build.add("messages.jsonl", user("the key is AKIAQ3X7VB5MK2TR5WYZ", None))
    build.add(
        "events.jsonl",
        '{"type":"tool_call","run":"r","id":"c","name":"n","arguments":"ghp_' + "a1B2" * 9 + '"}',
    )
    build.add("context/facts.jsonl", {"id": "f1", "text": "run \u202egnp.exe", "source": "messages:1"})
    found = {(each.rule, Path(each.origin.file).name) for each in SessionSource(build.write()).findings(LENS)}
    assert {("SEC001", "messages.jsonl"), ("SEC002", "events.jsonl"), ("TXT002", "facts.jsonl")} <= found


@pytest.mark.parametrize(
    ("path", "severity"), [("../../../x", "error"), ("/etc/passwd", "info"), ("~/x", "info"), ("\\x", "info")]
)
def test_a_reference_outside_the_session_is_reported_once(path: str, severity: str, tmp_path: Path):
    record = {"id": "r9", "path": path, "kind": "file", "summary": "s"}
    source = SessionSource(sound(tmp_path).add("context/refs.jsonl", record).write())
    found = [each for each in source.findings(LENS) if (each.origin.pointer or "").endswith("/path")]
    assert [(each.rule, each.severity.value) for each in found] == [("ABI026", severity)]


def test_a_pack_item_and_a_chunk_outside_the_session_are_reported_once(tmp_path: Path):
    build = sound(tmp_path).set("context/pack.json", {"items": [{"kind": "x", "source": "/etc/passwd"}]})
    build.set("context/swap/chunk/sha256-abc", {"source": "/etc/passwd", "range": "1-2"})
    found = SessionSource(build.write()).findings(LENS)
    assert {"ABI029", "ABI042"} <= rules_of(found)
    assert "PTH001" not in rules_of(found)


def test_revisions_are_the_same_under_every_profile(tmp_path: Path, large: None):
    source = SessionSource(sound(tmp_path).write())
    document = Lens(LENS.counter, "document")
    source.work(document, CountingProgress())
    assert len(source.revisions) == 3
    assert source.reading(2, LENS).state.revision == "now"
    assert source.reading(0, document).state.revision == source.revisions[0].label


def test_an_unreadable_history_is_reported_and_the_rest_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    real = reading.open_beneath

    def refuse(root: Path, relative: str) -> int:
        if relative == "messages.jsonl":
            raise ReadError(root / relative, "reading it is not permitted")
        return real(root, relative)

    monkeypatch.setattr("ctxview.files.open_file.open_beneath", refuse)
    source = SessionSource(sound(tmp_path).write())
    assert [(each.rule, each.message) for each in source.findings(LENS) if each.rule == "RAW002"] == [
        ("RAW002", "cannot be read: reading it is not permitted")
    ]
    assert ("messages.jsonl", "unreadable") in {(gap.id, gap.status) for gap in now(source).state.missing}
    assert len(now(source).state.tiers[2].blocks) == 2


@pytest.mark.parametrize("counter", [ESTIMATES["words"], exact_counter()], ids=lambda counter: counter.name)
def test_the_whole_history_is_counted_by_role(counter, tmp_path: Path):
    source = SessionSource(sound(tmp_path).add("messages.jsonl", "nonsense", {"content": "x y"}).write())
    lens = Lens(counter)
    source.work(lens, CountingProgress())
    state = source.reading(len(source.revisions) - 1, lens).state
    whole = next(budget for budget in state.budgets if budget.target == "whole history")
    names = [segment.name for segment in whole.segments]
    assert names == ["user, 2 messages", "assistant, 3 messages", "tool, 1 message", "none, 1 message"]
    transcript = state.transcript
    assert transcript is not None
    rows = [transcript.row(number) for number in range(len(transcript))]
    assert whole.used == sum(counter.count(row.text) for row in rows if row.kind != "broken")
    assert whole.unit == f"tokens ({counter.name})"


def test_a_cancelled_count_has_no_result(tmp_path: Path):
    stream = SessionSource(sound(tmp_path).write()).history.messages
    assert count_history(stream, exact_counter(), MESSAGE_RECIPE, lambda: True) is None
    assert count_history(stream, ESTIMATES["words"], MESSAGE_RECIPE, lambda: True) is None
