"""Progress inside a block: loops over strips, steps and cases report the completed share to their listener."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

ShareListener = Callable[[float], None]
"""Function that takes the completed share of a block, from 0 to 1."""


class _Span(NamedTuple):
    listener: ShareListener
    low: float
    high: float


_SPAN: ContextVar[_Span | None] = ContextVar("_SPAN", default=None)


@contextmanager
def listening(listener: ShareListener) -> Iterator[None]:
    """Report shares inside the block of code to a listener."""
    token = _SPAN.set(_Span(listener, 0.0, 1.0))
    try:
        yield
    finally:
        _SPAN.reset(token)


@contextmanager
def span(low: float, high: float) -> Iterator[None]:
    """Map shares that are reported inside to the part of the whole from `low` to `high`."""
    outer = _SPAN.get()
    if outer is None:
        yield
        return
    width = outer.high - outer.low
    token = _SPAN.set(_Span(outer.listener, outer.low + low * width, outer.low + high * width))
    try:
        yield
    finally:
        _SPAN.reset(token)


def tell(done: int, total: int) -> None:
    """Report the number of completed parts, all equal, to the listener, if there is one.

    >>> shares = []
    >>> with listening(shares.append), span(0.5, 1.0):
    ...     tell(1, 2)
    >>> shares
    [0.75]
    """
    if (current := _SPAN.get()) is not None:
        current.listener(current.low + (current.high - current.low) * done / max(total, 1))
