from __future__ import annotations

from ctxview.later import Later


def test_it_is_made_once_and_only_when_somebody_looks() -> None:
    made: list[int] = []

    def make() -> list[int]:
        made.append(1)
        return [3, 4]

    later = Later(make)
    assert not made
    assert [*later] == [3, 4]
    assert (len(later), later[1], later[:1]) == (2, 4, (3,))
    assert made == [1]


def test_it_is_equal_to_what_it_becomes() -> None:
    assert Later(lambda: [1]) == (1,) == Later(lambda: (1,))
    assert Later(lambda: [1]) != (2,)
    assert hash(Later(lambda: [1])) == hash((1,))
