"""Drafts: several edits, one step; undo, redo, preview and save."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxview.core.edits import DeleteValue, Edit, EditRefused, InsertItem, MoveItem, SetValue
from ctxview.core.findings import Effect, Finding, Severity
from ctxview.core.origin import Origin
from ctxview.editing.draft import Draft
from ctxview.files.save import SaveConflict
from ctxview.files.strict_json.document import JsonError, parse
from ctxview.files.strict_json.splice import SpliceError, delete_value, insert_item, move_item, set_value

TEXT = b'{"locked": 1, "blocks": [{"n": 1}, {"n": -5}, {"n": 3}], "done": []}\n'


class OpenPolicy:
    """A policy that allows every field except `locked`."""

    def apply(self, data: bytes, edit: Edit) -> bytes:
        document = parse(data)
        try:
            match edit:
                case SetValue(pointer, value):
                    return set_value(document, pointer, value)
                case InsertItem(pointer, value):
                    return insert_item(document, pointer, value)
                case DeleteValue(pointer):
                    return delete_value(document, pointer)
                case MoveItem(pointer, to):
                    return move_item(document, pointer, to)
        except SpliceError as error:
            raise EditRefused(str(error)) from None

    def tampering(self, before: bytes, after: bytes) -> str | None:
        try:
            same = parse(before).literal("/locked") == parse(after).literal("/locked")
        except (JsonError, KeyError):
            return "that is not even JSON with locked in it"
        return None if same else "locked is not yours"


def review(data: bytes) -> Sequence[Finding]:
    """Report a negative number as an error and a large one as information."""
    document = parse(data)
    found = []
    for tier in ("blocks", "done"):
        for index, block in enumerate(document.value[tier]):  # type: ignore[index, call-overload, arg-type]
            number = block["n"]
            origin = document.origin("f.json", f"/{tier}/{index}")
            if number < 0:
                found.append(Finding("T001", Severity.ERROR, Effect.NONE, f"{number} is negative", origin))
            if number > 100:
                found.append(Finding("T002", Severity.WARNING, Effect.NONE, f"{number} is large", origin))
    return found


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    path = tmp_path / "f.json"
    path.write_bytes(TEXT)
    return path


@pytest.fixture
def draft(file: Path) -> Draft:
    return Draft(file, TEXT, OpenPolicy(), review)


# -- steps ---------------------------------------------------------------------------------------------------


def test_several_edits_are_one_step(draft: Draft) -> None:
    draft.apply(SetValue("/blocks/0/n", 10), DeleteValue("/blocks/2"))

    assert draft.data == TEXT.replace(b'{"n": 1}', b'{"n": 10}').replace(b', {"n": 3}', b"")
    assert draft.dirty
    draft.undo()
    assert draft.data == TEXT
    assert not draft.dirty


def test_if_one_edit_is_refused_none_is_made(draft: Draft) -> None:
    with pytest.raises(EditRefused, match="nothing at /nowhere"):
        draft.apply(SetValue("/blocks/0/n", 10), DeleteValue("/nowhere"))

    assert draft.data == TEXT
    assert not draft.can_undo


def test_tampering_is_refused(draft: Draft) -> None:
    with pytest.raises(EditRefused, match="locked is not yours"):
        draft.apply(SetValue("/locked", 2))

    assert not draft.can_undo


def test_an_edit_that_changes_nothing_adds_no_step(draft: Draft) -> None:
    draft.apply(SetValue("/blocks/0/n", 1))

    assert not draft.can_undo


def test_a_new_step_ends_redo(draft: Draft) -> None:
    draft.apply(SetValue("/blocks/0/n", 10))
    draft.undo()
    draft.apply(SetValue("/blocks/0/n", 20))

    assert not draft.can_redo
    with pytest.raises(EditRefused, match="nothing to redo"):
        draft.redo()


def test_undo_and_redo_without_a_step_are_refused(draft: Draft) -> None:
    with pytest.raises(EditRefused, match="nothing to undo"):
        draft.undo()


steps = st.lists(
    st.sampled_from(
        [
            SetValue("/blocks/0/n", 5),
            SetValue("/blocks/0/new", [1]),
            InsertItem("/blocks/-", {"n": 2}),
            InsertItem("/blocks/0", {"n": 8}),
            DeleteValue("/blocks/0"),
            MoveItem("/blocks/0", "/done/-"),
            SetValue("/locked", 3),
        ]
    ),
    max_size=8,
)


@given(steps)
@settings(max_examples=15, deadline=None)
def test_undo_reverts_every_step_and_redo_repeats_it(edits: list[Edit]) -> None:
    draft = Draft(Path("f.json"), TEXT, OpenPolicy(), review)
    states = [draft.data]
    for edit in edits:
        try:
            draft.apply(edit)
        except EditRefused:
            assert draft.data == states[-1]
            continue
        if draft.data != states[-1]:
            states.append(draft.data)

    for state in reversed(states[:-1]):
        draft.undo()
        assert draft.data == state
    assert not draft.can_undo
    for state in states[1:]:
        draft.redo()
        assert draft.data == state
    assert not draft.can_redo


# -- preview -------------------------------------------------------------------------------------------------


def test_the_preview_shows_the_difference_and_the_findings(draft: Draft) -> None:
    draft.apply(SetValue("/blocks/1/n", 500))
    preview = draft.preview()

    assert [finding.message for finding in preview.added] == ["500 is large"]
    assert [finding.message for finding in preview.removed] == ["-5 is negative"]
    assert preview.blocked is None
    [hunk] = preview.hunks
    assert [kind for kind, _ in hunk.lines] == ["removed", "added"]


def test_a_warning_whose_words_quote_the_value_is_the_same_one_and_an_error_is_not(file: Path) -> None:
    text = TEXT.replace(b'{"n": 1}', b'{"n": 500}')
    draft = Draft(file, text, OpenPolicy(), review)
    draft.apply(SetValue("/blocks/0/n", 600), SetValue("/blocks/1/n", -6))
    preview = draft.preview()

    assert [finding.message for finding in preview.added] == ["-6 is negative"]
    assert [finding.message for finding in preview.removed] == ["-5 is negative"]


def test_a_new_error_stops_the_save(draft: Draft, file: Path) -> None:
    draft.apply(SetValue("/blocks/0/n", -7), SetValue("/blocks/2/n", -8))

    blocked = draft.preview().blocked
    assert blocked == "the change would add an error: -7 is negative (T001) (and 1 more)"
    with pytest.raises(EditRefused, match="-7 is negative"):
        draft.save()
    assert file.read_bytes() == TEXT


def test_an_error_that_was_there_before_is_listed_but_stops_nothing(draft: Draft) -> None:
    draft.apply(SetValue("/blocks/0/n", 1000))
    preview = draft.preview()

    assert preview.blocked is None
    assert [finding.message for finding in preview.standing] == ["-5 is negative"]


@pytest.mark.parametrize(
    "edit", [DeleteValue("/blocks/0"), InsertItem("/blocks/0", {"n": 0}), MoveItem("/blocks/1", "/done/-")]
)
def test_an_old_error_that_only_moved_is_not_new(draft: Draft, edit: Edit) -> None:
    draft.apply(edit)
    preview = draft.preview()

    assert (preview.added, preview.removed, preview.blocked) == ((), (), None)
    assert len(preview.standing) == 1


def test_the_same_error_elsewhere_is_new_when_nothing_moved(draft: Draft) -> None:
    draft.apply(SetValue("/blocks/1/n", 5), SetValue("/blocks/2/n", -5))

    assert draft.preview().blocked is not None


def test_a_finding_without_a_pointer_is_compared_by_its_message() -> None:
    def review_all(data: bytes) -> list[Finding]:
        return [Finding("T003", Severity.ERROR, Effect.NONE, "bad", Origin("f.json"))] * data.count(b"n")

    draft = Draft(Path("f.json"), TEXT, OpenPolicy(), review_all)
    draft.apply(SetValue("/blocks/0/n", 2))
    assert draft.preview().blocked is None
    draft.apply(InsertItem("/done/-", {"n": 1}))
    assert len(draft.preview().added) == 1


def test_the_review_of_the_original_is_done_once(file: Path) -> None:
    seen: list[bytes] = []

    def counting(data: bytes) -> Sequence[Finding]:
        seen.append(data)
        return review(data)

    draft = Draft(file, TEXT, OpenPolicy(), counting)
    for number in (7, 8, 9):
        draft.apply(SetValue("/blocks/0/n", number))
        draft.preview()
        draft.preview()

    assert seen.count(TEXT) == 1
    assert len(seen) == 4


# -- save ----------------------------------------------------------------------------------------------------


def test_a_saved_draft_is_clean_and_can_still_be_undone(draft: Draft, file: Path) -> None:
    draft.apply(SetValue("/blocks/0/n", 10))
    saved = draft.save()

    assert file.read_bytes() == draft.data
    assert saved.backup.read_bytes() == TEXT
    assert draft.data == draft.original

    draft.undo()
    assert draft.dirty
    draft.save()
    assert file.read_bytes() == TEXT


def test_an_unchanged_draft_is_not_saved(draft: Draft) -> None:
    with pytest.raises(EditRefused, match="nothing was changed"):
        draft.save()


def test_a_conflict_has_both_versions_and_loses_neither(draft: Draft, file: Path) -> None:
    draft.apply(SetValue("/blocks/0/n", 10))
    file.write_bytes(b"agent")

    with pytest.raises(SaveConflict) as caught:
        draft.save()

    assert (caught.value.current, caught.value.wanted) == (b"agent", draft.data)
    assert file.read_bytes() == b"agent"
    assert draft.dirty


def test_after_undoing_past_a_save_and_editing_anew_moved_errors_are_still_known(draft: Draft) -> None:
    draft.apply(DeleteValue("/blocks/0"))
    draft.save()
    draft.undo()
    draft.apply(SetValue("/blocks/0/n", 4))

    assert draft.preview().blocked is None
    draft.save()
    assert not draft.dirty


def test_a_change_allowed_before_a_save_is_checked_again_after_it(file: Path) -> None:
    class OneWay(OpenPolicy):
        def tampering(self, before: bytes, after: bytes) -> str | None:
            return "only growth is allowed" if len(after) < len(before) else None

    draft = Draft(file, TEXT, OneWay(), review)
    draft.apply(SetValue("/blocks/0/n", 1000))
    draft.save()
    draft.undo()

    with pytest.raises(EditRefused, match="only growth"):
        draft.save()


# -- other bytes on disk -------------------------------------------------------------------------------------

THEIRS = TEXT.replace(b'"done": []', b'"done": [{"n": 9}]')


def test_unsaved_steps_are_reapplied_one_by_one_and_can_be_undone_again(draft: Draft) -> None:
    draft.apply(SetValue("/blocks/0/n", 10))
    draft.apply(DeleteValue("/blocks/2"))
    draft.reapply(THEIRS)

    assert draft.data == THEIRS.replace(b'{"n": 1}', b'{"n": 10}').replace(b', {"n": 3}', b"")
    draft.undo()
    draft.undo()
    assert (draft.data, draft.dirty, draft.can_undo) == (THEIRS, False, False)


def test_a_step_that_replaced_a_saved_one_cannot_be_reapplied(draft: Draft) -> None:
    """The file has the undone step, so its bytes are not those that the new step was made for."""
    draft.apply(SetValue("/blocks/0/n", 10))
    draft.save()
    draft.undo()
    draft.apply(SetValue("/blocks/2/n", 20))

    assert "already saved in the file" in (draft.cannot_reapply(THEIRS) or "")
    with pytest.raises(EditRefused, match="already saved"):
        draft.reapply(THEIRS)
    assert b'{"n": 20}' in draft.data


def test_a_reload_drops_all_steps(draft: Draft) -> None:
    draft.apply(SetValue("/blocks/0/n", 10))
    draft.reload(THEIRS)

    assert (draft.data, draft.dirty, draft.can_undo, draft.can_redo) == (THEIRS, False, False, False)


def test_a_draft_with_nothing_to_save_is_outdated_by_other_bytes_on_disk(draft: Draft) -> None:
    draft.on_disk = THEIRS
    assert draft.is_outdated
    draft.being_edited = True
    assert not draft.is_outdated
    draft.being_edited = False
    draft.apply(SetValue("/blocks/0/n", 10))
    assert not draft.is_outdated


def test_the_difference_is_masked_and_needs_no_review(file: Path) -> None:
    def no_review(_: bytes) -> Sequence[Finding]:
        pytest.fail("reviewed")

    draft = Draft(file, TEXT, OpenPolicy(), no_review, lambda data, _: data.replace(b"7", b"*"))
    draft.apply(SetValue("/blocks/0/n", 7))
    [hunk] = draft.difference()

    assert not any("7" in text for _, text in hunk.lines)
    assert any("*" in text for _, text in hunk.lines)


def test_a_save_computes_no_line_difference(draft: Draft, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctxview.editing.draft.line_difference", lambda *_: pytest.fail("computed"))
    draft.apply(SetValue("/blocks/0/n", 10))
    draft.save()
    assert not draft.dirty
