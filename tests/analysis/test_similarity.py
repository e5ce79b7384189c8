"""The similarity of texts, and the closest of many."""

from __future__ import annotations

from ctxview.analysis.similarity import TextIndex, shared_words

TEXTS = {
    "deploy": "The deploy script needs Node 22 and a database on port 5432",
    "tests": "Tests are run with pytest in two processes",
    "chinese": "部署脚本需要一个正在运行的数据库",
}


def test_an_equal_text_is_found_in_any_case_and_spacing():
    found = TextIndex(TEXTS).closest("the  DEPLOY script needs node 22 and a database on port 5432\n", 0.9)
    assert found is not None
    assert (found.key, found.ratio) == ("deploy", 1.0)


def test_a_text_with_one_word_changed_is_found():
    found = TextIndex(TEXTS).closest("The deploy script needs Node 24 and a database on port 5432", 0.9)
    assert found is not None
    assert found.key == "deploy"
    assert 0.9 <= found.ratio < 1


def test_scripts_without_spaces_are_compared_too():
    found = TextIndex(TEXTS).closest("部署脚本需要一个正在运行的缓存", 0.8)
    assert found is not None
    assert found.key == "chinese"


def test_another_text_is_not_found():
    assert TextIndex(TEXTS).closest("The user likes short answers", 0.9) is None
    assert TextIndex({}).closest("anything", 0.1) is None


def test_a_long_text_is_compared_by_its_words():
    words = " ".join(f"word{number}" for number in range(150))
    found = TextIndex({"long": words}).closest(words.replace("word7 ", "other "), 0.9)
    assert found is not None


def test_the_share_of_common_words_goes_from_none_to_all():
    assert shared_words("a b c", "d e f") == 0
    assert shared_words("a b", "B A") == 1
    assert shared_words("one two three four", "one two five six") == 0.5
    assert shared_words("", "") == 1
