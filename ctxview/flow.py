"""The way things took, as a graph one can walk: stages, the records in them, and what passed between those.

Part of the neutral state, like `state`: it knows no format and no screen.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ctxview.quick_dataclass import dataclass

if TYPE_CHECKING:
    from ctxview.origin import Origin
    from ctxview.state import Form


@dataclass(frozen=True, slots=True)
class Node:
    """One record on the way. `block` is the id of the memory block that it is, if it is one."""

    id: str
    label: str
    detail: str
    """In one line what it did."""
    origin: Origin
    text: str = ""
    """The whole of it, for reading."""
    block: str | None = None
    form: Form | None = None


@dataclass(frozen=True, slots=True)
class Stage:
    """A step of the way. `branch_of` names the step it leaves from when it is not on the main line."""

    name: str
    nodes: tuple[Node, ...]
    branch_of: str | None = None


@dataclass(frozen=True, slots=True)
class Link:
    """From one node to another; `count` things passed. `label` says more, such as why some did not."""

    start: str
    end: str
    count: int
    label: str = ""


@dataclass(frozen=True, slots=True)
class Flow:
    """Stages in the order of the way, the branches after the stage they leave from."""

    stages: tuple[Stage, ...]
    links: tuple[Link, ...]

    def nodes(self) -> Iterator[Node]:
        for stage in self.stages:
            yield from stage.nodes

    def node(self, id_: str) -> Node | None:
        return next((each for each in self.nodes() if each.id == id_), None)

    def into(self, id_: str) -> tuple[Link, ...]:
        return tuple(link for link in self.links if link.end == id_)

    def out_of(self, id_: str) -> tuple[Link, ...]:
        return tuple(link for link in self.links if link.start == id_)

    def passed(self, start: str, end: str) -> int:
        """How many things went from one stage to another."""
        starts = {each.id for stage in self.stages if stage.name == start for each in stage.nodes}
        ends = {each.id for stage in self.stages if stage.name == end for each in stage.nodes}
        return sum(link.count for link in self.links if link.start in starts and link.end in ends)
