"""Operations of the inertia matrix of a chain of revolute joints: counted in traced programs, and as published.

A chain is general: nothing of it is zero or one. The count starts where that of the paper does, at the axes, origins,
centres of mass and inertia tensors of all links in the axes of the base, and ends at the matrix, one triangle of it.
The way from joint angles to that start is the same for all methods, and counted by itself.

Source of the formulas: Wang, Ju, An explicit modelling method of joint-space inertia matrix for tree-chain dynamic
system, table 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from benchmarks.figures import require
from robots.model import Frame, Inertia, Link
from tasks.kernels.program import Program, trace
from tasks.mechanics.inertia.explicit import element_of
from tasks.mechanics.inertia.methods import METHODS
from tasks.mechanics.inertia.placed import Body, Placed, symmetric
from tasks.mechanics.kinematics import JointState

Array = Any

SUPPORT = (2, 3, 4, 5)
"""Numbers of joints that formulas are laid through; a single joint has nothing before it, and costs less."""

WEIGHT = 1.1
"""Additions that a multiplication counts for, as in the paper."""

OWN = {"mass": (), "own_centre": (3,), "own_tensor": (6,)}
WORLD = {"axis": (3,), "origin": (3,), "centre": (3,), "rotation": (3, 3), "tensor": (6,), **OWN}
"""Inputs for each link that the matrix is counted from: in the axes of the base, and mass and such in its own."""

JOINT = {"placement": (3, 3), "position": (3,), "cos": (), "sin": (), **OWN}
"""Inputs for each link that the way there is counted from."""


@dataclass(frozen=True)
class Count:
    """Scalar operations; a fused multiply-add is one of each, and signs are free."""

    multiplications: int
    additions: int

    @classmethod
    def of(cls, program: Program) -> Count:
        """Return the count of a program without loops, all inputs per sample. Raises KeyError for other operations."""
        kinds = {"mul": (1, 0), "add": (0, 1), "sub": (0, 1), "neg": (0, 0)}
        fused = dict.fromkeys(("fma", "fms", "fnma"), (1, 1))
        counted = [(number, (kinds | fused)[op]) for op, number in program.operations().items()]
        return cls(*(sum(number * each[k] for number, each in counted) for k in range(2)))

    @property
    def equivalent(self) -> float:
        """The paper's measure: additions, and multiplications at their weight."""
        return WEIGHT * self.multiplications + self.additions


@dataclass(frozen=True)
class Formula:
    """Counts of a method as polynomials of the number of joints n: coefficients of n^3, n^2, n, 1; exact for n >= 2."""

    multiplications: tuple[Fraction, ...]
    additions: tuple[Fraction, ...]

    @classmethod
    def through(cls, counts: Mapping[int, Count]) -> Formula:
        """Return the formula through the counts for 2 to 5 joints. Raises CheckError if it does not fit all others."""
        names = ("multiplications", "additions")
        made = cls(*(_cubic([getattr(counts[n], name) for n in SUPPORT]) for name in names))
        for n, count in counts.items():
            found = made.count(n)
            require(n < SUPPORT[0] or found == count, f"counts of {n} joints: {count}; expected {found} by the formula")
        return made

    def count(self, n: int) -> Count:
        """Return the number of operations for n >= 2 joints."""
        values = (sum(c * n**k for c, k in zip(each, (3, 2, 1, 0), strict=True)) for each in vars(self).values())
        return Count(*(int(value) for value in values))


def _cubic(values: Sequence[int]) -> tuple[Fraction, ...]:
    """Return the coefficients, highest power first, of the cubic with these integers on SUPPORT: integer sixths."""
    sixths = 6.0 * np.linalg.solve(np.vander(SUPPORT), values)
    return tuple(Fraction(round(each), 6) for each in sixths)


@dataclass(frozen=True)
class Published:
    """A method's formulas in the paper's table 1: coefficients of n^3, n^2, n."""

    multiplications: tuple[float, float, float]
    additions: tuple[float, float, float]

    def equivalent(self, n: int) -> float:
        """Return the equivalent additions for n joints."""
        powers = np.array([n**3, n**2, n])
        return float(WEIGHT * (self.multiplications @ powers) + self.additions @ powers)


PUBLISHED = {
    "explicit": Published((3.5, 16.0, 12.5), (3.5, 10.0, 6.5)),
    "momentum": Published((7.0, 12.0, 3.0), (5.0, 10.0, 2.0)),
    "pseudo_inertia": Published((21.0, 63.0, 66.0), (18.0, 49.5, 43.5)),
}


def matrix_program(method: str, n: int) -> Program:
    """Return the matrix of a chain of n joints by one of METHODS."""
    return _traced(f"{method}.{n}", WORLD, n, lambda given: METHODS[method].without_drives(_placed(given)))


def element_program(n: int, u: int, k: int) -> Program:
    """Return the program of one element of that matrix alone."""
    return _traced(f"element.{n}.{u}.{k}", WORLD, n, lambda given: element_of(_placed(given), u, k))


def placing_program(n: int) -> Program:
    """Trace the placements of all bodies from the joint angles."""

    def compute(given: Mapping[str, Array]) -> Array:
        bodies = Placed.of(*_links(given)).bodies.values()
        return [x for each in bodies for name in ("axis", "origin", "centre", "rotation", "tensor")
                for x in np.ravel(getattr(each, name))]  # fmt: skip

    return _traced(f"placing.{n}", JOINT, n, compute)


def chain_matrix(method: str, n: int) -> np.ndarray:
    """Return the matrix (n, n) of one certain chain of n joints in numbers."""
    draw = np.random.default_rng(n)
    frames = np.linalg.qr(draw.normal(size=(n, 3, 3)))[0]
    spread = draw.normal(size=(n, 3, 3))
    squares = np.trace(spread @ spread.swapaxes(1, 2), axis1=1, axis2=2)[:, None, None] * np.eye(3)
    tensors = squares - spread @ spread.swapaxes(1, 2)
    angles = draw.uniform(-np.pi, np.pi, n)
    given = {
        "placement": frames * np.linalg.det(frames)[:, None, None],
        "position": draw.normal(size=(n, 3)),
        "cos": np.cos(angles),
        "sin": np.sin(angles),
        "mass": draw.uniform(0.5, 2.0, n),
        "own_centre": draw.normal(size=(n, 3)),
        "own_tensor": tensors[(slice(None), *np.tril_indices(3))],
    }
    return METHODS[method](*_links(given))


def _traced(name: str, inputs: Mapping[str, tuple[int, ...]], n: int, compute: Callable[..., Array]) -> Program:
    sample = {key: (n, *shape) for key, shape in inputs.items()}
    return trace(name, lambda **given: {"result": compute(given)}, case={}, sample=sample)


def _tensor(six: Array) -> np.ndarray:
    return symmetric(3, dict(zip(zip(*np.tril_indices(3), strict=True), six, strict=True)))


def _inertia(given: Mapping[str, Array], i: int) -> Inertia:
    return Inertia(given["mass"][i], tuple(given["own_centre"][i]), tuple(map(tuple, _tensor(given["own_tensor"][i]))))  # type: ignore[arg-type]


def _placed(given: Mapping[str, Array]) -> Placed:
    return Placed({i: _body(given, i) for i in range(len(given["mass"]))})


def _body(given: Mapping[str, Array], i: int) -> Body:
    axis, origin, centre, rotation = (given[name][i] for name in ("axis", "origin", "centre", "rotation"))
    return Body(i - 1, "revolute", axis, origin, centre, rotation, _tensor(given["tensor"][i]), _inertia(given, i))


def _links(given: Mapping[str, Array]) -> tuple[list[Link], list[JointState]]:
    count = range(len(given["mass"]))
    frames = [Frame(tuple(map(tuple, given["placement"][i])), tuple(given["position"][i])) for i in count]  # type: ignore[arg-type]
    links = [Link(str(i), str(i), i - 1, "revolute", (0.0, 0.0, 1.0), frames[i], _inertia(given, i)) for i in count]
    return links, [JointState(given["cos"][i], given["sin"][i]) for i in count]
