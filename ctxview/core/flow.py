"""The flow of content as a graph: stages, the records in them, and the links between the records.

It is part of the neutral state and knows no format and no screen.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct

from ctxview.core.lazy import Text

if TYPE_CHECKING:
    from ctxview.core.fields import Form
    from ctxview.core.origin import Origin


class FlowNode(Struct, frozen=True):
    """One record of a flow. `block` is the id of its memory block, if the record is one."""

    id: str
    label: str
    detail: str
    """A summary in one line."""
    origin: Origin
    text: Text = ""
    """The full text."""
    block: str | None = None
    form: Form | None = None


class FlowStage(Struct, frozen=True):
    """One stage of a flow. `branch_of` names the stage it branches from when it is not on the main line."""

    name: str
    nodes: tuple[FlowNode, ...]
    branch_of: str | None = None


class FlowLink(Struct, frozen=True):
    """A link between two nodes that `count` items passed. `label` adds a detail, such as why some did not."""

    start: str
    end: str
    count: int
    label: str = ""


class Flow(Struct, frozen=True, dict=True):
    """Stages in order, each branch after the stage it leaves."""

    stages: tuple[FlowStage, ...]
    links: tuple[FlowLink, ...]

    @cached_property
    def index(self) -> FlowIndex:
        return FlowIndex(self)


class FlowIndex:
    """An index of one flow, for fast answers when it has many records and links."""

    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        main = {stage.name for stage in flow.stages if stage.branch_of is None}
        self.main: Sequence[FlowStage] = [stage for stage in flow.stages if stage.branch_of not in main]
        self.nodes: dict[str, FlowNode] = {}
        self._stages: dict[str, FlowStage] = {}
        self._out: dict[str, list[FlowLink]] = defaultdict(list)
        self._into: dict[str, list[FlowLink]] = defaultdict(list)
        for stage in flow.stages:
            for node in stage.nodes:
                self.nodes.setdefault(node.id, node)
                self._stages.setdefault(node.id, stage)
        for link in flow.links:
            if link.start in self.nodes and link.end in self.nodes:
                self._out[link.start].append(link)
                self._into[link.end].append(link)
        self._order = {stage.name: at for at, stage in enumerate(flow.stages)}

    def stage(self, id_: str) -> FlowStage | None:
        return self._stages.get(id_)

    def out_of(self, id_: str) -> Sequence[FlowLink]:
        return self._out.get(id_, ())

    def into(self, id_: str) -> Sequence[FlowLink]:
        return self._into.get(id_, ())

    def of_block(self, block: str) -> FlowNode | None:
        """Return the record of the memory block `block`, or None."""
        return next((node for node in self.nodes.values() if node.block == block), None)

    def onward(self, id_: str) -> list[FlowNode]:
        """Return the records of the nearest later stage that a record leads to; main line before branches."""
        here = self._order[self._stages[id_].name] if id_ in self._stages else -1
        ends = [link.end for link in self.out_of(id_)]
        ahead = [end for end in ends if self._order[self._stages[end].name] > here]
        return self._nearest(ahead or ends, far=False)

    def backward(self, id_: str) -> list[FlowNode]:
        """Return the nearest memory blocks that lead to a record; for a block, its direct predecessors."""
        node = self.nodes.get(id_)
        if node is None:
            return []
        if node.block is None and (blocks := self._blocks_behind(id_)):
            return blocks
        return self._nearest([link.start for link in self.into(id_)], far=True)

    def passed(self, start: str, end: str) -> int:
        """Count the items that went from stage `start` to stage `end`."""
        return sum(
            link.count
            for stage in self.flow.stages
            if stage.name == start
            for node in stage.nodes
            for link in self.out_of(node.id)
            if self._stages[link.end].name == end
        )

    def _blocks_behind(self, id_: str) -> list[FlowNode]:
        """Return the memory blocks that lead to a record in the fewest steps."""
        seen, front = {id_}, [id_]
        while front:
            front = list(dict.fromkeys(link.start for each in front for link in self.into(each)))
            front = [each for each in front if each not in seen]
            seen.update(front)
            if blocks := [self.nodes[each] for each in front if self.nodes[each].block is not None]:
                return blocks
        return []

    def _nearest(self, ids: Iterable[str], *, far: bool) -> list[FlowNode]:
        """Return the nodes of one stage: the first, or with `far` the last; main line before branches."""
        found = list(dict.fromkeys(ids))
        on_main = [each for each in found if self._stages[each] in self.main]
        found = on_main or found
        if not found:
            return []
        places = {self._order[self._stages[each].name] for each in found}
        place = max(places) if far else min(places)
        return [self.nodes[each] for each in found if self._order[self._stages[each].name] == place]
