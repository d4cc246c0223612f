"""Programs of the inertia matrix and the bias vector of trees and closed chains: the whole, or one element by itself.

Trees: inputs are named as in `tasks.stages.limb`: `parameters`, `gravity` per case; `q`, `qd` (joint,) per sample, in
the order of the links. Loops stay open: these programs are about the spanning tree.

Closed chains: M = F^T (M_tree + spin) F, with the inertia matrix of the spanning tree at the configuration that closes
the loops, the spinning parts of drives, and F, the rates of the tree's joints by rates of the independent joints. An
element of M needs only the elements of M_tree whose joints move with both joints of the element.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from robots.model import Family, Limb, Link, Mechanism
from tasks.kernels.expression import Array, Numbers, Scalar
from tasks.kernels.program import Program, trace
from tasks.mathematics.algebra import array, is_zero, where
from tasks.mechanics import drives, limb_motion, recursion
from tasks.mechanics.drives import Transmission
from tasks.mechanics.families import structure_of
from tasks.mechanics.inertia import explicit
from tasks.mechanics.inertia.articulated import ArticulatedTree
from tasks.mechanics.inertia.methods import method_named
from tasks.mechanics.inertia.placed import Placed
from tasks.mechanics.kinematics import HOME, JointState, mount_pose, state_at
from tasks.mechanics.recursion import Field
from tasks.mechanics.solving import solved_limb
from tasks.mechanics.structure import limb_inputs

Sample = Mapping[str, Numbers | Scalar]


@functools.cache
def closed_matrix_program(family: Family, method: str) -> Program:
    """Return the `inertia` matrix (freedom, freedom), drives included, by one of `methods.METHODS`, and the `status`.

    Inputs as in `tasks.stages.limb.limb_program`. Raises ValueError for an unknown method.
    """
    compute, structure = method_named(method), structure_of(family)

    def one_sample(parameters: Array, mount: Array, motion: Array, gravity: Array) -> Sample:
        mounted, solved, _, _ = solved_limb(structure, 0, parameters, mount, motion)
        through = mounted.unit_rates(solved.tips)
        whole = compute(mounted.limb.links, solved.states)
        if mounted.limb.drives:
            whole = whole + recursion.spin_inertia(
                mounted.limb, solved.states, limb_motion.transmission(mounted, solved)
            )
        return {"inertia": through.T @ array(whole) @ through, "status": [solved.status]}

    return _traced(family, f"inertia.{method}", one_sample)


def _check_element(family: Family, row: int, column: int, count: int) -> None:
    if not (0 <= row < count and 0 <= column < count):
        raise ValueError(
            f"row, column: got ({row}, {column}) for {family.name}, whose inertia matrix has {count} rows; expected "
            f"indices from 0 to {count - 1}"
        )


@functools.cache
def closed_element_program(family: Family, row: int, column: int) -> Program:
    """Return a program for one `element` () of the inertia matrix by explicit elements of the tree; and `status`.

    Raises ValueError for a place that is not in the matrix.
    """
    structure = structure_of(family)
    count = structure.freedoms
    _check_element(family, row, column, count)

    def one_sample(parameters: Array, mount: Array, motion: Array, gravity: Array) -> Sample:
        mounted, solved, _, _ = solved_limb(structure, 0, parameters, mount, motion)
        through, links = mounted.unit_rates(solved.tips), mounted.limb.links
        placed = Placed.of(links, solved.states)
        element: Scalar = 0.0
        spin = np.zeros((len(links), len(links)))
        if mounted.limb.drives:
            spin = recursion.spin_inertia(mounted.limb, solved.states, limb_motion.transmission(mounted, solved))
        for a, left in enumerate(through[:, row]):
            for b, right in enumerate(through[:, column]):
                if not (is_zero(left) or is_zero(right)):
                    inertia = explicit.element_of(placed, a, b) + spin[a, b]
                    element = element + (inertia + (links[a].armature if a == b else 0.0)) * (left * right)
        return {"element": element, "status": [solved.status]}

    return _traced(family, f"inertia.{row}.{column}", one_sample)


def _traced(family: Family, name: str, one_sample: Callable[..., Sample]) -> Program:
    structure = structure_of(family)
    sample = {"motion": (structure.motion_size,)}
    return trace(f"{family.name}.{name}", one_sample, case=limb_inputs(structure, 0), sample=sample)


@functools.cache
def matrix_program(family: Family, method: str = "crba") -> Program:
    """Return the `inertia` matrix (n, n), drives included, by one of `methods.METHODS`.

    Raises ValueError for an unknown method and for a robot that is no tree.
    """
    compute, count = method_named(method), _joints(family)

    def one_sample(parameters: Array, q: Array) -> dict[str, Any]:
        limb = _assembled(family, parameters).limbs[0]
        states = _states(limb.links, q)
        matrix = compute(limb.links, states)
        return {"inertia": matrix + recursion.spin_inertia(limb, states, _geared(limb, q)) if limb.drives else matrix}

    return trace(f"{family.name}.inertia.{method}", one_sample, case=_parameters(family), sample={"q": (count,)})


@functools.cache
def element_program(family: Family, row: int, column: int) -> Program:
    """Return one `element` () of the inertia matrix, drive included. Raises ValueError for a wrong robot or place."""
    count = _joints(family)
    _check_element(family, row, column, count)

    def one_sample(parameters: Array, q: Array) -> dict[str, Any]:
        limb = _assembled(family, parameters).limbs[0]
        states = _states(limb.links, q)
        element = explicit.element(limb.links, states, row, column)
        if limb.drives:
            element = element + recursion.spin_inertia(limb, states, _geared(limb, q))[row, column]
        return {"element": element}

    name = f"{family.name}.inertia.{row}.{column}"
    return trace(name, one_sample, case=_parameters(family), sample={"q": (count,)})


@functools.cache
def bias_program(family: Family) -> Program:
    """Return the `bias` vector (n,) by its explicit elements. Raises ValueError for a robot that is no tree."""
    count = _joints(family)

    def one_sample(parameters: Array, gravity: Array, q: Array, qd: Array) -> dict[str, Any]:
        mechanism = _assembled(family, parameters)
        limb, base = mechanism.limbs[0], array(mechanism.instances[0].base.rotation)
        states = _states(limb.links, q)
        bias = explicit.bias(limb.links, states, qd, base.T @ gravity)
        if limb.drives:
            bias = bias + recursion.spin_forces(limb, states, qd, np.zeros(count), _geared(limb, q, qd))
        return {"bias": bias}

    case = {**_parameters(family), "gravity": (3,)}
    return trace(f"{family.name}.bias", one_sample, case=case, sample={"q": (count,), "qd": (count,)})


@functools.cache
def acceleration_program(family: Family) -> Program | None:
    """Return the program of the `acceleration` (joint,) under actuator `force`; `massless` is 1 for zero inertia.

    None where the articulated-body algorithm does not apply, see `ArticulatedTree.of`, or loads change with time.
    Raises ValueError for a robot that is no tree.
    """
    count, reference = _joints(family), family.reference.limbs[0]
    if family.signals or ArticulatedTree.of(reference, [HOME] * count) is None:
        return None

    def one_sample(parameters: Array, gravity: Array, q: Array, qd: Array, force: Array) -> dict[str, Any]:
        mechanism = _assembled(family, parameters)
        limb, base = mechanism.limbs[0], mount_pose(mechanism.instances[0].base)
        tree = ArticulatedTree.of(limb, _states(limb.links, q))
        assert tree is not None
        pushed = _geared(limb, q, qd).joint_forces(force)
        acceleration = tree.accelerations(qd, pushed, Field.of(gravity).seen_from(base))
        return {"acceleration": acceleration, "massless": [where(tree.massless, 1.0, 0.0)]}

    sample = {"q": (count,), "qd": (count,), "force": (len(family.reference.actuators),)}
    case = {**_parameters(family), "gravity": (3,)}
    return trace(f"{family.name}.acceleration", one_sample, case=case, sample=sample)


def is_tree(family: Family) -> bool:
    """Return whether a robot is one limb without platform, without loops and without joints that follow others."""
    limb = family.reference.limbs[0]
    return family.reference.is_chain and not limb.loops and not limb.couplings


def _parameters(family: Family) -> dict[str, tuple[int, ...]]:
    return {"parameters": (len(family.parameters),)}


def _assembled(family: Family, parameters: Array) -> Mechanism:
    names = [parameter.name for parameter in family.parameters]
    return family.assemble(dict(zip(names, parameters, strict=True)))


def _joints(family: Family) -> int:
    """Return the joint count of a tree, or of a closed chain's spanning tree. Raises ValueError for other robots."""
    if not family.reference.is_chain:
        raise ValueError(
            f"robot: got {family.name}, whose {len(family.reference.instances)} limbs hold a platform; expected a "
            "chain, which has none; for the matrix of a parallel robot use limbsweep.equations_of_motion"
        )
    return len(family.reference.limbs[0].links)


def _geared(limb: Limb, q: Array, qd: Array | None = None) -> Transmission:
    rates = [0.0] * len(limb.links) if qd is None else list(qd)
    return drives.transmission(limb, lambda joint: q[joint], rates)


def _states(links: Sequence[Link], q: Array) -> list[JointState]:
    return [state_at(link, value) for link, value in zip(links, q, strict=True)]
