"""Frozen classes are made more quickly than by the library, and behave as the library's do."""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field, fields, replace
from functools import cached_property
from typing import Any

import pytest

from ctxview.quick_dataclass import dataclass

MAKERS = pytest.mark.parametrize("make", [dataclass, dataclasses.dataclass], ids=["ours", "the library's"])


@dataclass(frozen=True, slots=True)
class Lamp:
    """Where pickle finds it."""

    name: str
    watts: int = 60
    tags: list[str] = field(default_factory=list, compare=False, repr=False)


@MAKERS
def test_a_frozen_class(make: Callable[..., Any]) -> None:
    @make(frozen=True, slots=True)
    class Light:
        name: str
        watts: int = 60
        tags: list[str] = field(default_factory=list, compare=False, repr=False)
        double: tuple[int, ...] = ()

        def __post_init__(self) -> None:
            object.__setattr__(self, "double", (self.watts, *self.double))

    one = Light("a", tags=["x"])
    assert (one.name, one.watts, one.tags, one.double) == ("a", 60, ["x"], (60,))
    assert one == Light("a") != Light("b")
    assert one != ("a", 60, (60,))
    assert hash(one) == hash(Light("a"))
    assert Light("a").tags is not Light("b").tags
    assert repr(one).endswith("Light(name='a', watts=60, double=(60,))")
    assert replace(one, name="b", double=()) == Light("b")
    assert [each.name for each in fields(Light)] == ["name", "watts", "tags", "double"]
    with pytest.raises(FrozenInstanceError):
        one.name = "c"
    with pytest.raises(FrozenInstanceError):
        del one.name
    with pytest.raises(TypeError):
        Light()
    match one:
        case Light(name, watts):
            assert (name, watts) == ("a", 60)


@MAKERS
def test_what_a_class_says_itself_stays(make: Callable[..., Any]) -> None:
    @make(frozen=True)
    class Own:
        name: str

        def __eq__(self, other: object) -> bool:
            return True

        def __repr__(self) -> str:
            return "mine"

        @cached_property
        def worked_out(self) -> list[str]:
            return [self.name]

    @make(frozen=True, slots=True, eq=False)
    class Only:
        name: str

    one = Own("a")
    assert one == 7
    assert hash(one) == hash(Own("a"))
    assert repr(one) == "mine"
    assert one.worked_out is one.worked_out
    assert Only("a") != Only("a")
    assert len({Only("a"), Only("a")}) == 2


def test_one_travels_between_processes() -> None:
    lamp = Lamp("a", 40, ["x"])
    again = pickle.loads(pickle.dumps(lamp))
    assert again == lamp
    assert again.tags == ["x"]
