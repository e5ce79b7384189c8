from __future__ import annotations

from ctxview.core.lazy import LazySequence


def test_a_lazy_sequence_is_computed_once_and_only_when_read() -> None:
    made: list[int] = []

    def make() -> list[int]:
        made.append(1)
        return [3, 4]

    later = LazySequence(make)
    assert not made
    assert [*later] == [3, 4]
    assert (len(later), later[1], later[:1]) == (2, 4, (3,))
    assert made == [1]


def test_a_lazy_sequence_equals_its_items() -> None:
    assert LazySequence(lambda: [1]) == (1,) == LazySequence(lambda: (1,))
    assert LazySequence(lambda: [1]) != (2,)
    assert hash(LazySequence(lambda: [1])) == hash((1,))
