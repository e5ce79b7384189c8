"""Prose compared word by word."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ctxview.analysis.diff.model import WordPiece, word_pieces

texts = st.text(alphabet="ab \n,漢字é\u3000", max_size=30) | st.text(max_size=30)


def sides(found: tuple[WordPiece, ...], *wanted: str) -> str:
    return "".join(piece.text for piece in found if piece.side in wanted)


@given(texts, texts)
def test_the_pieces_contain_both_texts(before: str, after: str) -> None:
    found = word_pieces(before, after)
    assert sides(found, "same", "removed") == before
    assert sides(found, "same", "added") == after


@given(texts)
def test_equal_texts_are_one_piece(text: str) -> None:
    assert word_pieces(text, text) == ((WordPiece("same", text),) if text else ())


def test_changed_words_next_to_each_other_read_as_one_phrase() -> None:
    found = word_pieces("keep the old parser", "keep a new parser")
    assert found == (
        WordPiece("same", "keep "),
        WordPiece("removed", "the old"),
        WordPiece("added", "a new"),
        WordPiece("same", " parser"),
    )


def test_a_number_changes_as_a_whole() -> None:
    assert sides(word_pieces('"decay": 0.40,', '"decay": 0.45,'), "added") == "0.45"


def test_text_without_spaces_is_compared_by_character() -> None:
    assert sides(word_pieces("読む前に", "読む後に"), "added") == "後"


def test_huge_texts_are_compared_by_lines_without_losing_text() -> None:
    before = "".join(f"line {n}\n" for n in range(1500))
    after = before.replace("line 7\n", "row 7\n").replace("line 1490\n", "")
    found = word_pieces(before, after)
    assert sides(found, "same", "removed") == before
    assert sides(found, "same", "added") == after
    assert len(sides(found, "removed")) < 30


def test_texts_too_large_to_compare_are_replaced_whole() -> None:
    before, after = ("".join(f"{word}{n}\n" for n in range(5000)) for word in ("a ", "b "))
    assert [piece.side for piece in word_pieces(before, after)] == ["removed", "added"]
