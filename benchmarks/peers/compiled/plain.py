"""A spanning tree as functions of C take it: arrays of plain numbers, as `tree.hpp` says."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.peers.bodies import Body, Skeleton

Array = np.ndarray
ARGUMENTS = (ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
"""Types of the results of `arguments`."""


@dataclass(frozen=True)
class PlainTree:
    """Parents and kinds of joints (body,), numbers (body, 25), gravity (3,)."""

    parents: Array
    prismatic: Array
    numbers: Array
    gravity: Array

    @classmethod
    def of(cls, skeleton: Skeleton, gravity: Sequence[float]) -> PlainTree:
        """Return the tree of a skeleton."""
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
    """Return the values (sample, body) row by row, the same array if it is already so."""
    return np.ascontiguousarray(values, dtype=float)


def address(values: Array) -> int:
    """Return the address of an array."""
    return values.ctypes.data


class PlainJobs:
    """Jobs on a tree by functions that take all samples at once: (sample, body), row by row. Buffers are used again."""

    def __init__(self, gravity: Sequence[float]):
        self.gravity, self._buffers = gravity, dict[str, Array]()

    def inverse_dynamics(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return the joint torques."""
        return self._run("inverse_dynamics", q.shape, q, qd, qdd)

    def forward_dynamics(self, q: Array, qd: Array, torque: Array) -> Array:
        """Return the joint accelerations by the articulated-body algorithm."""
        return self._run("forward_dynamics", q.shape, q, qd, torque)

    def inertia_matrix(self, q: Array) -> Array:
        """Return the upper triangles of the inertia matrices (sample, body, body) by composite rigid bodies."""
        return self._run("inertia_matrix", (*q.shape, q.shape[1]), q)

    def numbers(self, skeleton: Skeleton) -> PlainTree:
        """Return the numbers of another design of the same mechanism, as `change` takes them."""
        return PlainTree.of(skeleton, self.gravity)

    def call(self, job: str, given: Sequence[Array], found: Array) -> None:
        """Do a job: from arrays row by row into `found`."""
        raise NotImplementedError

    def _run(self, job: str, shape: tuple[int, ...], *given: Array) -> Array:
        if (found := self._buffers.get(job)) is None or found.shape != shape:
            found = self._buffers[job] = np.empty(shape)
        self.call(job, [rows(each) for each in given], found)
        return found
