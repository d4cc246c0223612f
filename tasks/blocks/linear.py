"""Linear equations of motion near the motions of a block: A and B of x' = A x + B u for small deviations.

Inverse dynamics gives the forces W(x, V') that a state x and its accelerations V' take along the freedoms, and

    W(x, V') = J_IK(x)^T u,  so that  M dV' = dJ_IK^T u - dW + J_IK^T du

with dW at V' held. dW and dJ_IK are exact: the programs of the limbs and of the platform, differentiated along each
number of the state. u are the forces for the motion without friction, so that friction has no effect on A and B. Loads
over time and a moving base have their values at the time of the sample.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from robots.quantities import names
from robots.trajectories.trajectory import PlatformLoad
from robots.types import TWIST
from tasks.blocks.pool import time_first
from tasks.features import table
from tasks.features.loads import PlatformWrench
from tasks.kernels.keys import Arrays, Indexed, Key, Rate, Values
from tasks.kernels.program import Kernels
from tasks.mechanics.state_changes import deviations, skew, turning
from tasks.stages import stages
from tasks.stages.equations import answer_program
from tasks.stages.request import Request
from tasks.stages.terms import PLATFORM

SERIES = names("linear")


class Linear:
    """Rows of A and B of a block, a strip of designs on one trajectory at a time."""

    def __init__(self, request: Request, kernel: Kernels, loads: Sequence[PlatformLoad | None], samples: int) -> None:
        """Set up the linearisation of strips.

        request: request of the stages whose values `strip` takes; kernel: runs programs in the precision of the block;
        loads: loads on the platform, one for each trajectory; samples: number of times.
        """
        self.kernel, self.structure, self.loads, self.samples = kernel, request.structure, loads, samples
        self.limbs = range(len(self.structure.mechanism.instances))
        bare = table.request(request.family, (), request.feature(PlatformWrench), moving_base=request.moving_base)
        self.moving = request.motion.get("motion", "motion")
        own = () if self.structure.mechanism.is_chain else (stages.platform(bare),)
        self.stages = (*(stages.limb(bare, k) for k in self.limbs), *own)
        self.owners = (*self.limbs, PLATFORM) if own else self.limbs

    def strip(self, trajectory: int, values: Arrays) -> dict[str, np.ndarray]:
        """Return A (design, time, deviation, deviation), B (design, time, deviation, actuator); NaN without a solution.

        `values` are results of the stages up to the assembly, among them the mass matrices of limbs and platform.
        """
        mass = functools.reduce(np.add, (values[Indexed("mass", owner)] for owner in self.owners))
        rows = np.concatenate([values[Indexed("jacobian", k)] for k in self.limbs], axis=1)
        free, designs = self.structure.freedoms, len(mass)
        actuators, width = rows.shape[1] // free, rows.shape[2]
        motion = values[self.moving]
        values = {**values, "motion": motion}
        state = np.zeros((designs, self.samples, 2 * free, 2 * free))
        acting = np.zeros((designs, self.samples, 2 * free, actuators))
        state[:, :, :free, free:] = np.eye(free)
        state[:, :, :free, :free] = turning(self.structure, motion)[:, : self.samples]
        for column, change in enumerate(deviations(self.structure, motion)):
            asked = self._asked(values, change, self._load_rate(trajectory, column, values))
            state[:, :, free:, column] = self._answer(mass, asked)
        for column, row in enumerate(np.split(rows.reshape(designs, actuators, free, width), actuators, axis=1)):
            acting[:, :, free:, column] = self._answer(mass, row[:, 0])
        for matrix in (state, acting):
            matrix[~np.isfinite(matrix).all(axis=(2, 3))] = np.nan
        return dict(zip(SERIES, (state, acting), strict=True))

    def _asked(self, values: Arrays, change: np.ndarray, load: Values) -> np.ndarray:
        """Return the forces that accelerate the masses after a change of motion (design, freedom, padded time)."""
        moved = {**values, Rate("motion"): change, **load}
        rates: dict[Key, np.ndarray] = {}
        for stage in self.stages:
            rates |= stage.run_rates(self.kernel, moved, self.samples)
        turned = np.concatenate([rates[Rate(Indexed("jacobian", k))] for k in self.limbs], axis=1)
        force = values["force"]
        shape = (len(turned), force.shape[1], self.structure.freedoms, turned.shape[2])
        pushed = np.einsum(
            "nafs,nas->nfs", turned.reshape(shape), np.broadcast_to(force, (len(turned), *force.shape[1:]))
        )
        own = rates.get(Rate("platform_wrench"), 0.0)
        return np.asarray(pushed - own - sum(rates[Rate(Indexed("wrench", k))] for k in self.limbs))

    def _load_rate(self, trajectory: int, column: int, values: Arrays) -> Values:
        """Return the rate of a platform load given in platform axes, for a turn about the axis of freedom `column`.

        Empty for other loads and other freedoms.
        """
        load = self.loads[trajectory]
        if load is None or load.axes == "world" or column >= self.structure.freedoms:
            return {}
        place = self.structure.positions[column]
        if TWIST[place] not in TWIST[:3]:
            return {}
        turn, acting = skew(np.eye(3)[place]), values["load"]
        turned = [np.einsum("ij,njs->nis", turn, acting[:, part]) for part in (slice(0, 3), slice(3, 6))]
        return {Rate("load"): np.concatenate(turned, axis=1)}

    def _answer(self, mass: np.ndarray, forces: np.ndarray) -> np.ndarray:
        """Return the accelerations (design, time, freedom) caused by unit forces along the freedoms."""
        run = self.kernel(answer_program(self.structure.freedoms))
        forces = np.ascontiguousarray(forces)
        return time_first(run({"mass": mass, "forces": forces}, self.samples)["answer"], self.samples)
