"""Walking a flow: from a record to what it leads to, and back to what it came from. Draws nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from ctxview.flow import Flow, Link, Node, Stage


class Ways:
    """One flow, indexed: records may be many, and their links more."""

    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        straight = {stage.name for stage in flow.stages if stage.branch_of is None}
        self.main: Sequence[Stage] = [stage for stage in flow.stages if stage.branch_of not in straight]
        self.nodes: dict[str, Node] = {}
        self._stages: dict[str, Stage] = {}
        self._out: dict[str, list[Link]] = defaultdict(list)
        self._into: dict[str, list[Link]] = defaultdict(list)
        for stage in flow.stages:
            for node in stage.nodes:
                self.nodes.setdefault(node.id, node)
                self._stages.setdefault(node.id, stage)
        for link in flow.links:
            if link.start in self.nodes and link.end in self.nodes:
                self._out[link.start].append(link)
                self._into[link.end].append(link)
        self._order = {stage.name: at for at, stage in enumerate(flow.stages)}

    def stage(self, id_: str) -> Stage | None:
        return self._stages.get(id_)

    def out_of(self, id_: str) -> Sequence[Link]:
        return self._out.get(id_, ())

    def into(self, id_: str) -> Sequence[Link]:
        return self._into.get(id_, ())

    def of_block(self, block: str) -> Node | None:
        """The record that is a memory block."""
        return next((node for node in self.nodes.values() if node.block == block), None)

    def onward(self, id_: str) -> list[Node]:
        """What a record leads to in the nearest stage further on: the main line first, then a branch."""
        here = self._order[self._stages[id_].name] if id_ in self._stages else -1
        ends = [link.end for link in self.out_of(id_)]
        ahead = [end for end in ends if self._order[self._stages[end].name] > here]
        return self._nearest(ahead or ends, far=False)

    def backward(self, id_: str) -> list[Node]:
        """What a record came from: the nearest memory blocks, from such a one whatever leads to it."""
        node = self.nodes.get(id_)
        if node is None:
            return []
        if node.block is None and (blocks := self._blocks_behind(id_)):
            return blocks
        return self._nearest([link.start for link in self.into(id_)], far=True)

    def passed(self, start: str, end: str) -> int:
        """How many things went from one stage to another."""
        return sum(
            link.count
            for stage in self.flow.stages
            if stage.name == start
            for node in stage.nodes
            for link in self.out_of(node.id)
            if self._stages[link.end].name == end
        )

    def _blocks_behind(self, id_: str) -> list[Node]:
        """The blocks that lead to a record by the fewest steps."""
        seen, front = {id_}, [id_]
        while front:
            front = list(dict.fromkeys(link.start for each in front for link in self.into(each)))
            front = [each for each in front if each not in seen]
            seen.update(front)
            if blocks := [self.nodes[each] for each in front if self.nodes[each].block is not None]:
                return blocks
        return []

    def _nearest(self, ids: Iterable[str], *, far: bool) -> list[Node]:
        """Those of one stage: of the main line where there is one, the first of these or the last."""
        found = list(dict.fromkeys(ids))
        on_main = [each for each in found if self._stages[each] in self.main]
        found = on_main or found
        if not found:
            return []
        places = {self._order[self._stages[each].name] for each in found}
        place = max(places) if far else min(places)
        return [self.nodes[each] for each in found if self._order[self._stages[each].name] == place]
