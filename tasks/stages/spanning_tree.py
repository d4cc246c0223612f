"""Equations of a chain in all joints of its tree, with the rows that close its loops, for one sample.

    M theta'' + h = T^T u + G^T lambda,    G theta'' + g = 0,    c(theta) = 0

theta are the joints of the tree, M and h the forces that accelerations and all else take, T the rates of actuators, G
the rows of the loops and of joints that follow others, g what velocity alone adds to their second derivative, and c how
far they are open. No joint is solved for, so the equations hold also where no choice of independent joints is good.
Source: Garcia de Jalon and Bayo 1994, Kinematic and Dynamic Simulation of Multibody Systems, section 5.1.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from robots.model import Family
from robots.status import Status
from tasks.kernels.expression import Array
from tasks.kernels.program import Program, trace
from tasks.mathematics.algebra import array
from tasks.mechanics.chain import Chain
from tasks.mechanics.kinematics import state_at
from tasks.mechanics.limb_motion import Solved, transmission, tree_dynamics
from tasks.mechanics.recursion import Field
from tasks.mechanics.solving import mounted_limb
from tasks.mechanics.structure import limb_inputs, structure_of


@functools.cache
def spanning_tree_program(family: Family) -> Program:
    """Trace M, h, T, G, g and c of a chain over `angles` and `rates` of the joints of its tree."""
    structure = structure_of(family)
    count = len(family.reference.limbs[0].links)

    def one_sample(parameters: Array, mount: Array, gravity: Array, angles: Array, rates: Array) -> dict[str, Any]:
        motion = np.zeros(3 * structure.freedoms)
        mounted, _, _, _ = mounted_limb(structure, 0, parameters, mount, motion)
        assert isinstance(mounted, Chain)
        states = [state_at(link, angle) for link, angle in zip(mounted.limb.links, angles, strict=True)]
        tips, positions, none = mounted.tips(states), dict(enumerate(angles)), np.zeros(count)

        def forces(chain: Chain, speeds: Array, accelerations: Array, field: Array | Field) -> Array:
            moving = Solved(tips, states, speeds, accelerations, float(Status.OK), positions)
            return array(tree_dynamics(chain, moving, field, transmission(chain, moving))[1])

        free = mounted.unforced
        assert isinstance(free, Chain)
        mass = np.stack([forces(free, none, unit, np.zeros(3)) for unit in np.eye(count)], axis=1)
        geared = transmission(mounted, Solved(tips, states, rates, none, float(Status.OK), positions))
        follows = np.zeros((len(mounted.limb.couplings), count), dtype=object)
        for row, entry in zip(follows, mounted.limb.couplings, strict=True):
            row[mounted.limb.index(entry.joint)], row[mounted.limb.index(entry.of)] = 1.0, -entry.ratio
        loops = tips.embedding.loops
        return {
            "mass": mass,
            "bias": forces(mounted, rates, none, array(gravity)),
            "actuators": geared.rows(np.eye(count)),
            "rows": np.vstack([*(loop.matrix for loop in loops), array(follows)]),
            "drift": [*(x for loop in loops for x in loop.drift(rates)), *([0.0] * len(follows))],
            "open": [*(x for loop in loops for x in loop.joined.residual()), *(array(follows) @ angles)],
        }

    sample = {"angles": (count,), "rates": (count,)}
    return trace(f"{family.name}.spanning_tree", one_sample, case=limb_inputs(structure, 0), sample=sample)
