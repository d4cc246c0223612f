"""A spanning tree as functions of C take it: arrays of plain numbers, as `tree.hpp` says."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.peers.bodies import Body, Skeleton

Array = np.ndarray
ARGUMENTS = (ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
"""Types of what `arguments` gives."""


@dataclass(frozen=True)
class PlainTree:
    """Parents and kinds of joints (body,), numbers (body, 25), gravity (3,)."""

    parents: Array
    prismatic: Array
    numbers: Array
    gravity: Array

    @classmethod
    def of(cls, skeleton: Skeleton, gravity: Sequence[float]) -> PlainTree:
        """The tree of a skeleton."""
        parents, prismatic = (
            np.array(each, dtype=np.intc)
            for each in zip(*((body.parent, body.kind == "prismatic") for body in skeleton.bodies), strict=True)
        )
        numbers = np.stack([_numbers(body) for body in skeleton.bodies])
        return cls(parents, prismatic, numbers, np.array(gravity, dtype=float))

    @property
    def arguments(self) -> tuple[int, ...]:
        """Number of bodies, and where the arrays are; this object has to outlive the call."""
        return (len(self.parents), *map(address, (self.parents, self.prismatic, self.numbers, self.gravity)))


def _numbers(body: Body) -> Array:
    parts = (body.at.rotation, body.at.position, body.mass, body.centre, body.tensor)
    return np.concatenate([np.ravel(part) for part in parts])


def rows(values: Array) -> Array:
    """Values (sample, body) row by row, the same array where it is so."""
    return np.ascontiguousarray(values, dtype=float)


def address(values: Array) -> int:
    """Where an array begins."""
    return values.ctypes.data
