"""Equations of a robot in all joints of its tree, with the rows that close its loops, for one sample.

    M theta'' + h = T^T u + G^T lambda,    G theta'' + g = 0,    c(theta) = 0

theta are the joints of the tree, M the mass matrix, h all other forces, T the rates of actuators by rates of joints, G
the rows of the loops and of joints that follow others, g the velocity part of their second derivative, and c their
residuals. No joint is eliminated, so the equations are valid also where every choice of independent joints is singular.
Source: Garcia de Jalon and Bayo 1994, Kinematic and Dynamic Simulation of Multibody Systems, section 5.1.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from robots.coupled import ALONG, COORDINATES, over_coordinates
from robots.model import Family, Frame, Limb, Mechanism
from robots.status import Status
from tasks.kernels.expression import ABSENT, Array
from tasks.kernels.program import Program, trace
from tasks.mathematics.algebra import array
from tasks.mechanics.chain import Chain
from tasks.mechanics.families import structure_of
from tasks.mechanics.kinematics import mount_pose, state_at
from tasks.mechanics.limb_motion import Solved, transmission, tree_dynamics
from tasks.mechanics.structure import GRAVITY, field_inputs, signal_inputs, symbolic
from tasks.mechanics.topology import every_row
from tasks.stages.tree_forces import with_forces


def tree_of(family: Family, mechanism: Mechanism) -> Limb:
    """Return the tree of a chain; that of a platform begins with six joints that stand for its pose."""
    if mechanism.is_chain:
        return mechanism.limbs[0]
    return with_forces(over_coordinates(family.name, mechanism).limbs[0], mechanism)


def held_joints(family: Family) -> list[int]:
    """Return the joints that stand for the pose of a platform along which it does not move."""
    mechanism = family.reference
    if mechanism.is_chain:
        return []
    moving = {ALONG[name] for name in mechanism.platform.mobility}
    return [k for k, name in enumerate(COORDINATES) if name not in moving]


@functools.cache
def spanning_tree_program(family: Family, moving_base: bool = False) -> Program:
    """Trace M, h, T, G, g and c of a chain over `angles` and `rates` of the joints of its tree."""
    structure, held = structure_of(family), held_joints(family)
    count = len(tree_of(family, family.reference).links)

    def one_sample(
        parameters: Array, gravity: Array, angles: Array, rates: Array, signals: Array = ABSENT
    ) -> dict[str, Any]:
        limb, seat = tree_of(family, symbolic(structure, parameters, signals)), mount_pose(Frame())
        choice = structure.choices[0] if family.reference.is_chain else every_row(limb)
        mounted = Chain(limb, choice, seat, seat, ())
        states = [state_at(link, angle) for link, angle in zip(mounted.limb.links, angles, strict=True)]
        tips, positions, none = mounted.tips(states), dict(enumerate(angles)), np.zeros(count)

        def forces(chain: Chain, speeds: Array, accelerations: Array, field: Array) -> Array:
            moving = Solved(tips, states, speeds, accelerations, float(Status.OK), positions)
            return array(tree_dynamics(chain, moving, field, transmission(chain, moving))[1])

        free = mounted.unforced
        assert isinstance(free, Chain)
        mass = np.stack([forces(free, none, unit, np.zeros(3)) for unit in np.eye(count)], axis=1)
        geared = transmission(mounted, Solved(tips, states, rates, none, float(Status.OK), positions))
        followers = mounted.limb.followers
        follows = np.zeros((len(followers), count), dtype=object)
        for row, (joint, leaders) in zip(follows, followers.items(), strict=True):
            row[joint] = 1.0
            for leader, ratio in leaders:
                row[leader] = -ratio
        follows = np.concatenate([follows, np.eye(count)[held]])
        loops = tips.embedding.loops
        return {
            "mass": mass,
            "bias": forces(mounted, rates, none, array(gravity)),
            "actuators": geared.rows(np.eye(count)),
            "rows": np.vstack([*(loop.matrix for loop in loops), array(follows)]),
            "drift": [*(x for loop in loops for x in loop.drift(rates)), *([0.0] * len(follows))],
            "open": [*(x for loop in loops for x in loop.joined.residual()), *(array(follows) @ angles)],
        }

    case: dict[str, tuple[int, ...]] = {"parameters": (len(family.parameters),), "gravity": (GRAVITY,)}
    inputs = {"angles": (count,), "rates": (count,), **signal_inputs(family)}
    case, sample = field_inputs(case, inputs, moving_base)
    return trace(f"{family.name}.spanning_tree", one_sample, case=case, sample=sample)
