"""`dataclass` as in the standard library, but quick at making frozen classes: a quarter of the time for each.

The library writes and compiles seven functions a class. Starting ctxview makes some two hundred classes, and
that took a third of the time its own modules take. Here only `__init__` is compiled, which has a signature of
its own; the other functions serve all classes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, FrozenInstanceError, fields
from dataclasses import dataclass as _by_library
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, **options):
        """What is not simply frozen is left to the library."""

        def make(cls):
            simple = (
                frozen
                and options.keys() <= {"slots", "eq"}
                and not any(map(_is_not_given, vars(cls).values()))
            )
            return _frozen(cls, **options) if simple else _by_library(cls, frozen=frozen, **options)

        return make if cls is None else make(cls)


def _is_not_given(default: object) -> bool:
    return isinstance(default, Field) and not default.init


def _frozen(cls: type[Any], *, slots: bool = False, eq: bool = True) -> type[Any]:
    own = dict(vars(cls))
    cls = _by_library(init=False, repr=False, eq=False, slots=slots)(cls)
    methods = {
        "__init__": _init(fields(cls), [" self.__post_init__()"] if hasattr(cls, "__post_init__") else []),
        "__repr__": _repr,
        "__setattr__": _refuse,
        "__delattr__": _refuse,
        **({"__getstate__": _getstate, "__setstate__": _setstate} if slots else {}),
        **(_comparing([each.name for each in fields(cls) if each.compare]) if eq else {}),
    }
    if "__eq__" in own and own.get("__hash__") is None:
        own.pop("__hash__", None)  # Python's own doing, because of the `__eq__`
    for name, method in methods.items():
        if name not in own:
            setattr(cls, name, method)
    return cls


def _init(known: tuple[Field[Any], ...], further: list[str]) -> Callable[..., None]:
    parameters, lines = ["self"], list[str]()
    names: dict[str, Any] = {"_set": object.__setattr__, "_missing": MISSING}
    for at, each in enumerate(known):
        parameter = value = each.name
        if each.default is not MISSING:
            names[f"_default_{at}"] = each.default
            parameter = f"{each.name}=_default_{at}"
        elif each.default_factory is not MISSING:
            names[f"_make_{at}"] = each.default_factory
            parameter = f"{each.name}=_missing"
            value = f"_make_{at}() if {each.name} is _missing else {each.name}"
        parameters.append(parameter)
        lines.append(f" _set(self, {each.name!r}, {value})")
    exec("\n".join([f"def __init__({', '.join(parameters)}):", *lines, *further, " return"]), names)
    init: Callable[..., None] = names["__init__"]
    return init


def _comparing(names: list[str]) -> Mapping[str, Callable[..., Any]]:
    values: Callable[[object], object] = attrgetter(*names) if names else lambda _: ()

    def equal(self: object, other: object) -> bool:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    return {"__eq__": equal, "__hash__": lambda self: hash(values(self))}


@recursive_repr()
def _repr(self: Any) -> str:
    told = ", ".join(f"{each.name}={getattr(self, each.name)!r}" for each in fields(self) if each.repr)
    return f"{type(self).__qualname__}({told})"


def _refuse(self: object, name: str, *_: object) -> None:
    raise FrozenInstanceError(f"{type(self).__qualname__}.{name} is never changed")


def _getstate(self: Any) -> list[object]:
    return [getattr(self, each.name) for each in fields(self)]


def _setstate(self: Any, state: list[object]) -> None:
    for each, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, each.name, value)
