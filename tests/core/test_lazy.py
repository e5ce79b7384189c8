from __future__ import annotations

from ctxview.core.flow import FlowNode
from ctxview.core.lazy import LazySequence, LazyText
from ctxview.core.origin import Origin
from ctxview.core.state import map_parts


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


def test_a_lazy_text_is_computed_once_and_only_when_read() -> None:
    made: list[int] = []

    def make() -> str:
        made.append(1)
        return "later"

    text = LazyText(make)
    changed = map_parts(FlowNode("a", "a", "", Origin("f"), text), _shouted)
    assert not made
    assert isinstance(changed, FlowNode)
    assert (str(text), str(changed.text)) == ("later", "LATER")
    assert made == [1]


def test_a_lazy_text_equals_its_text() -> None:
    assert LazyText(lambda: "a") == "a" == LazyText(lambda: "a")
    assert LazyText(lambda: "a") != "b"
    assert hash(LazyText(lambda: "a")) == hash("a")


def _shouted(part: object) -> object:
    return part.upper() if isinstance(part, str) else map_parts(part, _shouted)
