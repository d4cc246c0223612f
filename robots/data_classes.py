"""Data classes that are quick to make: the first object of each compiles one function, and the others are shared."""

from __future__ import annotations

import dataclasses
import functools
import reprlib
import sys
from collections.abc import Callable
from dataclasses import asdict, astuple, field, fields, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NoReturn

__all__ = ["asdict", "astuple", "dataclass", "field", "fields", "replace"]


class _Made:
    """Mark of a default that a function makes, as signatures show it."""

    def __repr__(self) -> str:
        return "<factory>"

    def __reduce__(self) -> str:
        return "_MADE"


_MADE = _Made()


class _Init:
    """`__init__` of a data class until it is first needed: most classes that a process loads have no object there."""

    def __init__(self, cls: type[Any], parts: tuple[dataclasses.Field[Any], ...], frozen: bool):
        self.cls, self.parts, self.frozen = cls, parts, frozen

    def __get__(self, instance: object, owner: type | None = None) -> Callable[..., None]:
        made = _compiled(self.cls, self.parts, self.frozen)
        if self.cls.__dict__["__init__"] is self:
            self.cls.__init__ = made
        bound: Callable[..., None] = made.__get__(instance, owner)
        return bound

    def __reduce__(self) -> tuple[Callable[[object], object], tuple[Callable[..., None]]]:
        return _itself, (_compiled(self.cls, self.parts, self.frozen),)


def _itself(made: object) -> object:
    """Return the argument: pickles of classes hold the compiled function."""
    return made


def _dataclass(
    cls: Any = None, /, *, frozen: bool = False, eq: bool = True, repr: bool = True, kw_only: bool = False
) -> Any:
    """Make a data class like `dataclasses.dataclass`, but without its six compiled functions for a frozen class.

    Order, slots and `InitVar` are not supported.

    >>> @dataclass(frozen=True)
    ... class Point:
    ...     x: float
    ...     y: float = 0.0
    >>> Point(1.0)
    Point(x=1.0, y=0.0)
    """
    if cls is None:
        return functools.partial(_dataclass, frozen=frozen, eq=eq, repr=repr, kw_only=kw_only)
    inherits = hasattr(cls, "__dataclass_fields__")
    # With a base, the standard library checks whether both are frozen; it compiles guards that are not needed.
    dataclasses.dataclass(init=False, repr=False, eq=False, frozen=frozen and inherits, kw_only=kw_only)(cls)
    parts = fields(cls)
    shared: dict[str, Any] = {"__repr__": _shown} if repr else {}
    if eq:
        cls.__compared__ = attrgetter(*(part.name for part in parts if part.compare), "__class__")
        shared |= {"__eq__": _equal, "__hash__": _hashed if frozen else None}
        if cls.__dict__.get("__hash__", ...) is None:
            del cls.__hash__  # of a class with an `__eq__` of its own
    for name, method in (shared | {"__init__": _Init(cls, parts, frozen)}).items():
        if name not in cls.__dict__:
            setattr(cls, name, method)
    if frozen:
        cls.__dataclass_params__.frozen = True
        cls.__setattr__, cls.__delattr__ = _no_assignment, _no_deletion
    return cls


def _compiled(cls: type[Any], parts: tuple[dataclasses.Field[Any], ...], frozen: bool) -> Callable[..., None]:
    """Compile `__init__` of a data class."""
    known: dict[str, Any] = {"_put_": object.__setattr__, "_MADE_": _MADE}
    head, named, body = ["self"], list[str](), list[str]()
    for part in parts:
        name = part.name
        value, default = name, f"_default_{name}_"
        if part.default_factory is not dataclasses.MISSING:
            known[default] = part.default_factory
            value = f"{default}() if {name} is _MADE_ else {name}" if part.init else f"{default}()"
            default = "_MADE_"
        elif part.default is not dataclasses.MISSING:
            known[default] = part.default
        else:
            default = ""
        if part.init:
            (named if part.kw_only else head).append(f"{name}={default}" if default else name)
        if part.init or default == "_MADE_":
            body.append(f"  _put_(self, {name!r}, {value})" if frozen else f"  self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        body.append("  self.__post_init__()")
    arguments = ", ".join([*head, "*", *named] if named else head)
    made: dict[str, Any] = {}
    lines = [
        f"def make({', '.join(known)}):",
        f" def __init__({arguments}):",
        *(body or ["  pass"]),
        " return __init__",
    ]
    exec("\n".join(lines), vars(sys.modules[cls.__module__]), made)
    init: Callable[..., None] = made["make"](**known)
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    init.__annotations__ = {part.name: part.type for part in parts if part.init} | {"return": None}
    return init


@reprlib.recursive_repr()
def _shown(self: Any) -> str:
    """Return class and fields as in a call."""
    shown = (f"{part.name}={getattr(self, part.name)!r}" for part in fields(self) if part.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _equal(self: Any, other: Any) -> bool:
    """Return whether another object is of the same class, with equal fields."""
    if other.__class__ is not self.__class__:
        return NotImplemented
    same: bool = self.__compared__(self) == self.__compared__(other)
    return same


def _hashed(self: Any) -> int:
    """Return a number that is the same for equal objects."""
    return hash(self.__compared__(self))


def _no_assignment(self: Any, name: str, value: object) -> NoReturn:
    """Refuse to change a frozen object."""
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _no_deletion(self: Any, name: str) -> NoReturn:
    """Refuse to take from a frozen object."""
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    dataclass = _dataclass
