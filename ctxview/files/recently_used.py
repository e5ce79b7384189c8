"""Bounds how many things hold memory or descriptors: the one unused for longest is asked to release them."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Generic, Protocol, TypeVar, runtime_checkable
from weakref import ref


@runtime_checkable
class Releasable(Protocol):
    def release(self) -> bool:
        """Free what can be had again at the next use; False while that is in use or would be lost."""


T = TypeVar("T", bound=Releasable)


class RecentlyUsed(Generic[T]):
    """The things that were used last; it keeps none of them alive. For any thread."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._used: OrderedDict[int, ref[T]] = OrderedDict()
        self._lock = Lock()

    def use(self, thing: T) -> None:
        """Note a use of `thing`, and release those beyond `most` that were not used for longest."""
        known = ref(thing)
        with self._lock:
            self._used[id(thing)] = known
            self._used.move_to_end(id(thing))
            surplus = [self._used.popitem(last=False) for _ in range(len(self._used) - self.most)]
        # Without the lock: a thing that is released may use or delete others.
        for key, each in surplus:
            found = each()
            if found is not None and not found.release():
                with self._lock:
                    self._used.setdefault(key, each)
