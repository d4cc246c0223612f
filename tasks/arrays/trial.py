"""Whether a robot can make some samples of a motion, without compiling anything: by the interpreter of kernels."""

from __future__ import annotations

from typing import Unpack

import numpy as np

from robots.model import Robot
from tasks.arrays.inputs import Moving
from tasks.arrays.inverse import Dynamics
from tasks.kernels.interpreter import interpret
from tasks.kernels.keys import Arrays
from tasks.kernels.program import Program
from tasks.programs.stages import Runner, limb


def statuses(robot: Robot, **moving: Unpack[Moving]) -> np.ndarray:
    """Statuses (*batch) of inverse kinematics, as `tasks.inverse_kinematics` has them, for few samples.

    It takes as long as the programs of the robot take to trace, and no time to compile them.
    """
    dynamics = Dynamics(robot, Moving(**moving), ("actuator_position",))
    limbs = range(len(robot.mechanism.instances))
    for k in limbs:
        dynamics.values |= limb(dynamics.request, k).run(_interpreted, dynamics.values, dynamics.samples)
    return dynamics.statuses(np.max([dynamics.status_of(k) for k in limbs], axis=0))


def _interpreted(program: Program) -> Runner:
    def run(inputs: Arrays, samples: int, out: Arrays | None = None) -> Arrays:
        width = max(inputs[name].shape[-1] for name in program.sample)
        return interpret(program, inputs, width, exact=False)

    return run
