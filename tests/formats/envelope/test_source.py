"""Envelopes are recognised by content, opened in every layout, and read again when they change."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path

import pytest
from msgspec.structs import replace

from ctxview.analysis.tokens import ESTIMATES
from ctxview.core.flow import Flow
from ctxview.core.pauses import giving_way
from ctxview.core.state import ContextState
from ctxview.files.reading import ReadError, read_beneath
from ctxview.formats import Lens, OpenError, Source, detect, discover, open_source, peek
from ctxview.formats.envelope import source_records
from ctxview.formats.envelope.source import EnvelopeSource
from ctxview.formats.interface import Hurry
from ctxview.formats.kit import file_source as loading
from tests.formats.envelope import builders as b
from tests.formats.watching import Time, write

LENS = Lens(ESTIMATES["bytes/4"])


def opened(path: Path) -> EnvelopeSource:
    found = open_source(path)
    assert isinstance(found, EnvelopeSource)
    return found


def state_of(source: Source, revision: int = -1) -> ContextState:
    return source.reading(revision % len(source.revisions), LENS).state


def rules(source: Source) -> set[str]:
    return {each.rule for each in source.findings(LENS)}


# -- recognition -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", [*b.LAYOUTS])
def test_every_layout_is_recognised_and_opens_the_same(tmp_path: Path, layout: str) -> None:
    path = b.write(tmp_path / "here", b.LAYOUTS[layout](b.turn()))
    assert [match.format for match in detect(path)] == ["envelope"]
    found = state_of(opened(path))
    assert {each.id: each.tier for each in found.blocks()} == {
        each.id: each.tier
        for each in state_of(opened(b.write(tmp_path / "there", b.as_array(b.turn())))).blocks()
    }


@pytest.mark.parametrize("name", ["turn.ndjson", "turn.jsonlines", "turn.ldjson", "TURN.JSONL"])
def test_json_lines_are_read_whatever_their_ending(tmp_path: Path, name: str) -> None:
    (data,) = b.as_lines(b.turn()).values()
    file = tmp_path / "here" / name
    file.parent.mkdir()
    file.write_bytes(data)
    expected = state_of(opened(b.write(tmp_path / "there", b.as_array(b.turn()))))
    assert [match.format for match in detect(file.parent)] == ["envelope"]
    for path in (file, file.parent):
        assert [each.id for each in state_of(opened(path)).blocks()] == [
            each.id for each in expected.blocks()
        ]


@pytest.mark.parametrize(
    "record",
    [
        # The shapes of the draft's own examples, which lack a version.
        {
            "compaction_id": "c",
            "scope": "thread",
            "source_item_refs": ["turn_1"],
            "method": "rolling_summary",
            "created_at": b.at(1),
        },
        {
            "item_id": "i",
            "context_kind": "knowledge_pack_item",
            "content_mode": "ref",
            "visibility": ["model"],
        },
        {"selection_id": "s", "surface_id": "f", "selected_item_refs": ["i"], "created_at": b.at(1)},
        {"missing_id": "m", "scope": "turn", "question": "?", "severity": "blocking", "status": "open"},
        b.envelope(runtime_refs=[{"kind": "turn", "id": "t"}]),
    ],
    ids=lambda record: next(iter(record)),
)
def test_single_records_open_with_findings_and_not_with_an_error(tmp_path: Path, record: b.Members) -> None:
    file = tmp_path / "example.json"
    file.write_text(json.dumps(record))
    source = opened(file)
    assert state_of(source).format == "envelope"
    assert ("ENV002" in rules(source)) == ("schema_version" not in record)


@pytest.mark.parametrize("id_", [7, None, ["i"]], ids=str)
def test_a_single_record_whose_id_is_not_a_text_is_recognised_and_reported(
    tmp_path: Path, id_: object
) -> None:
    file = tmp_path / "item.json"
    file.write_text(json.dumps(b.item("i") | {"item_id": id_}))
    assert [match.format for match in detect(file)] == ["envelope"]
    (finding,) = [each for each in opened(file).findings(LENS) if each.rule == "ENV003"]
    assert finding.origin.pointer == "/item_id"


REVIEWS = [
    {"context_id": "ctx-1", "reviewer": "mira", "verdict": "approved", "scope": "review"},
    {"context_id": "ctx-1", "review_id": "review-1", "evidence_refs": ["e"], "created_at": b.at(59)},
    {"context_id": "ctx-1", "schema_version": "0.1.1", "decision": "accept", "created_at": b.at(59)},
]


@pytest.mark.parametrize("review", REVIEWS, ids=str)
@pytest.mark.parametrize("wrapped", [False, True], ids=["object", "list"])
def test_a_review_beside_a_bundle_is_not_an_envelope(
    tmp_path: Path, wrapped: bool, review: b.Members
) -> None:
    (tmp_path / "turn.json").write_text(json.dumps(b.turn()))
    before = opened(tmp_path)
    (tmp_path / "review.json").write_text(json.dumps([review] if wrapped else review))
    after = opened(tmp_path)
    assert [each.label for each in after.revisions] == [each.label for each in before.revisions]
    assert state_of(after) == state_of(before)
    assert rules(after) == rules(before)


def test_a_review_in_the_file_of_a_bundle_is_reported_and_not_an_envelope(tmp_path: Path) -> None:
    path = b.write(tmp_path / "bundle", b.as_array([*b.turn(), REVIEWS[0]]))
    source = opened(path)
    assert len(source.bundle.envelopes) == 1
    (finding,) = [each for each in source.findings(LENS) if each.rule == "ENV001"]
    assert "names a context, but has no lifecycle and no index of an envelope" in finding.message


@pytest.mark.parametrize(
    "value",
    [
        {"version": 3.0, "memory": {"core": []}, "runtime": {"round": 1}},
        {"item_id": 7, "name": "a shop's item"},
        {"item_id": "x", "price": 3},
        {"event_id": 7, "time": "noon"},
        *REVIEWS,
        {"id": "x", "content": "y"},
        [{"user": "x"}],
        [],
        {},
    ],
    ids=str,
)
def test_other_json_is_not_recognised(tmp_path: Path, value: object) -> None:
    file = tmp_path / "other.json"
    file.write_text(json.dumps(value))
    assert "envelope" not in [match.format for match in detect(file)]


def test_a_session_or_a_store_with_records_is_not_an_envelope(tmp_path: Path) -> None:
    session = b.write(tmp_path / "session", b.as_folder(b.turn()))
    (session / "messages.jsonl").write_text('{"role": "user", "content": "hello"}\n')
    (session / "events.jsonl").write_text("")
    assert detect(session)[0].format == "session"
    store = b.write(tmp_path / ".agent", {**b.as_folder(b.turn()), "memory.db": b"", "todo.db": b""})
    assert detect(store)[0].format == "snapshot"


def test_a_folder_is_one_source_when_its_json_is_mostly_records(tmp_path: Path) -> None:
    whole = b.write(tmp_path / "whole", b.as_folder(b.turn()[:4]))
    mixed = b.write(
        tmp_path / "mixed", {**b.as_array([b.item("a")]), "package.json": b"{}", "tsconfig.json": b"{}"}
    )
    found = {each.path: each.format for each in discover(tmp_path).found}
    assert found == {whole: "envelope", mixed / "bundle.json": "envelope"}


def test_broken_files_that_mention_records_are_recognised(tmp_path: Path) -> None:
    file = tmp_path / "cut.json"
    file.write_bytes(next(iter(b.as_array(b.turn()).values()))[:2000])
    source = opened(file)
    assert "JSN001" in rules(source)
    assert [each.id for each in state_of(source).blocks()][:2] == ["old-1", "old-2"]


def test_a_folder_with_a_few_bad_files_shows_the_rest_and_reports_the_bad(tmp_path: Path) -> None:
    files = b.as_folder(b.turn())
    broken = {
        "bad-1.json": b'{"schema_version": "0.1.1", "item_id": ',
        "list.json": b"[1, 2]",
        "empty.json": b"",
    }
    source = opened(b.write(tmp_path, {**files, **broken}))
    assert len([*state_of(source).blocks()]) == 8
    assert {Path(each.origin.file).name for each in source.findings(LENS) if each.rule == "JSN001"} == {
        "bad-1.json",
        "empty.json",
    }


def test_an_unreadable_file_of_a_folder_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = b.write(tmp_path, b.as_folder(b.turn()))
    for module in (loading, peek):
        monkeypatch.setattr(module, "read_beneath", _refusing(read_beneath, "record-03.json"))
    source = opened(folder)
    assert "RAW002" in rules(source)
    assert len([*state_of(source).blocks()]) == 8


def _refusing(read: object, name: str) -> object:
    def refuse(root: Path, relative: str, limit: int) -> bytes:
        if relative == name:
            raise ReadError(root / relative, "reading it is not permitted")
        assert callable(read)
        data = read(root, relative, limit)
        assert isinstance(data, bytes)
        return data

    return refuse


def test_the_start_of_a_huge_file_is_read_and_the_rest_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "LIMIT", 3000)
    source = opened(b.write(tmp_path, b.as_lines(b.turn())))
    assert "RAW003" in rules(source)
    assert "JSN001" not in rules(source)
    assert [each.id for each in state_of(source).blocks()][:2] == ["old-1", "old-2"]


def test_a_folder_without_records_cannot_be_opened_as_envelope(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("{}")
    with pytest.raises(OpenError, match="no file in this folder holds records"):
        open_source(tmp_path, "envelope")


# -- files beside ------------------------------------------------------------------------------------------


def test_a_single_file_finds_what_it_refers_to_in_the_files_beside_it(tmp_path: Path) -> None:
    envelope, *rest = b.turn()
    files = {
        "envelope.json": json.dumps(envelope).encode(),
        "items.jsonl": b.as_lines(rest[:12])["bundle.jsonl"],
        "more.json": b.as_array(rest[12:])["bundle.json"],
        "other.json": b.as_array([b.envelope("ctx-9", item_refs=["key"]), b.item("key", "of another")])[
            "bundle.json"
        ],
        "strange.json": b"{}",
    }
    folder = b.write(tmp_path, files)
    source = opened(folder / "envelope.json")
    assert [each.label for each in source.revisions] == ["ctx-1"]
    assert len([*state_of(source).blocks()]) == 8
    assert source.bytes_of(str(folder / "items.jsonl")) == files["items.jsonl"]


def test_a_file_without_open_references_is_opened_alone(tmp_path: Path) -> None:
    b.write(
        tmp_path,
        {
            "one.json": json.dumps([b.envelope(), b.item("a", source_refs=[])]).encode(),
            "two.json": json.dumps(b.item("b")).encode(),
        },
    )
    assert [each.id for each in state_of(opened(tmp_path / "one.json")).blocks()] == ["a"]


# -- revisions, drafts, looking again ----------------------------------------------------------------------


def test_each_envelope_is_a_revision_with_its_findings(tmp_path: Path) -> None:
    first = [b.envelope("ctx-1", item_refs=["a"]), b.item("a", "one", source_refs=[])]
    second = [b.envelope("ctx-2", item_refs=["a"], created_at="soon"), b.item("a", "two", source_refs=[])]
    files = {"one.json": json.dumps(first).encode(), "two.json": json.dumps(second).encode()}
    source = opened(b.write(tmp_path, files))
    assert [each.label for each in source.revisions] == ["ctx-1", "ctx-2"]
    assert [[each.text for each in state_of(source, at).blocks()] for at in (0, 1)] == [["one"], ["two"]]
    assert "ENV005" not in {each.rule for each in source.reading(0, LENS).findings}
    assert "ENV005" in {each.rule for each in source.reading(1, LENS).findings}


def test_two_envelopes_of_one_name_are_labelled_with_their_files(tmp_path: Path) -> None:
    files = {name: json.dumps(b.envelope()).encode() for name in ("one.json", "two.json")}
    assert [each.label for each in opened(b.write(tmp_path, files)).revisions] == [
        "ctx-1 (one.json)",
        "ctx-1 (two.json)",
    ]


def test_a_draft_is_shown_and_checked_in_place_of_its_file(tmp_path: Path) -> None:
    path = b.write(tmp_path, b.as_array(b.turn()))
    source = opened(path)
    draft = path.read_bytes().replace(b"Who has the key?", b"Who has it?")
    reading = source.reading(0, LENS, {str(path): draft})
    assert "Who has it?" in [each.text for each in reading.state.blocks()]
    broken = source.reading(0, LENS, {str(path): b"[" + draft})
    assert "JSN001" in {each.rule for each in broken.findings}
    assert "Who has the key?" in [each.text for each in state_of(source).blocks()]


def test_content_that_a_draft_redacts_is_withheld(tmp_path: Path) -> None:
    path = b.write(tmp_path, b.as_array([b.item("a", "the third flowerpot", redaction_state="none")]))
    source = opened(path)
    draft = path.read_bytes().replace(b'"none"', b'"removed"')
    assert source.withheld(str(path)) == ()
    assert b"flowerpot" in draft[slice(*source.withheld(str(path), draft)[0])]


def test_a_source_has_editors_withholds_and_holds_back(tmp_path: Path) -> None:
    source = opened(b.write(tmp_path, b.as_array(b.turn())))
    has = source.abilities
    assert has.editors is has.redactor is has.partial_writes is source
    assert tuple(source.editors) == ("model", "reviewer")


def test_opening_again_reads_changed_files_and_shares_the_others(tmp_path: Path, time: Time) -> None:
    folder = b.write(tmp_path, b.as_folder(b.turn()))
    first = opened(folder)
    write(folder / "record-04.json", json.dumps(b.item("talk", "Nobody has it.")).encode())
    write(folder / "record-99.json", json.dumps(b.item("new")).encode())
    second = first.again()
    assert "Nobody has it." in [each.text for each in state_of(second).blocks()]
    assert "new" in [each.id for each in state_of(second).blocks()]
    assert "Who has the key?" in [each.text for each in state_of(first).blocks()]
    shared = {id(each) for each in first.bundle.files} & {id(each) for each in second.bundle.files}
    assert len(shared) == len(first.bundle.files) - 1
    assert folder in second.watched


def test_a_half_written_file_is_held_back_until_it_is_whole(tmp_path: Path, time: Time) -> None:
    path = b.write(tmp_path, b.as_array(b.turn()))
    whole = path.read_bytes()
    first = opened(path)
    time.stands_still()
    write(path, whole[:900])
    second = first.again()
    assert second.held_back == (path,)
    assert "Who has the key?" in [each.text for each in state_of(second).blocks()]
    time.passes()
    assert "Who has the key?" not in [each.text for each in state_of(second.again()).blocks()]


def test_a_path_that_leaves_the_folder_is_reported(tmp_path: Path) -> None:
    source = opened(b.write(tmp_path, b.as_array([b.source("s", uri="../../etc/passwd"), b.source("t")])))
    assert [each.origin.pointer for each in source.findings(LENS) if each.rule == "PTH001"] == ["/0/uri"]


def test_deceiving_text_is_reported_with_its_line(tmp_path: Path) -> None:
    source = opened(b.write(tmp_path, b.as_lines([b.item("a"), b.item("b", "green\u001b[2J")])))
    assert {
        (each.origin.line, each.origin.pointer) for each in source.findings(LENS) if each.rule == "TXT001"
    } == {(2, "/1/content")}


def test_a_hurried_reading_of_many_records_has_no_findings_yet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source_records, "MANY", 5)
    bad = b.write(tmp_path, b.as_array([{**each, "scope": 7} for each in b.turn()]))
    quick = Lens(ESTIMATES["bytes/4"], hurry=Hurry.LINKS)
    source = opened(bad)
    first = source.reading(0, quick)
    linked = source.reading(0, Lens(quick.counter, hurry=Hurry.FINDINGS))
    last = source.reading(0, Lens(quick.counter))
    assert (first.judged, first.findings, first.linked, first.state.refs) == (False, (), False, ())
    assert (linked.judged, linked.linked) == (False, True)
    assert linked.state == last.state
    assert first.state.flow == Flow((), ())
    assert replace(first.state, refs=last.state.refs, flow=last.state.flow) == last.state
    assert last.judged
    assert last.findings


def test_a_reading_gives_way_between_its_records(tmp_path: Path) -> None:
    records = [b.item(f"i{number}", f"content {number}") for number in range(200)]
    source = opened(b.write(tmp_path, b.as_array([*b.turn(), *records])))
    pauses = count()
    with giving_way(lambda: next(pauses)):
        source.findings(LENS)
        judged = next(pauses)
        source.reading(0, LENS)
        built = next(pauses) - judged
    assert judged > len(records)
    assert built > len(records)


def test_a_custom_profile_sets_other_limits(tmp_path: Path) -> None:
    source = opened(b.write(tmp_path / "records", b.as_array(b.turn())))
    own = tmp_path / "strict.toml"
    own.write_text('extends = "draft-0.1.1"\n[limits]\ninline_bytes = 1\n')

    strict = {each.rule for each in source.findings(Lens(LENS.counter, profile=str(own)))}

    assert strict - rules(source) == {"ENV025"}
    with pytest.raises(OpenError, match=r"did you mean draft-0\.1\.1"):
        source.findings(Lens(LENS.counter, profile="draft-0.1"))
