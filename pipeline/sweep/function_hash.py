"""Hash a Python function: its byte code, and the values and functions that it refers to.

Names of files, line numbers, comments and the spelling of the source do not count, nor whether limbsweep is a
checkout or a wheel, which has our modules below `limbsweep._src`. Byte code differs between versions of Python, which a
run does not mix anyway.
"""

from __future__ import annotations

import hashlib
import inspect
import types
from collections.abc import Callable, Iterator, Mapping

import numpy as np

INSIDE = "limbsweep._src."
"""Prefix of the names of our modules in a wheel."""


def of_function(function: Callable[..., object]) -> str:
    """Return the SHA-256 of a function written in Python, in hexadecimal."""
    assert isinstance(function, types.FunctionType)
    return hashlib.sha256(repr(list(_function(function, set()))).encode()).hexdigest()


def _function(function: types.FunctionType, seen: set[int]) -> Iterator[object]:
    if id(function) in seen:
        yield "again", function.__qualname__
        return
    seen.add(id(function))
    yield from _code(function.__code__)
    yield _value(function.__defaults__, seen), _value(function.__kwdefaults__, seen)
    variables = inspect.getclosurevars(function)
    for name, value in sorted({**variables.globals, **variables.nonlocals}.items()):
        yield name, _value(value, seen)


def _code(code: types.CodeType) -> Iterator[object]:
    yield code.co_code.hex(), tuple(map(_plain, code.co_names)), code.co_varnames, code.co_freevars
    for constant in code.co_consts:
        yield list(_code(constant)) if isinstance(constant, types.CodeType) else _value(constant, set())


def _value(value: object, seen: set[int]) -> object:
    """Convert a value to text, or to parts that have one; other objects to their type."""
    if isinstance(value, types.FunctionType):
        return list(_function(value, seen))
    if isinstance(value, types.ModuleType):
        return "module", _plain(value.__name__)
    if isinstance(value, np.ndarray | np.generic):
        return "array", str(value.dtype), np.shape(value), hashlib.sha256(np.ascontiguousarray(value).data).hexdigest()
    if isinstance(value, tuple | list):
        return type(value).__name__, [_value(item, seen) for item in value]
    if isinstance(value, set | frozenset):
        return type(value).__name__, sorted(repr(_value(item, seen)) for item in value)
    if isinstance(value, Mapping):
        return "mapping", sorted((repr(key), repr(_value(item, seen))) for key, item in value.items())
    if value is None or isinstance(value, bool | int | float | complex | str | bytes):
        return _plain(repr(value))
    return "other", _plain(type(value).__module__), getattr(value, "__qualname__", type(value).__qualname__)


def _plain(text: str) -> str:
    """Return a text with the names of our modules as a checkout has them."""
    return text.replace(INSIDE, "")
