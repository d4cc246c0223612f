"""Inverse dynamics and mass matrix of an imported robot beside those of another engine that reads the same file."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import NamedTuple

import numpy as np
from scipy.linalg import null_space
from scipy.optimize import least_squares

from benchmarks.imports.sources import Source
from benchmarks.imports.spanning import GRAVITY, Conditions, Spanning, following
from pipeline.errors import InputError
from robots.formats.description import Description
from robots.formats.tree import Base, Tree
from robots.model import Robot
from tasks import inertia_matrix, inverse_dynamics, inverse_kinematics

STATES = 8
STATES_OF_MASS = 2
"""States at which mass matrices are compared, which takes a column of the other engine for each joint."""

SEED = 20240501
LARGEST_ERROR = 1e-9
"""Difference, relative to the largest number of its state, from which on it counts as wrong."""

SPREAD = 0.6
"""Sizes of positions, rates and accelerations at random states [rad or m, and per second]."""

NEAR = (0.1, 0.01, 0.001)
"""The same of closed chains, whose loops end somewhere: the first size at which a state can be reached."""

CLOSED = 1e-9
"""Largest gap of a loop of another engine [m, or cosine]."""

STARTS, EVALUATIONS, LEAST = (0.0, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0, 1.4), 300, 1e-15
"""Largest positions from which another engine's loops are closed [rad or m], evaluations from each, least gains."""

RANK = 1e-9
"""Share of the largest singular value below which a singular value of loop constraints counts as zero."""

AHEAD = 1e-5
"""Time [s] over which changes of slopes are measured."""

ENGINES: Mapping[str, Sequence[str]] = {
    ".urdf": ("pinocchio", "mujoco"),
    ".xml": ("mujoco",),
    ".sdf": ("drake",),
}
"""Engines that files of a kind are compared with; the first that reads a file is taken."""

REPAIRING = ("drake",)
"""Engines that replace an inertia that no body can have, with or without a warning."""


class Errors(NamedTuple):
    """Largest differences from another engine, relative to the largest number of a state.

    `mass` is NaN where no state of a closed chain was left to compare it at.
    """

    forces: float
    mass: float
    engine: str
    closed: bool = False

    @property
    def largest(self) -> float:
        """The larger of both."""
        return float(np.max([self.forces, 0.0 if np.isnan(self.mass) else self.mass]))


def moves_elsewhere(source: Source) -> bool:
    """Return whether another engine reads a file, with a joint that moves: the first of its kind that is installed."""
    try:
        with _plain(source) as path:
            module = next(filter(None, map(_module, ENGINES.get(path.suffix, ()))), None)
            return module is not None and bool(module.moves(path))
    except Exception:  # whatever xacro raises of a file that is wrong
        return False


def closes_elsewhere(source: Source) -> bool:
    """Return whether an engine closes the loops of a file from any of several positions; true where it has none."""
    try:
        tree = source.tree("fixed")
        with _plain(source) as path:
            peer = _peer(path, tree, "fixed", ENGINES.get(path.suffix, ()))[0]
    except InputError:
        return True
    if peer is None or peer.conditions is None:
        return True
    conditions, random = peer.conditions, np.random.default_rng(SEED)
    starts = (size * random.uniform(-1.0, 1.0, len(tree.joints)) for size in STARTS)
    ends = dict.fromkeys(("ftol", "xtol", "gtol"), LEAST)
    found = (
        least_squares(lambda q: conditions(q)[0], start, lambda q: conditions(q)[1], max_nfev=EVALUATIONS, **ends)
        for start in starts
    )
    return any(np.abs(each.fun).max() <= CLOSED for each in found)


def _peer(path: Path, tree: Tree, base: Base, engines: Iterable[str]) -> tuple[Spanning | None, str]:
    """Return the tree in the first engine that reads its file, and the engine; None where none does."""
    for engine in engines:
        module = _module(engine)
        peer: Spanning | None = None if module is None else module.spanning(path, tree, base)
        if peer is not None:
            return peer, engine
    return None, ""


def errors(source: Source, base: Base, *, repaired: bool) -> Errors | None:
    """Compare an import with the first engine that reads its file; None where none does."""
    tree = source.tree(base)
    with _plain(source) as path:
        engines = (each for each in ENGINES.get(path.suffix, ()) if not (repaired and each in REPAIRING))
        peer, engine = _peer(path, tree, base, engines)
    if peer is None:
        return None
    if not tree.loops:
        return Errors(*errors_of_tree(tree, peer), engine)
    if repaired:
        return None
    robot = source.robot(base, parameters=False)
    if any(" moved" in each.hint for each in robot.warnings):  # frames, with which loops of the engine stay open
        peer = Spanning(peer.forces)
    found = errors_of_loops(robot.description, tree, peer)
    return None if found is None else Errors(*found, engine, closed=True)


def errors_of_tree(tree: Tree, peer: Spanning) -> tuple[float, float]:
    """Return the largest differences of forces and of mass matrices of a tree without loops."""
    robot, along = Robot.of(tree.description().family, {}), following(tree)
    q, qd, qdd = np.random.default_rng(SEED).uniform(-SPREAD, SPREAD, (3, STATES, len(tree.free)))
    ours = inverse_dynamics(robot, q=q, qd=qd, qdd=qdd, gravity=GRAVITY).force
    moving = (values @ along.T for values in (q, qd, qdd))
    theirs = np.array([along.T @ peer.forces(*moment) for moment in zip(*moving, strict=True)])
    masses = inertia_matrix(robot, q=q[:STATES_OF_MASS]).matrix
    expected = np.array([along.T @ _mass(peer, along @ place) @ along for place in q[:STATES_OF_MASS]])
    return _largest(ours - theirs, theirs), _largest(masses - expected, expected)


def _module(engine: str) -> ModuleType | None:
    """Return the module of an engine; None where that is not installed."""
    try:
        return importlib.import_module(f"benchmarks.imports.{engine}")
    except ImportError:
        return None


@contextmanager
def _plain(source: Source) -> Iterator[Path]:
    """Give a file without macros: that of xacro where it is installed, else the file itself."""
    macros = _module("macros") if b"<xacro:" in source.path.read_bytes() else None
    with TemporaryDirectory() as folder:
        yield (
            source.path
            if macros is None
            else macros.expanded(source.path, source.macros, source.packages, Path(folder))
        )


def _mass(peer: Spanning, place: np.ndarray) -> np.ndarray:
    """Return the mass matrix (joint, joint) of a tree, a column for each joint that accelerates alone."""
    still = np.zeros(len(place))
    weight = peer.forces(place, still, still)
    return np.stack([peer.forces(place, still, unit) - weight for unit in np.eye(len(place))], axis=1)


def errors_of_loops(description: Description, tree: Tree, peer: Spanning) -> tuple[float, float] | None:
    """Return the same of a closed chain: residuals of the tree's forces after actuator forces, along its motions.

    These are the engine's where it has loops; else, as of Drake, rates of all joints are our own. None where no state
    can be reached; the mass matrix is NaN where ways are more than the freedoms.
    """
    robot, count = Robot.of(description.family, {}), len(tree.joints)
    zero = dict(description.reference[0][1]) if description.reference else {}
    shift = np.array([zero.get(name, 0.0) for name in tree.joints])
    freedoms, driven = robot.mechanism.freedoms, [tree.joints.index(name) for name in robot.mechanism.actuators]
    free = [tree.joints.index(name) for name in freedoms]
    for near in NEAR:
        q, qd, qdd = np.random.default_rng(SEED).uniform(-near, near, (3, STATES, len(freedoms)))
        solved = inverse_kinematics(robot, q=q, qd=qd, qdd=qdd)
        if not np.asarray(solved.status).all():
            break
    forces = inverse_dynamics(robot, q=q, qd=qd, qdd=qdd, gravity=GRAVITY).force
    masses = inertia_matrix(robot, q=q).matrix
    remaining, size, of_mass = list[np.ndarray](), list[np.ndarray](), list[float]()
    for k in np.flatnonzero(solved.status == 0):
        place, rate, change = (values[k, 0, :count] for values in solved[:3])
        if peer.conditions is None:
            units = np.eye(len(freedoms))
            same = np.repeat(q[k : k + 1], len(freedoms), axis=0)
            ways = inverse_kinematics(robot, q=same, qd=units).velocity[:, 0, :count]
        else:
            if _open(peer.conditions, place + shift, rate, change) > 1.0:
                return float("inf"), float("inf")
            ways = null_space(peer.conditions(place + shift)[1], rcond=RANK).T
        balance = peer.forces(place + shift, rate, change)
        size.append(balance.copy())
        balance[driven] -= forces[k]
        remaining.append(np.array([np.abs(ways @ balance).max() / max(1.0, np.abs(ways).max())]))
        if len(of_mass) < STATES_OF_MASS and len(ways) == len(free):
            along = np.linalg.solve(ways[:, free], ways)
            expected = along @ _mass(peer, place + shift) @ along.T
            of_mass.append(_largest((masses[k] - expected)[None], expected[None]))
    return (_largest(np.array(remaining), np.array(size)), max(of_mass, default=float("nan"))) if remaining else None


def _open(conditions: Conditions, place: np.ndarray, rate: np.ndarray, change: np.ndarray) -> float:
    """Return the distance of a motion from the loop closures of an engine; 1 is the largest that rounding explains."""
    gap, slopes = conditions(place)
    if not len(gap):
        return float("inf")  # no loop at all
    (_, after), (_, before) = (conditions(place + step * rate) for step in (AHEAD, -AHEAD))
    second = (after - before) @ rate / (2.0 * AHEAD) + slopes @ change
    size = max(1.0, float(np.abs(rate).max()), float(np.abs(change).max()))
    return float(max(np.abs(gap).max(), np.abs(slopes @ rate).max() / size, np.abs(second).max() / size * 0.1) / CLOSED)


def _largest(differences: np.ndarray, numbers: np.ndarray) -> float:
    """Return the largest difference, relative to the largest number of its state; infinite where there is no number."""
    size = np.abs(numbers).max(axis=tuple(range(1, numbers.ndim)), keepdims=True)
    result = float(np.max(np.abs(differences) / np.where(size > 0, size, 1.0)))
    return result if np.isfinite(result) else float("inf")
